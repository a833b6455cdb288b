"""A training pool cut from the logs of a pool: what came last is what was to be found."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
from scipy import sparse

from pipeline.core.arrays import I32, I64, Bool
from pipeline.core.pool import UNKNOWN_TIME, Judgments, Pool, Times, Units, Vocab
from pipeline.core.problems import fault
from pipeline.models._encode import within
from pipeline.models._interactions import Interactions


@dataclass(frozen=True, slots=True, eq=False)
class Training:
    """What a ranker is taught with; nothing in it comes from judgments.

    Attributes:
        pool: people of the logs as its queries, asked when they met their first held-out item;
            its logs lack what was held out, and it has no judgments.
        wanted: (queries, I) true where the item was held out and its reward is high enough.
    """

    pool: Pool
    wanted: sparse.csr_array


def training(
    pool: Pool, log: Interactions, share: float, wanted_from: float | None, most: int, seed: int
) -> Training:
    """Holds out the last interactions of people who have at least 1 / share of them.

    Args:
        pool: the pool whose logs these are.
        log: its interactions.
        share: of a person's dated interactions, held out, rounded down; 0 < share < 1.
        wanted_from: smallest reward of a held-out interaction that is wanted; None for any.
        most: people taken, drawn at random where there are more.
        seed: of that draw.

    Raises:
        SamepoolError: nobody has enough dated interactions.
    """
    log = log.where((log.person >= 0) & (log.at != UNKNOWN_TIME))
    order = np.lexsort((log.item, log.at, log.person))
    person, item, at = log.person[order], log.item[order], log.at[order]
    size = np.bincount(person, minlength=log.n_people)
    held = (size * share).astype(np.int64)
    people = np.flatnonzero(held > 0)
    if not len(people):
        text = f"nobody in the logs of pool {pool.name} has {1 / share:.0f} dated interactions"
        raise fault("nothing_to_train_on", text, "hold out a larger share, or give longer logs")
    if len(people) > most:
        people = np.sort(np.random.default_rng(seed).choice(people, most, replace=False))
    start = np.cumsum(size) - size
    cut = start + size - held
    late = np.zeros(len(person), dtype=np.bool_)
    late[_spans(cut[people], held[people])] = True
    logs = pa.table(
        {
            "user_id": _names(person[~late]),
            "item_id": pool.vocab.items.take(item[~late]),
            "at": pa.array(at[~late], pa.timestamp("us", "UTC")),
        }
    )
    if wanted_from is not None:
        late[late] = log.reward[order][late] >= wanted_from
    row = np.searchsorted(people, person[late])
    shape = (len(people), log.n_items)
    wanted = sparse.coo_array((np.ones(len(row), np.bool_), (row, item[late])), shape).tocsr()
    return Training(_asking(pool, _names(people), at[cut[people]], logs), wanted)


def wanted_rows(wanted: sparse.csr_array, query: I32, item: I32) -> Bool:
    """(N,) whether each pair of query and item is wanted."""
    pairs = np.repeat(np.arange(wanted.shape[0]), np.diff(wanted.indptr))
    keys = pairs * wanted.shape[1] + wanted.indices
    return within(query.astype(np.int64) * wanted.shape[1] + item, np.sort(keys))


def _spans(start: I64, length: I64) -> I64:
    """All places start[k] ... start[k] + length[k] - 1, one span after the other."""
    before = np.cumsum(length) - length
    return np.repeat(start - before, length) + np.arange(length.sum())


def _names(people: I32 | I64) -> pa.Array:
    """Ids of people: their codes with leading zeros, so that order by id is order by code."""
    return pa.array([f"{code:012d}" for code in people.tolist()], pa.string())


def _asking(pool: Pool, people: pa.Array, when: I64, logs: pa.Table) -> Pool:
    n = len(people)
    nobody, one = np.zeros(n + 1, dtype=np.int64), np.ones(n)
    return replace(
        pool,
        name=f"{pool.name}, training",
        queries=pa.table(
            {
                "query_id": people,
                "user_id": people,
                "issued_at": pa.array(when, pa.timestamp("us", "UTC")),
            }
        ),
        candidates=None,
        logs=logs,
        judgments=Judgments(
            nobody, np.empty(0, np.int32), np.empty(0, np.float64), np.empty(0, np.bool_)
        ),
        units=Units(people, np.arange(n, dtype=np.int32), one, one, np.zeros(n, np.int32)),
        times=Times(when, pool.times.created, pool.times.eligible_from, pool.times.eligible_until),
        vocab=Vocab(people, pool.vocab.items),
        problems=(),
        digest="",
        logs_digest="",
    )
