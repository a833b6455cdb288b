"""The digest of a run: what was returned, by id, whatever codes a pool gives those ids."""

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import I32, I64
from pipeline.core.pool import Vocab
from pipeline.core.run import Lists
from pipeline.kernels.digest import of_arrays, of_parts
from pipeline.models._first_use import first_use, in_order


def of_lists(final: Lists, retrieval: Lists | None, vocab: Vocab, foreign: pa.Array) -> str:
    """SHA-256 over ids, scores, given ranks and the order of rows within a query.

    Ids enter once each, rows as their places among the ids in use: hashing a string a row would
    take longer than reading the file did. Foreign ids are numbered anew by first use.
    """
    stages = [final] if retrieval is None else [final, retrieval]
    query = np.concatenate([lists.query for lists in stages])
    item = np.concatenate([lists.item for lists in stages])
    asked, query = _dense(query, len(vocab.queries))
    inside = len(vocab.items)
    known = item < inside
    pooled, item[known] = _dense(item[known], inside)
    used, item[~known] = _by_first_use(item[~known] - inside, len(foreign))
    item[~known] += len(pooled)
    arrays = {
        "query": query,
        "item": item,
        "score": np.concatenate([lists.score for lists in stages]),
        "sizes": np.array([len(lists.query) for lists in stages], dtype=np.int64),
    }
    for stage, lists in enumerate(stages):
        if lists.given_rank is not None:
            arrays[f"rank{stage}"] = lists.given_rank
    return of_parts(
        {
            "rows": of_arrays(arrays),
            "queries": _of_ids(vocab.queries.take(asked)),
            "items": _of_ids(vocab.items.take(pooled)),
            "foreign": _of_ids(foreign.take(used)),
        }
    )


def _dense(codes: I32, n: int) -> tuple[I64, I32]:
    """The codes in use, ascending, and every code's place among them."""
    used = np.zeros(n, dtype=np.bool_)
    used[codes] = True
    place = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(used), place[codes]


def _by_first_use(codes: I32, n: int) -> tuple[I64, I32]:
    """The codes in use, in order of first use, and every code's place among them."""
    used = in_order(first_use(codes, n), len(codes))
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
    return of_arrays({"length": np.diff(ends), "text": text})
