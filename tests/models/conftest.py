"""A compact way to write small pools, and lists as plain dictionaries."""

from collections.abc import Callable, Sequence
from typing import Any

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
from pipeline.core.run import Lists, Origin, Run
from pipeline.models import Tools

DAY = 86_400_000_000
STAMP = pa.timestamp("us", "UTC")
DATES = {"issued_at", "created_at", "eligible_from", "eligible_until", "at"}


def _table(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> pa.Table:
    """A table of dictionaries; columns of DATES are given in days since 1970."""
    columns = {}
    for name in dict.fromkeys([*names, *(key for row in rows for key in row)]):
        values = [row.get(name) for row in rows]
        if name in DATES:
            micros = [None if value is None else round(value * DAY) for value in values]
            columns[name] = pa.array(micros, STAMP)
        else:
            columns[name] = pa.array(values, pa.string() if name.endswith("_id") else None)
    return pa.table(columns)


def _times(table: pa.Table, name: str, empty: int) -> np.ndarray:
    if name not in table.column_names:
        return np.full(len(table), empty, dtype=np.int64)
    return np.asarray(table[name].cast(pa.int64()).fill_null(empty), dtype=np.int64)


def _judgments(qrels: dict[str, dict[str, float]], queries: list[str], items: list[str]):
    rows = [(q, i) for q in queries for i in sorted(qrels.get(q, {}))]
    return Judgments(
        query_ptr=np.cumsum([0, *(len(qrels.get(q, {})) for q in queries)]),
        item=np.array([items.index(i) for _, i in rows], dtype=np.int32),
        grade=np.array([qrels[q][i] for q, i in rows], dtype=np.float64),
        eligible=np.ones(len(rows), dtype=np.bool_),
    )


@pytest.fixture
def make_pool() -> Callable[..., Pool]:
    """Builds a pool from dictionaries: id -> columns; dates in days since 1970.

    logs: one dictionary a row; candidates: pairs; qrels: query -> item -> grade.
    """

    def make(queries, items, logs=None, candidates=None, qrels=None, seen="kept") -> Pool:
        asked = [{"query_id": key, **queries[key]} for key in sorted(queries)]
        shown = [{"item_id": key, **items[key]} for key in sorted(items)]
        query_table, item_table = _table(asked, ["query_id"]), _table(shown, ["item_id"])
        n = len(asked)
        pairs = [{"query_id": q, "item_id": i} for q, i in sorted(candidates or ())]
        return Pool(
            name="tiny",
            queries=query_table,
            items=item_table,
            candidates=(None if candidates is None else _table(pairs, ["query_id", "item_id"])),
            logs=None if logs is None else _table(logs, ["query_id", "item_id"]),
            judgments=_judgments(qrels or {}, sorted(queries), sorted(items)),
            units=Units(
                query_table["query_id"].combine_chunks(),
                np.arange(n, dtype=np.int32),
                np.ones(n),
                np.ones(n),
                np.zeros(n, dtype=np.int32),
            ),
            times=Times(
                _times(query_table, "issued_at", UNKNOWN_TIME),
                _times(item_table, "created_at", UNKNOWN_TIME),
                _times(item_table, "eligible_from", UNKNOWN_TIME),
                _times(item_table, "eligible_until", OPEN_END),
            ),
            vocab=Vocab(
                query_table["query_id"].combine_chunks(), item_table["item_id"].combine_chunks()
            ),
            declared=Declared(seen=seen),
            problems=(),
            digest="",
        )

    return make


@pytest.fixture
def as_dict() -> Callable[..., dict[str, dict[str, float]]]:
    """Lists as query id -> item id -> score, in the lists' order."""

    def convert(lists: Lists, pool: Pool, foreign: pa.Array | None = None):
        ids = [*pool.vocab.items.to_pylist(), *([] if foreign is None else foreign.to_pylist())]
        found: dict[str, dict[str, float]] = {}
        for q, i, s in zip(lists.query, lists.item, lists.score, strict=True):
            found.setdefault(pool.vocab.queries[int(q)].as_py(), {})[ids[i]] = float(s)
        return found

    return convert


@pytest.fixture
def tools() -> Tools:
    """Tools with room for everything."""
    return Tools()


@pytest.fixture
def origin() -> Origin:
    """An origin without a file."""
    return Origin("mine", "test", "mine", "mine")


@pytest.fixture
def same() -> Callable[[Run, Run], None]:
    """Asserts that two runs are equal to the bit."""

    def compare(one: Run, two: Run) -> None:
        assert one.digest == two.digest
        for a, b in ((one.final, two.final), (one.retrieval, two.retrieval)):
            if a is None or b is None:
                assert a is b
                continue
            assert np.array_equal(a.query, b.query)
            assert np.array_equal(a.item, b.item)
            assert a.score.tobytes() == b.score.tobytes()

    return compare


@pytest.fixture
def world(make_pool) -> Callable[..., Pool]:
    """A pool of 40 users and 30 dated items with 600 random interactions, drawn from a seed."""

    def make(seed: int = 7, **more: Any) -> Pool:
        rng = np.random.default_rng(seed)
        popular = np.arange(1, 31) ** -0.7
        logs = [
            {
                "user_id": f"u{rng.integers(45)}",
                "item_id": f"i{rng.choice(30, p=popular / popular.sum()):02d}",
                "at": float(rng.uniform(10, 100)),
                "reward": float(rng.integers(1, 6)),
            }
            for _ in range(600)
        ]
        queries = {f"q{u:02d}": {"user_id": f"u{u}", "issued_at": 100 + u % 3} for u in range(40)}
        items = {
            f"i{i:02d}": {"created_at": i if i % 5 else None, "genres": ["ab", "bc", "c"][i % 3]}
            for i in range(30)
        }
        qrels = {query: {f"i{rng.integers(30):02d}": 2.0} for query in queries}
        return make_pool(queries, items, logs, qrels=qrels, **more)

    return make
