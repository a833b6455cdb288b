"""Reads pool columns for slicers, and turns masks over table rows into slices."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.suggest import did_you_mean
from pipeline.slices import ItemSlice, QuerySlice

Over = Literal["queries", "items"]
Type = Literal["number", "text", "bool", "time"]
_EXACT = 2**53  # largest integer up to which float64 holds every one
WORDS = {"number": "a number", "text": "text", "bool": "true or false", "time": "a time"}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """One column, or a constant, ready for vectorised comparison.

    Attributes:
        name: as in the table, or how the constant is written.
        type: what it holds.
        data: (N,) or scalar: float64, object (text), bool, or int64 microseconds since 1970 UTC.
        null: (N,) or scalar: where there is no value.
    """

    name: str
    type: Type
    data: Any
    null: Any


def table(pool: Pool, over: Over) -> pa.Table:
    """The table that conditions over queries or over items read."""
    return pool.queries if over == "queries" else pool.items


def read(pool: Pool, over: Over, name: str, where: str) -> Column:
    """The column ``name``.

    Raises:
        SamepoolError: no such column, or one of a type that slices cannot read.
    """
    source = table(pool, over)
    if name not in source.column_names:
        text = f"{where}: column {name!r} is not in the pool's {over}"
        near = did_you_mean(name, source.column_names)
        have = f"columns: {', '.join(sorted(source.column_names))}"
        fix = near if near.startswith("there") else f"{near} {have}"
        raise fault("unknown_column", text, fix)
    array = source.column(name).combine_chunks()
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return _column(name, array, f"{where}: column {name!r}")


def _column(name: str, array: pa.Array, what: str) -> Column:
    kind = array.type
    null = np.asarray(array.is_null())
    if pa.types.is_null(kind):
        return Column(name, "text", np.full(len(array), "", dtype=object), null)
    if pa.types.is_boolean(kind):
        return Column(name, "bool", np.asarray(array.fill_null(False)), null)  # noqa: FBT003
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return Column(name, "text", np.asarray(array.fill_null(""), dtype=object), null)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        # The pool's times are UTC; a time without a zone is read as UTC too.
        stamp = pa.timestamp("us", getattr(kind, "tz", None))
        micros = array.cast(stamp, safe=False).cast(pa.int64())
        return Column(name, "time", np.asarray(micros.fill_null(0)), null)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _number(name, array, what, null)
    raise fault("bad_column", f"{what} holds {kind}", "slices read numbers, text, booleans, times")


def _number(name: str, array: pa.Array, what: str, null: Bool) -> Column:
    if pa.types.is_integer(array.type) and len(array):
        ends = pc.min_max(array).as_py()
        if any(end is not None and abs(end) > _EXACT for end in ends.values()):
            text = f"{what} has integers beyond 2^53, which cannot be compared exactly"
            raise fault("bad_column", text, "make the column text")
    data = np.asarray(array.cast(pa.float64()).fill_null(np.nan))
    return Column(name, "number", data, null | np.isnan(data))


def numeric(pool: Pool, over: Over, name: str, where: str) -> Column:
    """The numeric column ``name``.

    Raises:
        SamepoolError: no such column, or it holds no numbers.
    """
    column = read(pool, over, name, where)
    if column.type != "number":
        text = f"{where}: column {name!r} holds {WORDS[column.type]}, not numbers"
        raise fault("bad_column", text, "use kind: column for its values, or another column")
    return column


def part(name: str, over: Over, mask: Bool, words: str, pool: Pool) -> QuerySlice | ItemSlice:
    """The slice that a mask over rows of the queries or items table makes."""
    if over == "queries":
        return QuerySlice(name, mask, words)
    return ItemSlice(name, mask[pool.judgments.item], f"items: {words}")


def moment(text: str, where: str) -> int:
    """Microseconds since 1970 UTC of an ISO date or time; without a zone it is UTC.

    Raises:
        SamepoolError: it is not one.

    >>> moment("1970-01-02", "slices.defs.x")
    86400000000
    """
    try:
        stamp = datetime.fromisoformat(text.strip())
    except ValueError as error:
        fix = "write it as 1998-03-01 or 1998-03-01T12:00:00"
        raise fault("bad_date", f"{where}: {text!r} is not a date or time", fix) from error
    if stamp.tzinfo is None:
        stamp = stamp.replace(tzinfo=UTC)
    return (stamp - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def literal(value: Any, column: Column, where: str) -> Column:
    """``value`` as a constant that may be compared with ``column``.

    Raises:
        SamepoolError: the types differ.
    """
    found = constant(value)
    if column.type == "time" and found.type == "text":
        return Column(found.name, "time", moment(value, where), np.False_)
    if found.type != column.type:
        raise mismatch(column, found, where)
    return found


def constant(value: Any) -> Column:
    """A constant; what is neither truth nor number is text."""
    if isinstance(value, bool):
        return Column(repr(value), "bool", value, np.False_)
    if isinstance(value, int | float):
        return Column(repr(value), "number", float(value), np.False_)
    return Column(repr(value), "text", value, np.False_)


def mismatch(left: Column, right: Column, where: str) -> Exception:
    """The error of comparing two types."""
    text = (
        f"{where}: {left.name} is {WORDS[left.type]} and {right.name} is {WORDS[right.type]}; "
        "they cannot be compared"
    )
    fix = ""
    if {left.type, right.type} == {"bool", "text"}:
        fix = "quote the value: YAML reads NO, yes and on as true or false"
    elif {left.type, right.type} == {"number", "text"}:
        fix = "text values are quoted, numbers are not"
    return fault("type_mismatch", text, fix)
