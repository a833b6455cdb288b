"""From tables of ids to codes: rows that name queries and items by their ids become lists."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I32, I64, Bool
from pipeline.core.pool import Pool
from pipeline.core.run import Lists
from pipeline.models._distinct import first_rows


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Lists of one source.

    Attributes:
        lists: one a table, in the order given; codes as in :class:`pipeline.core.run.Lists`.
        foreign: string array of item ids outside the pool, in order of first use.
        rows: one a table: the table's row that each row of the list was; None where they are the
            same.
        outside: rows left out because their query is not in the pool, one number a table.
    """

    lists: tuple[Lists, ...]
    foreign: pa.Array
    rows: tuple[I64 | None, ...]
    outside: tuple[int, ...]


def encode(pool: Pool, tables: Sequence[pa.Table]) -> Encoded:
    """Encodes tables of ``query_id``, ``item_id``, ``score`` and optional ``rank``.

    Rows keep their order within a query. Ids must not be null.
    """
    queries = [codes_of(flat(table["query_id"]), pool.vocab.queries) for table in tables]
    taken = [_rows(query) for query in queries]
    items, foreign = _items(
        [_some(flat(table["item_id"]), rows) for table, rows in zip(tables, taken, strict=True)],
        pool.vocab.items,
    )
    lists = tuple(
        Lists(
            query=query if rows is None else query[rows],
            item=item,
            score=_scores(table["score"], rows),
            given_rank=_ranks(table, rows),
        )
        for table, query, rows, item in zip(tables, queries, taken, items, strict=True)
    )
    outside = tuple(int(np.count_nonzero(query < 0)) for query in queries)
    return Encoded(lists, foreign, tuple(taken), outside)


def codes_of(ids: pa.Array, vocab: pa.Array) -> I32:
    """(N,) places of the ids in the vocabulary; -1 where it lacks them or the id is null."""
    found = pc.index_in(ids, value_set=vocab.cast(ids.type), skip_nulls=True)
    return np.array(pc.fill_null(found, -1), dtype=np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """A pool's candidates, ascending by query and then by item.

    Attributes:
        query: (N,) codes.
        item: (N,) codes.
        table: (N rows) ids and features.
    """

    query: I32
    item: I32
    table: pa.Table


def candidates(pool: Pool) -> Candidates:
    """The candidates of a pool that has some, in order whatever that of the table."""
    table = pool.candidates
    assert table is not None
    query = codes_of(flat(table["query_id"]), pool.vocab.queries)
    item = codes_of(flat(table["item_id"]), pool.vocab.items)
    same = query[1:] == query[:-1]
    if ((query[1:] < query[:-1]) | (same & (item[1:] < item[:-1]))).any():
        order = np.lexsort((item, query))
        query, item, table = query[order], item[order], table.take(pa.array(order))
    return Candidates(query, item, table)


def within(keys: I64, known: I64) -> Bool:
    """(N,) whether each key is one of the known ones, which ascend.

    >>> within(np.array([3, 9, 1]), np.array([1, 3, 5])).tolist()
    [True, False, True]
    """
    place = np.searchsorted(known, keys)
    held = np.zeros(len(keys), dtype=np.bool_)
    inside = place < len(known)
    held[inside] = known[place[inside]] == keys[inside]
    return held


def flat(column: pa.ChunkedArray) -> pa.Array:
    """A column of ids as one array of strings, large where it must be."""
    kind = pa.string() if column.nbytes < 2**31 else pa.large_string()
    chunks = column.cast(kind).chunks
    return pa.concat_arrays(chunks) if chunks else pa.array([], kind)


def _rows(query: I32) -> I64 | None:
    """Rows of pool queries by ascending query, else as given; None where that is all of them."""
    inside = query >= 0
    if inside.all():
        ordered = not (query[1:] < query[:-1]).any()
        return None if ordered else np.argsort(query, kind="stable")
    rows = np.flatnonzero(inside)
    return rows[np.argsort(query[rows], kind="stable")]


def _some(ids: pa.Array, rows: I64 | None) -> pa.Array:
    return ids if rows is None else ids.take(pa.array(rows))


def _items(columns: list[pa.Array], vocab: pa.Array) -> tuple[list[I32], pa.Array]:
    """Item codes of each column, and the foreign ids of all of them."""
    codes = [codes_of(ids, vocab) for ids in columns]
    strange = [code < 0 for code in codes]
    others = [ids.filter(pa.array(mask)) for ids, mask in zip(columns, strange, strict=True)]
    unknown = pa.concat_arrays([ids.cast(pa.large_string()) for ids in others])
    first = first_rows(unknown)
    opening = first == np.arange(len(first), dtype=np.int32)
    number = (len(vocab) - 1 + np.cumsum(opening, dtype=np.int32))[first]
    start = 0
    for code, mask, ids in zip(codes, strange, others, strict=True):
        code[mask] = number[start : start + len(ids)]
        start += len(ids)
    return codes, unknown.filter(pa.array(opening)).cast(pa.string())


def _scores(column: pa.ChunkedArray, rows: I64 | None) -> F64:
    scores: F64 = column.to_numpy().astype(np.float64, copy=False)
    return scores if rows is None else scores[rows]


def _ranks(table: pa.Table, rows: I64 | None) -> I32 | None:
    if "rank" not in table.column_names:
        return None
    ranks: I32 = table["rank"].to_numpy().astype(np.int32, copy=False)
    return ranks if rows is None else ranks[rows]
