"""A small comparison, its output folder, and stores to publish it to."""

import hashlib
import importlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pipeline.core.comparison import Claim, Comparison
from pipeline.core.conventions import Conventions
from pipeline.core.decision import Decision, Verdict
from pipeline.core.evidence import Evidence, Ledger, ModelRecord, PoolRecord
from pipeline.core.pool import Units
from pipeline.core.scores import MetricInfo, Scores
from pipeline.core.slices import Slices
from pipeline.kernels.digest import of_json
from pipeline.tracking import Start
from pipeline.tracking.mlflow import MlflowTracker

Q = 200
NDCG, RECALL, RR, COVERAGE = "nDCG(gain=exp)@10", "R@100", "RR@10", "ItemCoverage@10"


def _info(label, per="query", direction="higher"):
    return MetricInfo(label, direction, (0.0, 1.0), 0.0, per, "final", "", "")


def _record(name, role):
    ledger = Ledger(Q, Q - 10, Q - 12, 2 if role == "candidate" else 0, 0, 0, 0, 0, 0)
    return ModelRecord(
        name, role, "run_file", f"{name}.trec", f"/runs/{name}.trec", None, None, None,
        f"source-{name}", f"/runs/{name}.trec", f"run-{name}", has_retrieval=False, ledger=ledger,
    )  # fmt: skip


def _claim(model, metric, slice_name, kind, family):
    side = "two-sided" if kind == "difference" else "greater"
    name = f"{model}.{metric}.{slice_name}.{kind}"
    rule = "report" if kind == "difference" else f"{slice_name}_ok"
    return Claim(
        name, rule, model, "bm25", metric, slice_name, "macro", kind, 0.0, side, 0.025, family
    )


def _comparison(claim, scores, inside):
    base, mean = (np.nanmean(scores[name].values[inside, 0]) for name in ("bm25", claim.model))
    delta = mean - base
    return Comparison(
        claim, Q - 10, 180, 150, 10, 0, base, mean, delta,
        (delta - 0.026, delta + 0.026), delta - 0.026, None, 0.004, 0.012,
        90, 60, 40, None, None, "ok", "cluster sign-flip", 1,
    )  # fmt: skip


def _scores(name, shift, rng):
    columns = ((NDCG, "all"), (RECALL, "all"), (RR, "all"), (NDCG, "new_items"))
    shared = np.random.default_rng(1).beta(2.0, 3.0, (Q, len(columns)))
    values = np.clip(shared + shift + rng.normal(0.0, 0.02, shared.shape), 0.0, 1.0)
    values[:10] = np.nan
    values[::3, 3] = np.nan
    reason = np.isnan(values).astype(np.uint8) * 2
    lists = {("all", COVERAGE): 0.31 + shift, ("tail", COVERAGE): float("nan")}
    none, judged = np.zeros(Q, dtype=bool), np.arange(Q) >= 10
    return Scores(
        name, columns, values, reason, lists, judged, none, none, np.full(Q, 100, np.int32)
    )


@pytest.fixture(scope="session")
def evidence():
    """One baseline, two candidates, four metrics, query slices, an item slice, a crossing."""
    rng = np.random.default_rng(7)
    shifts = {"bm25": 0.0, "rrf": 0.057, "splade": -0.02}
    head = np.arange(Q) % 3 == 0
    query = np.stack([np.ones(Q, dtype=bool), head, ~head, np.zeros(Q, dtype=bool)], axis=1)
    slices = Slices(
        ("all", "head", "tail", "lang=de"), query, ("all", "new_items"), np.zeros((0, 2), bool),
        {"tail_new": ("tail", "new_items")}, {"all": "every query"}, {}, "slices",
    )  # fmt: skip
    scores = {name: _scores(name, shift, rng) for name, shift in shifts.items()}
    comparisons = [
        _comparison(_claim(model, NDCG, name, kind, family), scores, query[:, place])
        for model in ("rrf", "splade")
        for name, place in (("all", 0), ("tail", 2))
        for kind, family in (("noninferior", "F1"), ("difference", "F3"))
    ]
    declared = {"labels": "click", "as_of": "2026-01-01"}
    return Evidence(
        schema=1,
        settings={
            "seed": 1, "primary": NDCG, "digests": {"rules": "r1"}, "flips": 9999,
            "significance": {"confidence": 0.95},
        },
        pool=PoolRecord("web-v3", "a" * 64, "", Q, 5_000, 4_100, Q - 10, 150, declared),
        models=tuple(_record(n, "baseline" if n == "bm25" else "candidate") for n in shifts),
        metrics=(_info(NDCG), _info(RECALL), _info(RR), _info(COVERAGE, "list")),
        conventions=Conventions(),
        units=Units(
            pa.array([f"q{i}" for i in range(Q)]), np.arange(Q, dtype=np.int32), np.ones(Q),
            np.ones(Q), np.zeros(Q, dtype=np.int32),
        ),
        slices=slices,
        scores=tuple(scores.values()),
        tops=pa.table({"model": pa.array([], pa.string())}),
        comparisons=tuple(comparisons),
        problems=(),
    )  # fmt: skip


