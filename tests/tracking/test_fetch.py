"""Finding published comparisons and getting them back whole."""

import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.evidence import verify
from pipeline.tracking import _state, waiting
from pipeline.tracking.mlflow import MlflowTracker


def test_what_comes_back_is_what_went_out(tracker, folder, evidence, decisions, tmp_path):
    links = tracker.publish(None, folder, evidence, decisions)
    back = tracker.fetch(links.run_id, tmp_path / "deep" / "back")
    names = sorted(p.relative_to(back).as_posix() for p in back.rglob("*") if p.is_file())
    assert names == sorted([*_state.manifest(folder).files, "manifest.json"])
    assert all((back / name).read_bytes() == (folder / name).read_bytes() for name in names)


def test_a_changed_file_is_noticed(tracker, client, folder, evidence, decisions, tmp_path):
    links = tracker.publish(None, folder, evidence, decisions)
    artifacts = Path(urlsplit(client.get_run(links.run_id).info.artifact_uri).path)
    (artifacts / "config.yaml").write_text("seed: 2\n")
    back = tracker.fetch(links.run_id, tmp_path / "back")
    with pytest.raises(SamepoolError, match=r"config\.yaml: was changed after the comparison"):
        verify(back)
    manifest = json.loads((artifacts / "manifest.json").read_text())
    (artifacts / "manifest.json").write_text(json.dumps({**manifest, "digest": "0" * 64}))
    with pytest.raises(SamepoolError, match="manifest is not the one"):
        tracker.fetch(links.run_id, tmp_path / "other")
    assert not list((tmp_path / "other").iterdir())


def test_files_that_are_gone_are_told(tracker, client, folder, evidence, decisions, tmp_path):
    links = tracker.publish(None, folder, evidence, decisions)
    artifacts = Path(urlsplit(client.get_run(links.run_id).info.artifact_uri).path)
    artifacts.rename(artifacts.with_name("gone"))
    with pytest.raises(SamepoolError, match="has no files at"):
        tracker.fetch(links.run_id, tmp_path / "back")


def test_runs_that_are_no_comparison(tracker, client, start, folder, evidence, decisions, tmp_path):
    links = tracker.publish(None, folder, evidence, decisions)
    with pytest.raises(SamepoolError, match=r"has no run '1234e56'.*run=latest"):
        tracker.fetch("1234e56", tmp_path)
    with pytest.raises(SamepoolError, match="has no run"):
        tracker.fetch("0" * 32, tmp_path)
    child = next(
        run.info.run_id
        for run in client.search_runs([links.experiment_id])
        if run.info.run_id != links.run_id
    )
    with pytest.raises(SamepoolError, match=f"run={links.run_id}"):
        tracker.fetch(child, tmp_path)
    other = client.create_run(links.experiment_id)
    with pytest.raises(SamepoolError, match="is no comparison"):
        tracker.fetch(other.info.run_id, tmp_path)
    with pytest.raises(SamepoolError, match="RUNNING"):
        tracker.fetch(tracker.begin(start).run_id, tmp_path)
    client.delete_run(links.run_id)
    with pytest.raises(SamepoolError, match="was deleted"):
        tracker.fetch(links.run_id, tmp_path)


def test_latest_is_the_newest_that_was_published(
    tracker, client, start, sealed, evidence, decisions
):
    first = tracker.publish(None, sealed("one", "1"), evidence, decisions)
    assert tracker.latest() == first.run_id
    second = tracker.publish(None, sealed("two", "2"), evidence, decisions)
    tracker.begin(start)  # still running: no evidence yet
    assert tracker.latest() == second.run_id
    assert tracker.latest("web-v3") == second.run_id
    assert tracker.latest("aaaaaaaa") == second.run_id
    for pool in ("web-v4", "aaaaaaa", "b" * 64):
        with pytest.raises(SamepoolError, match=f"no comparison on pool {pool}"):
            tracker.latest(pool)
    client.delete_run(second.run_id)
    assert tracker.latest() == first.run_id
    with pytest.raises(SamepoolError, match=r"no experiment 'sampool'.*did you mean samepool"):
        MlflowTracker(experiment="sampool").latest()


def test_waiting_lists_sealed_folders_only(tmp_path, sealed):
    one, two, three = sealed("b"), sealed("a"), sealed("c")
    for folder, state in ((one, "waiting"), (two, "waiting"), (three, "published")):
        _state.write(folder, _state.State(state, "http://host"))
    open_only = tmp_path / "open"
    open_only.mkdir()
    _state.write(open_only, _state.State("waiting", "http://host"))
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "tracking.json").write_text("{")
    assert waiting(tmp_path) == [two, one]
    assert waiting(tmp_path / "nowhere") == []
    assert not list(tmp_path.rglob(".tracking.json*"))
