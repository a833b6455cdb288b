"""Models of a registry, by alias and by version: resolved once, scored on the pool."""

import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli.main import main

Result = subprocess.CompletedProcess[str]
Command = Callable[..., Result]

pytestmark = pytest.mark.filterwarnings("ignore")

REGISTER = """
import mlflow, pathlib
import pandas as pd
from mlflow.models import ModelSignature
from mlflow.types import ColSpec, Schema
from sklearn.linear_model import LogisticRegression

root = pathlib.Path("mlruns").resolve()
root.mkdir()
mlflow.set_tracking_uri(f"sqlite:///{root}/mlflow.db")
client = mlflow.MlflowClient()
mlflow.create_experiment("train", artifact_location=(root / "artifacts").as_uri())
mlflow.set_experiment("train")
signature = ModelSignature(Schema([ColSpec("double", "price"), ColSpec("long", "length")]))


class Ranker(mlflow.pyfunc.PythonModel):
    def __init__(self, a, b):
        self.a, self.b = a, b

    def predict(self, context, model_input, params=None):
        price = model_input["price"]
        return self.a * price.where(price < self.b) + 0 * model_input["length"]


def log(name, model, alias=None, flavor=mlflow.pyfunc, **more):
    more.setdefault("signature", signature)
    flavor.log_model(model, name="m", registered_model_name=name,
                     pip_requirements=["mlflow-skinny==" + mlflow.__version__, "pandas"], **more)
    newest = max(client.search_model_versions(f"name='{name}'"), key=lambda v: int(v.version))
    if alias:
        client.set_registered_model_alias(name, alias, newest.version)


def pyfunc(name, a, b, alias=None, **more):
    log(name, None, alias, python_model=Ranker(a, b), **more)


with mlflow.start_run():
    pyfunc("ranker", -1.0, 99, "champion")
    pyfunc("ranker", 1.0, 99, "challenger")
    pyfunc("ranker", 1.0, 0.85)
    pyfunc("twin", 1.0, 99)
    pyfunc("flat", 0.0, 99)
    wide = ModelSignature(Schema([ColSpec("double", "price_z"), ColSpec("double", "country")]))
    pyfunc("wide", 1.0, 99, signature=wide)
    table = pd.DataFrame({"price": [0.1, 0.2, 0.7, 0.8], "length": [3, 4, 3, 4]})
    clicks = LogisticRegression().fit(table, [0, 0, 1, 1])
    log("clicks", clicks, flavor=mlflow.sklearn)
"""


