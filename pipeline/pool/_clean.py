"""Checks each table by itself, and brings its columns to the types that a pool has."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I64
from pipeline.core.problems import Problem
from pipeline.formats import changed_numbers, changed_texts, floats, renames
from pipeline.pool._tables import Sheet, Tables, mask
from pipeline.pool._times import instant, to_times
from pipeline.pool._types import normal, too_far


@dataclass(frozen=True, slots=True)
class _Shape:
    """Which columns of a table mean something to us."""

    needed: tuple[str, ...]
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    times: tuple[str, ...] = ()

    def known(self) -> set[str]:
        return {*self.needed, *self.texts, *self.numbers, *self.times}


_PAIR = ("query_id", "item_id")
_SHAPES: Mapping[str, _Shape] = {
    "queries": _Shape(
        ("query_id",), ("text", "user_id", "stratum"), ("frequency", "weight"), ("issued_at",)
    ),
    "items": _Shape(
        ("item_id",), ("text",), ("popularity",), ("created_at", "eligible_from", "eligible_until")
    ),
    "qrels": _Shape(_PAIR, ("source", "judge"), ("grade",)),
    "candidates": _Shape(_PAIR),
    "logs": _Shape(
        ("item_id",),
        ("query_id", "user_id", "session_id"),
        ("reward", "position", "click", "propensity"),
        ("at",),
    ),
}


def clean(tables: Tables, problems: list[Problem]) -> Tables:
    """The tables with canonical types, their rows untouched.

    Ids and text are strings, numbers float64, times timestamp[us, UTC]; attributes are int64,
    float64 (NaN becomes null), bool, string or timestamp, nested ones stay. What is wrong is
    appended to ``problems``.
    """
    found: dict[str, pa.Table] = {}
    for name, shape in _SHAPES.items():
        table = getattr(tables, name)
        if table is not None:
            found[name] = _cleaned(Sheet(name, table, problems), shape)
    _grades(Sheet("qrels", found["qrels"], problems), tables)
    if "queries" in found:
        _weights(Sheet("queries", found["queries"], problems), tables.declared.unit)
    if "logs" in found:
        _whose(Sheet("logs", found["logs"], problems))
    _as_of(tables.declared.as_of, problems)
    return replace(tables, **found)


def _whose(sheet: Sheet) -> None:
    """Logs say whose interactions they are: in every row a query or a user."""
    names = [name for name in ("query_id", "user_id") if name in sheet.table.column_names]
    if not names:
        if sheet.table.num_columns:
            text = "logs need the column query_id or user_id, to say whose interactions they are"
            sheet.say("error", "missing_column", text)
        return
    empty = pc.equal(pc.coalesce(sheet.table[names[0]], pa.scalar("")), "")
    for name in names[1:]:
        empty = pc.and_(empty, pc.equal(pc.coalesce(sheet.table[name], pa.scalar("")), ""))
    verb = "are" if names[1:] else "is"
    text = f"{' and '.join(names)} {verb} empty"
    sheet.say_of("error", "empty_id", text, mask(empty), "say whose interaction it is")


def _as_of(text: str | None, problems: list[Problem]) -> None:
    try:
        instant(text or "1970-01-01")
    except ValueError:
        fix = "write ISO 8601, e.g. 2024-02-29T12:00:00Z"
        problems.append(Problem("not_a_time", "error", f"as_of {text!r} is not a time", fix))


def _cleaned(sheet: Sheet, shape: _Shape) -> pa.Table:
    names = sheet.table.column_names
    missing = [name for name in shape.needed if name not in names]
    # A table of no columns could not be read at all, and that has been said.
    if missing and names:
        text = f"{sheet.name} lack the column {', '.join(missing)}; there are: {', '.join(names)}"
        sheet.say(
            "error", "missing_column", text, "; ".join(renames(missing, names, shape.known()))
        )
    columns = {name: _column(sheet, shape, name) for name in names}
    for name in shape.needed:
        if name in columns:
            _ids(sheet, name, columns[name])
    return pa.table(columns).replace_schema_metadata(sheet.table.schema.metadata)


def _column(sheet: Sheet, shape: _Shape, name: str) -> pa.ChunkedArray:
    far = too_far(sheet.table[name])
    if far is not None:
        fix = "mend the value, or its unit"
        sheet.say_of("error", "time_too_far", f"{name} is beyond the times of int64", far, fix)
    column = normal(sheet.table[name])
    if pa.types.is_floating(column.type) and not pa.types.is_dictionary(sheet.table[name].type):
        _exact(sheet, name, sheet.table[name], changed_numbers(sheet.table[name], column))
    if name in shape.times:
        return to_times(sheet, name, column)
    if name in shape.numbers:
        return _numbers(sheet, name, column)
    if name in shape.texts or name in shape.needed:
        return column if pa.types.is_string(column.type) else pc.cast(column, pa.string())
    return column


def _ids(sheet: Sheet, name: str, column: pa.ChunkedArray) -> None:
    """Null, empty and padded ids; looked for among the distinct ones, as there are fewer."""
    distinct = column.unique()
    if column.null_count or mask(pc.equal(distinct, "")).any():
        rows = mask(pc.equal(pc.coalesce(column, pa.scalar("")), ""))
        sheet.say_of("error", "empty_id", f"{name} is empty", rows, "give every row an id")
    padded = mask(pc.match_substring_regex(distinct, r"^[ \t\r\n\f\v]|[ \t\r\n\f\v]$"))
    if padded.any():
        culprits = distinct.filter(pa.array(padded))
        rows = mask(pc.is_in(column, value_set=culprits))
        text = f"{name} {culprits[0].as_py()!r} has white space around it"
        sheet.say_of("error", "padded_id", text, rows, "remove it: ids are compared to the byte")


def _numbers(sheet: Sheet, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_string(column.type):
        values, bad = floats(column)
        bad &= ~mask(pc.is_null(column))
        if bad.any():
            shown = column[int(np.argmax(bad))].as_py()
            sheet.say_of("error", "not_a_number", f"{name} {shown!r} is not a number", bad)
        _exact(sheet, name, column, changed_texts(column, values))
        return normal(values)
    try:
        values = pc.cast(column, pa.float64(), safe=False)
    except pa.ArrowException:
        text = f"{name} is of type {column.type}; it must be a number"
        sheet.say("error", "not_a_number", text)
        return pa.chunked_array([pa.nulls(len(column), pa.float64())])
    _exact(sheet, name, column, changed_numbers(column, values))
    return values


def _exact(sheet: Sheet, name: str, column: pa.ChunkedArray, changed: I64) -> None:
    if len(changed):
        text = f"{name} {column[int(changed[0])].as_py()} is not exact as a float64"
        sheet.say_of("error", "not_exact", text, changed, "write numbers that float64 holds")


def _grades(sheet: Sheet, tables: Tables) -> None:
    if "grade" not in sheet.table.column_names:
        if sheet.table.num_columns:
            sheet.say("error", "missing_column", "qrels lack the column grade")
        return
    read_badly = any(p.severity == "error" and p.file == sheet.file for p in sheet.problems)
    if not sheet.table.num_rows and not read_badly:
        sheet.say("error", "no_judgments", "has no judgments")
    grade = sheet.table["grade"]
    bad = ~mask(pc.is_finite(grade))
    if not read_badly:
        sheet.say_of(
            "error", "grade_not_finite", "the grade is not a finite number", bad,
            "grades are numbers; larger is better",
        )  # fmt: skip
    scale = tables.declared.grades
    if scale:
        outside = mask(pc.or_(pc.less(grade, scale[0]), pc.greater(grade, scale[1])))
        if outside.any():
            shown = grade[int(np.argmax(outside))].as_py()
            text = f"grade {shown:g} is outside the declared scale {scale[0]:g} to {scale[1]:g}"
            sheet.say_of("error", "grade_outside_scale", text, outside, "mend pool.grades")


def _weights(sheet: Sheet, unit: str) -> None:
    """Frequencies and sampling weights: complete, finite and of the right sign."""
    names = sheet.table.column_names
    for name, low_is_bad, rule in (
        ("frequency", pc.less, "must be 0 or more"),
        ("weight", pc.less_equal, "must be above 0"),
    ):
        column = sheet.table[name] if name in names else None
        if column is None or column.null_count == len(column):
            continue
        if name == "frequency" and unit == "request":
            text = "a row is one request (unit=request): weighting by frequency would count twice"
            fix = "remove the column frequency, or declare pool.unit=query"
            sheet.say("error", "frequency_of_requests", text, fix)
        # What could not be read has become null, and has been told of.
        unread = any(
            p.file == sheet.file and p.code == "not_a_number" and p.text.startswith(f"{name} ")
            for p in sheet.problems
        )
        empty = mask(pc.is_null(column)) & (not unread)
        fix = f"give every query a {name}, or remove the column"
        sheet.say_of("error", f"{name}_missing", f"{name} is missing", empty, fix)
        bad = mask(pc.or_(low_is_bad(column, 0), pc.invert(pc.is_finite(column))))
        if bad.any():
            shown = column[int(np.argmax(bad))].as_py()
            sheet.say_of("error", f"bad_{name}", f"{name} {shown:g} {rule}", bad)
