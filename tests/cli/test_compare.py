"""A comparison as its user starts it: files in, tables out."""

import csv
import json
from pathlib import Path
from typing import Any

FILES = ["pool.qrels=qrels.trec", "pool.labels=human", "baseline=bm25.trec"]
QUIET = ["tracking=none", "out=out"]
TABLES = ("by_slice.csv", "comparisons.csv", "per_query.parquet", "top.parquet", "units.parquet")


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as stream:
        return list(csv.DictReader(stream))


def test_two_run_files_and_qrels_are_enough(samepool: Any, here: Path) -> None:
    done = samepool("compare", *FILES, "candidates=[ce.trec,splade.trec]", *QUIET)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    found = {r["model"]: r for r in rows(here / "out/by_slice.csv") if r["slice"] == "all"}
    assert set(found) == {"bm25", "ce", "splade"}
    assert "ce" in done.stdout
    assert "out/report.html" in done.stdout
    for name in (*TABLES, "comparison.json", "gate.json", "junit.xml", "summary.md", "report.html",
                 "config.yaml", "overrides.yaml", "manifest.json", "runs/ce.parquet"):  # fmt: skip
        assert (here / "out" / name).is_file(), name


def test_the_same_command_gives_the_same_tables(samepool: Any, here: Path) -> None:
    for name in ("one", "two"):
        done = samepool("compare", *FILES, "candidates=ce.trec", "tracking=none", f"out={name}")
        assert done.returncode == 0, done.stderr
    for name in (*TABLES, "summary.md", "comparison.json", "models.json"):
        assert (here / "one" / name).read_bytes() == (here / "two" / name).read_bytes(), name


def test_one_model_alone_is_measured_without_tests(samepool: Any, here: Path) -> None:
    done = samepool("compare", "pool.qrels=qrels.trec", "baseline=bm25.trec", *QUIET)
    assert done.returncode == 0, done.stderr
    assert rows(here / "out/comparisons.csv") == []
    assert {r["model"] for r in rows(here / "out/by_slice.csv")} == {"bm25"}


