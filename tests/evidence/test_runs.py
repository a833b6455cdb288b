"""Scored lists come back as they were; a damaged file is found, not believed."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.core.pool import Declared, Judgments, Pool, Times, Units, Vocab
from pipeline.core.problems import Problem
from pipeline.core.run import Lists, Origin, Run
from pipeline.evidence.runs import KEY, find, keep, read_run, scratch, tidy, write_run


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
        empty=np.array([1], np.int32),
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
    assert after.empty.tolist() == [1]
    assert np.array_equal(after.cost["latency_ms"], before.cost["latency_ms"])


def test_an_origin_comes_back_with_its_parts(pool: Pool, tmp_path: Path) -> None:
    first, second = Origin("m.retriever", "svd", "svd", "svd()"), Origin("m.ranker", "x", "x", "x")
    inner = Origin("m.retriever", "two_stage", "a", "b", live=True, parts=(first, second))
    before = replace(run(FINAL, FIRST), origin=Origin("m", "t", "t", "t", parts=(inner, second)))
    write_run(before, pool, tmp_path / "m.parquet")
    assert read_run(tmp_path / "m.parquet", pool).origin == before.origin


def test_a_file_from_before_there_were_parts_is_read(pool: Pool, tmp_path: Path) -> None:
    path = tmp_path / "m.parquet"
    write_run(run(FINAL, FIRST), pool, path)
    table = pq.read_table(path)
    about = json.loads(table.schema.metadata[KEY])
    del about["origin"]["parts"]
    pq.write_table(table.replace_schema_metadata({KEY: json.dumps(about).encode()}), path)
    assert read_run(path, pool).origin == run(FINAL, FIRST).origin


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


def test_what_an_attempt_left_is_found_again_and_removed_at_the_end(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scratch(tmp_path, "key") as folder:  # noqa: PT012
        folder.mkdir()
        (folder / "answer").touch()
        raise KeyboardInterrupt
    with scratch(tmp_path, "other") as folder:
        assert not folder.exists()
    with scratch(tmp_path, "key") as folder:
        assert (folder / "answer").exists()
    assert not folder.exists()


def test_an_attempt_may_forget_what_another_left(tmp_path: Path) -> None:
    (tmp_path / "key.partial").mkdir()
    with scratch(tmp_path, "key", fresh=True) as folder:
        assert not folder.exists()


def test_two_attempts_at_once_have_folders_of_their_own(tmp_path: Path) -> None:
    with scratch(tmp_path, "key") as one:
        one.mkdir()
        with scratch(tmp_path, "key", fresh=True) as two:
            assert two != one
            two.mkdir()
        assert one.exists()
        assert not two.exists()


def test_a_cache_that_is_a_file_stops_no_attempt(tmp_path: Path) -> None:
    (tmp_path / "cache").touch()
    with scratch(tmp_path / "cache", "key") as folder:
        assert not folder.exists()


def test_only_old_leftovers_are_tidied(tmp_path: Path) -> None:
    names = ["a.partial/answer", ".k-1.parquet", ".new-1", ".k.lock", "k-1.parquet", "mine.txt"]
    for age in ("old", "young"):
        for name in names:
            path = tmp_path / age / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    old = time.time() - 8 * 86_400
    for path in (tmp_path / "old").rglob("*"):
        os.utime(path, (old, old))
    for age in ("old", "young", "none"):
        tidy(tmp_path / age)
    assert sorted(path.name for path in (tmp_path / "old").iterdir()) == ["k-1.parquet", "mine.txt"]
    assert len(list((tmp_path / "young").iterdir())) == len(names)
    old_folder = tmp_path / "young" / "a.partial"
    os.utime(old_folder, (old, old))  # but what is in it was written lately
    tidy(tmp_path / "young")
    assert old_folder.exists()