@pytest.fixture(scope="session")
def decisions(evidence):
    """rrf passes; splade fails on the tail."""

    def verdict(status, slice_name, value, reason):
        claim = evidence.comparisons[0].claim
        return Verdict(
            f"{slice_name}_ok", claim, status, value, -0.005, (value - 0.026, value + 0.026),
            0.01, 190, None, NDCG, slice_name, reason,
        )  # fmt: skip

    good = verdict("pass", "all", 0.057, "better by more than the margin")
    bad = verdict("fail", "tail", -0.02, "drop beyond limit -0.005 | on tail")
    return (
        Decision("rrf", "pass", 0.01, 0.02, (good,), "r1", "e1"),
        Decision("splade", "fail", 0.4, 0.4, (good, bad), "r1", "e1"),
    )


def _write_folder(folder, salt):
    page = f"<!doctype html><title>report</title><h1>web-v3: rrf passes</h1><p>{salt}</p>"
    content = {
        "report.html": page,
        "summary.md": "### PASS rrf\n\n| slice | delta |\n|---|--:|\n| all | +0.0570 |\n",
        "by_slice.csv": f"model,metric,slice,mean\nrrf,{NDCG},all,0.467\n",
        "config.yaml": "seed: 1\n",
        "runs/rrf.parquet": "not read here",
    }
    for name, text in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    files = {n: hashlib.sha256((folder / n).read_bytes()).hexdigest() for n in content}
    manifest = {"schema": 1, "files": files, "digest": of_json(files)}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    return folder


@pytest.fixture
def sealed(tmp_path):
    """Makes a finished output folder; the salt makes its content, and so its digest, differ."""

    def make(name="out", salt=""):
        return _write_folder(tmp_path / name, salt)

    return make


@pytest.fixture
def folder(sealed):
    return sealed()


@pytest.fixture
def start(evidence, folder):
    pool = evidence.pool
    return Start("web-v3", pool.name, pool.digest, "r1", "s1", 3, folder, 1)


@pytest.fixture(scope="session")
def mlflow():
    """MLflow itself, imported as the stage imports it."""
    return importlib.import_module("pipeline.tracking._library").library()


@pytest.fixture(scope="session")
def template(tmp_path_factory, mlflow):
    """An empty database: making its 65 tables takes seconds, copying it none."""
    path = tmp_path_factory.mktemp("template") / "mlflow.db"
    mlflow.MlflowClient(f"sqlite:///{path}").search_experiments()
    return path


@pytest.fixture
def place(tmp_path, monkeypatch, template):
    """A working directory with a ready embedded store, and nothing set in the environment."""
    for name in ("TRACKING_URI", "REGISTRY_URI", "RUN_ID", "EXPERIMENT_NAME", "EXPERIMENT_ID"):
        monkeypatch.delenv(f"MLFLOW_{name}", raising=False)
    here = tmp_path / "work"
    (here / "mlruns").mkdir(parents=True)
    shutil.copyfile(template, here / "mlruns" / "mlflow.db")
    monkeypatch.chdir(here)
    return here


@pytest.fixture
def tracker(place):
    return MlflowTracker()


@pytest.fixture
def client(place, mlflow):
    """A client of the embedded store that is not the tracker's."""
    return mlflow.MlflowClient(f"sqlite:///{place / 'mlruns' / 'mlflow.db'}")


@pytest.fixture
def census(client):
    """Counts everything that publishing could duplicate."""

    def count(experiment="samepool"):
        exp = client.get_experiment_by_name(experiment).experiment_id
        runs = client.search_runs([exp])
        history = sum(
            len(client.get_metric_history(run.info.run_id, key)) - 1
            for run in runs
            for key in run.data.metrics
        )
        return {
            "parents": sum("mlflow.parentRunId" not in run.data.tags for run in runs),
            "children": sum("mlflow.parentRunId" in run.data.tags for run in runs),
            "models": len(client.search_logged_models([exp])),
            "repeated points": history,
            "datasets": {len(run.inputs.dataset_inputs) for run in runs},
            "statuses": {run.info.status for run in runs},
        }

    return count


@pytest.fixture(scope="session")
def complete():
    """What the census of one published comparison of three models must be."""
    return {
        "parents": 1,
        "children": 3,
        "models": 3,
        "repeated points": 0,
        "datasets": {1},
        "statuses": {"FINISHED"},
    }


class Server:
    """A real MLflow server that can be stopped and started again."""

    def __init__(self, root: Path) -> None:
        self.root = root
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.uri = f"http://127.0.0.1:{self.port}"
        self.process = None

    def start(self) -> None:
        environment = {
            **os.environ,
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",
            "MLFLOW_DISABLE_TELEMETRY": "true",
        }
        self.process = subprocess.Popen(
            [
                sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--workers", "1",
                "--port", str(self.port), "--backend-store-uri", f"sqlite:///{self.root}/server.db",
                "--artifacts-destination", str(self.root / "artifacts"),
            ],
            env=environment, cwd=self.root, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        for _ in range(300):
            try:
                urllib.request.urlopen(f"{self.uri}/health", timeout=1).close()
            except OSError:
                time.sleep(0.2)
            else:
                return
        raise TimeoutError("the server did not start")

    def stop(self) -> None:
        if self.process:
            os.killpg(self.process.pid, 9)
            self.process.wait()
            self.process = None


@pytest.fixture(scope="module")
def server(tmp_path_factory, template):
    root = tmp_path_factory.mktemp("server")
    shutil.copyfile(template, root / "server.db")
    running = Server(root)
    running.start()
    yield running
    running.stop()


@pytest.fixture
def altered(evidence):
    """A copy of the evidence with some fields changed."""
    return lambda **changes: replace(evidence, **changes)
