"""Tables of a simulated world; all but the judgments."""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I32, I64
from pipeline.core.pool import OPEN_END
from pipeline.kernels.simulate import DEVICES, Sessions, Simulation
from pipeline.pool._types import MICROS


def ids(letter: str, n: int) -> pa.Array:
    """Ids of the numbers 0..n-1, in byte order: a letter, and digits to one length."""
    width = len(str(n - 1))
    digits = pc.utf8_lpad(pc.cast(pa.array(np.arange(n)), pa.string()), width, "0")
    return pc.binary_join_element_wise(letter, digits, "")


def queries(world: Simulation, query_ids: pa.Array, user_ids: pa.Array) -> pa.Table:
    """One row a query: whose, when, how often; group and device."""
    found = world.asks(np.arange(world.world.n_queries))
    return pa.table(
        {
            "query_id": query_ids,
            "user_id": user_ids.take(pa.array(found.user)),
            "issued_at": time(found.asked),
            "frequency": pa.array(world.frequency()),
            "group": words(world.world.groups, found.group),
            "device": words(DEVICES, found.device),
        }
    )


def items(world: Simulation, item_ids: pa.Array) -> pa.Table:
    """One row an item: since when, until when, how popular; category."""
    found = world.items
    return pa.table(
        {
            "item_id": item_ids,
            "created_at": time(found.created),
            "eligible_from": time(found.start),
            "eligible_until": pa.array(found.end, mask=found.end == OPEN_END).cast(MICROS),
            "popularity": pa.array(found.weight),
            "category": words(world.world.categories, found.category),
        }
    )


def logs(found: Sessions, query_ids: pa.Array, item_ids: pa.Array, user_ids: pa.Array) -> pa.Table:
    """One row an item shown."""
    n = int(found.session[-1]) + 1 if len(found.session) else 1
    return pa.table(
        {
            "session_id": ids("t", n).take(pa.array(found.session)),
            "query_id": query_ids.take(pa.array(found.query)),
            "item_id": item_ids.take(pa.array(found.item)),
            "position": pa.array(found.position),
            "click": pa.array(found.click.astype(np.int8)),
            "propensity": pa.array(found.propensity),
            "user_id": user_ids.take(pa.array(found.user)),
            "at": time(found.at),
            "shuffled": pa.array(found.shuffled),
        }
    )


def words(names: Iterable[str], codes: I32) -> pa.Array:
    """Names by number."""
    return pa.array(list(names), pa.string()).take(pa.array(codes))


def time(micros: I64) -> pa.Array:
    """Microseconds since 1970 UTC as times."""
    return pa.array(micros).cast(MICROS)
