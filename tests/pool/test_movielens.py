"""The demo pool, against the real data."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

from pipeline.core.cache import cache_folder
from pipeline.core.problems import SamepoolError, UnreachableError
from pipeline.pool import _package, load
from pipeline.pool.movielens import WHEEL

DATA = WHEEL  # what the fixture cache holds


def judged(pool):
    return np.repeat(np.arange(len(pool.queries)), np.diff(pool.judgments.query_ptr))


def relevant(pool):
    size = len(pool.queries)
    return np.bincount(judged(pool), weights=pool.judgments.grade > 0, minlength=size) > 0


@pytest.mark.network
def test_per_user(cache):
    pool = load({"kind": "movielens"})
    assert (len(pool.queries), len(pool.items)) == (943, 1682)
    assert (len(pool.judgments.item), len(pool.logs)) == (20_000, 80_000)
    assert relevant(pool).sum() == 907
    assert (pool.units.traffic > 0).all()
    assert pool.queries["gender"].to_pylist().count("F") == 273
    assert len(pool.queries["occupation"].unique()) == 21
    assert pool.items["release_year"].null_count == 2
    assert sum(pool.items["popularity"].to_pylist()) == 80_000
    assert np.unique(pool.judgments.grade).tolist() == [0, 1, 2]
    assert pool.declared.labels == "rating"
    assert pool.declared.seen == "removed"
    assert [p.code for p in pool.problems if p.severity != "note"] == []
    assert "others_after_query" in [p.code for p in pool.problems]


@pytest.mark.network
def test_global_time(cache):
    pool = load({"kind": "movielens", "split": "global_time"})
    cold = pool.units.traffic == 0
    assert relevant(pool).sum() == 290
    assert (cold & relevant(pool)).sum() == cold.sum() == 192
    assert len(pool.judgments.item) + len(pool.logs) == 100_000
    assert len(np.unique(pool.times.query)) == 1
    assert (pool.times.created > pool.times.query[0]).sum() == 59  # of 66; 7 on its day
    assert pool.logs["query_id"].null_count > 0
    assert pool.logs["user_id"].null_count == 0
    late = np.asarray(pool.logs["at"].cast("int64")) > pool.times.query[0]
    assert not late.any()
    assert [p.code for p in pool.problems if p.severity != "note"] == []


@pytest.mark.network
@pytest.mark.parametrize("split", ["per_user", "global_time"])
def test_nothing_judged_is_known_before(cache, split):
    pool = load({"kind": "movielens", "split": split})
    queries, items = pool.vocab.queries.to_pylist(), pool.vocab.items.to_pylist()
    held = {(queries[q], items[i]) for q, i in zip(judged(pool), pool.judgments.item, strict=True)}
    logs = zip(pool.logs["query_id"].to_pylist(), pool.logs["item_id"].to_pylist(), strict=True)
    assert held.isdisjoint(logs)
    at = np.asarray(pool.logs["at"].cast("int64"))
    times = dict(zip(queries, pool.times.query, strict=True))
    own = [times.get(q) for q in pool.logs["query_id"].to_pylist()]
    assert all(t is None or a <= t for a, t in zip(at, own, strict=True))


@pytest.mark.network
def test_relevance_is_an_option_and_splits_are_other_pools(cache):
    one = load({"kind": "movielens"})
    two = load({"kind": "movielens", "relevant_from": 5})
    assert set(np.unique(two.judgments.grade)) == {0, 1}
    assert len({one.digest, two.digest, load({"kind": "movielens", "test_share": 0.1}).digest}) == 3
    assert one.digest == load({"kind": "movielens"}).digest


@pytest.mark.network
def test_a_corrupt_cache_is_fetched_anew_and_the_terms_are_said_once(
    cache, tmp_path, monkeypatch, capsys
):
    whole = (cache / WHEEL.file).read_bytes()
    (tmp_path / WHEEL.file).write_bytes(whole[:1000])
    monkeypatch.setenv("SAMEPOOL_CACHE", str(tmp_path))
    fetched = []

    def download(_package, target, folder):
        fetched.append(folder)
        (Path(target) / WHEEL.file).write_bytes(whole)

    monkeypatch.setattr(_package, "_download", download)
    for _ in range(2):
        assert _package.fetched(WHEEL).read_bytes() == whole
    assert fetched == [tmp_path]
    assert capsys.readouterr().err.count("GroupLens") == 1


def test_the_wrong_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMEPOOL_CACHE", str(tmp_path))
    monkeypatch.setattr(
        _package, "_download", lambda _, target, __: (Path(target) / WHEEL.file).write_bytes(b"x")
    )
    with pytest.raises(SamepoolError, match="has SHA-256 2d71") as caught:
        load({"kind": "movielens"})
    assert caught.value.exit_code == 2
    assert not (tmp_path / WHEEL.file).exists()


@pytest.mark.parametrize("how", ["fails", "hangs"])
def test_an_unreachable_index_is_exit_5(tmp_path, monkeypatch, how):
    def run(command, **_):
        if how == "hangs":
            raise subprocess.TimeoutExpired(command, 300)
        return subprocess.CompletedProcess(
            command, 1, "", "ERROR: x\nERROR: No matching distribution\n"
        )

    monkeypatch.setenv("SAMEPOOL_CACHE", str(tmp_path))
    monkeypatch.setattr(_package.subprocess, "run", run)
    with pytest.raises(UnreachableError, match=r"cannot be fetched.*put recbole") as caught:
        load({"kind": "movielens"})
    assert caught.value.exit_code == 5


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SAMEPOOL_CACHE", str(tmp_path / "file"))
    with pytest.raises(SamepoolError, match="set SAMEPOOL_CACHE to a writable folder"):
        load({"kind": "movielens"})


def test_where_the_cache_is(monkeypatch):
    monkeypatch.delenv("SAMEPOOL_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert cache_folder() == Path("/x/samepool")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "samepool"


@pytest.mark.parametrize("options", [{"test_share": 0}, {"test_share": 1}, {"relevant_from": 6}])
def test_options(options):
    with pytest.raises(SamepoolError, match=r"test_share is|relevant_from is"):
        load({"kind": "movielens", **options})
