"""The digest of a run: what was returned, by id, whatever codes a pool gives those ids."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from pipeline.core.arrays import I32, I64
from pipeline.core.pool import Vocab
from pipeline.core.run import NO_CODES, Lists
from pipeline.kernels.digest import of_arrays, of_parts


def of_lists(
    final: Lists,
    retrieval: Lists | None,
    vocab: Vocab,
    foreign: pa.Array,
    empty: I32 = NO_CODES,
) -> str:
    """SHA-256 over ids, scores, given ranks and the order of rows within a query.

    Ids enter once each, rows as their places among the ids in use: hashing a string a row would
    take longer than reading the file did. Foreign ids are numbered anew by first use.

    Args:
        final: checked lists.
        retrieval: likewise, if known.
        vocab: ids behind the codes.
        foreign: ids behind the other item codes.
        empty: codes of queries answered with nothing.
    """
    stages = [final] if retrieval is None else [final, retrieval]
    item = np.concatenate([lists.item for lists in stages])
    inside = len(vocab.items)
    known = item < inside
    pooled, item[known] = _dense(item[known], inside)
    strange = item[~known] - np.int32(inside)
    used, strange = _by_first_use(strange, len(foreign))
    item[~known] = strange + np.int32(len(pooled))
    asked = np.concatenate([np.bincount(s.query, minlength=len(vocab.queries)) for s in stages])
    answered = asked.reshape(len(stages), -1).any(axis=0)
    arrays: dict[str, NDArray[Any]] = {
        "item": item,
        "lengths": asked.reshape(len(stages), -1)[:, answered],
    }
    for stage, lists in enumerate(stages):
        # As integers: finite by now, so there is no NaN to make alike; adding 0 unsigns zeros.
        arrays[f"score{stage}"] = (lists.score + 0.0).view(np.int64)
        if lists.given_rank is not None:
            arrays[f"rank{stage}"] = lists.given_rank
    nothing = {"empty": _of_ids(vocab.queries.take(pa.array(empty)))} if len(empty) else {}
    return of_parts(
        nothing
        | {
            "rows": of_arrays(arrays),
            "queries": _of_ids(vocab.queries.filter(pa.array(answered))),
            "items": _of_ids(vocab.items.take(pooled)),
            "foreign": _of_ids(foreign if used is None else foreign.take(used)),
        }
    )


def _dense(codes: I32, n: int) -> tuple[I64, I32]:
    """The codes in use, ascending, and every code's place among them."""
    used = np.zeros(n, dtype=np.bool_)
    used[codes] = True
    place = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(used), place[codes]


def _by_first_use(codes: I32, n: int) -> tuple[I64 | None, I32]:
    """The codes in use, in order of first use, and every code's place among them.

    None in place of the former where that is all of them as they are.
    """
    if not len(codes):
        return np.empty(0, dtype=np.int64), codes
    highest = np.maximum.accumulate(codes)
    steps = np.diff(highest, prepend=np.int32(-1))
    if steps.max() == 1 and highest[-1] == n - 1:
        return None, codes
    first = np.full(n, len(codes), dtype=np.int64)
    # Of several writes to one place the last one stands, so from the back it is the first use.
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    used = np.flatnonzero(first < len(codes))
    used = used[np.argsort(first[used])]
    place = np.empty(n, dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    return used, place[codes]


def _of_ids(ids: pa.Array) -> str:
    """Digest of a string array from its buffers: lengths and bytes."""
    if not len(ids):
        return of_arrays({})
    packed = pa.concat_arrays([ids.cast(pa.large_string())])  # drops slices and offsets
    _, offsets, data = packed.buffers()
    ends = np.frombuffer(offsets, dtype=np.int64)[packed.offset :][: len(packed) + 1]
    text = np.frombuffer(data, dtype=np.uint8)[ends[0] : ends[-1]] if data else np.empty(0, "u1")
    return of_arrays({"length": np.diff(ends).astype(np.int32), "text": text})
