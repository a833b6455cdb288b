"""Runs that stand for a registered version: stamped, verified, and refused where anything moved."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mlflow
import pytest

POOL = ["pool.qrels=qrels.trec", "pool.labels=human"]
QUICK = ["significance.flips=99", "gate=none"]


def register(here: Path, *texts: str) -> mlflow.MlflowClient:
    """``ranker`` with a version for each text: a file with it; no more is needed to be resolved."""
    client = mlflow.MlflowClient(f"sqlite:///{here}/mlruns/mlflow.db")
    client.create_registered_model("ranker")
    for text in texts:
        folder = here / "weights" / text
        folder.mkdir(parents=True)
        (folder / "weights.txt").write_text(text)
        client.create_model_version("ranker", source=folder.as_uri())
    return client


@pytest.fixture(scope="module")
def registered(shop: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = Path(shutil.copytree(shop, tmp_path_factory.mktemp("stamped") / "shop"))
    (here / "mlruns").mkdir()
    client = register(here, "one", "two")
    client.set_registered_model_alias("ranker", "champion", "1")
    client.set_registered_model_alias("ranker", "challenger", "2")
    return here


@pytest.fixture
def here(registered: Path, tmp_path: Path) -> Path:
    """A fresh copy of the folder with its registry."""
    return Path(shutil.copytree(registered, tmp_path / "shop"))


@pytest.fixture
def stamped(inside: Any, here: Path) -> dict[str, Any]:
    """The manifest of ce.trec, stamped for version 2 by its alias."""
    words = ["run=ce.trec", "retrieval=bm25.trec", "version=models:/ranker@challenger"]
    done = inside("stamp", *words, *POOL, "by=job 17", "notes='fp16, 2 GPUs'")
    assert done.returncode == 0, done.stderr
    assert "written: ce.trec.manifest.json" in done.stdout
    assert "60 of 60 queries answered" in done.stdout
    found: dict[str, Any] = json.loads((here / "ce.trec.manifest.json").read_text())
    return found


@pytest.fixture
def check(inside: Any) -> Callable[..., Any]:
    def check(candidate: str, *words: str) -> Any:
        return inside("check", *POOL, "baseline=splade.trec", f"candidates={candidate}", *words)

    return check


def test_a_manifest_says_who_scored_what(stamped: dict[str, Any], check: Any) -> None:
    digest = stamped["pool"]["digest"]
    assert f"pool digest {digest}\n" in check("bm25.trec").stdout
    assert stamped["schema"] == 1
    assert stamped["model"]["registered"] == "ranker"
    assert stamped["model"]["version"] == "2"
    assert stamped["model"]["uri"] == "models:/ranker@challenger"
    assert stamped["run"]["file"] == "ce.trec"
    assert (stamped["run"]["rows"], stamped["retrieval"]["rows"]) == (600, 600)
    assert (stamped["by"], stamped["notes"]) == ("job 17", "fp16, 2 GPUs")
    assert stamped["created"].endswith("+00:00")


def test_a_stamped_run_stands_for_its_version(
    stamped: dict[str, Any], inside: Any, here: Path
) -> None:
    spec = "{path: ce.trec, retrieval: bm25.trec, version: models:/ranker@challenger}"
    words = ["baseline=splade.trec", f"candidates={spec}", "out=out", *QUICK]
    done = inside("compare", *POOL, *words)
    assert done.returncode == 0, done.stderr
    _, model = json.loads((here / "out/models.json").read_text())["models"]
    assert model["kind"] == "run_file"
    assert (model["registered"], model["version"]) == ("ranker", "2")
    assert (model["requested"], model["resolved"]) == ("ce.trec", "models:/ranker/2")
    assert model["path"] == "ce.trec"
    assert model["has_retrieval"]


def test_a_manifest_beside_the_run_is_verified_unasked(stamped: dict[str, Any], check: Any) -> None:
    done = check("ce.trec")
    assert done.returncode == 0
    note = "note: ce.trec: stands for models:/ranker/2, as ce.trec.manifest.json says"
    assert note in done.stderr
    done = check("ce.trec", "tracking=none")
    assert done.returncode == 0
    assert "models:/ranker/2, which was not verified -> use tracking=mlflow" in done.stderr


def test_the_same_version_twice_is_refused(stamped: dict[str, Any], inside: Any) -> None:
    done = inside("check", *POOL, "baseline=models:/ranker/2", "candidates=ce.trec")
    assert done.returncode == 2
    assert "models:/ranker/2 and ce.trec are both ranker version 2" in done.stderr


def test_a_version_without_a_manifest_names_the_command(check: Any) -> None:
    done = check("{path: ce.trec, retrieval: bm25.trec, version: models:/ranker/2}")
    assert done.returncode == 2
    line = "samepool stamp run=ce.trec retrieval=bm25.trec version=models:/ranker/2 pool=..."
    assert line in done.stderr


def test_a_run_edited_after_stamping_names_both_digests(
    stamped: dict[str, Any], check: Any, here: Path
) -> None:
    for name, part in (("bm25.trec", "retrieval"), ("ce.trec", "run")):
        before = (here / name).read_text()
        (here / name).write_text(before.replace(" 0.", " 1.", 1))
        done = check("{path: ce.trec, retrieval: bm25.trec}")
        assert done.returncode == 2
        assert f"{name}: was edited after it was stamped: SHA-256 " in done.stderr
        assert stamped[part]["sha256"] in done.stderr
        (here / name).write_text(before)


def test_another_pool_is_refused(stamped: dict[str, Any], check: Any) -> None:
    done = check("ce.trec", "pool.catalogue=50")
    assert done.returncode == 2
    assert f"was made for pool qrels@{stamped['pool']['digest'][:8]}, and this is" in done.stderr


def test_another_version_than_stamped_is_refused(stamped: Any, check: Any) -> None:
    done = check("{path: ce.trec, version: models:/ranker@champion}")
    assert done.returncode == 2
    text = "was stamped for models:/ranker/2, and models:/ranker@champion is models:/ranker/1"
    assert text in done.stderr


def test_a_version_made_again_or_gone_is_refused(stamped: Any, check: Any, here: Path) -> None:
    client = mlflow.MlflowClient(f"sqlite:///{here}/mlruns/mlflow.db")
    client.delete_model_version("ranker", "2")
    done = check("ce.trec")
    assert done.returncode == 2
    assert "ce.trec: ranker has no version 2; there" in done.stderr
    client.delete_registered_model("ranker")  # its numbers begin again at 1
    register(here, "three", "four")
    done = check("ce.trec")
    assert done.returncode == 2
    assert "models:/ranker/2 is not the one that ce.trec was stamped for: source" in done.stderr


def test_a_registry_that_does_not_answer_is_exit_5(stamped: Any, check: Any, inside: Any) -> None:
    away = "tracking.uri=http://127.0.0.1:9"
    assert check("ce.trec", away).returncode == 5
    done = inside("stamp", "run=ce.trec", "version=models:/ranker/2", *POOL, away)
    assert done.returncode == 5


MISTAKES = [
    (["version=models:/ranker/2"], "stamp needs the run file"),
    (["run=ce.trec"], "no version to stamp the run for"),
    (["run=ec.trec", "version=models:/ranker/2"], "no run file ec.trec -> did you mean ce.trec"),
    (["run=ce.trec", "version=models:/ranker@nobody"], "nobody"),
    (["run=ce.trec", "version=models:/rankr/2"], "did you mean ranker?"),
    (["run=qrels.trec", "version=models:/ranker/2"], "this looks like judgments, not a run"),
    (["run=ce.trec", "version=models:/ranker/2", "tracking=none"], "tracking=none: models:/ranker"),
]


@pytest.mark.parametrize(("words", "text"), MISTAKES)
def test_mistakes(inside: Any, here: Path, words: list[str], text: str) -> None:
    done = inside("stamp", *words, *POOL)
    assert done.returncode == 2
    assert text in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(here.glob("*.manifest.json"))


def test_every_mistake_is_told_at_once(inside: Any) -> None:
    done = inside("stamp", "run=ec.trec", "version=models:/ranker/9", "pool.qrels=gone.trec")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 3


def test_a_run_that_a_comparison_would_refuse_is_not_stamped(inside: Any, here: Path) -> None:
    (here / "bad.trec").write_text("q000 Q0 d1 1 nan x\n")
    done = inside("stamp", "run=bad.trec", "version=models:/ranker/2", *POOL)
    assert done.returncode == 2
    assert "bad.trec:line 1" in done.stderr
