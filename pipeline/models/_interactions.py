"""The pool's logs as codes: who met which item, and when."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy import sparse

from pipeline.core.arrays import F64, I32, I64, Bool
from pipeline.core.pool import UNKNOWN_TIME, Pool
from pipeline.core.problems import fault
from pipeline.models._encode import codes_of


@dataclass(frozen=True, slots=True, eq=False)
class Interactions:
    """One row an interaction with an item of the pool.

    A person is a user, or a query whose user is unknown: rows are gathered by user where the
    pool's queries name users, else by query.

    Attributes:
        person: (N,) person codes; -1 where the row names nobody.
        query: (N,) query codes; -1 where the row names no query of the pool.
        item: (N,) item codes.
        at: (N,) microseconds since 1970 UTC; UNKNOWN_TIME where undated.
        reward: (N,) reward, else click; NaN where neither is known.
        person_of_query: (Q,) person codes of the pool's queries.
        n_people, n_items: codes are below these.
    """

    person: I32
    query: I32
    item: I32
    at: I64
    reward: F64
    person_of_query: I32
    n_people: int
    n_items: int

    def where(self, mask: Bool) -> "Interactions":
        """Only the rows of the mask."""
        return replace(
            self,
            person=self.person[mask],
            query=self.query[mask],
            item=self.item[mask],
            at=self.at[mask],
            reward=self.reward[mask],
        )

    def counts(self) -> F64:
        """(I,) interactions of each item."""
        return np.bincount(self.item, minlength=self.n_items).astype(np.float64)

    def matrix(self) -> sparse.csr_array:
        """(people, I) 1 where the person met the item, however often."""
        named = self.person >= 0
        return _ones(self.person[named], self.item[named], (self.n_people, self.n_items))

    def seen(self) -> sparse.csr_array:
        """(Q, I) true where the query, or its person, met the item."""
        shape = (len(self.person_of_query), self.n_items)
        own = self.query >= 0
        by_query = _ones(self.query[own], self.item[own], shape)
        found: sparse.csr_array = (self.matrix()[self.person_of_query] + by_query).astype(np.bool_)
        return found


def read(pool: Pool, kind: str) -> Interactions:
    """What a model learns from: rows with a reward above 0, or a click, or all without either.

    Raises:
        SamepoolError: the pool has no logs, or none about its items.
    """
    if pool.logs is None:
        text = f"a {kind} model learns from logs, and pool {pool.name} has none"
        raise fault("no_logs", text, "set pool.logs, or take another kind of model")
    found = encode(pool, pool.logs)
    if {"reward", "click"} & set(pool.logs.column_names):
        found = found.where(found.reward > 0)
    if not len(found.item):
        text = f"a {kind} model learns from logs; those of pool {pool.name} hold no interaction"
        raise fault("no_logs", text, "rows need an item of the pool and a reward above 0")
    return found


def need_times(log: Interactions, pool: Pool, kind: str) -> None:
    """Checks that rows have dates and queries have times.

    Raises:
        SamepoolError: no row has a date, or some query has no time.
    """
    if (log.at == UNKNOWN_TIME).all():
        text = f"a {kind} model needs dated logs; those of pool {pool.name} have no dates"
        raise fault("no_log_times", text, "add the column `at` to the logs")
    timeless = np.flatnonzero(pool.times.query == UNKNOWN_TIME)
    if timeless.size:
        example = pool.vocab.queries[int(timeless[0])].as_py()
        text = (
            f"a {kind} model needs the time of every query; {timeless.size:,} of"
            f" {len(pool.times.query):,} have none, e.g. `{example}`"
        )
        raise fault("no_query_times", text, "add the column issued_at to queries, or set as_of")


def encode(pool: Pool, logs: pa.Table) -> Interactions:
    """All rows about items of the pool, whatever their reward."""
    of_row, of_query, n_people = _people(pool, logs)
    rows = Interactions(
        person=of_row,
        query=codes_of(_ids(logs, "query_id"), pool.vocab.queries),
        item=codes_of(_ids(logs, "item_id"), pool.vocab.items),
        at=_times(logs),
        reward=_rewards(logs),
        person_of_query=of_query,
        n_people=n_people,
        n_items=len(pool.vocab.items),
    )
    return rows.where(rows.item >= 0)


def _rewards(logs: pa.Table) -> F64:
    for name in ("reward", "click"):
        if name in logs.column_names:
            values = pc.fill_null(logs[name].cast(pa.float64()), np.nan)
            return np.asarray(values, dtype=np.float64)
    return np.full(len(logs), np.nan)


def _people(pool: Pool, logs: pa.Table) -> tuple[I32, I32, int]:
    """Person codes of the log's rows and of the pool's queries, and how many there are."""
    users = _joint(_ids(logs, "user_id"), _ids(pool.queries, "user_id"))
    asked = _joint(_ids(logs, "query_id"), pool.vocab.queries)
    named = bool((users[1] >= 0).any())
    first, second = (users, asked) if named else (asked, users)
    of_row, of_query = (_or(a, b, first[2]) for a, b in zip(first[:2], second[:2], strict=True))
    return of_row, of_query, first[2] + second[2]


def _or(first: I32, second: I32, offset: int) -> I32:
    """The first code; where there is none, the second, moved past the first ones; else -1."""
    other = np.where(second >= 0, second + offset, -1)
    return np.where(first >= 0, first, other).astype(np.int32)


def _joint(one: pa.Array, two: pa.Array) -> tuple[I32, I32, int]:
    """Codes of two columns in one vocabulary, sorted so that the order of rows is no matter."""
    ids = pc.unique(pa.concat_arrays([one, two])).drop_null()
    vocab = ids.take(pc.sort_indices(ids))
    return codes_of(one, vocab), codes_of(two, vocab), len(vocab)


def _ids(table: pa.Table, name: str) -> pa.Array:
    if name not in table.column_names:
        return pa.nulls(len(table), pa.string())
    column = table[name].cast(pa.string())
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], pa.string())


def _times(logs: pa.Table) -> I64:
    if "at" not in logs.column_names:
        return np.full(len(logs), UNKNOWN_TIME, dtype=np.int64)
    micros = logs["at"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
    return np.asarray(pc.fill_null(micros, UNKNOWN_TIME), dtype=np.int64)


def _ones(row: I32, column: I32, shape: tuple[int, int]) -> sparse.csr_array:
    """A matrix of 0 and 1, its entries sorted."""
    entries = sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape).tocsr()
    entries.sum_duplicates()
    entries.data[:] = 1.0
    return entries
