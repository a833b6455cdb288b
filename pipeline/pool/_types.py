"""The types that attribute columns are brought to, whatever format they came from."""

import pyarrow as pa
import pyarrow.compute as pc

MICROS = pa.timestamp("us", "UTC")


def normal(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as int64, float64, bool, string or timestamp[us, UTC]; nested types stay.

    NaN becomes null, times without a zone are read as UTC, unsigned numbers past int64 become
    float64.

    >>> normal(pa.chunked_array([pa.array(["a"]).dictionary_encode()])).to_pylist()
    ['a']
    """
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    kind = column.type
    if pa.types.is_integer(kind):
        return _integers(column)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        column = pc.cast(column, pa.float64(), safe=False)
        return pc.if_else(pc.is_nan(column), pa.scalar(None, pa.float64()), column)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _times(column)
    if pa.types.is_null(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pc.cast(column, pa.string())
    return column


def _integers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return pc.cast(column, pa.int64())
    except pa.ArrowInvalid:
        return pc.cast(column, pa.float64(), safe=False)


def _times(column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pc.cast(column, MICROS, safe=False)
    naive = pc.cast(column, pa.timestamp("us"), safe=False)
    return pc.assume_timezone(naive, "UTC")
