"""Models of a registry, by alias and by version: resolved once, scored on the pool."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Result = subprocess.CompletedProcess[str]
Command = Callable[..., Result]

REGISTER = """
import mlflow, pathlib
from mlflow.models import ModelSignature
from mlflow.types import ColSpec, Schema

root = pathlib.Path("mlruns").resolve()
root.mkdir()
mlflow.set_tracking_uri(f"sqlite:///{root}/mlflow.db")
client = mlflow.MlflowClient()
mlflow.create_experiment("train", artifact_location=(root / "artifacts").as_uri())
mlflow.set_experiment("train")
signature = ModelSignature(Schema([ColSpec("double", "price"), ColSpec("long", "length")]))


class Ranker(mlflow.pyfunc.PythonModel):
    def __init__(self, sign):
        self.sign = sign

    def predict(self, context, model_input, params=None):
        return self.sign * model_input["price"] + 0 * model_input["length"]


for sign, alias in ((-1.0, "champion"), (1.0, "challenger")):
    with mlflow.start_run():
        mlflow.pyfunc.log_model(
            name="model", python_model=Ranker(sign), signature=signature,
            registered_model_name="ranker", pip_requirements=["mlflow"],
        )
    newest = max(client.search_model_versions("name='ranker'"), key=lambda v: int(v.version))
    client.set_registered_model_alias("ranker", alias, newest.version)
"""


@pytest.fixture(scope="module")
def registered(
    shop: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The shop with two versions of a ranker in its store; made once, as it takes a while."""
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


@pytest.fixture
def samepool(registered: Path, environment: dict[str, str]) -> Command:
    def run(*words: str) -> Result:
        return subprocess.run(
            ["samepool", *words],
            cwd=registered, env=environment, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip

    return run


def test_champion_against_challenger(samepool: Any, registered: Path) -> None:
    done = samepool(
        "compare", *WORDS, "baseline=models:/ranker@champion",
        "candidates=models:/ranker@challenger", "out=out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    models = json.loads((registered / "out/models.json").read_text())["models"]
    assert [m["resolved"] for m in models] == ["models:/ranker/1", "models:/ranker/2"]
    assert [m["requested"] for m in models] == [
        "models:/ranker@champion",
        "models:/ranker@challenger",
    ]


def test_what_is_wrong_with_a_registry_model_is_named(samepool: Any, registered: Path) -> None:
    words = [*WORDS, "baseline=models:/ranker@champion", "candidates=models:/ranker@chalenger"]
    done = samepool("compare", *words)
    assert done.returncode == 2
    assert "challenger" in done.stderr
    assert "Traceback" not in done.stderr
    (registered / "items.csv").write_text("item_id,prize\nd1,1\n")
    words[-1] = "candidates=models:/ranker/2"
    done = samepool("compare", *words)
    assert done.returncode == 2
    assert "needs the column 'price', which the pool lacks -> did you mean prize" in done.stderr