def test_slices_of_ones_own_on_the_command_line(samepool: Any, here: Path) -> None:
    done = samepool(
        "compare", *FILES, "pool.queries=queries.csv", "candidates=ce.trec",
        "+slices.defs.long={where: 'length >= 6'}",
        "+slices.defs.norway={kind: column, column: country, value: 'NO'}", *QUIET,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = {r["slice"]: int(r["n"]) for r in rows(here / "out/by_slice.csv")}
    assert found["all"] == 60
    assert found["long"] == sum(3 + i % 8 >= 6 for i in range(60))
    assert found["norway"] == 40


def test_the_exit_code_is_the_gates_where_it_is_enforced(samepool: Any, here: Path) -> None:
    enforced = [*FILES, "tracking=none", "gate.enforce=true", "candidates=[ce.trec,splade.trec]"]
    best = samepool("compare", *enforced, "out=a")
    assert best.returncode == 0, best.stdout + best.stderr
    statuses = [d["status"] for d in json.loads((here / "a/gate.json").read_text())["decisions"]]
    assert statuses == ["pass", "inconclusive"]
    assert samepool("gate", "run=a", "tracking=none", "candidate=splade").returncode == 4
    worse = samepool("compare", *enforced[:-1], "baseline=ce.trec", "candidates=splade.trec")
    assert worse.returncode == 3, worse.stdout + worse.stderr


def test_a_level_asked_for_is_the_level_used(samepool: Any, here: Path) -> None:
    loose = ["candidates=splade.trec", "gate.alpha=0.4", *QUIET]
    assert samepool("compare", *FILES, *loose).returncode == 0
    again = samepool("gate", "run=out", "tracking=none")
    assert again.returncode == 0, again.stdout
    assert "exploratory" not in again.stdout
    other = samepool("gate", "run=out", "tracking=none", "gate.alpha=0.025")
    assert other.returncode == 4
    assert "exploratory" in other.stdout


def test_a_sweep_exits_with_its_worst_code_whatever_the_process(samepool: Any, here: Path) -> None:
    words = ["--config-dir", "conf", "-m", "hydra/launcher=joblib", "pool=shop", "tracking=none"]
    done = samepool(
        "compare", *words, "experiment=nightly", "candidates=splade.trec,ce.trec",
        "gate.enforce=true", "out=sweep",
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert (here / "sweep/0/report.html").is_file()
    assert (here / "sweep/1/report.html").is_file()


def test_finished_models_are_not_scored_again(samepool: Any, here: Path) -> None:
    code = """
import pandas as pd


def rank(pool):
    with open("calls.txt", "a") as log:
        log.write("x")
    rows = [(q, i, float(i[1:])) for q in pool.queries.query_id for i in pool.items.item_id]
    return pd.DataFrame(rows, columns=["query_id", "item_id", "score"])
"""
    (here / "mine.py").write_text(code)
    for name in ("one", "two"):
        words = [*FILES, "candidates=mine:rank", "tracking=none", f"out={name}"]
        done = samepool("compare", *words)
        assert done.returncode == 0, done.stderr
    assert (here / "calls.txt").read_text() == "x"
    done = samepool("compare", *FILES, "candidates=mine:rank", "engine.reuse=false", *QUIET)
    assert done.returncode == 0, done.stderr
    assert (here / "calls.txt").read_text() == "xx"


def test_a_finished_folder_is_not_overwritten(samepool: Any) -> None:
    assert samepool("compare", *FILES, "candidates=ce.trec", *QUIET).returncode == 0
    again = samepool("compare", *FILES, "candidates=ce.trec", *QUIET)
    assert again.returncode == 2
    assert "holds a finished comparison" in again.stderr


def test_gate_decides_again_and_says_that_rules_differ(samepool: Any, here: Path) -> None:
    assert samepool("compare", *FILES, "candidates=ce.trec", *QUIET).returncode == 0
    before = (here / "out/gate.json").read_bytes()
    same = samepool("gate", "run=out", "tracking=none")
    assert same.returncode == 0, same.stderr
    assert "exploratory" not in same.stdout
    assert (here / "out/gate/gate.json").read_bytes() == before
    words = ["run=out", "tracking=none", "+gate.rules.better.min_gain=0.9", "out=other"]
    other = samepool("gate", *words)
    assert other.returncode == 3, other.stdout + other.stderr
    assert "exploratory" in other.stdout
    assert json.loads((here / "other/gate.json").read_text())["rules_as_fixed"] is False
    assert samepool("gate", "run=out", "tracking=none").returncode == 0


def test_gate_refuses_altered_evidence(samepool: Any, here: Path) -> None:
    assert samepool("compare", *FILES, "candidates=ce.trec", *QUIET).returncode == 0
    path = here / "out/comparisons.csv"
    path.write_text(path.read_text().replace("ce", "CE"))
    done = samepool("gate", "run=out", "tracking=none")
    assert done.returncode == 2
    assert "was changed after the comparison" in done.stderr


def test_files_of_a_users_own_are_never_mixed_in(samepool: Any, here: Path) -> None:
    (here / "summary.md").write_text("mine")
    done = samepool("compare", *FILES, "candidates=ce.trec", "tracking=none", "out=.")
    assert done.returncode == 2
    assert "holds files that are no comparison's" in done.stderr
    assert (here / "summary.md").read_text() == "mine"


def test_a_cache_that_cannot_be_written_costs_a_warning(samepool: Any, here: Path) -> None:
    words = ["candidates=ce.trec", "engine.cache=qrels.trec", *QUIET]
    done = samepool("compare", *FILES, *words)
    assert done.returncode == 0, done.stderr
    assert "warning: qrels.trec" in done.stderr
    assert (here / "out/runs/ce.parquet").is_file()


def test_a_decision_never_overwrites_a_comparisons_own(samepool: Any, here: Path) -> None:
    assert samepool("compare", *FILES, "candidates=ce.trec", *QUIET).returncode == 0
    before = (here / "out/gate.json").read_bytes()
    done = samepool("gate", "run=out", "out=out", "tracking=none")
    assert done.returncode == 2
    assert (here / "out/gate.json").read_bytes() == before


def test_lists_that_are_the_very_same_are_told(samepool: Any, here: Path) -> None:
    (here / "new.trec").write_bytes((here / "bm25.trec").read_bytes())
    done = samepool("compare", *FILES, "candidates=[new.trec,ce.trec]", *QUIET)
    assert done.returncode == 0
    words = " ".join(done.stdout.split())
    assert "bm25 and new return the very same lists: every delta is 0" in words
    assert words.count("very same lists") == 1
