"""Real rankers of a real store and of a real server: what their signatures and answers are."""

import importlib.util
import os
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.signature import Column
from pipeline.models import Tools, fits, rank
from pipeline.models.mlflow import Mlflow
from pipeline.pool import load
from pipeline.tracking import _keeper, _serve
from pipeline.tracking.mlflow import MlflowTracker

pytestmark = pytest.mark.filterwarnings("ignore")

# A process of its own, as training is: MLflow's current experiment is a global.
TRAIN = """
import pathlib, sys
import lightgbm, mlflow, numpy as np, pandas as pd
from sklearn.linear_model import LinearRegression, LogisticRegression

uri, artifacts = sys.argv[1:]
mlflow.set_tracking_uri(uri)
place = {"artifact_location": pathlib.Path(artifacts).as_uri()} if artifacts else {}
mlflow.set_experiment(experiment_id=mlflow.create_experiment("train", **place))
table = pd.read_csv("train.csv")
x, grade = table[["bm25", "price", "length"]], table["grade"]
x["bm25"] = x["bm25"].astype("float32")
plain = {"input_example": x.head(2), "pip_requirements": ["mlflow"]}


class Half(mlflow.pyfunc.PythonModel):
    def predict(self, context, model_input, params=None):
        return pd.DataFrame({"up": model_input["price"] / 2, "down": -model_input["price"]})


good = np.where(grade > 1, "good", "bad")
classes = LogisticRegression(max_iter=500).fit(x, good)
trees = lightgbm.LGBMRanker(n_estimators=10, verbose=-1, n_jobs=1)
trees.fit(x, grade, group=[10] * (len(x) // 10))
sk, lgb = mlflow.sklearn.log_model, mlflow.lightgbm.log_model
sk(LinearRegression().fit(x, grade), name="m", registered_model_name="line", **plain)
sk(classes, name="m", registered_model_name="classes", **plain)
sk(classes, name="m", registered_model_name="classes", pyfunc_predict_fn="predict_proba", **plain)
lgb(trees, name="m", registered_model_name="trees", serialization_format="cloudpickle", **plain)
with mlflow.start_run() as run:
    mlflow.pyfunc.log_model(python_model=Half(), name="m", registered_model_name="half", **plain)
wanted = x.assign(
    line=LinearRegression().fit(x, grade).predict(x),
    classes=classes.predict_proba(x)[:, 1],
    trees=trees.predict(x),
    half=-x["price"],
)
wanted.to_parquet("wanted.parquet")
print(run.info.run_id)
"""


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """40 queries with ten candidates each; training rows are the same pairs in the same order."""
    here = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(3)
    rows = [
        {"query_id": f"q{q:02}", "item_id": f"d{i}", "bm25": round(rng.normal(), 4),
         "price": i + 0.5, "length": 3 + q % 5, "grade": int(rng.integers(4))}
        for q in range(40) for i in range(10)
    ]  # fmt: skip
    table = pd.DataFrame(rows)
    table.to_csv(here / "train.csv", index=False)
    for name, columns in {
        "candidates": ["query_id", "item_id", "bm25"], "items": ["item_id", "price"],
        "queries": ["query_id", "length"], "qrels": ["query_id", "item_id", "grade"],
    }.items():  # fmt: skip
        table[columns].drop_duplicates().to_csv(here / f"{name}.csv", index=False)
    return here


@pytest.fixture(scope="module")
def pool(tables):
    names = ("qrels", "queries", "items", "candidates")
    return load({"kind": "files", **{name: str(tables / f"{name}.csv") for name in names}})


def train(tables, uri, artifacts):
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, uri, artifacts], cwd=tables, check=False,
        env=os.environ | {"MLFLOW_DISABLE_TELEMETRY": "true"}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return MlflowTracker(uri=uri), done.stdout.split()[-1]


@pytest.fixture(scope="module", params=["sqlite", "server"])
def trained(request, tables, template, tmp_path_factory):
    """A tracker of a store with the models, and the run of one of them."""
    if request.param == "server":
        return train(tables, request.getfixturevalue("server").uri, "")
    here = tmp_path_factory.mktemp("store")
    shutil.copyfile(template, here / "mlflow.db")
    return train(tables, f"sqlite:///{here}/mlflow.db", str(here / "artifacts"))


def scores(model, tracker, pool):
    origin = model.origin("m", model.uri, tracker)
    assert not fits(model, origin, pool, tracker)
    run = rank(model, origin, pool, Tools(origin=origin, registry=tracker))
    assert len(run.final.query) == 400
    return run.final.score


