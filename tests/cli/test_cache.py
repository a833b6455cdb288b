"""Each list is scored once: what is reused, what is scored again, and a cache in any state."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MODELS = """
import helper


def first(pool):
    return helper.lists(pool, "1", 1)


def second(pool, factor=-1):
    return helper.lists(pool, "2", factor)


def third(pool):
    return helper.lists(pool, "3", 2)
"""

HELPER = """
import os, time
import pandas as pd


def lists(pool, name, sign):
    with open("calls.txt", "a") as log:
        log.write(name)
    while os.path.exists("wait"):
        time.sleep(0.02)
    rows = [(q, i, sign * float(i[1:])) for q in pool.queries.query_id for i in pool.items.item_id]
    return pd.DataFrame(rows, columns=["query_id", "item_id", "score"])
"""

WORDS = [
    "compare", "pool.qrels=qrels.trec", "pool.labels=human", "tracking=none", "baseline=mine:first",
    "significance.flips=99", "gate=none",
]  # fmt: skip
TWO = "candidates=[mine:second]"


@pytest.fixture(scope="module")
def compared(
    shop: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A folder in which two models were compared, into ``reference``."""
    here = Path(shutil.copytree(shop, tmp_path_factory.mktemp("compared") / "shop"))
    (here / "mine.py").write_text(MODELS)
    (here / "helper.py").write_text(HELPER)
    words = ["samepool", *WORDS, TWO, "out=reference"]
    subprocess.run(words, cwd=here, env=environment, check=True, capture_output=True)
    assert calls(here) == "12"
    return here


@pytest.fixture
def here(compared: Path, tmp_path: Path) -> Path:
    """A fresh copy of it, cache and all."""
    return Path(shutil.copytree(compared, tmp_path / "shop"))


@pytest.fixture
def compare(inside: Any) -> Callable[..., Any]:
    def compare(*words: str) -> Any:
        done = inside(*WORDS, *words)
        assert done.returncode == 0, done.stderr
        return done

    return compare


def calls(here: Path) -> str:
    return (here / "calls.txt").read_text()


def numbers(folder: Path) -> dict[str, bytes]:
    """Files that hold numbers and no paths, to the byte."""
    names = ["per_query.parquet", "comparisons.csv", "by_slice.csv", "top.parquet"]
    return {name: (folder / name).read_bytes() for name in names}


def test_one_more_candidate_scores_that_one(compare: Any, here: Path) -> None:
    done = compare("candidates=[mine:second,mine:third]")
    assert calls(here) == "123"
    assert "scored lists reused: first, second\n" in done.stdout


def test_the_same_again_scores_nothing_and_gives_the_same(compare: Any, here: Path) -> None:
    done = compare(TWO, "out=again")
    assert calls(here) == "12"
    assert "scored lists reused: first, second\n" in done.stdout
    assert numbers(here / "again") == numbers(here / "reference")


def test_reuse_false_scores_anew(compare: Any, here: Path) -> None:
    done = compare(TWO, "out=again", "engine.reuse=false")
    assert calls(here) == "1212"
    assert "reused" not in done.stdout
    assert numbers(here / "again") == numbers(here / "reference")


CHANGES: dict[str, Callable[[Path], list[str]]] = {
    "judgments": lambda here: [append(here / "qrels.trec", "q000 0 d99 1\n")],
    "depth": lambda _: ["engine.keep_depth=7"],
    "seed": lambda _: ["seed=3"],
    "module": lambda here: [append(here / "mine.py", "# changed\n")],
    "helper": lambda here: [append(here / "helper.py", "# changed\n")],
}


def append(path: Path, text: str) -> str:
    path.write_text(path.read_text() + text)
    return "report.top=20"  # the default


@pytest.mark.parametrize("change", CHANGES)
def test_whatever_changes_the_lists_scores_again(compare: Any, here: Path, change: str) -> None:
    compare(TWO, *CHANGES[change](here))
    assert calls(here) == "1212"


def test_other_arguments_are_another_model(compare: Any, here: Path) -> None:
    spec = "{kind: python, call: 'mine:second', args: {factor: -2}, name: second}"
    compare(f"candidates=[{spec}]")
    assert calls(here) == "122"


def test_what_changes_no_list_scores_nothing(compare: Any, here: Path) -> None:
    compare(TWO, "metrics.names=[R@5]", "report.top=3", "engine.progress=false")
    assert calls(here) == "12"


@pytest.mark.parametrize("damage", [b"", b"PAR1 not really", None], ids=["cut", "bytes", "bit"])
def test_a_damaged_list_is_scored_again(compare: Any, here: Path, damage: bytes | None) -> None:
    expected = numbers(here / "reference")
    for path in (here / "outputs/.runs").glob("*.parquet"):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.chmod(0o644)
        path.write_bytes(bytes(content) if damage is None else damage)
    compare(TWO, "out=again")
    assert calls(here) == "1212"
    assert numbers(here / "again") == expected


@pytest.mark.parametrize("name", ["qrels.trec", "qrels.trec/below", "sealed"])
def test_a_cache_that_cannot_be_written_is_a_warning(compare: Any, here: Path, name: str) -> None:
    (here / "sealed").mkdir(mode=0o555)
    done = compare(TWO, "out=again", f"engine.cache={name}")
    assert calls(here) == "1212"
    assert numbers(here / "again") == numbers(here / "reference")
    if name != "sealed" or os.geteuid():  # nothing is sealed to root
        assert "warning: " in done.stderr
        assert "cannot be written" in done.stderr


def test_two_comparisons_at_once_do_each_other_no_harm(
    compare: Any, here: Path, environment: dict[str, str]
) -> None:
    (here / "wait").touch()
    both = [
        subprocess.Popen(
            ["samepool", *WORDS, TWO, "engine.cache=shared", f"out=at{number}"],
            cwd=here, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for number in range(2)
    ]  # fmt: skip
    limit = time.monotonic() + 120
    while calls(here).count("1") < 3:
        assert all(process.poll() is None for process in both)
        assert time.monotonic() < limit
        time.sleep(0.02)
    (here / "wait").unlink()
    for number, process in enumerate(both):
        _, error = process.communicate(timeout=300)
        assert process.returncode == 0, error
        assert numbers(here / f"at{number}") == numbers(here / "reference")
    assert not list((here / "shared").glob("*.partial"))


def test_what_is_said_of_reused_lists_is_said_of_the_model_at_hand(inside: Any, here: Path) -> None:
    some = (here / "ce.trec").read_text().splitlines(keepends=True)[::3]
    (here / "some.trec").write_text("".join(some))
    words = ["pool.qrels=qrels.trec", "tracking=none", "significance.flips=99", "gate=none"]
    for name in ("first", "second"):
        pair = f"{{kind: two_stage, retriever: bm25.trec, ranker: some.trec, name: {name}}}"
        done = inside("compare", *words, "baseline=splade.trec", f"candidates=[{pair}]")
        assert done.returncode == 0
        assert f"model {name}: the ranker" in done.stdout
    assert "scored lists reused: splade, second" in done.stdout
    assert "model first" not in done.stdout
