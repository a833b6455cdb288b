"""SHA-256 digests of canonical content."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np


def of_json(value: Any) -> str:
    """Digest of a JSON-ready value; key order does not matter.

    >>> of_json({"a": 1, "b": 2}) == of_json({"b": 2, "a": 1})
    True
    """
    text = json.dumps(
        value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
    )
    return hashlib.sha256(text.encode()).hexdigest()


def of_arrays(arrays: Mapping[str, np.ndarray[Any, Any]]) -> str:
    """Digest of named arrays: names, types, shapes and little-endian bytes; order of names is free.

    Zeros are unsigned and every NaN is the same NaN, so that equal numbers have equal digests.
    """
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        if array.dtype.kind == "f":
            array = np.where(np.isnan(array), np.nan, array + 0.0)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        total.update(f"{name}\0{array.dtype.str}\0{array.shape}\0".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def of_strings(strings: Iterable[str | None]) -> str:
    """Digest of strings and nulls; lengths are part of it, so that joins do not collide."""
    total = hashlib.sha256()
    for string in strings:
        encoded = b"" if string is None else string.encode()
        total.update(b"-" if string is None else f"{len(encoded)}:".encode())
        total.update(encoded)
    return total.hexdigest()


def of_parts(parts: Mapping[str, str]) -> str:
    """Digest of named digests."""
    return of_json(dict(parts))


def of_file(path: str) -> str:
    """Digest of a file's bytes."""
    with open(path, "rb") as stream:  # noqa: PTH123 - hashlib wants the stream
        return hashlib.file_digest(stream, "sha256").hexdigest()
