"""Publishing to an embedded store: what is there afterwards, and that it is there once."""

import json
import os
import pickle
import signal
import subprocess
import sys
import textwrap
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.tracking import _publish, _state, waiting
from pipeline.tracking.mlflow import MlflowTracker

NDCG = "all/nDCG.exp_at_10"
ROOT = Path(__file__).parents[2]


def _runs(client, experiment="samepool"):
    exp = client.get_experiment_by_name(experiment).experiment_id
    runs = client.search_runs([exp])
    parent = next(r for r in runs if "mlflow.parentRunId" not in r.data.tags)
    return parent, {r.info.run_name: r for r in runs if r is not parent}


def test_a_run_is_open_and_carries_the_rules_before_anything_is_scored(
    tracker, client, start, folder
):
    ticket = tracker.begin(start)
    run = client.get_run(ticket.run_id)
    assert run.info.status == "RUNNING"
    assert run.data.tags["samepool.rules_digest"] == "r1"
    assert run.data.tags["samepool.pool_digest"] == "a" * 64
    assert run.data.tags["samepool.begun"] == "before scoring"
    assert run.data.tags["samepool.out"] == str(folder)
    assert run.data.tags["samepool.process"].startswith(f"{os.getpid()}:")
    assert _state.read(folder).run_id == ticket.run_id


def test_the_whole_layout(tracker, client, start, folder, evidence, decisions, census, complete):
    ticket = tracker.begin(start)
    links = tracker.publish(ticket, folder, evidence, decisions)
    assert links.problems == ()
    assert links.run_id == ticket.run_id
    assert census() == complete
    parent, children = _runs(client)
    change = next(c for c in evidence.comparisons if c.claim.model == "rrf")
    assert parent.info.run_name == f"web-v3 rrf {change.delta:+.4f}"
    assert parent.data.tags["samepool.gate"] == "pass"
    assert parent.data.tags["samepool.winner"] == "rrf"
    note = parent.data.tags["mlflow.note.content"]
    assert note.startswith(
        f"**PASS**: **rrf** passes the gate; `nDCG(gain=exp)@10` {change.baseline_mean:.4f} (bm25)"
    )
    assert "Labels: click" in note
    assert "| bm25 (baseline)&nbsp;" in note
    assert "188 of 190 answered (2 missing)" in note
    assert "drop beyond limit -0.005 \\| on tail" in note
    assert parent.data.metrics["gate/passed"] == 1.0
    assert parent.data.metrics["n_queries"] == 200.0
    assert parent.inputs.dataset_inputs[0].dataset.digest == "a" * 12
    assert set(children) == {"bm25", "rrf", "splade"}
    assert len({c.data.tags["mlflow.runColor"] for c in children.values()}) == 3
    assert children["splade"].data.tags["samepool.gate"] == "fail"


def test_metrics_of_a_child_are_the_macro_means_of_its_scores(
    tracker, client, folder, evidence, decisions
):
    tracker.publish(None, folder, evidence, decisions)
    _, children = _runs(client)
    scores = evidence.scores[1]
    metrics = children["rrf"].data.metrics
    tail = evidence.slices.query[:, 2]
    assert metrics[NDCG] == round(np.nanmean(scores.values[:, 0]), 6)
    assert metrics["tail/nDCG.exp_at_10"] == round(np.nanmean(scores.values[tail, 0]), 6)
    assert metrics["new_items/nDCG.exp_at_10"] == round(np.nanmean(scores.values[:, 3]), 6)
    assert metrics["tail_new/nDCG.exp_at_10"] == round(np.nanmean(scores.values[tail, 3]), 6)
    assert metrics["all/ItemCoverage_at_10"] == 0.367
    on_all, on_tail = (c for c in evidence.comparisons[:4] if c.claim.kind == "difference")
    assert metrics["delta/tail.nDCG.exp_at_10"] == round(on_tail.delta, 6)
    assert metrics["ci_low/all.nDCG.exp_at_10"] == round(on_all.ci[0], 6)
    assert metrics["p_adjusted/all.nDCG.exp_at_10"] == 0.012
    assert metrics["n_invalid"] == 1.0  # the slice without queries
    assert not any("lang" in key for key in metrics)
    assert all(np.isfinite(value) for value in metrics.values())
    assert len(metrics) <= 60


def test_metrics_are_filed_under_model_and_pool(tracker, client, folder, evidence, decisions):
    tracker.publish(None, folder, evidence, decisions)
    exp = client.get_experiment_by_name("samepool").experiment_id
    models = {model.name: model for model in client.search_logged_models([exp])}
    assert set(models) == {"bm25", "rrf", "splade"}
    assert all(str(model.status) == "READY" for model in models.values())
    filed = {m.key: (m.dataset_name, m.dataset_digest) for m in models["rrf"].metrics}
    assert filed[NDCG] == ("web-v3", "a" * 12)


