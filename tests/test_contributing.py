"""The worked examples of CONTRIBUTING.md, put where they say, work as they say."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FENCE = re.compile(r"^```\w+ title=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the code with the examples in their places, and nothing else changed."""
    copy = tmp_path_factory.mktemp("checkout")
    for folder in ("pipeline", "conf"):
        shutil.copytree(ROOT / folder, copy / folder)
    (copy / "tests").mkdir()
    examples = FENCE.findall((ROOT / "CONTRIBUTING.md").read_text())
    assert len(examples) == 5
    for name, text in examples:
        path = copy / name
        assert not path.exists(), name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (copy / "qrels.trec").write_text("".join(f"q{i} 0 d{i % 9} 1\n" for i in range(40)))
    (copy / "mine.trec").write_text("".join(f"q{i} Q0 d{i % 9} 1 1.0 x\n" for i in range(40)))
    (copy / "items.csv").write_text("item_id\n" + "".join(f"d{i}\n" for i in range(12)))
    return copy


def run(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", *words],
        cwd=checkout, env=os.environ | {"PYTHONPATH": str(checkout)}, timeout=300,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_the_examples_pass_lint_and_types(checkout: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", checkout)
    names = [name for name, _ in FENCE.findall((ROOT / "CONTRIBUTING.md").read_text())]
    code = [name for name in names if name.startswith("pipeline/")]
    assert len(code) == 3
    checked = run(checkout, "mypy", "--cache-dir", ".mypy", "--follow-imports=silent", *code)
    assert checked.returncode == 0, checked.stdout
    linted = run(checkout, "ruff", "check", "--no-cache", "--ignore=ARG002", *code)
    assert linted.returncode == 0, linted.stdout
    formatted = run(checkout, "ruff", "format", "--check", "--no-cache", *code)
    assert formatted.returncode == 0, formatted.stdout


def test_the_metrics_test_passes(checkout: Path) -> None:
    done = run(checkout, "pytest", "-q", "tests/metrics/test_hits.py")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


def test_metric_model_and_rule_work_together(checkout: Path) -> None:
    done = run(
        checkout, "pipeline", "compare", "pool.qrels=qrels.trec", "pool.items=items.csv",
        "pool.labels=human", "models=[short]", "baseline=short", "candidates=mine.trec",
        "metrics.names=[nDCG@10,Hits@10]", "+gate.rules.wins={kind: more_wins, at_least: 10}",
        "tracking=none", "out=out",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    decision = json.loads((checkout / "out/gate.json").read_text())["decisions"][0]
    verdicts = {v["rule"]: v for v in decision["verdicts"]}
    assert verdicts["wins"]["status"] == "pass"
    assert "wins" in verdicts["wins"]["reason"]
    assert "Hits@10" in (checkout / "out/by_slice.csv").read_text()
