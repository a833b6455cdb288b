import numpy as np
import pyarrow as pa
import pytest

from pipeline.core.pool import (
    OPEN_END,
    UNKNOWN_TIME,
    Declared,
    Judgments,
    Pool,
    Times,
    Units,
    Vocab,
)

DAY = 86_400_000_000


@pytest.fixture
def make_pool():
    """A pool of the given query and item tables; every query judges every item unless told."""

    def make(queries, items, asked=None, created=None, judged=None):
        q, i = queries.num_rows, items.num_rows
        rows = judged if judged is not None else [list(range(i))] * q
        pointer = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
        item = np.array([code for row in rows for code in row], dtype=np.int32)
        unknown = np.full(i, UNKNOWN_TIME)
        times = Times(
            np.full(q, UNKNOWN_TIME) if asked is None else np.array(asked, np.int64),
            unknown if created is None else np.array(created, np.int64),
            unknown,
            np.full(i, OPEN_END),
        )
        ids = queries["query_id"].combine_chunks()
        ones = np.ones(q)
        units = Units(ids, np.arange(q, dtype=np.int32), ones, ones, np.zeros(q, np.int32))
        judgments = Judgments(pointer, item, np.ones(len(item)), np.ones(len(item), np.bool_))
        vocab = Vocab(ids, items["item_id"].combine_chunks())
        return Pool(
            "toy", queries, items, None, None, judgments, units, times, vocab, Declared(), (), "x"
        )

    return make


@pytest.fixture
def pool(make_pool):
    queries = pa.table(
        {
            "query_id": ["a", "b", "c", "d"],
            "frequency": pa.array([10, 1, 1, 4], pa.int64()),
            "gender": ["F", "M", None, "NO"],
            "length": pa.array([3.0, 7.0, 6.0, None]),
            "vip": pa.array([True, False, None, True]),
            "issued_at": pa.array([0, 10 * DAY, 20 * DAY, None], pa.timestamp("us", "UTC")),
            "kind": pa.array(["x", "y", "x", None]).dictionary_encode(),
            "big": pa.array([2**60, 1, 2, 3], pa.int64()),
            "empty": pa.nulls(4),
        }
    )
    items = pa.table({"item_id": ["x", "y", "z"], "genre": ["drama", "war", "war"]})
    return make_pool(
        queries,
        items,
        asked=[0, 10 * DAY, 20 * DAY, UNKNOWN_TIME],
        created=[0, 5 * DAY, UNKNOWN_TIME],
        judged=[[0, 2], [0, 1], [1], [0]],
    )
