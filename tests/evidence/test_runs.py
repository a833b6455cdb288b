"""Scored lists come back as they were; a damaged file is found, not believed."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pipeline.core.pool import Declared, Judgments, Pool, Times, Units, Vocab
from pipeline.core.problems import Problem
from pipeline.core.run import Lists, Origin, Run
from pipeline.evidence.runs import find, keep, read_run, write_run


@pytest.fixture
def pool() -> Pool:
    queries, items = pa.array(["0012", "NO"]), pa.array(["a", "b", "null"])
    none, empty = np.zeros(0, np.int64), np.zeros(2, np.int64)
    return Pool(
        name="toy",
        queries=pa.table({"query_id": queries}),
        items=pa.table({"item_id": items}),
        candidates=None,
        logs=None,
        judgments=Judgments(np.zeros(3, np.int64), none.astype(np.int32), none * 1.0, none > 0),
        units=Units(
            queries, empty.astype(np.int32), np.ones(2), np.ones(2), empty.astype(np.int32)
        ),
        times=Times(empty, np.zeros(3, np.int64), np.zeros(3, np.int64), np.zeros(3, np.int64)),
        vocab=Vocab(queries, items),
        declared=Declared(),
        problems=(),
        digest="d",
    )


def lists(*rows: tuple[int, int, float], ranks: list[int] | None = None) -> Lists:
    query, item, score = zip(*rows, strict=True) if rows else ((), (), ())
    return Lists(
        np.array(query, np.int32),
        np.array(item, np.int32),
        np.array(score, np.float64),
        None if ranks is None else np.array(ranks, np.int32),
    )


def run(final: Lists, retrieval: Lists | None) -> Run:
    return Run(
        origin=Origin("m", "python", "x:y", "x:y", source_digest="ab"),
        final=final,
        retrieval=retrieval,
        foreign=pa.array(["zz", "1e5"]),
        cost={"latency_ms": np.array([1.5, np.pi])},
        outside=3,
        digest="ef",
        problems=(Problem("x", "warning", "odd", examples=("a",)),),
    )


FINAL = lists((0, 2, 0.1), (0, 3, 1 / 3), (1, 4, -2.0), ranks=[2, 1, 1])
FIRST = lists((0, 0, 1.0), (0, 2, 1e-300), (1, 4, 5.0))


@pytest.mark.parametrize("retrieval", [None, FIRST])
@pytest.mark.parametrize("final", [FINAL, lists(), FIRST])
def test_lists_come_back_to_the_bit(
    pool: Pool, tmp_path: Path, final: Lists, retrieval: Lists | None
) -> None:
    before = run(final, retrieval)
    write_run(before, pool, tmp_path / "m.parquet")
    after = read_run(tmp_path / "m.parquet", pool)
    ids = pa.concat_arrays([pool.vocab.items, before.foreign])
    again = pa.concat_arrays([pool.vocab.items, after.foreign])
    for old, new in ((before.final, after.final), (before.retrieval, after.retrieval)):
        assert (old is None) == (new is None)
        if old is None or new is None:
            continue
        assert np.array_equal(old.query, new.query)
        assert ids.take(pa.array(old.item)).equals(again.take(pa.array(new.item)))
        assert np.array_equal(old.score, new.score)
        if len(old.query):
            assert (old.given_rank is None) == (new.given_rank is None)
        if old.given_rank is not None and new.given_rank is not None:
            assert np.array_equal(old.given_rank, new.given_rank)
    assert (after.origin, after.outside, after.digest) == (before.origin, 3, "ef")
    assert after.problems == before.problems
    assert np.array_equal(after.cost["latency_ms"], before.cost["latency_ms"])


def test_the_cache_gives_back_what_was_kept(pool: Pool, tmp_path: Path) -> None:
    path = keep(run(FINAL, FIRST), pool, tmp_path, "key")
    assert find(tmp_path, "key") == path
    assert find(tmp_path, "ke") is None
    assert [p for p in tmp_path.iterdir() if p != path] == []


def test_a_damaged_or_edited_file_is_not_found(pool: Pool, tmp_path: Path) -> None:
    path = keep(run(FINAL, None), pool, tmp_path, "key")
    whole = path.read_bytes()
    for place in range(0, len(whole), 97):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert find(tmp_path, "key") is None
    path.write_bytes(whole[:-1])
    assert find(tmp_path, "key") is None
