"""Comparisons that are cut off, and servers that are away: nothing is lost or scored twice."""

import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MODELS = """
import os, time
import pandas as pd


def lists(pool, sign):
    rows = [(q, i, sign * float(i[1:])) for q in pool.queries.query_id for i in pool.items.item_id]
    return pd.DataFrame(rows, columns=["query_id", "item_id", "score"])


def note(text):
    with open("calls.txt", "a") as log:
        log.write(text)


def first(pool):
    note("1")
    return lists(pool, 1)


def second(pool):
    note("2")
    while os.path.exists("wait"):
        time.sleep(0.05)
    if os.path.exists("fail"):
        raise ValueError("no such column: price")
    return lists(pool, -1)
"""

WORDS = ["samepool", "compare", "pool.qrels=qrels.trec", "pool.labels=human", "baseline=mine:first"]
COMMAND = [*WORDS, "candidates=mine:second"]


def statuses(here: Path) -> list[str]:
    """Status of the comparison runs (not those of single models), oldest first."""
    with sqlite3.connect(here / "mlruns/mlflow.db") as store:
        rows = store.execute(
            "select r.status from runs r where not exists (select 1 from tags t where"
            " t.run_uuid = r.run_uuid and t.key = 'mlflow.parentRunId') order by r.start_time"
        )
        return [status for (status,) in rows]


@contextmanager
def waiting(here: Path, environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A comparison that has scored its first model and is busy with the second."""
    (here / "mine.py").write_text(MODELS)
    (here / "wait").touch()
    process = subprocess.Popen(
        COMMAND,
        cwd=here,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    calls = here / "calls.txt"
    limit = time.monotonic() + 120
    while not (calls.exists() and "2" in calls.read_text()):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < limit
        time.sleep(0.05)
    yield process
    process.kill()
    process.communicate()


def again(here: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    (here / "wait").unlink(missing_ok=True)
    return subprocess.run(
        COMMAND, cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False
    )


def test_after_kill_9_the_same_command_finishes_and_scores_nothing_twice(
    here: Path, environment: dict[str, str]
) -> None:
    with waiting(here, environment) as process:
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        assert statuses(here) == ["RUNNING"]
    done = again(here, environment)
    assert done.returncode == 0, done.stderr
    assert (here / "calls.txt").read_text() == "122"
    assert statuses(here) == ["KILLED", "FINISHED"]


LONG = """
import numpy as np, pandas as pd


def lists(pool, sign):
    # Long enough that writing them takes a while.
    queries, n = pool.queries.query_id, 1_500
    scores = np.random.default_rng(0).normal(size=n * len(queries))
    scores[::n] += sign
    return pd.DataFrame({
        "query_id": np.repeat(queries.to_numpy(), n),
        "item_id": np.tile([f"d{i}" for i in range(n)], len(queries)),
        "score": scores,
    })


def first(pool):
    return lists(pool, 1)


def second(pool):
    return lists(pool, 9)
"""

# What is there the moment the process is killed; none of it before that attempt.
MOMENTS = {
    "before the first model": "out/.samepool",
    "while a list is written": "outputs/.runs/.new-*",
    "between lists and evidence": "out/runs/second.parquet",
    "while evidence is written": "out/comparisons.csv",
    "before the seal": "out/report.html",
}


def killed(here: Path, environment: dict[str, str], command: list[str], sight: str) -> None:
    """Starts the command and kills it the moment that a file of such a name is there."""
    process = subprocess.Popen(
        command, cwd=here, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    limit = time.monotonic() + 120
    while not any(here.glob(sight)):
        assert process.poll() is None
        assert time.monotonic() < limit
        time.sleep(0.001)
    process.kill()
    assert process.wait(timeout=60) == -signal.SIGKILL


def content(folder: Path) -> dict[str, bytes]:
    """Every file of a comparison, to the byte."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def test_killed_at_any_moment_the_same_command_gives_the_same(
    here: Path, environment: dict[str, str]
) -> None:
    """Each attempt takes up what the one before it left, and is killed further on."""
    (here / "mine.py").write_text(LONG)
    command = [*COMMAND, "tracking=none", "gate=none", "significance.flips=99", "out=out"]

    def finish() -> dict[str, bytes]:
        subprocess.run(command, cwd=here, env=environment, check=True, capture_output=True)
        return content(here / "out")

    expected = finish()
    shutil.rmtree(here / "out")
    shutil.rmtree(here / "outputs")
    for moment, sight in MOMENTS.items():
        assert not any(here.glob(sight)), moment
        killed(here, environment, command, sight)
        assert not (here / "out/manifest.json").exists(), moment
    found = finish()
    assert sorted(found) == sorted(expected)
    assert [name for name in found if found[name] != expected[name]] == []
    assert len(list((here / "outputs/.runs").glob("*.parquet"))) == 2
    assert list((here / "outputs/.runs").glob(".new-*"))  # one was being written indeed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_comparison_is_killed_in_the_log_too(
    here: Path, environment: dict[str, str], number: signal.Signals
) -> None:
    with waiting(here, environment) as process:
        process.send_signal(number)
        _, error = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "interrupted" in error
        assert "Traceback" not in error
    assert statuses(here) == ["KILLED"]


def test_a_model_that_fails_leaves_a_failed_run_and_its_reason(
    here: Path, environment: dict[str, str]
) -> None:
    (here / "mine.py").write_text(MODELS)
    (here / "fail").touch()
    done = again(here, environment)
    assert done.returncode == 2
    assert "no such column: price" in done.stderr
    assert "Traceback" not in done.stderr
    assert statuses(here) == ["FAILED"]


def test_without_a_server_results_wait_and_are_uploaded_once(
    here: Path, environment: dict[str, str]
) -> None:
    (here / "mine.py").write_text(MODELS)
    away = "tracking.uri=http://127.0.0.1:9"
    done = subprocess.run(
        [*COMMAND, away, "out=out"],
        cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 5, done.stderr
    assert (here / "out/report.html").is_file()
    assert "samepool upload" in done.stdout
    home = f"tracking.uri=sqlite:///{here}/mlruns/mlflow.db"
    for words, code, expected in (
        ([], 5, "sending out to http://127.0.0.1:9"),
        ([home], 0, "published out"),
        ([home], 0, "nothing waits"),
    ):
        sent = subprocess.run(
            ["samepool", "upload", "root=.", *words],
            cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert sent.returncode == code, sent.stderr
        assert expected in sent.stdout
    assert statuses(here) == ["FINISHED"]