def test_artifacts_are_the_folder_and_children_have_a_table(
    tracker, client, folder, evidence, decisions
):
    links = tracker.publish(None, folder, evidence, decisions)
    names = {item.path for item in client.list_artifacts(links.run_id)}
    assert names == {
        "report.html", "summary.md", "by_slice.csv", "config.yaml", "runs", "manifest.json",
    }  # fmt: skip
    _, children = _runs(client)
    path = client.download_artifacts(children["rrf"].info.run_id, "by_slice.json")
    table = json.loads(Path(path).read_text(encoding="utf-8"))
    assert table["columns"][:2] == ["slice", "nDCG(gain=exp)@10"]
    assert [row[0] for row in table["data"]][:2] == ["all", "head"]
    assert table["data"][3][1] is None  # the slice without queries


def test_the_leaderboard_sorts_by_the_primary_metric(tracker, client, folder, evidence, decisions):
    links = tracker.publish(None, folder, evidence, decisions)
    tags = client.get_experiment_by_name("samepool").tags
    key = links.run_id[:12]
    view = json.loads(tags[f"mlflow.sharedViewState.{key}"])
    assert view["orderByKey"] == f"metrics.`{NDCG}`"
    assert view["orderByAsc"] is False
    delta = "metrics.`delta/all.nDCG.exp_at_10`"
    assert view["selectedColumns"] == ["tags.`samepool.gate`", f"metrics.`{NDCG}`", delta]
    _, children = _runs(client)
    gates = {name: run.data.tags.get("samepool.gate") for name, run in children.items()}
    assert gates == {"bm25": None, "rrf": "pass", "splade": "fail"}
    sections = {each["name"]: each["display"] for each in view["compareRunSections"]}
    assert list(sections)[:2] == ["all", "delta"]
    assert [name for name, shown in sections.items() if shown] == ["all", "delta"]
    assert list(sections)[-3:] == ["ci_low", "ci_high", "p_adjusted"]
    assert links.run_id in view["searchFilter"]
    assert f"viewStateShareKey={key}&workflowType=machine_learning" in links.leaderboard
    assert "compareRunsMode=CHART" in links.charts
    assert links.run.startswith("http://127.0.0.1:5000/#/experiments/")
    assert links.needs_ui


def test_publishing_again_changes_nothing(
    tracker, folder, start, evidence, decisions, census, complete
):
    first = tracker.publish(tracker.begin(start), folder, evidence, decisions)
    second = tracker.publish(None, folder, evidence, decisions)
    assert first.run_id == second.run_id
    assert census() == complete
    (folder / "tracking.json").unlink()  # the manifest's digest alone finds it too
    assert tracker.publish(None, folder, evidence, decisions).run_id == first.run_id
    assert census() == complete


class Cut(BaseException):
    """Stands for the end of the process between two calls."""


class Cutting:
    """A client that ends the process before its n-th call that writes."""

    READS = ("get_", "search_", "list_")

    def __init__(self, client, calls):
        self.client, self.calls = client, calls

    def __getattr__(self, name):
        found = getattr(self.client, name)
        if name.startswith(self.READS):
            return found

        def call(*args, **kwargs):
            self.calls -= 1
            if self.calls < 0:
                raise Cut
            return found(*args, **kwargs)

        return call


def test_a_publication_cut_anywhere_is_completed_by_the_next(
    tracker, sealed, evidence, decisions, monkeypatch, census, complete, place
):
    opened = _publish.Job

    def cutting(calls):
        def make(store, *rest):
            return opened(replace(store, client=Cutting(store.client, calls)), *rest)

        return make

    calls, cuts = 0, 0
    while True:
        out = sealed(f"out{calls}", salt=str(calls))
        one = MlflowTracker(experiment=f"cut {calls}")
        monkeypatch.setattr(_publish, "Job", cutting(calls))
        try:
            one.publish(None, out, evidence, decisions)
        except Cut:
            cuts += 1
            assert waiting(out.parent) == [out]
        else:
            break
        monkeypatch.setattr(_publish, "Job", opened)
        one.publish(None, out, evidence, decisions)
        assert census(f"cut {calls}") == complete, calls
        assert waiting(out.parent) == []
        calls += 5
    assert cuts >= 5


