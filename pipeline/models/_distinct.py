"""Which rows of a string column hold the same string, without a hash map of strings.

A dictionary of some millions of ids takes as long as parsing the file that they stand in. Here
ids are read as 8-byte words, hashed all at once, and every match is compared word by word: the
hash decides the speed only, never the result.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.core.arrays import I32, I64

_MOST_WORDS = 16  # longer ids are left to Arrow
_CHUNK = 1 << 16  # rows hashed together; fits the processor's cache
_MIX = np.uint64(0x9E3779B97F4A7C15)  # odd, its bits well spread
_SLOT = 0xC2B2AE3D27D4EB4F  # likewise
_KEPT = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)  # of a word's bytes


def first_rows(ids: pa.Array) -> I32:
    """(N,) for each row the first row that holds the same string; strings without nulls.

    >>> first_rows(pa.array(["b", "a", "b", ""])).tolist()
    [0, 1, 0, 3]
    """
    column = _Words.of(ids)
    if column.count > _MOST_WORDS:
        return _by_dictionary(ids)
    found = _grouped(_hashed(column))
    whole = slice(0, len(ids))
    same = all(np.array_equal(word, word[found]) for word in column.read(whole))
    return found if same else _by_dictionary(ids)


@dataclass(frozen=True, slots=True, eq=False)
class _Words:
    """A string column, eight bytes at a time.

    Attributes:
        every: the eight bytes from each byte on, as a number.
        ends: (N+1,) where each string begins, and the last one ends.
        count: words that hold the longest string.
    """

    every: NDArray[np.uint64]
    ends: I32 | I64
    count: int

    @classmethod
    def of(cls, ids: pa.Array) -> "_Words":
        _, offsets, data = ids.buffers()
        ends: I32 | I64 = np.zeros(1, dtype=np.int32)
        if len(ids):
            rows = slice(ids.offset, ids.offset + len(ids) + 1)
            wide = pa.types.is_large_string(ids.type)
            ends = (
                np.frombuffer(offsets, np.int64)[rows]
                if wide
                else np.frombuffer(offsets, np.int32)[rows]
            )
        text = np.empty(int(ends[-1]) + 8, dtype=np.uint8)  # a word may begin at the last byte
        text[-8:] = 0
        text[:-8] = np.frombuffer(data, dtype=np.uint8)[: ends[-1]] if ends[-1] else 0
        every = np.ndarray((len(text) - 7,), np.dtype("<u8"), text.data, strides=(1,))
        longest = int(np.max(ends[1:] - ends[:-1], initial=0))
        return cls(every, ends, -(-longest // 8))

    def read(self, rows: slice) -> Iterator[NDArray[np.uint64]]:
        """(N,) the first eight bytes of some rows, the next eight, ...; last their lengths."""
        start = self.ends[rows]
        length = self.ends[rows.start + 1 : rows.stop + 1] - start
        for word in range(self.count):
            left = np.clip(length - 8 * word, 0, 8)
            place = np.minimum(start + 8 * word, len(self.every) - 1) if word else start
            yield self.every[place] & _KEPT[left]
        yield length.astype(np.uint64)


def _hashed(column: _Words) -> NDArray[np.uint64]:
    n = len(column.ends) - 1
    keys = np.zeros(n, dtype=np.uint64)
    for start in range(0, n, _CHUNK):
        rows = slice(start, min(start + _CHUNK, n))
        mixed = keys[rows]  # a view
        for word in column.read(rows):
            mixed ^= word
            mixed *= _MIX
            mixed ^= mixed >> np.uint64(29)
    return keys


def _grouped(keys: NDArray[np.uint64]) -> I32:
    """(N,) for each row the first row with the same key.

    Rows write their number into a slot that their key chooses, the first rows last, so that they
    stand. Where a slot then holds a row of the same key, that is the key's first row. All rows of
    the other keys try again with other slots.
    """
    rows = found = np.arange(len(keys), dtype=np.int32)
    own, factor = keys, _SLOT
    while rows.size:
        bits = (2 * rows.size).bit_length()
        slots = np.empty(1 << bits, dtype=np.int32)
        slot = (own * np.uint64(factor)) >> np.uint64(64 - bits)
        slots[slot[::-1]] = rows[::-1]
        holder = slots[slot]
        done = keys[holder] == own
        if rows is found:
            found = np.where(done, holder, found)
        else:
            found[rows[done]] = holder[done]
        rows, own = rows[~done], own[~done]
        factor = (factor * 5 + 2) % 2**64 | 1
    return found


def _by_dictionary(ids: pa.Array) -> I32:
    place = np.asarray(ids.dictionary_encode().indices, dtype=np.int32)
    first = np.empty(int(place.max(initial=-1)) + 1, dtype=np.int32)
    first[place[::-1]] = np.arange(len(place) - 1, -1, -1, dtype=np.int32)
    return first[place]
