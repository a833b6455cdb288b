"""Times: ISO 8601 text or typed timestamps, as microseconds since 1970 UTC."""

from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I64
from pipeline.core.pool import UNKNOWN_TIME
from pipeline.pool._tables import Sheet, mask
from pipeline.pool._types import MICROS

_ISO = (
    r"^\d{4}-\d{2}-\d{2}"
    r"([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?$"
)
_FIX = "write ISO 8601, e.g. 2024-02-29 or 2024-02-29T12:00:00Z; without a zone it is read as UTC"


def to_times(sheet: Sheet, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as timestamp[us, UTC]; values that are no times become null and a problem.

    Bare numbers are refused: nothing tells seconds from milliseconds.
    """
    kind = column.type
    if pa.types.is_timestamp(kind):
        return column
    nothing = pa.chunked_array([pa.nulls(len(column), MICROS)])
    if column.null_count == len(column):
        return nothing
    if not pa.types.is_string(kind):
        shown = pc.drop_null(column)[0].as_py()
        text = f"{name} is of type {kind}, not a time (e.g. {shown}{_as_seconds(shown)})"
        sheet.say("error", "not_a_time", text, _FIX)
        return nothing
    good = mask(pc.match_substring_regex(column, _ISO))
    times = _cast(pc.if_else(pa.array(good), column, pa.scalar(None, pa.string())))
    bad = mask(pc.is_valid(column)) & ~mask(pc.is_valid(times))
    if bad.any():
        shown = column[int(np.argmax(bad))].as_py()
        sheet.say_of("error", "not_a_time", f"{name} {shown!r} is not a time", bad, _FIX)
    return times


def micros(column: pa.ChunkedArray, missing: int = UNKNOWN_TIME) -> I64:
    """Microseconds since 1970 UTC, with ``missing`` for null."""
    return np.asarray(pc.fill_null(pc.cast(column, pa.int64()), missing), dtype=np.int64)


def instant(text: str) -> int:
    """Microseconds since 1970 UTC of an ISO 8601 time; UTC where it names no zone.

    Raises:
        ValueError: not a time.

    >>> instant("1970-01-01T00:00:01")
    1000000
    """
    found = datetime.fromisoformat(text)
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    since = found - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds


def _cast(text: pa.ChunkedArray) -> pa.ChunkedArray:
    """Strings of the right form as times; null where the calendar has no such day."""
    text = pc.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")
    text = pc.if_else(
        pc.equal(pc.utf8_length(text), 10), pc.binary_join_element_wise(text, "00:00:00", "T"), text
    )
    zoned = pc.match_substring_regex(text, r"(Z|[+-]\d{2}(:?\d{2})?)$")
    zoned = pc.and_(zoned, pc.greater(pc.utf8_length(text), 13))
    text = pc.if_else(zoned, text, pc.binary_join_element_wise(text, "", "Z"))
    try:
        return pc.cast(text, MICROS)
    except pa.ArrowInvalid:
        distinct = text.unique()
        found = pa.array([_one(value) for value in distinct], MICROS)
        return pc.take(found, pc.index_in(text, value_set=distinct))


def _one(value: pa.Scalar) -> pa.Scalar | None:
    try:
        return pc.cast(value, MICROS)
    except pa.ArrowInvalid:
        return pa.scalar(None, MICROS)


def _as_seconds(value: object) -> str:
    try:
        return f", as seconds {datetime.fromtimestamp(float(str(value)), UTC):%Y-%m-%dT%H:%M:%SZ}"
    except (ValueError, OverflowError, OSError):
        return ""
