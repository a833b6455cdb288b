"""The search-like demo as a user starts it, and what stops text scorers."""

import csv
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

SHOP = ["pool.qrels=qrels.trec", "pool.queries=queries.csv", "pool.labels=human", "tracking=none"]


@pytest.fixture(scope="module")
def demo(environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What was printed, and the output folder."""
    for module in ("bm25s", "wordllama"):
        pytest.importorskip(module, reason=f"{module} is in an extra")
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        ["samepool", "compare", "experiment=semanlink", "tracking=none", "out=out"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode == 5:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return done, folder / "out"


@pytest.mark.network
def test_the_demo_tells_its_models_apart(demo: Any) -> None:
    done, out = demo
    with (out / "by_slice.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    means = {
        r["model"]: float(r["mean"])
        for r in rows
        if (r["slice"], r["metric"]) == ("all", "nDCG(gain=exp)@10")
    }
    expected = {"bm25": 0.475, "tfidf": 0.436, "wordllama": 0.404, "lsa": 0.302}
    assert {name: means[name] for name in expected} == pytest.approx(expected, abs=0.02)
    statuses = {
        d["model"]: d["status"] for d in json.loads((out / "gate.json").read_text())["decisions"]
    }
    assert (statuses["bm25"], statuses["lsa"]) == ("pass", "fail")
    assert {"frequent", "rare", "one_word", "long", "new_items"} <= {r["slice"] for r in rows}
    assert "labels: tag" in done.stdout


@pytest.mark.network
def test_the_demo_says_nothing_that_is_no_concern_of_its_user(demo: Any) -> None:
    """No notes of the libraries', and no warnings."""
    done, _ = demo
    words = ("DEBUG", "INFO", "Warning", "warning", "Traceback", "huggingface", "tokenizers")
    assert not [word for word in words if word in done.stderr + done.stdout]


def test_no_network_is_exit_5_in_one_line(
    here: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    pytest.importorskip("bm25s", reason="bm25s is in an extra")
    lonely = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path), "PIP_CONFIG_FILE": os.devnull}
    done = subprocess.run(
        ["samepool", "compare", "experiment=semanlink", "tracking=none"], cwd=here, timeout=120,
        env=environment | lonely | {"SAMEPOOL_CACHE": str(tmp_path / "cache")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert "Semanlink cannot be fetched (cherche==2.2.1); pip said: " in line
    assert f"put cherche-2.2.1.tar.gz into {tmp_path / 'cache'}" in line


def test_a_missing_extra_is_told_before_anything_is_scored(
    here: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    hide = "import sys\nfor name in ('bm25s', 'wordllama'):\n    sys.modules[name] = None\n"
    (tmp_path / "sitecustomize.py").write_text(hide)
    path = os.pathsep.join([str(tmp_path), environment["PYTHONPATH"]])
    words = ["models=[bm25,wordllama,tfidf]", "baseline=tfidf", "models.tfidf.item_text=item_id"]
    done = subprocess.run(
        ["samepool", "compare", *SHOP, *words], cwd=here, env=environment | {"PYTHONPATH": path},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    for kind, package in (("bm25", "bm25s"), ("wordllama", "wordllama")):
        assert f"kind {kind} needs {package} -> pip install 'samepool[text]'" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pool_without_texts_is_told_before_anything_is_scored(samepool: Any) -> None:
    words = ["models=[tfidf,lsa]", "baseline=tfidf", "models.lsa.query_text=txet"]
    done = samepool("compare", *SHOP, *words)
    assert done.returncode == 2
    assert "kind tfidf reads column 'text' of items, and there is none" in done.stderr
    assert "give the pool a table of items with their texts: pool.items=FILE" in done.stderr
    assert "column 'txet' of queries, and there is none" in done.stderr
    assert "set query_text; did you mean text?" in done.stderr
    assert "Traceback" not in done.stderr
