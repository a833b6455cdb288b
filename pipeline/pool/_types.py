"""The types that attribute columns are brought to, whatever format they came from."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import Bool

MICROS = pa.timestamp("us", "UTC")


# Microseconds in a unit; coarser units hold times that int64 microseconds do not.
_MICROS_IN = {"s": 1_000_000, "ms": 1_000, "us": 1}
_DAY = 86_400 * 1_000_000


def too_far(column: pa.ChunkedArray) -> Bool | None:
    """Mask of times that microseconds cannot hold; None where there are none.

    >>> too_far(pa.chunked_array([pa.array([0, 2**62], pa.timestamp("ms"))])).tolist()
    [False, True]
    """
    kind = column.type
    if pa.types.is_date32(kind):
        counts, factor = pc.cast(pc.cast(column, pa.int32()), pa.int64()), _DAY
    elif pa.types.is_date64(kind):
        counts, factor = pc.cast(column, pa.int64()), _MICROS_IN["ms"]
    elif pa.types.is_timestamp(kind) and kind.unit in _MICROS_IN:
        counts, factor = pc.cast(column, pa.int64()), _MICROS_IN[kind.unit]
    else:
        return None
    limit = (2**63 - 2) // factor  # the largest and the smallest int64 mean: no time
    far = pc.or_(pc.greater(counts, limit), pc.less(counts, -limit))
    found = np.asarray(pc.fill_null(far, fill_value=False), dtype=np.bool_)
    return found if found.any() else None


def normal(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as int64, float64, bool, string or timestamp[us, UTC]; nested types stay.

    NaN becomes null, and so do times that microseconds cannot hold; times without a zone are read
    as UTC, unsigned numbers past int64 become float64.

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
    far = too_far(column)
    if far is not None:
        column = pc.if_else(pa.array(far), pa.scalar(None, column.type), column)
    if pa.types.is_timestamp(column.type) and column.type.tz is not None:
        return pc.cast(column, MICROS, safe=False)
    naive = pc.cast(column, pa.timestamp("us"), safe=False)
    return pc.assume_timezone(naive, "UTC")
