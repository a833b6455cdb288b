"""From answers to lists, and what is odd about all of them together."""

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import F64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.models import Ranking
from pipeline.models._encode import encode
from pipeline.models._http.request import Asks
from pipeline.models._http.store import Answer
from pipeline.models._unlike import renumbered

LATENCY = "client_latency_ms"


def only_candidates(answers: list[Answer], asks: Asks, name: str) -> None:
    """Refuses items that were not among the candidates that the request named.

    Raises:
        SamepoolError: there is one.
    """
    assert asks.candidates is not None
    for place, answer in enumerate(answers):
        strange = sorted(set(answer.items.to_pylist()) - set(asks.candidates(place)))
        if strange:
            text = (
                f"model {name}: query `{asks.ids[place]}`: `{strange[0]}` is not among the"
                " candidates that it was sent"
            )
            raise fault("not_a_candidate", text, "let the endpoint return these alone")


def ranking(pool: Pool, name: str, answers: list[Answer], problems: list[Problem]) -> Ranking:
    """The lists of all queries, with the latency of each.

    Raises:
        SamepoolError: no answer holds anything, or ids became numbers on their way.
    """
    lengths = np.array([len(answer.items) for answer in answers], dtype=np.int64)
    if not lengths.any():
        text = f"model {name}: all {len(answers):,} answers are empty"
        raise fault("no_results", text, "check the body: does it search the field that holds text?")
    query = pa.array(np.repeat(np.arange(len(answers)), lengths))
    table = pa.table({
        "query_id": pool.vocab.queries.take(query),
        "item_id": pa.chunked_array([answer.items for answer in answers], pa.string()),
        "score": np.concatenate([answer.scores for answer in answers]),
    })  # fmt: skip
    encoded = encode(pool, [table])
    raise_errors(renumbered("item_id", encoded.foreign, pool.vocab.items, f"model {name}"))
    latency: F64 = np.array([answer.ms for answer in answers])
    found = [*problems, *_empty(lengths, pool, name), _quick(latency, name)]
    final = encoded.lists[0]
    if not (final.item < len(pool.vocab.items)).any():
        text = (
            f"model {name}: none of the items returned is in the pool: it returns"
            f" `{encoded.foreign[0]}`, the pool has `{pool.vocab.items[0]}`"
            if len(pool.vocab.items)
            else f"model {name}: the pool has no items"
        )
        fix = "if both name the same items, set id to the field that holds the pool's ids"
        found.append(Problem("no_item_matches", "warning", text, fix))
    cost = {LATENCY: latency}
    return Ranking(final, None, encoded.foreign, cost, problems=tuple(found), complete=True)


def _empty(lengths: np.ndarray, pool: Pool, name: str) -> list[Problem]:
    none = np.flatnonzero(lengths == 0)
    if not none.size:
        return []
    shown = tuple(f"`{pool.vocab.queries[int(place)].as_py()}`" for place in none[:3])
    text = f"model {name}: {none.size:,} of {len(lengths):,} queries have no results"
    return [Problem("no_results", "warning", text, examples=shown)]


def _quick(latency: F64, name: str) -> Problem:
    half, most = np.percentile(latency, [50, 95])
    text = (
        f"model {name}: a query took {half:.1f} ms at the median, {most:.1f} ms at the 95th"
        " percentile, as this client measured it with others under way; no rule can use that"
    )
    return Problem("client_latency", "note", text)
