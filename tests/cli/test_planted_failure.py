"""experiment=planted_failure: better overall, worse for new items of one group, and found."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

QUICK = ["experiment=planted_failure", "tracking=none", "out=out"]
SMALL = [
    "pool=synthetic",
    "pool.n_queries=400",
    "pool.n_items=800",
    "pool.depth=50",
    "tracking=none",
]


def rows(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Reported differences by metric and slice."""
    with path.open(newline="") as stream:
        found = [row for row in csv.DictReader(stream) if row["rule"] == "report"]
    return {(row["metric"], row["slice"]): row for row in found}


def verdicts(folder: Path) -> dict[tuple[str, str], str]:
    """Status by rule and slice."""
    (decision,) = json.loads((folder / "gate.json").read_text())["decisions"]
    return {(v["rule"], v["slice"]): v["status"] for v in decision["verdicts"]}


def test_the_gate_finds_what_the_mean_hides(samepool: Any, here: Path) -> None:
    done = samepool("compare", *QUICK, "gate.enforce=true")
    assert done.returncode == 3, done.stderr
    assert "FAIL  new_by_group: R@10 on new_items_b" in done.stdout
    found = verdicts(here / "out")
    assert found.pop(("new_by_group", "new_items_b")) == "fail"
    assert set(found.values()) == {"pass"}
    assert {("better", "all"), ("groups", "group_b"), ("new_items", "new_items")} < set(found)
    table = rows(here / "out" / "comparisons.csv")
    first, last = "R(stage=retrieval)@100", "nDCG(gain=exp)@10"
    for metric in (first, last):
        assert float(table[metric, "all"]["ci_low"]) > 0
        assert float(table[metric, "new_items_b"]["ci_high"]) < 0
        assert float(table[metric, "new_items_a"]["ci_low"]) > 0
    # Half of .85 is left of s1's recall there, .75 is s0's: retrieval itself has lost them.
    there = table[first, "new_items_b"]
    assert abs(float(there["delta"]) - (0.425 - 0.75)) < 4 * _error(there)
    for where in ("new_items_a", "new_items_c"):
        there = table[first, where]
        assert abs(float(there["delta"]) - 0.1) < 4 * _error(there)


def _error(row: dict[str, str]) -> float:
    return (float(row["ci_high"]) - float(row["ci_low"])) / (2 * 1.96)


def test_without_the_plant_the_same_candidate_passes(samepool: Any, here: Path) -> None:
    done = samepool(
        "compare", *QUICK, "pool.plant=[]", "significance.gate_flips=9999", "gate.enforce=true"
    )
    assert done.returncode == 0, done.stderr
    assert set(verdicts(here / "out").values()) == {"pass"}


def test_twins_differ_nowhere_and_other_models_run_on_the_logs(samepool: Any, here: Path) -> None:
    (here / "mine.py").write_text(
        "def new_first(pool):\n"
        "    top = pool.items.nlargest(20, 'popularity')[['item_id', 'popularity']]\n"
        "    pairs = pool.queries[['query_id']].merge(top, how='cross')\n"
        "    return pairs.rename(columns={'popularity': 'score'})\n"
    )
    done = samepool(
        "compare", *SMALL, "pool.systems={s0: {retrieval: .8, ranking: .8}, s1: {same_as: s0}}",
        "models=[s0,s1,popular,recent,itemknn,svd]", "models.svd.factors=8", "baseline=s0",
        "candidates=[s1,popular,recent,itemknn,svd,'mine:new_first']",
        "metrics.names=[nDCG@10,R@10,'R(stage=retrieval)@50']", "out=out",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    with (here / "out" / "comparisons.csv").open(newline="") as stream:
        twin = [row for row in csv.DictReader(stream) if row["model"] == "s1"]
    assert len(twin) >= 3
    for row in twin:
        assert int(row["wins"]) > 20
        assert abs(float(row["delta"])) < 4 * _error(row)
    for name in ("popular", "recent", "itemknn", "svd", "new_first"):
        assert name in done.stdout


MISTAKES = [
    (
        ["pool.plant=[{system: s9, stage: retrieval, size: .5}]"],
        "no system 's9'; there are: s0, s1",
    ),
    (
        ["pool.plant=[{system: s1, stage: ranking, size: .5, where: {grup: b}}]"],
        "did you mean group?",
    ),
    (
        ["pool.plant=[{system: s1, stage: ranking, size: 5}]"],
        "size is 5; it is a share, from 0 to 1",
    ),
    (["pool.n_items=60"], "n_items is 60; with depth 50 it must be 200 or more"),
    (["pool.systems={s1: {retrieval: .8}}"], "give both retrieval and ranking, or same_as"),
    (["pool.nosie=.1"], "there is no key pool.nosie -> did you mean noise?"),
    (["models.s1.system=s7"], "the pool synthetic has no system 's7' -> there are: s0, s1"),
    (["pool=files", "pool.qrels=qrels.trec"], "the pool qrels is not simulated"),
]


@pytest.mark.parametrize(("words", "message"), MISTAKES, ids=[words[0] for words, _ in MISTAKES])
def test_mistakes_are_told(inside: Any, words: list[str], message: str) -> None:
    given = ["models=[s0,s1]", "baseline=s0", "tracking=none"]
    small = [] if words[0] == "pool=files" else SMALL[:-1]
    done = inside("check", *small, *given, *words)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_mapping_with_entries_is_added_to_by_plus(inside: Any) -> None:
    words = ["check", "experiment=planted_failure", "tracking=none"]
    done = inside(*words, "pool.groups={d: .1}")
    assert done.returncode == 2
    assert "pool.groups=... names entries that pool.groups does not have" in done.stderr
    assert "+pool.groups=... adds entries" in done.stderr
    assert inside(*words, "+pool.groups={d: .1}", "pool.n_queries=2000").returncode == 0