def test_rankers_score_as_they_did_where_they_were_trained(trained, tables, pool):
    tracker, run_id = trained
    wanted = pd.read_parquet(tables / "wanted.parquet")
    cases = [
        ("line", "models:/line/1", None),
        ("trees", "models:/trees/1", None),
        ("classes", "models:/classes/1", "good"),
        ("classes", "models:/classes/2", "good"),
        ("half", "models:/half/1", "down"),
        ("half", f"runs:/{run_id}/m", "down"),
    ]
    for name, uri, output in cases:
        found = scores(Mlflow(uri, output=output, batch_rows=93), tracker, pool)
        np.testing.assert_allclose(found, wanted[name], rtol=1e-12, err_msg=uri)


def test_signatures_are_read_without_the_model(trained, monkeypatch):
    tracker, _ = trained
    monkeypatch.setattr("mlflow.pyfunc.load_model", None)
    expected = (Column("bm25", "float"), Column("price", "double"), Column("length", "long"))
    assert tracker.signature(tracker.resolve("models:/trees/1")).columns == expected


def test_labels_are_no_scores(trained, pool):
    tracker, _ = trained
    for version, returns in (("1", "labels"), ("2", "probabilities")):
        model = Mlflow(f"models:/classes/{version}")
        origin = model.origin("m", model.uri, tracker)
        (found,) = fits(model, origin, pool, tracker)  # before anything is loaded
        assert f"classes v{version} is a classifier, and {returns} are no scores" in str(found)
        assert tracker.signature(origin).outputs == ()
    half = tracker.signature(tracker.resolve("models:/half/1"))
    assert (half.outputs, half.returns) == (("up", "down"), "")
    assert tracker.signature(tracker.resolve("models:/line/1")).returns == ""


def test_code_that_fails_is_told_in_a_line(trained, pool, monkeypatch):
    tracker, _ = trained
    monkeypatch.setattr("sklearn.linear_model.LinearRegression.predict", lambda *_: 1 / 0)
    message = "models:/line/1 raised ZeroDivisionError: division by zero"
    with pytest.raises(SamepoolError, match=message):
        scores(Mlflow("models:/line/1"), tracker, pool)


def test_a_registry_may_be_elsewhere_than_the_runs(trained, place):
    tracker = MlflowTracker(registry_uri=trained[0].uri)
    assert tracker.where.database.is_file()  # the embedded store, which has no such model
    origin = tracker.resolve("models:/line/1")
    assert tracker.signature(origin).columns[0].name == "bm25"
    with tracker.load_model(origin) as loaded:
        assert loaded.method == "predict"


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("uv") is None, reason="needs uv")
def test_requirements_that_cannot_be_had(tracker, client, mlflow, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ENV_ROOT", str(tmp_path / "envs"))

    class Nothing(mlflow.pyfunc.PythonModel):
        def predict(self, context, model_input, params=None):
            return model_input

    folder = tmp_path / "model"
    requirement = "./is-not-there"
    mlflow.pyfunc.save_model(str(folder), python_model=Nothing(), pip_requirements=["numpy"])
    (folder / "requirements.txt").write_text(requirement + "\n")
    client.create_registered_model("needy")
    client.create_model_version("needy", folder.as_uri())
    origin = tracker.resolve("models:/needy/1")
    with pytest.raises(SamepoolError, match=r"models:/needy/1 could not be started.*is-not-there"):
        tracker.serve_model(origin, 10.0).__enter__()
    (root,) = (tmp_path / "envs" / "samepool").glob("*[!k]")
    assert not (root / ".whole").exists()


def test_no_program_that_makes_environments(tracker, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(SamepoolError, match="no uv and no pyenv -> pip install uv"):
        tracker.serve_model(_serve.Origin("m", "mlflow", "m", "m"), 1.0).__enter__()


def test_what_is_kept_ends_with_its_keeper_s_input(tmp_path):
    """Also a child of the child, and one that will not end when asked to."""
    script = tmp_path / "stubborn.py"
    script.write_text(
        textwrap.dedent("""
        import os, pathlib, signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
        pathlib.Path(sys.argv[1]).write_text(f"{os.getpid()} {child.pid}")
        time.sleep(60)
    """)
    )
    told = tmp_path / "pids"
    patient = _keeper.__file__
    keeper = subprocess.Popen(
        [sys.executable, patient, sys.executable, str(script), str(told)],
        stdin=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    until = time.monotonic() + 20
    while (not told.exists() or not told.read_text()) and time.monotonic() < until:
        time.sleep(0.05)
    pids = [int(pid) for pid in told.read_text().split()]
    keeper.stdin.close()
    keeper.wait(15)
    time.sleep(0.2)
    assert not [pid for pid in pids if _running(pid)]


def _running(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"
