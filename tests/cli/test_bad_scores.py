"""Scores and ids that cannot be right, in run files and from callables: told, not swallowed."""

from pathlib import Path
from typing import Any

import pytest

HEAD = """
import pandas as pd


def lists(pool, **more):
    pairs = pool.queries[["query_id"]].merge(pool.items[["item_id"]], how="cross")
    return pairs.assign(**{"score": range(len(pairs)), **more})


def model(pool):
    return """

CALLABLES = {
    "nan": "lists(pool, score=[float('nan') if i == 1 else i for i in range(600)])",
    "infinite": "lists(pool, score=[float('inf') if i == 1 else i for i in range(600)])",
    "constant": "lists(pool, score=1.0)",
    "foreign": "pd.concat([lists(pool), pd.DataFrame({'query_id': ['q000'] * 5,"
    " 'item_id': ['new1', 'new2', 'new3', 'new4', 'new5'], 'score': range(5)})])",
    "whole numbers": "lists(pool).assign(item_id=range(600))",
    "numbers as text": "lists(pool).assign(item_id=lambda t: t.item_id.str.lstrip('0'))",
}
ROWS = {
    "nan": "q000 Q0 d1 1 2.5 x\nq000 Q0 d2 2 nan x\n",
    "infinite": "q000 Q0 d1 1 2.5 x\nq000 Q0 d2 2 -inf x\n",
    "constant": "q000 Q0 d1 1 1 x\nq000 Q0 d2 2 1 x\nq001 Q0 d1 1 1 x\nq001 Q0 d2 2 1 x\n",
    "foreign": "q000 Q0 d1 1 9 x\n" + "".join(f"q000 Q0 new{i} 2 {i} x\n" for i in range(5)),
    "numbers as text": "q000 Q0 12 1 2 x\nq000 Q0 d1 2 1 x\n",
}
QUICK = ["pool.qrels=qrels.trec", "pool.labels=human", "tracking=none", "gate=none"]


def compare(inside: Any, here: Path, kind: str, case: str) -> Any:
    with (here / "qrels.trec").open("a") as stream:
        stream.write("q000 0 0012 1\n")
    if kind == "file":
        (here / "v13.trec").write_text(ROWS[case])
        candidate = "v13.trec"
    else:
        (here / "v13.py").write_text(HEAD + CALLABLES[case].replace("600", "60 * 11") + "\n")
        candidate = "{kind: python, call: 'v13:model', name: v13}"
    words = ["baseline=bm25.trec", f"candidates=[{candidate}]", "significance.flips=99"]
    done = inside("compare", *QUICK, *words)
    assert "Traceback" not in done.stderr
    return done


KINDS = pytest.mark.parametrize("kind", ["file", "callable"])


@KINDS
@pytest.mark.parametrize("case", ["nan", "infinite"])
def test_scores_that_are_no_numbers(inside: Any, here: Path, kind: str, case: str) -> None:
    done = compare(inside, here, kind, case)
    assert done.returncode == 2
    if kind == "file":
        assert "v13.trec:line 2: " in done.stderr
        assert "query 'q000', item 'd2'" in done.stderr
    else:
        assert "model v13: 1 scores of its list are NaN or infinite (e.g. q000/d0" in done.stderr


@KINDS
def test_scores_that_are_all_equal(inside: Any, here: Path, kind: str) -> None:
    done = compare(inside, here, kind, "constant")
    assert done.returncode == 0, done.stderr
    n = 2 if kind == "file" else 60
    text = f"model v13: all its scores are equal, in each of {n} queries -> its order is the tie"
    assert text in " ".join((done.stdout + done.stderr).split())


@KINDS
def test_items_outside_the_pool_are_counted(inside: Any, here: Path, kind: str) -> None:
    done = compare(inside, here, kind, "foreign")
    assert done.returncode == 0, done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "unknown items returned" in line]
    assert line.split()[-1] == "5"


@pytest.mark.parametrize("case", ["whole numbers", "numbers as text"])
def test_ids_of_a_callable_that_became_numbers(inside: Any, here: Path, case: str) -> None:
    done = compare(inside, here, "callable", case)
    assert done.returncode == 2
    if case == "whole numbers":
        assert "returned column item_id of int64, not text: 0 -> ids are text" in done.stderr
    else:
        assert "1 item_ids were read as numbers on their way (e.g. `12` is `0012`" in done.stderr


def test_ids_of_a_file_that_became_numbers(inside: Any, here: Path) -> None:
    done = compare(inside, here, "file", "numbers as text")
    assert done.returncode == 2
    assert "v13.trec: 1 item_ids were read as numbers on their way (e.g. `12`" in done.stderr
    assert "keep them text (pandas: dtype=str)" in done.stderr
