"""Which store is used, and opening it when others do, when it moved, or when it is not one."""

import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from pipeline.core.problems import SamepoolError, UnreachableError
from pipeline.core.settings import TrackingSettings
from pipeline.tracking import Links, _store, open_tracker
from pipeline.tracking._errors import translated
from pipeline.tracking.mlflow import MlflowTracker

ROOT = Path(__file__).parents[2]


def test_setting_then_environment_then_embedded(place, monkeypatch):
    embedded = _store.locate(None, None)
    assert embedded.uri == f"sqlite:///{place}/mlruns/mlflow.db"
    assert embedded.artifacts == place / "mlruns" / "artifacts"
    assert embedded.registry_uri == embedded.uri
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "sqlite:///other.db")
    assert _store.locate(None, None).uri == f"sqlite:///{place}/other.db"
    assert _store.locate(None, None).artifacts == place / "artifacts"
    assert not _store.locate(None, None).embedded
    assert _store.locate("sqlite:///mlruns/mlflow.db", None) == embedded
    assert _store.locate("http://host:5000", None).uri == "http://host:5000"
    assert _store.locate("http://host:5000", None).artifacts is None
    assert _store.locate("http://host", "http://models").registry_uri == "http://models"
    monkeypatch.setenv("MLFLOW_REGISTRY_URI", "http://env")
    assert _store.locate("http://host", None).registry_uri == "http://env"


@pytest.mark.parametrize("uri", ["./mlruns", "mlruns", "file:///x/mlruns", "file:mlruns"])
def test_file_stores_are_refused_with_the_reason(uri):
    with pytest.raises(SamepoolError, match=r"is a file store.*sqlite"):
        _store.locate(uri, None)


@pytest.mark.parametrize("uri", ["sqlite://", "sqlite:///:memory:"])
def test_a_store_in_memory_is_refused(uri):
    with pytest.raises(SamepoolError, match="results would be lost"):
        _store.locate(uri, None)


def test_credentials_are_not_shown():
    where = _store.locate("https://me:se%40cret@host:5000/x", None)
    assert where.shown == "https://host:5000/x"


@pytest.mark.parametrize("name", ["plain", "with space", "ünï code#1@b:c"])
def test_any_directory_will_do(tmp_path, template, monkeypatch, name, sealed, evidence, decisions):
    here = tmp_path / name
    (here / "mlruns").mkdir(parents=True)
    shutil.copyfile(template, here / "mlruns" / "mlflow.db")
    monkeypatch.chdir(here)
    tracker = MlflowTracker(experiment="team/ranker @2")
    links = tracker.publish(None, sealed(), evidence, decisions)
    assert (here / "mlruns" / ".gitignore").read_text() == "*\n"
    kept = list((here / "mlruns" / "artifacts").rglob("report.html"))
    assert len(kept) == 1
    assert kept[0].is_relative_to(here / "mlruns" / "artifacts")
    assert tracker.fetch(links.run_id, tmp_path / "back").joinpath("runs/rrf.parquet").is_file()


