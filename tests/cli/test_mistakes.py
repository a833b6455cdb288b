"""A user's mistakes: one line, what and how to mend it, exit 2, no traceback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from pipeline.cli.main import main

FILES = ["pool.qrels=qrels.trec", "baseline=bm25.trec", "candidates=ce.trec", "tracking=none"]

MISTAKES = [
    (["seeed=3"], "there is no key seeed -> did you mean seed?"),
    (["pool=filez"], "there is no option 'filez' -> did you mean files?"),
    (["models=[svdd]"], "models: there is no option 'svdd' -> did you mean svd?"),
    (["experiment=movilens"], "did you mean movielens?"),
    (["seed=abc"], "seed=abc: Value 'abc' of type 'str' could not be converted to Integer"),
    (["pool.qrel=x"], "there is no key pool.qrel -> did you mean qrels?"),
    (["metrics.names=nDCG@10"], "write a list: 'metrics.names=[nDCG@10]'"),
    (["metrics.names=[ndgc@10]"], "did you mean nDCG"),
    (["metrics.names=[]"], "no metric to measure"),
    (["candidates=ce.trec,splade.trec"], "'candidates=[ce.trec,splade.trec]' for one comparison"),
    (["candidates=[ec.trec]"], "did you mean ce.trec"),
    (["candidates=bm25.trec"], "is compared with itself"),
    (["foo"], "cannot read foo"),
    (["pool.qrels=[a"], "cannot read pool.qrels=[a"),
    (["+x.y=3"], "unknown key x"),
    (["gate.ndcg@10.x=3"], "a key may hold no @"),
    (["models.svd.factors=3"], "model svd is not selected -> models=[svd] selects it"),
    (["models=[svd]", "models.svd.factor=3"], "did you mean factors?"),
    (["slices=3"], "slices=3: a group takes the name of one of its options"),
    (["tracking.uri=${oc.env:NOPE}"], "environment variable NOPE, which is not set"),
    (["gate.alpha=0.7"], "gate.alpha=0.7 -> give a number between 0 and .5"),
    (["+slices.defs.long={where: 'lenth >= 6'}", "pool.queries=queries.csv"], "length"),
    (["+gate.rules.x={kind: max_drop, slices: [tial], max_drop: 0.1}"], "tial"),
    (["+gate.rules.x={kind: maxdrop}"], "did you mean max_drop"),
    (["candidate=nobody"], "candidate=nobody is not compared -> there are: ce"),
    (["pool.qrels=nowhere.trec"], "nowhere.trec"),
    (["metrics.ties=random"], "unknown ties 'random' -> there are: given, id_asc, id_desc"),
]


class Answer(NamedTuple):
    """What a call answered."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def inside(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Calls the program in this process: the same words, without a second for the imports."""
    monkeypatch.chdir(here)

    def call(*words: str) -> Answer:
        code = main(words)
        return Answer(code, *capfd.readouterr())

    return call


@pytest.mark.parametrize(("words", "message"), MISTAKES, ids=[" ".join(w) for w, _ in MISTAKES])
def test_a_mistake_gets_one_clear_message(inside: Any, words: list[str], message: str) -> None:
    done = inside("compare", *FILES, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert all(line.startswith("samepool: ") for line in done.stderr.splitlines())


@pytest.mark.parametrize("words", [["seeed=3"], ["pool.qrels=nowhere.trec"]])
def test_a_process_ends_without_a_traceback(samepool: Any, words: list[str]) -> None:
    done = samepool("compare", *FILES, *words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("folder", ["dt=2026-06-01", "a b", "caf\u00e9", "x#y;z&!", "it's"])
def test_a_path_reaches_us_as_typed(inside: Any, here: Path, folder: str) -> None:
    (here / folder).mkdir()
    (here / "qrels.trec").rename(here / folder / "qrels.trec")
    done = inside("check", f"pool.qrels={folder}/qrels.trec", *FILES[1:])
    assert done.returncode == 0, done.stderr


def test_check_refuses_what_compare_refuses(inside: Any) -> None:
    alone = ["pool.qrels=qrels.trec", "baseline=bm25.trec", "tracking=none"]
    rule = "+gate.rules.x={kind: threshold, metric: ndgc@5, min: 0}"
    for words in ([*FILES, "candidate=nobody"], [*alone, rule]):
        assert inside("check", *words).returncode == 2
        assert inside("compare", *words).returncode == 2


def test_check_lists_every_problem(inside: Any) -> None:
    words = [*FILES, "candidates=[ec.trec]", "metrics.names=[ndgc@10]", "pool.queries=nowhere.csv"]
    done = inside("check", *words)
    assert done.returncode == 2
    for part in ("ec.trec", "ndgc@10", "nowhere.csv"):
        assert part in done.stderr, part


def test_check_of_a_sound_comparison(inside: Any, here: Path) -> None:
    done = inside("check", *FILES)
    assert done.returncode == 0, done.stderr
    assert "60 queries" in done.stdout
    assert "nothing stands in the way" in done.stdout
    assert not (here / "outputs").exists()


@pytest.mark.parametrize("command", ["compare", "check", "gate", "ui", "upload"])
def test_help_comes_without_hydra_or_mlflow(samepool: Any, command: str) -> None:
    done = samepool(command, "--help", PYTHONPROFILEIMPORTTIME="1")
    assert done.returncode == 0
    assert f"samepool {command}" in done.stdout
    loaded = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert not loaded & {"mlflow", "hydra", "pandas", "numpy"}


def test_an_unknown_command_names_the_nearest(inside: Any) -> None:
    done = inside("comapre")
    assert done.returncode == 2
    assert "did you mean compare?" in done.stderr


@pytest.mark.parametrize("run", ["1234e56", "nowhere/at/all", "latest"])
def test_gate_on_a_run_that_is_not_there(inside: Any, run: str) -> None:
    done = inside("gate", f"run={run}", "tracking=none")
    assert done.returncode == 2
    assert run in done.stderr


def test_gate_without_a_run(inside: Any) -> None:
    done = inside("gate", "tracking=none")
    assert done.returncode == 2
    assert "run=latest" in done.stderr
