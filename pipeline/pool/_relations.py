"""Checks how the tables of a pool fit together."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I32, I64, Bool
from pipeline.core.pool import UNKNOWN_TIME
from pipeline.core.problems import Problem
from pipeline.pool._encode import Encoded, Pairs
from pipeline.pool._tables import Sheet, mask
from pipeline.pool._times import instant, micros

_EXAMPLES = 3


def check(encoded: Encoded, problems: list[Problem]) -> None:
    """Notes everything that is odd between tables."""
    tables = encoded.tables
    if tables.queries is not None:
        _unique(Sheet("queries", tables.queries, problems), "query_id", encoded.query_code)
    if tables.items is not None:
        items = Sheet("items", tables.items, problems)
        _unique(items, "item_id", encoded.item_code)
        _windows(items)
    _judgments(Sheet("qrels", tables.qrels, problems), encoded)
    if encoded.candidates is not None:
        _candidates(Sheet("candidates", tables.candidates, problems), encoded.candidates)
    if tables.logs is not None:
        _logs(Sheet("logs", tables.logs, problems), encoded)


def repeated(pairs: Pairs) -> Bool:
    """(N,) whether a pair equals the one before it."""
    same = np.zeros(len(pairs.row), bool)
    same[1:] = (pairs.query[1:] == pairs.query[:-1]) & (pairs.item[1:] == pairs.item[:-1])
    return same


def query_times(encoded: Encoded) -> I64:
    """(Q,) when each query is asked: issued_at, else as_of, else UNKNOWN_TIME."""
    declared, queries = encoded.tables.declared, encoded.tables.queries
    default = instant(declared.as_of) if declared.as_of else UNKNOWN_TIME
    times = np.full(len(encoded.vocab.queries), default, np.int64)
    if queries is not None and "issued_at" in queries.column_names:
        times[encoded.query_code] = micros(queries["issued_at"], default)
    return times


def _unique(sheet: Sheet, column: str, codes: I32) -> None:
    """Notes ids that have two rows, and says whether their texts differ."""
    order = np.argsort(codes, kind="stable")
    twice = np.flatnonzero(codes[order][1:] == codes[order][:-1])
    if not len(twice):
        return
    first, second = int(order[twice[0]]), int(order[twice[0] + 1])
    name = sheet.table[column][first].as_py()
    about = "two rows"
    if "text" in sheet.table.column_names:
        one, other = (sheet.table["text"][row].as_py() for row in (first, second))
        about = f"two texts, {one!r} and {other!r}" if one != other else about
    text = f"{column} {name!r} has {about} ({sheet.where(first)}, {sheet.where(second)})"
    sheet.problems.append(
        Problem(
            "duplicate_id", "error", text, "keep one row an id", sheet.file, sheet.where(second),
            _names(sheet, column, order[twice[1 : 1 + _EXAMPLES]]), len(twice),
        )
    )  # fmt: skip


def _names(sheet: Sheet, column: str, rows: I64) -> tuple[str, ...]:
    return tuple(str(sheet.table[column][int(row)]) for row in rows)


def _windows(sheet: Sheet) -> None:
    names = sheet.table.column_names
    if "eligible_from" in names and "eligible_until" in names:
        start, end = sheet.table["eligible_from"], sheet.table["eligible_until"]
        bad = mask(pc.greater(start, end))
        sheet.say_of("error", "bad_window", "eligible_from is after eligible_until", bad)


def _judgments(sheet: Sheet, encoded: Encoded) -> None:
    pairs = encoded.judged
    grade = np.asarray(sheet.table["grade"], dtype=np.float64)[pairs.row]
    _duplicate_judgments(sheet, encoded, grade)
    if not (grade > 0).any():
        text = f"no relevant judgment: none of {len(grade):,} grades is above 0"
        fix = "check the scale; grade_map can turn it round"
        sheet.say("error", "no_relevant", text, fix)
        return
    if (grade > 0).all():
        text = "only relevant items are judged; unjudged ones count as not relevant"
        sheet.say("note", "only_positives", text)
    _note_queries(sheet, encoded, grade)


def _note_queries(sheet: Sheet, encoded: Encoded, grade: F64) -> None:
    """Queries without judgments, and those of which nothing judged is relevant."""
    size = len(encoded.vocab.queries)
    judged = np.bincount(encoded.judged.query, minlength=size) > 0
    relevant = np.bincount(encoded.judged.query, weights=grade > 0, minlength=size) > 0
    for code, culprits, words in (
        ("unjudged_queries", ~judged, "are asked but not judged"),
        ("nothing_relevant", judged & ~relevant, "have nothing judged relevant"),
    ):
        found = np.flatnonzero(culprits)
        if not len(found):
            continue
        of = size if code == "unjudged_queries" else int(judged.sum())
        examples = tuple(str(encoded.vocab.queries[int(i)]) for i in found[:_EXAMPLES])
        text = f"{len(found):,} of {of:,} queries {words}"
        sheet.problems.append(
            Problem(code, "note", text, "", sheet.file, None, examples, len(found))
        )


def _duplicate_judgments(sheet: Sheet, encoded: Encoded, grade: F64) -> None:
    pairs = encoded.judged
    again = repeated(pairs)
    differs = np.zeros(len(again), bool)
    differs[1:] = again[1:] & (grade[1:] != grade[:-1])
    for bad, severity, code, fix in (
        (differs, "error", "conflicting_judgments", "keep one grade a pair"),
        (again & ~differs, "warning", "duplicate_judgments", "counted once"),
    ):
        found = np.flatnonzero(bad)
        if not len(found):
            continue
        at = int(found[0])
        query, item = encoded.vocab.queries[pairs.query[at]], encoded.vocab.items[pairs.item[at]]
        one, other = (sheet.where(int(row)) for row in pairs.row[at - 1 : at + 1])
        how = f"{grade[at - 1]:g} and {grade[at]:g}" if differs[at] else f"{grade[at]:g} twice"
        text = f"query {query}, item {item} is judged {how} ({one}, {other})"
        sheet.problems.append(
            Problem(code, "error" if severity == "error" else "warning", text, fix, sheet.file,
                    other, (), len(found))
        )  # fmt: skip


def _candidates(sheet: Sheet, pairs: Pairs) -> None:
    again = np.flatnonzero(repeated(pairs))
    if not len(again):
        return
    one, other = (int(row) for row in pairs.row[again[0] - 1 : again[0] + 1])
    query, item = (sheet.table[name][other] for name in ("query_id", "item_id"))
    text = f"query {query} lists item {item} twice ({sheet.where(one)}, {sheet.where(other)})"
    sheet.problems.append(
        Problem(
            "duplicate_candidate", "error", text, "keep one row a pair", sheet.file,
            sheet.where(other), (), len(again),
        )
    )  # fmt: skip


def _logs(sheet: Sheet, encoded: Encoded) -> None:
    """Notes log rows later than the query that they belong to: what models may not know."""
    if "at" not in sheet.table.column_names:
        return
    at = micros(sheet.table["at"])
    times = query_times(encoded)
    as_of = encoded.tables.declared.as_of
    limit = np.full(len(at), instant(as_of) if as_of else UNKNOWN_TIME, np.int64)
    if "query_id" in sheet.table.column_names:
        codes = _codes(sheet.table["query_id"], encoded.vocab.queries)
        limit = np.where(codes >= 0, times[codes], limit)
    late = (at > limit) & (limit != UNKNOWN_TIME)
    text = f"{late.sum():,} log rows postdate their query: models would learn from the future"
    sheet.say_of("warning", "late_logs", text, late, "cut the logs at the query's time")


def _codes(column: pa.ChunkedArray, vocab: pa.Array) -> I32:
    found = pc.fill_null(pc.index_in(column, value_set=vocab, skip_nulls=True), -1)
    return np.asarray(found, dtype=np.int32)
