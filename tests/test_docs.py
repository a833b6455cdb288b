"""The README's blocks run as they stand, in a user's folder; its table is what the demo prints."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^<!-- table: (.*) -->\n```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETS_UP = re.compile(r"^(make|python3.11 -m venv)", re.MULTILINE)  # what CI runs itself
FETCHES = re.compile("experiment=(movielens|semanlink)")


def run(words: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        words, cwd=folder, env=environment, timeout=600, capture_output=True, text=True, check=False
    )
    if done.returncode == 5 and FETCHES.search(" ".join(words)):
        pytest.skip(f"the demo data cannot be fetched here: {done.stderr.splitlines()[-1]}")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_blocks_run_in_their_order(here: Path, environment: dict[str, str]) -> None:
    shutil.rmtree(here / "conf")
    ran = 0
    for language, text in BLOCK.findall(README):
        if SETS_UP.search(text) or FETCHES.search(text):
            continue
        words = ["bash", "-euc", text] if language == "bash" else [sys.executable, "-c", text]
        run(words, here, environment)
        ran += 1
    assert ran == 5
    assert list((here / "outputs").rglob("report.html"))


@pytest.mark.network
def test_the_table_is_what_the_demo_prints(tmp_path: Path, environment: dict[str, str]) -> None:
    command, table = TABLE.findall(README)[0]
    wide = environment | {"COLUMNS": "104", "SAMEPOOL_CACHE": os.environ.get("SAMEPOOL_CACHE", "")}
    wide = {name: value for name, value in wide.items() if value}
    words = [*command.split(), "tracking=none", "out=out"]
    printed = run(words, tmp_path, wide).splitlines()
    shown = [line for line in table.splitlines() if line.strip()]
    assert len(shown) > 20
    missing = [line for line in shown if line not in printed]
    assert not missing