def test_six_processes_may_open_a_new_store_at_once(tmp_path):
    code = textwrap.dedent(
        """
        import os, sys
        from pipeline.tracking import _library, _store
        _library.library()  # once, so that the six are not spread out by their imports
        where = _store.locate(None, None)
        for _ in range(6):
            if not os.fork():
                print(_store.open_store(where, "race").experiment_id, flush=True)
                os._exit(0)
        sys.exit(sum(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(6)))
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1"] * 6
    assert done.stderr == ""


@pytest.mark.parametrize("name", ["100%20", "what?"])
def test_a_path_that_mlflow_cannot_address_is_told(tmp_path, monkeypatch, name):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    here = tmp_path / name
    here.mkdir()
    monkeypatch.chdir(here)
    with pytest.raises(SamepoolError, match="has % or"):
        _store.locate(None, None)


def test_a_deleted_experiment_is_named_with_both_ways_out(tracker, client, start):
    tracker.begin(start)
    client.delete_experiment(client.get_experiment_by_name("samepool").experiment_id)
    with pytest.raises(SamepoolError, match=r"deleted.*restore -x 1.*tracking\.experiment"):
        tracker.begin(start)


def test_an_experiment_made_through_a_server_is_told(tracker, client, start):
    client.create_experiment("samepool", artifact_location="mlflow-artifacts:/2")
    with pytest.raises(SamepoolError, match=r"made through a server.*tracking\.uri"):
        tracker.begin(start)


def test_a_moved_store_takes_its_artifacts_along(
    place, tracker, folder, sealed, evidence, decisions, monkeypatch, tmp_path
):
    links = tracker.publish(None, folder, evidence, decisions)
    moved = tmp_path / "else where"
    place.rename(moved)
    monkeypatch.chdir(moved)
    back = MlflowTracker().fetch(links.run_id, tmp_path / "back")
    assert (back / "report.html").read_bytes() == (folder / "report.html").read_bytes()
    MlflowTracker().publish(None, sealed("two", "2"), evidence, decisions)
    assert not place.exists()


def test_a_copied_store_does_not_write_into_the_first(
    place, tracker, sealed, evidence, decisions, monkeypatch, tmp_path
):
    tracker.publish(None, sealed("one", "1"), evidence, decisions)
    shutil.copytree(place, tmp_path / "copy")
    before = sorted(place.rglob("*"))
    monkeypatch.chdir(tmp_path / "copy")
    MlflowTracker().publish(None, sealed("two", "2"), evidence, decisions)
    assert sorted(place.rglob("*")) == before


def test_artifacts_left_behind_are_told(place, tracker, start, monkeypatch, tmp_path):
    tracker.begin(start)
    alone = tmp_path / "alone" / "mlruns"
    alone.mkdir(parents=True)
    shutil.copyfile(place / "mlruns" / "mlflow.db", alone / "mlflow.db")
    monkeypatch.chdir(alone.parent)
    with pytest.raises(SamepoolError, match=r"outside .*moved without its artifacts"):
        MlflowTracker().begin(start)


def test_a_schema_of_another_version_is_backed_up_and_told(place, start):
    database = place / "mlruns" / "mlflow.db"
    with sqlite3.connect(database) as connection:
        connection.execute("update alembic_version set version_num = 'f4a9b2c7d1e6'")
    with pytest.raises(SamepoolError, match="made by another version of MLflow") as raised:
        MlflowTracker().begin(start)
    assert "use the MLflow version that wrote it" in str(raised.value)
    assert (place / "mlruns" / "mlflow.db.f4a9b2c7d1e6.backup").is_file()


def test_a_file_that_is_no_database(place, start):
    (place / "mlruns" / "mlflow.db").write_text("not a database, but quite long " * 20)
    began = time.monotonic()
    with pytest.raises(SamepoolError, match="not an MLflow database"):
        MlflowTracker().begin(start)
    assert time.monotonic() - began < 20


def test_a_locked_database_is_unreachable():
    with (
        pytest.raises(UnreachableError, match="holds its database locked"),
        translated("sqlite:///x", "write"),
    ):
        raise sqlite3.OperationalError("database is locked")


def test_reading_makes_no_store(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    with pytest.raises(SamepoolError, match="there is no MLflow store"):
        MlflowTracker().latest()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("uri", ["http://127.0.0.1:9", "postgresql://u:pw@127.0.0.1:9/db"])
def test_nobody_there_is_said_within_seconds(place, uri, start, folder, evidence, decisions):
    tracker = MlflowTracker(uri=uri)
    began = time.monotonic()
    with pytest.raises(UnreachableError, match="connection refused") as raised:
        tracker.begin(start)
    with pytest.raises(UnreachableError):
        tracker.publish(None, folder, evidence, decisions)
    assert time.monotonic() - began < 10
    assert "pw" not in str(raised.value)


def test_the_settings_choose_the_tracker(start, folder, evidence, decisions, tmp_path):
    assert open_tracker(TrackingSettings(experiment="x")) == MlflowTracker(experiment="x")
    nothing = open_tracker(TrackingSettings(kind="none", uri="http://127.0.0.1:9"))
    ticket = nothing.begin(start)
    assert nothing.publish(ticket, folder, evidence, decisions) == Links()
    assert nothing.finish(ticket, "FINISHED")
    assert not (folder / "tracking.json").exists()
    for call in (
        lambda: nothing.fetch("r", tmp_path),
        nothing.latest,
        lambda: nothing.resolve("models:/a@b"),
    ):
        with pytest.raises(SamepoolError, match="tracking=none"):
            call()
    with pytest.raises(SamepoolError, match="did you mean mlflow"):
        open_tracker(TrackingSettings(kind="mlfow"))
    with pytest.raises(SamepoolError, match="experiment has no name"):
        open_tracker(TrackingSettings(experiment=" "))


def test_importing_the_stage_does_not_import_mlflow():
    code = "import sys, pipeline.tracking.mlflow; print('mlflow' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"
