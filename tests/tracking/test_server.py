"""Against a real MLflow server on loopback: publishing, its death, finding and fetching."""

import time

import pytest

from pipeline.core.problems import SamepoolError, UnreachableError
from pipeline.tracking import _publish, _state, waiting
from pipeline.tracking._errors import translated
from pipeline.tracking.mlflow import MlflowTracker


@pytest.fixture
def remote(server, place):
    return MlflowTracker(uri=server.uri, experiment="served")


def _census(mlflow, server, experiment):
    client = mlflow.MlflowClient(server.uri)
    exp = client.get_experiment_by_name(experiment).experiment_id
    runs = client.search_runs([exp])
    return (
        sum("mlflow.parentRunId" not in run.data.tags for run in runs),
        sum("mlflow.parentRunId" in run.data.tags for run in runs),
        len(client.search_logged_models([exp])),
        {run.info.status for run in runs},
    )


def test_published_over_http_and_fetched_back(
    remote, server, start, folder, evidence, decisions, mlflow, tmp_path, capfd
):
    remote.check()
    ticket = remote.begin(start)
    links = remote.publish(ticket, folder, evidence, decisions)
    assert links.problems == ()
    assert links.run.startswith(f"{server.uri}/#/experiments/")
    assert not links.needs_ui
    assert _census(mlflow, server, "served") == (1, 3, 3, {"FINISHED"})
    assert remote.latest("web-v3") == links.run_id
    back = remote.fetch(links.run_id, tmp_path / "back")
    for name in _state.manifest(folder).files:
        assert (back / name).read_bytes() == (folder / name).read_bytes()
    assert capfd.readouterr() == ("", "")


def test_the_server_dies_and_comes_back(
    server, place, start, sealed, evidence, decisions, mlflow, monkeypatch
):
    """Once in the middle of publishing, and once between begin and publish."""
    upload = _publish._files
    out = {"cut": sealed("cut", "1"), "dying": start.out}
    trackers = {name: MlflowTracker(uri=server.uri, experiment=name) for name in out}
    ticket = trackers["dying"].begin(start)

    def die_first(job, run_id):
        server.stop()
        upload(job, run_id)

    monkeypatch.setattr(_publish, "_files", die_first)
    try:
        with pytest.raises(UnreachableError):
            trackers["cut"].publish(None, out["cut"], evidence, decisions)
        began = time.monotonic()
        with pytest.raises(UnreachableError, match="did not answer"):
            trackers["dying"].check()
        assert time.monotonic() - began < 5
        with pytest.raises(UnreachableError, match=r"did not answer.*check tracking"):
            trackers["dying"].publish(ticket, out["dying"], evidence, decisions)
        assert not trackers["dying"].finish(ticket, "FAILED")
        assert time.monotonic() - began < 10
        assert waiting(start.out.parent) == [out["cut"], out["dying"]]
    finally:
        server.start()
    monkeypatch.setattr(_publish, "_files", upload)
    links = trackers["dying"].publish(None, out["dying"], evidence, decisions)
    assert links.run_id == ticket.run_id
    trackers["cut"].publish(None, out["cut"], evidence, decisions)
    assert waiting(start.out.parent) == []
    for name in out:
        assert _census(mlflow, server, name) == (1, 3, 3, {"FINISHED"})


def test_a_missing_right_is_named(mlflow):
    refusal = mlflow.exceptions.RestException(
        {"error_code": "PERMISSION_DENIED", "message": "Permission denied"}
    )
    with (
        pytest.raises(SamepoolError, match=r"does not allow this: create a run.*MLFLOW_TRACKING"),
        translated("http://me:pw@host", "create a run"),
    ):
        raise refusal


def test_an_error_of_the_server_is_its_failure(mlflow):
    error = mlflow.exceptions.RestException({"error_code": "INTERNAL_ERROR", "message": "boom"})
    with pytest.raises(UnreachableError, match="boom"), translated("http://host", "create a run"):
        raise error
