"""The lines of the documentation run as they stand, in bash and in zsh."""

import shutil
import subprocess
from pathlib import Path

import pytest

RUNS = "baseline=bm25.trec 'candidates=[ce.trec,splade.trec]'"
METRICS = "metrics.names=['nDCG(gain=exp)@10',R@100,RR@10]"
SLICE = "+slices.defs.long={where: 'length >= 6'}"
MINE = "--config-dir conf"

# check reads a command line exactly as compare does, and takes a second less.
LINES = [
    f"samepool check pool.qrels=qrels.trec {RUNS}",
    f'samepool check "{METRICS}" "{SLICE}" {MINE} pool=shop {RUNS}',
    f"samepool compare -m pool=shop,web experiment=nightly {MINE}",
]
DEMO = "samepool check experiment=movielens 'models=[popular,itemknn,svd]' baseline=itemknn"


@pytest.mark.parametrize("shell", ["bash", "zsh"])
@pytest.mark.parametrize("line", LINES)
def test_a_line_runs(shell: str, line: str, here: Path, environment: dict[str, str]) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed on this machine")
    done = subprocess.run(
        [program, "-c", f"{line} tracking=none"],
        cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.network
@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_demo_takes_overrides(shell: str, here: Path, environment: dict[str, str]) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed on this machine")
    done = subprocess.run(
        [program, "-c", f"{DEMO} models.svd.factors=64 tracking=none"],
        cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    if done.returncode == 5:
        pytest.skip(f"the demo data cannot be fetched here: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "model itemknn (baseline)" in done.stdout
