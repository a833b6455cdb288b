"""A folder of a user's own, and the command as a user starts it: in a process of its own."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

# What a shell runs in the background ignores SIGINT, and commands under test would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)

Result = subprocess.CompletedProcess[str]
Command = Callable[..., Result]


@pytest.fixture(scope="session")
def binaries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``samepool`` in it, for the PATH."""
    folder = tmp_path_factory.mktemp("bin")
    script = folder / "samepool"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pipeline "$@"\n')
    script.chmod(0o755)
    return folder


@pytest.fixture(scope="session")
def environment(binaries: Path) -> dict[str, str]:
    """A user's environment: no colours, no telemetry, no tracking server."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MLFLOW", "HYDRA", "COLUMNS"))}
    root = str(Path(__file__).parents[1])
    return kept | {
        "PATH": f"{binaries}{os.pathsep}{kept['PATH']}",
        "PYTHONPATH": root,
        "COLUMNS": "120",
        "NO_COLOR": "1",
    }


@pytest.fixture(scope="session")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Judgments of 60 queries, three runs, a query table with attributes, configs of one's own."""
    folder = tmp_path_factory.mktemp("shop")
    rng = np.random.default_rng(7)
    queries = [f"q{number:03}" for number in range(60)]
    grades = {query: rng.permutation([0, 0, 0, 0, 0, 0, 0, 1, 2, 3]) for query in queries}
    lines = [f"{q} 0 d{i} {grade}" for q in queries for i, grade in enumerate(grades[q])]
    (folder / "qrels.trec").write_text("\n".join(lines) + "\n")
    for name, skill in (("bm25", 0.4), ("ce", 1.6), ("splade", 0.5)):
        rows = []
        for query in queries:
            score = skill * grades[query] + rng.normal(size=10)
            order = np.argsort(-score)
            rows += [
                f"{query} Q0 d{item} {rank} {score[item]:.6f} {name}"
                for rank, item in enumerate(order, start=1)
            ]
        (folder / f"{name}.trec").write_text("\n".join(rows) + "\n")
    table = ["query_id,text,length,country"]
    table += [
        f"{q},words of {q},{3 + i % 8},{'NO' if i % 3 else 'SE'}" for i, q in enumerate(queries)
    ]
    (folder / "queries.csv").write_text("\n".join(table) + "\n")
    conf = folder / "conf"
    (conf / "pool").mkdir(parents=True)
    (conf / "experiment").mkdir()
    pool = "defaults: [files]\nname: {0}\nqrels: qrels.trec\nqueries: queries.csv\nlabels: human\n"
    for name in ("shop", "web"):
        (conf / "pool" / f"{name}.yaml").write_text(pool.format(name))
    nightly = "# @package _global_\nbaseline: bm25.trec\ncandidates: [ce.trec]\n"
    (conf / "experiment" / "nightly.yaml").write_text(nightly)
    return folder


@pytest.fixture
def here(shop: Path, tmp_path: Path) -> Path:
    """A fresh copy of that folder."""
    return Path(shutil.copytree(shop, tmp_path / "shop"))


@pytest.fixture
def samepool(here: Path, environment: dict[str, str]) -> Command:
    """Runs ``samepool`` with words, in the fresh folder."""

    def run(*words: str, **extra: str) -> Result:
        return subprocess.run(
            ["samepool", *words],
            cwd=here,
            env=environment | extra,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return run
