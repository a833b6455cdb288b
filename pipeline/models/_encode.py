"""From tables of ids to codes: rows that name queries and items by their ids become lists."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I32, I64
from pipeline.core.pool import Pool
from pipeline.core.run import Lists
from pipeline.models._first_use import first_use, in_order


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


@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """An id column taken apart: row r holds ids[place[r]]."""

    place: I32
    ids: pa.Array


def encode(pool: Pool, tables: Sequence[pa.Table]) -> Encoded:
    """Encodes tables of ``query_id``, ``item_id``, ``score`` and optional ``rank``.

    Rows keep their order within a query. The id columns may be plain strings or dictionaries,
    without nulls.
    """
    foreign = pa.array([], pa.string())
    lists: list[Lists] = []
    outside: list[int] = []
    taken: list[I64 | None] = []
    for table in tables:
        asked = _column(table["query_id"])
        query = codes_of(asked.ids, pool.vocab.queries)[asked.place]
        outside.append(int((query < 0).sum()))
        rows = _rows(query)
        taken.append(rows)
        item, foreign = _items(_column(table["item_id"]), rows, pool.vocab.items, foreign)
        lists.append(
            Lists(
                query=query if rows is None else query[rows],
                item=item,
                score=_scores(table["score"], rows),
                given_rank=_ranks(table, rows),
            )
        )
    return Encoded(tuple(lists), foreign, tuple(taken), tuple(outside))


def codes_of(ids: pa.Array, vocab: pa.Array) -> I32:
    """(N,) places of the ids in the vocabulary; -1 where it lacks them or the id is null."""
    found = pc.index_in(ids.cast(vocab.type), value_set=vocab, skip_nulls=True)
    return np.array(pc.fill_null(found, -1), dtype=np.int32)


def _column(column: pa.ChunkedArray) -> _Column:
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    if isinstance(whole, pa.ChunkedArray):
        whole = whole.chunk(0)
    place = np.asarray(whole.indices).astype(np.int32, copy=False)
    return _Column(place, whole.dictionary.cast(pa.string()))


def _rows(query: I32) -> I64 | None:
    """Rows of pool queries by ascending query, else as given; None where that is all of them."""
    inside = query >= 0
    if inside.all():
        ordered = not (query[1:] < query[:-1]).any()
        return None if ordered else np.argsort(query, kind="stable")
    rows = np.flatnonzero(inside)
    return rows[np.argsort(query[rows], kind="stable")]


def _items(
    column: _Column, rows: I64 | None, vocab: pa.Array, foreign: pa.Array
) -> tuple[I32, pa.Array]:
    """(N,) item codes of the chosen rows, and the foreign ids grown by theirs."""
    place = column.place if rows is None else column.place[rows]
    code = codes_of(column.ids, vocab)
    unknown = _unknown(place, code)
    ids = column.ids.take(unknown)
    known = codes_of(ids, foreign)
    fresh = known < 0
    known[fresh] = len(foreign) + np.arange(fresh.sum(), dtype=np.int32)
    foreign = pa.concat_arrays([foreign, ids.filter(pa.array(fresh))])
    code[unknown] = len(vocab) + known
    return code[place], foreign


def _unknown(place: I32, code: I32) -> I64:
    """Dictionary entries without a code that rows use, in order of first use."""
    if not (code < 0).any():
        return np.empty(0, dtype=np.int64)
    used = in_order(first_use(place, len(code)), len(place))
    return used[code[used] < 0]


def _scores(column: pa.ChunkedArray, rows: I64 | None) -> F64:
    scores: F64 = column.to_numpy().astype(np.float64, copy=False)
    return scores if rows is None else scores[rows]


def _ranks(table: pa.Table, rows: I64 | None) -> I32 | None:
    if "rank" not in table.column_names:
        return None
    ranks: I32 = table["rank"].to_numpy().astype(np.int32, copy=False)
    return ranks if rows is None else ranks[rows]
