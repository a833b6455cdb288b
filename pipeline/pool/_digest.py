"""Digests of tables by what they say, not by how they are stored."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I64
from pipeline.core.pool import UNKNOWN_TIME
from pipeline.kernels.digest import of_arrays

_Arrays = dict[str, np.ndarray[Any, Any]]


def of_table(table: pa.Table) -> str:
    """SHA-256 of a table whose columns have the types of ``_types.normal``.

    The order of rows counts, so callers sort. The order of columns, chunks, the file's format,
    and columns of nothing but nulls do not. An integer and a float of the same value are the
    same.
    """
    arrays: _Arrays = {"rows": np.array([table.num_rows])}
    for name in table.column_names:
        column = table[name]
        if column.null_count < len(column):
            arrays |= {f"{name}\0{part}": found for part, found in _parts(column).items()}
    return of_arrays(arrays)


def _parts(column: pa.ChunkedArray) -> _Arrays:
    """A column as arrays that differ whenever a value differs."""
    kind = column.type
    if pa.types.is_boolean(kind):
        values = pc.fill_null(pc.cast(column, pa.int8()), -1)
        return {"bool": np.asarray(values, dtype=np.int8)}
    if pa.types.is_integer(kind):
        return _integers(column)
    if pa.types.is_floating(kind):
        return {"number": _floats(column)}
    if pa.types.is_timestamp(kind):
        times = pc.fill_null(pc.cast(column, pa.int64()), UNKNOWN_TIME)
        return {"time": np.asarray(times, dtype=np.int64)}
    if pa.types.is_string(kind):
        return _strings(column, "text")
    texts = [None if v is None else json.dumps(v, sort_keys=True, default=str)
             for v in column.to_pylist()]  # fmt: skip
    return _strings(pa.chunked_array([pa.array(texts, pa.string())]), "nested")


def _floats(column: pa.ChunkedArray) -> F64:
    return np.asarray(pc.fill_null(column, np.nan), dtype=np.float64)


def _integers(column: pa.ChunkedArray) -> _Arrays:
    """Integers as the floats they equal, and by themselves where no float does."""
    values: I64 = np.asarray(pc.fill_null(column, 0), dtype=np.int64)
    rounded = values.astype(np.float64)
    # Rounding up to 2^63 would not convert back; it is never exact for an int64.
    back = np.where(rounded < 2.0**63, rounded, 0.0).astype(np.int64)
    exact = back == values
    known = np.asarray(pc.is_valid(column), dtype=np.bool_)
    found: _Arrays = {"number": np.where(known, rounded, np.nan)}
    if not exact.all():
        found["whole"] = np.where(exact, 0, values)
    return found


def _strings(column: pa.ChunkedArray, name: str) -> _Arrays:
    """Lengths in bytes, -1 for null, and the bytes."""
    sizes = np.asarray(pc.fill_null(pc.binary_length(column), -1), dtype=np.int64)
    pieces = [_bytes(chunk) for chunk in pc.fill_null(column, "").chunks]
    return {name: sizes, f"{name} bytes": np.concatenate([np.zeros(0, np.uint8), *pieces])}


def _bytes(chunk: pa.Array) -> np.ndarray[Any, np.dtype[np.uint8]]:
    _, offsets, data = chunk.buffers()
    if data is None or not len(chunk):
        return np.zeros(0, np.uint8)
    ends = np.frombuffer(offsets, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
    return np.frombuffer(data, np.uint8)[ends[0] : ends[-1]]
