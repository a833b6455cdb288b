"""Ids as codes: the vocabulary of the pool, and the pairs of each table in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I32, I64, Bool
from pipeline.core.pool import Vocab
from pipeline.core.problems import Problem
from pipeline.pool._tables import Sheet, Tables

_FEW = 0.05  # share of matching ids below which they are probably not the same kind of id
_EXAMPLES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Rows of a table that has query and item ids, sorted by both; equal ones as in the file.

    Attributes:
        row: (N,) rows of the table; those of queries outside the pool are left out.
        query: (N,) query codes.
        item: (N,) item codes.
    """

    row: I64
    query: I32
    item: I32


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """Tables, and what their ids are in the vocabulary.

    Attributes:
        tables: as cleaned.
        vocab: queries of the queries table, else of the qrels; items of all tables but the logs.
        query_code: (rows of queries,) code of each row; one a query without a queries table.
        item_code: (rows of items,) likewise; empty without an items table.
        judged: pairs of the qrels.
        candidates: pairs of the candidates, or None.
    """

    tables: Tables
    vocab: Vocab
    query_code: I32
    item_code: I32
    judged: Pairs
    candidates: Pairs | None


@dataclass(frozen=True, slots=True, eq=False)
class _Ids:
    """A column of ids: a sheet, its distinct ids, and which of them each row has."""

    sheet: Sheet
    distinct: pa.Array
    which: I32

    def codes(self, vocab: pa.Array) -> I32:
        """(rows,) codes in a vocabulary; -1 outside."""
        found = pc.fill_null(pc.index_in(self.distinct, value_set=vocab), -1)
        return np.asarray(found, dtype=np.int32)[self.which]

    def used(self, rows: Bool) -> pa.Array:
        """The distinct ids of some rows."""
        found = np.zeros(len(self.distinct), bool)
        found[self.which[rows]] = True
        return self.distinct.filter(pa.array(found))


def encode(tables: Tables, problems: list[Problem]) -> Encoded:
    """Builds the vocabulary and turns ids into codes; ids that do not match are noted."""
    qrels = _both(Sheet("qrels", tables.qrels, problems))
    queries = _ids(tables.queries, "queries", "query_id", problems) or qrels[0]
    items = _ids(tables.items, "items", "item_id", problems)
    pairs = [qrels]
    if tables.candidates is not None:
        pairs.append(_both(Sheet("candidates", tables.candidates, problems)))
    for of_query, of_item in pairs:
        _note_overlap(of_query, queries, "their rows are not used")
        if items is not None:
            _note_overlap(of_item, items, "they have no attributes")
    query_vocab = _sorted([queries.distinct])
    kept = [of_query.codes(query_vocab) >= 0 for of_query, _ in pairs]
    used = [of_item.used(keep) for (_, of_item), keep in zip(pairs, kept, strict=True)]
    vocab = Vocab(query_vocab, _sorted([*used, *([items.distinct] if items else [])]))
    found = [_pairs(both, vocab) for both in pairs]
    codes = queries.codes(query_vocab) if tables.queries is not None else None
    return Encoded(
        tables=tables,
        vocab=vocab,
        query_code=np.arange(len(query_vocab), dtype=np.int32) if codes is None else codes,
        item_code=np.zeros(0, np.int32) if items is None else items.codes(vocab.items),
        judged=found[0],
        candidates=found[1] if len(found) > 1 else None,
    )


def _ids(table: pa.Table | None, name: str, column: str, problems: list[Problem]) -> _Ids | None:
    return None if table is None else _distinct(Sheet(name, table, problems), column)


def _both(sheet: Sheet) -> tuple[_Ids, _Ids]:
    return _distinct(sheet, "query_id"), _distinct(sheet, "item_id")


def _distinct(sheet: Sheet, column: str) -> _Ids:
    found = sheet.table[column].dictionary_encode().combine_chunks()
    return _Ids(sheet, found.dictionary, np.asarray(found.indices, dtype=np.int32))


def _sorted(arrays: Sequence[pa.Array]) -> pa.Array:
    """All ids once, sorted by their UTF-8 bytes."""
    distinct = pa.chunked_array(arrays, pa.string()).unique()
    return distinct.take(pc.sort_indices(distinct))


def _pairs(both: tuple[_Ids, _Ids], vocab: Vocab) -> Pairs:
    query, item = both[0].codes(vocab.queries), both[1].codes(vocab.items)
    row = np.flatnonzero(query >= 0)
    key = query[row].astype(np.int64) * len(vocab.items) + item[row]
    if not (key[1:] >= key[:-1]).all():
        row = row[np.argsort(key, kind="stable")]
    return Pairs(row, query[row], item[row])


def _note_overlap(ids: _Ids, base: _Ids, then: str) -> None:
    """Notes ids of one table that the other lacks: an error where it lacks all of them."""
    if ids is base or not len(ids.distinct):
        return
    codes = pc.index_in(ids.distinct, value_set=base.distinct)
    total, outside = len(codes), codes.null_count
    if not outside:
        return
    strange = ids.distinct.filter(pc.is_null(codes))
    what = "query ids" if base.sheet.name in {"queries", "qrels"} else "item ids"
    here, there = ids.sheet.name, base.sheet.name
    one = base.distinct[0] if len(base.distinct) else "no row"
    shown = f"{here} have `{strange[0]}`, {there} have `{one}`"
    if outside == total:
        text = f"0 of {total:,} {what} match: {shown}"
        ids.sheet.say("error", "no_overlap", text, _remedy(strange, base.distinct))
        return
    if total - outside < _FEW * total:
        text = f"only {total - outside:,} of {total:,} {what} are in the {there}; {then}: {shown}"
        ids.sheet.say("warning", "little_overlap", text, _remedy(strange, base.distinct))
        return
    text = f"{outside:,} of {total:,} {what} are not in the {there}; {then}"
    examples = tuple(strange.slice(0, _EXAMPLES).to_pylist())
    ids.sheet.problems.append(
        Problem("outside_pool", "warning", text, "", ids.sheet.file, None, examples, outside)
    )


def _remedy(strange: pa.Array, known: pa.Array) -> str:
    """What would make more ids match, where that can be told."""
    bare, theirs = (pc.utf8_ltrim(a, characters="0") for a in (strange, known))
    same = pc.index_in(bare, value_set=theirs)
    if 2 * same.null_count < len(same):
        at = int(np.argmax(np.asarray(pc.is_valid(same))))
        return (
            f"leading zeros were lost (`{strange[at]}` against `{known[same[at].as_py()]}`):"
            " write ids as text in both"
        )
    return "write ids alike in both tables, to the byte"
