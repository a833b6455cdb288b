"""Any retriever with any ranker, from the command line; and what it answers to mistakes."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

POOL = ["pool.qrels=qrels.trec", "pool.labels=human", "tracking=none", "baseline=bm25.trec"]
METRICS = "metrics.names=[nDCG@5,'R(stage=retrieval)@5',R@5]"
MINE = """
def cheap(pool):
    pairs = pool.candidates.merge(pool.items, on="item_id")
    return pairs.assign(score=-pairs["price"])[["query_id", "item_id", "score"]]

def first(pool):
    return pool.candidates.assign(score=pool.candidates["retrieval_score"])[
        ["query_id", "item_id", "score"]]

def few(pool):
    return cheap(pool).query("item_id != 'd0'")

def all_items(pool):
    pairs = pool.queries[["query_id"]].merge(pool.items, how="cross")
    return pairs.assign(score=-pairs["price"])[["query_id", "item_id", "score"]]
"""


@pytest.fixture
def place(here: Path) -> Path:
    """The user's folder with prices, logs and functions."""
    (here / "mine.py").write_text(MINE)
    items = [f"d{i},{i}" for i in range(10)]
    (here / "items.csv").write_text("\n".join(["item_id,price", *items]) + "\n")
    logs = [f"q{q:03},d{i}" for q in range(60) for i in range(0, 10, q % 3 + 1)]
    (here / "logs.csv").write_text("\n".join(["query_id,item_id", *logs]) + "\n")
    return here


def pair(retriever: str, ranker: str, name: str = "two", more: str = "depth: 5") -> str:
    stages = f"kind: two_stage, retriever: {retriever}, ranker: {ranker}"
    return f"{{{stages}, {more}, name: {name}}}"


def lists(folder: Path, model: str, stage: str) -> dict[str, list[str]]:
    """Item ids by query, best first."""
    rows = pq.read_table(folder / "top.parquet").to_pylist()
    found: dict[str, list[str]] = {}
    for row in sorted(rows, key=lambda row: (row["query_id"], row["rank"])):
        if (row["model"], row["stage"]) == (model, stage):
            found.setdefault(row["query_id"], []).append(row["item_id"])
    return found


