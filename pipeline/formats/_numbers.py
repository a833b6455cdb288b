"""Numbers out of strings, with the places of what is not a number."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import Bool
from pipeline.formats._exact import changed_texts

_FLOAT = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:nan|inf|infinity))$"
# Leading zeros are codes (zip 01234), and so are words such as nan: such columns stay text.
_PLAIN_INT = r"^-?(0|[1-9]\d*)$"
_PLAIN_FLOAT = r"^-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?$"
_BOOL = r"^(?i:true|false)$"


def floats(strings: pa.ChunkedArray) -> tuple[pa.ChunkedArray, Bool]:
    """Numbers (float64, null where there is none), and a mask of what is not a number.

    Nulls are not numbers. NaN and infinities are read as what they say.

    >>> values, bad = floats(pa.chunked_array([["1.5", "Exact"]]))
    >>> values.to_pylist(), bad.tolist()
    ([1.5, None], [False, True])
    """
    good = pc.fill_null(pc.match_substring_regex(strings, _FLOAT), fill_value=False)
    values = pc.cast(pc.if_else(good, strings, pa.scalar(None, pa.string())), pa.float64())
    return values, ~np.asarray(good)


def typed(strings: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of text as int64, float64 or bool, where all of its values are; else as it is.

    Numbers that a float64 would change stay text.

    >>> typed(pa.chunked_array([["1", None, "2"]])).to_pylist()
    [1, None, 2]
    >>> typed(pa.chunked_array([["01", "2"]])).to_pylist()
    ['01', '2']
    """
    if strings.null_count == len(strings):
        return strings
    if _all(strings, _PLAIN_INT):
        return _integers(strings)
    if _all(strings, _PLAIN_FLOAT):
        values = pc.cast(strings, pa.float64())
        return strings if len(changed_texts(strings, values)) else values
    if _all(strings, _BOOL):
        return pc.equal(pc.utf8_lower(strings), "true")
    return strings


def _integers(strings: pa.ChunkedArray) -> pa.ChunkedArray:
    """Integers, or the text as it is where one is too large: a float would change it."""
    try:
        return pc.cast(strings, pa.int64())
    except pa.ArrowInvalid:
        return strings


def _all(strings: pa.ChunkedArray, pattern: str) -> bool:
    """Whether every value matches; a first look at the first piece spares the rest."""
    head = strings.slice(0, 1000)
    for part in (head, strings):
        if not pc.all(pc.match_substring_regex(part, pattern), min_count=0).as_py():
            return False
    return True