def test_killed_for_good_while_uploading(folder, evidence, decisions, tracker, census, complete):
    code = textwrap.dedent(
        """
        import os, pickle, signal, sys
        from pathlib import Path
        from pipeline.tracking import _publish
        from pipeline.tracking.mlflow import MlflowTracker
        folder = Path(sys.argv[1])
        evidence, decisions = pickle.load(sys.stdin.buffer)
        _publish._files = lambda job, run_id: os.kill(os.getpid(), signal.SIGKILL)
        MlflowTracker().publish(None, folder, evidence, decisions)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)],
        input=pickle.dumps((evidence, decisions)),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert waiting(folder) == [folder]
    assert "RUNNING" in census()["statuses"]
    tracker.publish(None, folder, evidence, decisions)
    assert census() == complete


def test_a_crashed_run_is_swept_and_a_living_one_is_not(tracker, client, start, mlflow):
    mine = tracker.begin(start)
    dead = client.create_run("1", tags=client.get_run(mine.run_id).data.tags)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    client.set_tag(dead.info.run_id, "samepool.process", f"{gone.pid}:1")
    other = client.create_run("1", tags={"samepool.host": "elsewhere"})
    reused = client.create_run("1", tags=client.get_run(mine.run_id).data.tags)
    client.set_tag(reused.info.run_id, "samepool.process", f"{os.getpid()}:1")
    tracker.begin(start)
    status = {r: client.get_run(r.info.run_id).info.status for r in (dead, other, reused)}
    assert list(status.values()) == ["KILLED", "RUNNING", "KILLED"]
    assert client.get_run(mine.run_id).info.status == "RUNNING"


@pytest.mark.parametrize("status", ["KILLED", "FAILED"])
def test_finish_ends_an_open_run_only(tracker, client, start, folder, evidence, decisions, status):
    ticket = tracker.begin(start)
    assert tracker.finish(ticket, status)
    assert client.get_run(ticket.run_id).info.status == status
    links = tracker.publish(ticket, folder, evidence, decisions)  # an upload after an interrupt
    assert links.run_id == ticket.run_id
    assert tracker.finish(ticket, status)
    assert client.get_run(ticket.run_id).info.status == "FINISHED"
    assert not tracker.finish(None, status)


def test_a_stray_run_id_and_experiment_do_not_hijack(
    tracker, client, monkeypatch, folder, evidence, decisions, census, complete
):
    stray = client.create_run("0", run_name="someone else's")
    monkeypatch.setenv("MLFLOW_RUN_ID", stray.info.run_id)
    monkeypatch.setenv("MLFLOW_EXPERIMENT_NAME", "other")
    tracker.publish(None, folder, evidence, decisions)
    after = client.get_run(stray.info.run_id)
    assert after.info.run_name == "someone else's"
    assert not after.data.metrics
    assert census() == complete


def test_a_run_opened_for_another_pool_is_refused(tracker, start, folder, evidence, decisions):
    ticket = tracker.begin(replace(start, pool_digest="b" * 64))
    with pytest.raises(SamepoolError, match="opened for pool bbbb"):
        tracker.publish(ticket, folder, evidence, decisions)
    assert waiting(folder) == [folder]


def test_an_unfinished_folder_is_refused(tracker, tmp_path, folder, evidence, decisions):
    with pytest.raises(SamepoolError, match="not a finished comparison"):
        tracker.publish(None, tmp_path / "nothing", evidence, decisions)
    (folder / "report.html").unlink()
    with pytest.raises(SamepoolError, match=r"lacks files.*report\.html"):
        tracker.publish(None, folder, evidence, decisions)


def test_a_deleted_run_is_published_anew(tracker, client, folder, evidence, decisions):
    first = tracker.publish(None, folder, evidence, decisions)
    client.delete_run(first.run_id)
    second = tracker.publish(None, folder, evidence, decisions)
    assert second.run_id != first.run_id
    assert client.get_run(second.run_id).info.status == "FINISHED"


def test_cosmetic_failures_are_warnings(
    tracker, folder, evidence, decisions, monkeypatch, client, mlflow
):
    def refuse(*args, **kwargs):
        raise mlflow.MlflowException("no such endpoint", error_code=0)

    for name in ("create_logged_model", "set_experiment_tag", "log_inputs"):
        monkeypatch.setattr(mlflow.MlflowClient, name, refuse)
    links = tracker.publish(None, folder, evidence, decisions)
    texts = [problem.text for problem in links.problems]
    assert {problem.severity for problem in links.problems} == {"warning"}
    assert any("logged model of rrf" in text for text in texts)
    assert any("leaderboard view" in text for text in texts)
    assert "viewStateShareKey" not in links.leaderboard
    assert client.get_run(links.run_id).info.status == "FINISHED"


def test_nothing_reaches_the_terminal(place, folder, start, evidence, decisions, capfd):
    (place / "mlruns" / "mlflow.db").unlink()
    tracker = MlflowTracker()
    tracker.publish(tracker.begin(start), folder, evidence, decisions)
    assert capfd.readouterr() == ("", "")


def test_no_gate_one_model_and_lower_is_better(tracker, client, sealed, altered, evidence):
    alone = altered(
        models=evidence.models[:1], scores=evidence.scores[:1], comparisons=(), metrics=(
            replace(evidence.metrics[0], direction="lower"), *evidence.metrics[1:],
        ),
    )  # fmt: skip
    links = tracker.publish(None, sealed("alone", "alone"), alone, ())
    run = client.get_run(links.run_id)
    assert run.data.tags["mlflow.note.content"].startswith("**bm25** was measured alone")
    assert "gate/passed" not in run.data.metrics
    tags = client.get_experiment_by_name("samepool").tags
    assert json.loads(tags[f"mlflow.sharedViewState.{links.run_id[:12]}"])["orderByAsc"] is True
