"""Numbers that a float64 does not hold: different ones in the file would become ties.

Only integers past 2**53 and what underflows to zero are looked for. A fraction that rounds, such
as 0.1, is what everyone expects of a float64.
"""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I64

_LIMIT = 2.0**53  # up to here every integer is a float64
_NOT_ZERO = r"^[^eE]*[1-9]"
_WHOLE = r"^[+-]?\d+(\.0*)?$"
_EXACT_BITS = 32  # integers of so many bits always fit


def suspects(values: pa.ChunkedArray) -> I64:
    """Rows of a float64 column that are zero or large: the only ones that can have been changed."""
    numbers: F64 = values.to_numpy()
    large = np.abs(numbers) >= _LIMIT
    return np.flatnonzero((numbers == 0) | (large & np.isfinite(numbers)))


def changed_texts(texts: pa.ChunkedArray, values: pa.ChunkedArray) -> I64:
    """Rows where a literal that is not zero became zero, or an integer became another one.

    >>> texts = pa.chunked_array([["1e-400", "0.0", "9007199254740993", "9007199254740992", "0.1"]])
    >>> changed_texts(texts, pc.cast(texts, pa.float64())).tolist()
    [0, 2]
    """
    rows = suspects(values)
    if not len(rows):
        return rows
    chosen, found = texts.take(pa.array(rows)), values.to_numpy()[rows]
    lost = (found == 0) & np.asarray(pc.match_substring_regex(chosen, _NOT_ZERO))
    whole = (found != 0) & np.asarray(pc.match_substring_regex(chosen, _WHOLE))
    at = np.flatnonzero(whole)
    wanted = chosen.take(pa.array(at)).to_pylist()
    lost[at] = [_integer(text) != int(found[i]) for i, text in zip(at, wanted, strict=True)]
    changed: I64 = rows[lost]
    return changed


def changed_numbers(column: pa.ChunkedArray, values: pa.ChunkedArray) -> I64:
    """Rows of an integer or decimal column whose float64 is another number.

    >>> column = pa.chunked_array([[2**53 + 1, 2**53, 2**62, None]])
    >>> changed_numbers(column, pc.cast(column, pa.float64(), safe=False)).tolist()
    [0]
    """
    kind = column.type
    if pa.types.is_floating(kind) or kind.bit_width <= _EXACT_BITS:
        return np.zeros(0, np.int64)
    rows = suspects(values)
    found = values.to_numpy()[rows]
    rows, found = rows[found != 0], found[found != 0]  # a zero is a zero in these types
    exact = column.take(pa.array(rows)).to_pylist()
    differs = [Decimal(one) != Decimal(float(two)) for one, two in zip(exact, found, strict=True)]
    changed: I64 = rows[np.array(differs, bool)]
    return changed


def holds(value: int) -> bool:
    """Whether a float64 holds an integer.

    >>> holds(2**53 + 1), holds(10**20), holds(10**400)
    (False, True, False)
    """
    try:
        return int(float(value)) == value
    except OverflowError:
        return False


def _integer(text: str) -> int:
    """The integer of a literal; without leading zeros, of which there may be any number."""
    digits = text.partition(".")[0].lstrip("+-").lstrip("0")
    return -int(digits or "0") if text.startswith("-") else int(digits or "0")
