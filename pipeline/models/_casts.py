"""Columns of a pool in the exact types that a model's signature asks for, or why they cannot be.

MLflow refuses whatever is not of the signature's type, also where nothing would be lost (a whole
number for a double); a missing whole number would be taken for something else. So types are made
exact here, and what would lose something is named. A double becomes a 32-bit ``float`` by rounding,
as it did when the model was trained.
"""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pipeline.core.arrays import Bool

_WHOLE = {"integer": pa.int32(), "long": pa.int64()}
_REAL = {"float": np.float32, "double": np.float64}
_SHOWN = 3


class MisfitError(ValueError):
    """A column cannot be had in the type that is asked for; the text says why."""


def cast(column: pa.ChunkedArray, kind: str) -> "pd.Series[Any]":
    """(N,) the column as pandas has it in the type ``kind`` of a signature.

    Args:
        column: of the pool.
        kind: as in :class:`pipeline.core.signature.Column`; ``any`` for a model without signature.

    Raises:
        MisfitError: it holds something else, a value that would be changed, or a missing value
            where the type has none.
    """
    if kind in _WHOLE:
        values = _cast(_present(column, kind), _WHOLE[kind], kind)
        return pd.Series(values.to_numpy())
    if kind in _REAL:
        values = _cast(column, pa.float64(), kind)
        return pd.Series(_rounded(values.to_numpy(), kind))
    if kind == "boolean":
        return pd.Series(_booleans(_present(column, kind)))
    if kind == "string":
        column = _strings(column)
    if kind == "binary" and not _bytes(column.type):
        held = _words(column.type)
        raise MisfitError(f"holds {held}{_examples(column, pc.is_valid(column))}")
    if kind == "datetime":
        return pd.Series(_times(column))
    found: pd.Series[Any] = column.to_pandas()
    return found


def _rounded(values: NDArray[np.float64], kind: str) -> NDArray[Any]:
    """The numbers in a type that may hold fewer digits; none of them so large that it is lost."""
    with np.errstate(over="ignore"):
        found = values.astype(_REAL[kind])
    lost = np.isinf(found) & np.isfinite(values)
    if lost.any():
        shown = ", ".join(map(repr, values[lost][:_SHOWN].tolist()))
        raise MisfitError(f"holds values too large for a {kind} (e.g. {shown})")
    return found


def _present(column: pa.ChunkedArray, kind: str) -> pa.ChunkedArray:
    if column.null_count:
        n = f"{column.null_count:,} of {len(column):,} values"
        raise MisfitError(f"lacks {n}, and a {kind} cannot be missing")
    return column


def _cast(column: pa.ChunkedArray, to: pa.DataType, kind: str) -> pa.ChunkedArray:
    held = column.type
    numeric = pa.types.is_integer(held) or pa.types.is_floating(held) or pa.types.is_decimal(held)
    if pa.types.is_null(held) or pa.types.is_boolean(held):
        return column.cast(pa.int8()).cast(to)
    if not numeric:
        raise MisfitError(f"holds {_words(held)}{_examples(column, pc.is_valid(column))}")
    try:
        return column.cast(to)
    except pa.ArrowInvalid as error:
        lossy = column.cast(to, safe=False).cast(held, safe=False)
        changed = pc.fill_null(pc.not_equal(lossy, column), fill_value=False)
        raise MisfitError(f"holds values that are no {kind}{_examples(column, changed)}") from error


def _booleans(column: pa.ChunkedArray) -> Bool:
    held = column.type
    if pa.types.is_boolean(held):
        return np.asarray(column.to_numpy(), dtype=np.bool_)
    if not pa.types.is_integer(held):
        raise MisfitError(f"holds {_words(held)}{_examples(column, pc.is_valid(column))}")
    values = column.to_numpy()
    if not np.isin(values, (0, 1)).all():
        raise MisfitError("holds other numbers than 0 and 1")
    found: Bool = values.astype(np.bool_)
    return found


def _strings(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Text; whole numbers too, as a pool reads codes of digits alone as numbers."""
    held = column.type
    text = pa.types.is_string(held) or pa.types.is_large_string(held)
    if text or pa.types.is_integer(held) or pa.types.is_null(held):
        return column.cast(pa.string())
    raise MisfitError(f"holds {_words(held)}{_examples(column, pc.is_valid(column))}")


def _times(column: pa.ChunkedArray) -> NDArray[np.datetime64]:
    """UTC without a zone, in nanoseconds."""
    held = column.type
    if not pa.types.is_timestamp(held) and not pa.types.is_date(held):
        raise MisfitError(f"holds {_words(held)}{_examples(column, pc.is_valid(column))}")
    try:
        stamps = column.cast(pa.timestamp("ns", getattr(held, "tz", None)))
    except pa.ArrowInvalid as error:
        raise MisfitError("holds times that nanoseconds cannot tell") from error
    found: NDArray[np.datetime64] = stamps.cast(pa.timestamp("ns")).to_numpy()
    return found.astype("datetime64[ns]")


def _bytes(held: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(held) or pa.types.is_large_binary(held) or pa.types.is_null(held)
    )


def _words(held: pa.DataType) -> str:
    if pa.types.is_string(held) or pa.types.is_large_string(held):
        return "text"
    if pa.types.is_timestamp(held) or pa.types.is_date(held):
        return "times"
    if pa.types.is_list(held) or pa.types.is_large_list(held):
        return "lists"
    if pa.types.is_boolean(held):
        return "true and false"
    return "numbers" if pa.types.is_floating(held) else str(held)


def _examples(column: pa.ChunkedArray, which: pa.ChunkedArray) -> str:
    found = column.filter(which).slice(0, _SHOWN).to_pylist()
    return f" (e.g. {', '.join(map(repr, found))})" if found else ""