def run_lists(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in path.read_text().splitlines():
        query, _, item, *_ = line.split()
        found.setdefault(query, []).append(item)
    return found


def problems(folder: Path) -> list[str]:
    return [p["text"] for p in json.loads((folder / "comparison.json").read_text())["problems"]]


def test_a_run_orders_what_another_run_retrieved(samepool: Any, place: Path) -> None:
    words = [*POOL, METRICS, f"candidates=[{pair('bm25.trec', 'ce.trec')}]", "out=out"]
    done = samepool("compare", *words)
    assert done.returncode == 0, done.stderr
    out = place / "out"
    first, second = run_lists(place / "bm25.trec"), run_lists(place / "ce.trec")
    retrieved = {query: items[:5] for query, items in first.items()}
    assert lists(out, "two", "retrieval") == retrieved
    expected = {q: [i for i in items if i in retrieved[q]] for q, items in second.items()}
    assert lists(out, "two", "final") == expected
    assert "model two: the ranker returned 300 items that were not retrieved: left out" in problems(
        out
    )
    with (out / "by_slice.csv").open() as stream:
        means = {(row["model"], row["metric"]): row["mean"] for row in csv.DictReader(stream)}
    assert means["two", "R(stage=retrieval)@5"] == means["two", "R@5"]
    assert "two_stage(retriever=bm25.trec, ranker=ce.trec, depth=5)" in done.stdout


@pytest.fixture(scope="module")
def many() -> list[str]:
    return [
        pair("bm25.trec", "'mine:cheap'", "file_call"),
        pair("popularity", "'mine:cheap'", "kind_call"),
        pair("'mine:all_items'", "ce.trec", "call_file"),
        pair("bm25.trec", "popularity", "file_kind"),
        pair("bm25.trec", "'mine:first'", "same", "depth: 5, sees: [retrieval_score]"),
        pair("bm25.trec", "'mine:few'", "few"),
        pair("bm25.trec", pair("popularity", "ce.trec"), "nested"),
    ]


def test_stages_of_every_kind(inside: Any, place: Path, many: list[str]) -> None:
    tables = ["pool.items=items.csv", "pool.logs=logs.csv"]
    words = [*POOL, *tables, METRICS, f"candidates=[{','.join(many)}]", "out=out"]
    done = inside("compare", *words)
    assert done.returncode == 0, done.stderr
    out = place / "out"
    retrieved = {q: items[:5] for q, items in run_lists(place / "bm25.trec").items()}
    assert lists(out, "file_call", "retrieval") == retrieved
    assert lists(out, "file_call", "final") == {q: sorted(row) for q, row in retrieved.items()}
    assert lists(out, "same", "final") == retrieved
    few = {q: sorted(set(row) - {"d0"}) for q, row in retrieved.items()}
    assert lists(out, "few", "final") == few
    left = sum("d0" in row for row in retrieved.values())
    text = f"model few: the ranker left out {left} of 300 retrieved items"
    assert text in problems(out)
    assert text in " ".join(done.stdout.split())
    cheapest = [f"d{i}" for i in range(5)]
    assert set(map(tuple, lists(out, "call_file", "retrieval").values())) == {tuple(cheapest)}
    for name in ("kind_call", "call_file", "file_kind", "nested"):
        final, first = lists(out, name, "final"), lists(out, name, "retrieval")
        assert {q: sorted(row) for q, row in final.items()} == {
            q: sorted(row)[:20] for q, row in first.items()
        }


def test_one_stage_alone_and_fixed_candidates(inside: Any, place: Path) -> None:
    """Retriever only; and rankers over the pool's own candidates, with and without their source."""
    rows = ["query_id,item_id,price,retrieval_rank"]
    rows += [f"q{q:03},d{(q + i) % 10},{(q + i) % 10},{i + 1}" for q in range(60) for i in range(4)]
    (place / "pairs.csv").write_text("\n".join(rows) + "\n")
    (place / "fixed.py").write_text(
        "def dear(pool):\n    pairs = pool.candidates\n"
        "    return pairs.assign(score=pairs['price'])[['query_id', 'item_id', 'score']]\n"
    )
    words = [POOL[0], *POOL[1:3], "pool.logs=logs.csv", "pool.candidates=pairs.csv", METRICS]
    done = inside("compare", *words, "models=[popular]", "baseline=popular",
                  "candidates=['fixed:dear']", "out=out")  # fmt: skip
    assert done.returncode == 0, done.stderr
    given = {f"q{q:03}": [f"d{(q + i) % 10}" for i in range(4)] for q in range(60)}
    for name in ("popular", "dear"):
        assert lists(place / "out", name, "retrieval") == given
    dearest = {q: sorted(row, reverse=True) for q, row in given.items()}
    assert lists(place / "out", "dear", "final") == dearest
    (place / "pairs.csv").write_text("\n".join(row.rpartition(",")[0] for row in rows) + "\n")
    done = inside("compare", *words, "models=[popular]", "baseline=popular",
                  "candidates=['fixed:dear']", "out=plain")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert lists(place / "plain", "dear", "retrieval") == {}


LOGS = "pool.logs=logs.csv"
MISTAKES = [
    ([pair("popularty", "ce.trec")], "candidates.retriever: 'popularty' is no model: tried"),
    ([pair("popularty", "ce.trec")], "a kind -> did you mean popularity"),
    ([pair("bm25.trec", "cee.trec")], "did you mean ce.trec"),
    ([pair("{kind: bm26}", "ce.trec")], "two_stage retriever: unknown kind 'bm26' -> did you mean"),
    ([pair("bm25.trec", "{leaves: 3}")], "candidates.ranker has no kind"),
    ([pair("bm25.trec", "7")], "candidates.ranker: 7 was read as int, not as text -> quote it"),
    ([pair("bm25.trec", "ce.trec", more="depth: 0")], "depth must be at least 1, not 0"),
    ([pair("bm25.trec", "ce.trec", more="deep: 3")], "unknown option candidates.deep -> did you"),
    ([pair("bm25.trec", "ce.trec", more="sees: [lenght]")], "sees 'lenght', which is no column of"),
    ([pair("bm25.trec", "trees")], "a retriever of kind run_file cannot answer for the past"),
    ([pair("trees", "ce.trec")], "trees orders what a retriever found, and cannot be the retr"),
    (["{kind: trees}"], "trees order what another model retrieved, and retrieve noth"),
    (["{kind: two_stage, retriever: bm25.trec}"], "candidates.ranker is not set"),
    ([pair("strange.trec", "ce.trec")], "0 of 1 query ids match"),
    ([pair("foreign.trec", "ce.trec")], "the ranker returned none of 60 retrieved items"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "message"), MISTAKES, ids=[m[:50] for _, m in MISTAKES])
def test_a_mistake_gets_one_clear_message(
    inside: Any, place: Path, words: list[str], message: str
) -> None:
    (place / "strange.trec").write_text("other Q0 d1 1 1.0 x\n")
    rows = [f"q{q:03} Q0 z{q} 1 1.0 x" for q in range(60)]
    (place / "foreign.trec").write_text("\n".join(rows) + "\n")
    done = inside("compare", *POOL, f"candidates=[{','.join(words)}]")
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert all(line.startswith("samepool: ") for line in done.stderr.splitlines())


def test_a_cycle_is_named(inside: Any, place: Path) -> None:
    stages = {"a": "b", "b": "a"}
    models = [f"models.{k}={{kind: two_stage, retriever: {v}, ranker: ce.trec}}"
              for k, v in stages.items()]  # fmt: skip
    done = inside("check", *POOL, *models, "candidates=a")
    assert done.returncode == 2
    assert "is a stage of itself: models.a -> models.b -> models.a" in done.stderr


@pytest.fixture
def own(place: Path) -> list[str]:
    """Words that select a model of the user's own, both stages of which are mappings."""
    (place / "mine" / "models").mkdir(parents=True)
    (place / "mine" / "models" / "stages.yaml").write_text(
        "# @package models.stages\nkind: two_stage\nretriever: {kind: item_knn, neighbours: 3}\n"
        "ranker: {kind: popularity}\n"
    )
    return ["--config-dir", "mine", *POOL, LOGS, "candidates=stages"]


@pytest.mark.parametrize(
    ("selected", "words"),
    [
        ("two_stage", ["models.two_stage.retriever=svd"]),
        ("two_stage,svd", ["models.two_stage.retriever=svd"]),
        ("two_stage", ["models.two_stage.retriever={kind: svd, factors: 4}"]),
        ("two_stage", ["models.two_stage.ranker={kind: item_knn, shrink: 2}"]),
        ("two_stage", ["models.two_stage.ranker=ce.trec", "models.two_stage.depth=3"]),
        ("two_stage", ["models.two_stage.options.item_knn.neighbours=4"]),
        ("stages,svd", ["models.stages.retriever=svd"]),
        ("stages", ["models.stages.retriever=svd"]),
        ("stages", ["~models.stages.retriever", "+models.stages.retriever={kind: svd}"]),
        ("stages", ["models.stages.retriever.neighbours=4"]),
    ],
)
def test_a_stage_is_exchanged(inside: Any, own: list[str], selected: str, words: list[str]) -> None:
    ranker = [] if "stages" in selected or "ranker" in words[0] else ["models.two_stage.ranker=svd"]
    name = selected.partition(",")[0]
    done = inside("check", *own, f"models=[{selected}]", f"candidates={name}", *words, *ranker)
    assert done.returncode == 0, done.stderr


def test_options_that_a_merge_left_over_are_explained(inside: Any, own: list[str]) -> None:
    done = inside("check", *own, "models=[stages]", "models.stages.retriever={kind: svd}")
    assert done.returncode == 2
    assert "unknown option two_stage retriever.neighbours" in done.stderr
    assert "'~models.NAME.retriever' '+models.NAME.retriever={kind: KIND}'" in done.stderr


def test_an_option_of_a_stage_that_is_a_word(inside: Any, own: list[str]) -> None:
    done = inside("check", *own, "models=[two_stage]", "models.two_stage.ranker.leaves=4")
    assert done.returncode == 2
    assert "models.two_stage.ranker is no mapping of options" in done.stderr
    done = inside("check", *own, "models=[two_stage]", "models.two_stage.options.tree.leaves=4")
    assert done.returncode == 2
    assert "did you mean trees?" in done.stderr