@pytest.fixture(scope="module")
def registered(
    shop: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The shop with models in its store; made once, as it takes a while."""
    here = Path(shutil.copytree(shop, tmp_path_factory.mktemp("registered") / "shop"))
    items = "item_id,price\n" + "".join(f"d{i},{i / 10}\n" for i in range(10))
    (here / "items.csv").write_text(items)
    done = subprocess.run(
        [sys.executable, "-c", REGISTER],
        cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return here


WORDS = ["--config-dir", "conf", "pool=shop", "pool.items=items.csv"]
BASE = [*WORDS, "baseline=models:/ranker@champion"]


@pytest.fixture
def samepool(registered: Path, environment: dict[str, str]) -> Command:
    def run(*words: str) -> Result:
        return subprocess.run(
            ["samepool", *words],
            cwd=registered, env=environment, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip

    return run


@pytest.fixture
def inside(
    registered: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str]]:
    """Calls the program in this process: its code, and what it says on standard error."""
    for name in [name for name in os.environ if name.startswith("MLFLOW_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(registered)

    def call(*words: str) -> tuple[int, str]:
        code = main(words)
        return code, capfd.readouterr().err

    return call


def test_champion_against_challenger(samepool: Any, registered: Path) -> None:
    done = samepool("compare", *BASE, "candidates=models:/ranker@challenger", "out=out")
    assert done.returncode == 0, done.stderr
    models = json.loads((registered / "out/models.json").read_text())["models"]
    assert [m["resolved"] for m in models] == ["models:/ranker/1", "models:/ranker/2"]
    assert [m["requested"] for m in models] == [
        "models:/ranker@champion",
        "models:/ranker@challenger",
    ]


MISTAKES = [
    ("models:/ranker@chalenger", ["no @chalenger; versions 1-3 -> did you mean @challenger"]),
    ("models:/ranker/1", ["@champion and models:/ranker/1 are both ranker version 1"]),
    ("models:/wide/1", [
        "wide v1 needs the column 'price_z', which the pool lacks -> did you mean price",
        "wide v1 wants 'country' as double; queries.country holds text (e.g. 'SE', 'NO', 'NO')",
    ]),
    ("{kind: mlflow, uri: models:/ranker/2, env: uri}", ["endpoint goes with env: uri"]),
    ("{kind: mlflow, uri: models:/ranker/2, batchrows: 5}", ["did you mean batch_rows?"]),
]  # fmt: skip


@pytest.mark.parametrize(("model", "messages"), MISTAKES, ids=[m for m, _ in MISTAKES])
def test_what_is_wrong_is_told_before_anything_is_scored(
    inside: Any, model: str, messages: list[str]
) -> None:
    code, said = inside("compare", *BASE, f"candidates=[{model}]", "out=wrong")
    assert code == 2
    assert all(message in said for message in messages), said
    assert len(said.splitlines()) == len(messages)


def test_check_tells_all_of_it_at_once(inside: Any) -> None:
    wrong = [model for model, _ in MISTAKES[:3]]
    code, said = inside("check", *BASE, f"candidates=[{','.join(wrong)}]")
    assert code == 2
    assert all(message in said for _, messages in MISTAKES[:3] for message in messages), said


SCORES = [
    ("models:/ranker/3", "ranker v3 scored NaN for 60 of the 600 pairs asked, first q000/d9"),
    ("models:/flat/1", "flat v1 is constant: it gave one score to 600 pairs; ranking is tie-break"),
    (
        "models:/clicks/1",
        "clicks v1 is a classifier of 0, 1, and labels are no scores -> output: 1",
    ),
]


@pytest.mark.parametrize(("model", "message"), SCORES, ids=[m for m, _ in SCORES])
def test_scores_that_are_none_stop_the_comparison(inside: Any, model: str, message: str) -> None:
    code, said = inside("compare", *BASE, f"candidates=[{model}]", "engine.reuse=false")
    assert code == 2
    assert message in said
    assert len(said.splitlines()) == 1


def test_a_class_of_a_classifier_and_ties_that_are_allowed(inside: Any, registered: Path) -> None:
    by_class = "{kind: mlflow, uri: models:/clicks/1, output: 1, name: chance}"
    flat = "{kind: mlflow, uri: models:/flat/1, allow_ties: true, name: flat}"
    code, said = inside("compare", *BASE, f"candidates=[{by_class},{flat}]", "out=classes")
    assert code == 0, said
    problems = json.loads((registered / "classes/comparison.json").read_text())["problems"]
    assert [p["code"] for p in problems if p["code"] == "constant_scores"]


def test_a_server_that_is_not_there_is_named(inside: Any) -> None:
    away = "{kind: mlflow, uri: models:/ranker/2, env: uri, endpoint: 'http://127.0.0.1:9'}"
    code, said = inside("compare", *BASE, f"candidates=[{away}]", "engine.reuse=false")
    assert code == 5
    assert "ranker v2: http://127.0.0.1:9 did not answer: connection refused" in said


@pytest.fixture(scope="module")
def endpoint(registered: Path, environment: dict[str, str]) -> Iterator[str]:
    """The challenger, served by ``mlflow models serve``."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    more = {
        "MLFLOW_TRACKING_URI": f"sqlite:///{registered}/mlruns/mlflow.db",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}",
    }
    process = subprocess.Popen(
        [
            sys.executable, "-m", "mlflow", "models", "serve", "-m", "models:/ranker@challenger",
            "--env-manager", "local", "--port", str(port),
        ],
        cwd=registered, env=environment | more, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    for _ in range(300):
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/ping", timeout=1).close()
            break
        except OSError:
            time.sleep(0.2)
    yield f"http://127.0.0.1:{port}"
    os.killpg(process.pid, 9)
    process.wait()


def digests(folder: Path) -> set[str]:
    """Of the lists of both candidates."""
    models = json.loads((folder / "models.json").read_text())["models"]
    assert len(models) == 3
    return {model["run_digest"] for model in models[1:]}


def test_a_model_server_scores_as_the_model_does_here(
    inside: Any, registered: Path, endpoint: str
) -> None:
    there = f"{{kind: mlflow, uri: models:/twin/1, env: uri, endpoint: '{endpoint}', name: c}}"
    code, said = inside("compare", *BASE, f"candidates=[models:/ranker/2,{there}]", "out=there")
    assert code == 0, said
    assert len(digests(registered / "there")) == 1


@pytest.mark.slow
@pytest.mark.network
@pytest.mark.skipif(importlib.util.find_spec("uv") is None, reason="needs uv")
def test_a_model_with_its_own_requirements(
    inside: Any, registered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MLFLOW_ENV_ROOT", str(tmp_path / "envs"))
    own = "{kind: mlflow, uri: models:/twin/1, env: virtualenv, batch_rows: 250, name: c}"
    code, said = inside("compare", *BASE, f"candidates=[models:/ranker/2,{own}]", "out=own")
    assert code == 0, said
    assert len(digests(registered / "own")) == 1
    assert len(list((tmp_path / "envs" / "samepool").glob("*/.whole"))) == 1
