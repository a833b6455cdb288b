"""A user's mistakes: one line, what and how to mend it, exit 2, no traceback."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

FILES = ["pool.qrels=qrels.trec", "baseline=bm25.trec", "candidates=ce.trec", "tracking=none"]

MISTAKES = [
    (["seeed=3"], "there is no key seeed -> did you mean seed?"),
    (["pool=filez"], "there is no option 'filez' -> did you mean files?"),
    (["models=[svdd]"], "models: there is no option 'svdd' -> did you mean svd?"),
    (["experiment=movilens"], "did you mean movielens?"),
    (["reuse=false"], "there is no key reuse -> did you mean engine.reuse?"),
    (["seed=abc"], "seed=abc: seed is a whole number -> write a whole number: seed=10"),
    (["seed=null"], "seed may not be null"),
    (["gate.enforce=yes_please"], "gate.enforce is true or false -> write true or false"),
    (["slices.defs=3"], "slices.defs is a mapping -> write a mapping"),
    (["gate.rules.better.min_gian=.1"], "did you mean min_gain?"),
    (["+slices.defs.nDCG@10={where: 'length >= 6'}"], "slices.defs.nDCG@10: names are plain"),
    (['+slices.defs."a b"={where: 1}'], "names are plain: letters a to z, digits, _ and -"),
    ([f"+slices.defs.{'x' * 300}={{where: 1}}"], "a name of 300 characters -> use at most 100"),
    ([f"candidates=[{'a' * 5000}]"], "has 5000 characters and is no model"),
    (["candidates=~nobody/x"], "'~nobody/x' is no model"),
    (["models.mine.factors=3"], "model mine is not selected"),
    (["-x"], "there is no flag -x"),
    (["--halp"], "there is no flag --halp -> did you mean --help?"),
    (["--cfg", "jobs"], "--cfg jobs -> --cfg takes job, hydra, all"),
    (["--config-dir", "nowhere"], "--config-dir nowhere is no folder"),
    (["--config-dir=qrels.trec"], "--config-dir qrels.trec is no folder"),
    (["out="], "out= names no folder"),
    (["out=qrels.trec"], "qrels.trec: cannot make this folder: File exists -> give another out="),
    (["out=qrels.trec/x"], "qrels.trec/x: cannot make this folder: Not a directory"),
    ([f"out={'x' * 300}"], "cannot make this folder: File name too long"),
    (["gate=none", "gate.enforce=true"], "no criteria: there is no rule in gate.rules"),
    (["metrics.names=[nDCG@1000000000]"], "not a whole number from 1 to 999999999"),
    (["metrics.names=[RR10]"], "unknown metric RR10 -> did you mean RR@10?"),
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


@pytest.mark.parametrize(
    ("words", "message"), MISTAKES, ids=[" ".join(w)[:60] for w, _ in MISTAKES]
)
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


@pytest.mark.parametrize("command", ["compare", "check", "gate", "stamp", "ui", "upload"])
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


FOUND = [
    ["pool.grade_map={Exact: 3, Partial: 1}"],
    ["pool.grade_map={a b: 1}"],
    ["pool.formats={qrels: trec}"],
    ["pool.facts={a: 1}"],
    ["pool.facts.a=1"],
    ["+pool.facts.a=1"],
    ["gate.rules={x: {kind: max_drop, max_drop: .02}}"],
    ["gate.rules.x={kind: max_drop, max_drop: .02}"],
    ["gate.rules.better.min_gain=.01"],
    ["+gate.rules.better.kind=superiority"],
    ["slices.defs={long: {where: 'length >= 6'}}", "pool.queries=queries.csv"],
    ["slices.defs.long.where='length >= 6'", "pool.queries=queries.csv"],
    ["models.m={kind: run_file, path: splade.trec}", "candidates=m"],
]


@pytest.mark.parametrize("words", FOUND, ids=" ".join)
def test_names_of_ones_own_may_stand_with_and_without_a_plus(inside: Any, words: list[str]) -> None:
    done = inside("check", *FILES, *words)
    assert done.returncode == 0, done.stderr


def test_a_key_given_without_a_plus_arrives(inside: Any) -> None:
    words = ["gate.rules.better.min_gain=.01", "pool.grade_map={Exact: 3}", "--cfg", "job"]
    done = inside("check", *FILES, *words)
    assert "      kind: superiority\n      min_gain: 0.01\n" in done.stdout
    assert "  grade_map:\n    Exact: 3\n" in done.stdout


def test_gate_changes_a_logged_rule_without_a_plus(inside: Any, here: Path) -> None:
    assert inside("compare", *FILES, "pool.labels=human", "out=o").returncode == 0
    for word in ("gate.rules.better.min_gain=.9", "gate.rules={better: {min_gain: .9}}"):
        done = inside("gate", "run=o", "tracking=none", word)
        assert done.returncode in {3, 4}, done.stderr
    done = inside("gate", "run=o", "tracking=none", "out=qrels.trec")
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1


BROKEN = [
    ("experiment/x", b"baseline: bm25.trec\n", "make this its first line: # @package _global_"),
    ("models/x", b"kind: run_file\npath: ce.trec\n", "first line: # @package models.x"),
    ("pool/x", b"- a\n- b\n", "x.yaml:line 1: a list, where options by name are wanted"),
    ("pool/x", b"kind: files\nname: caf\xe9\n", "x.yaml:line 2: byte 0xe9 is not UTF-8"),
    ("pool/x", b"kind: files\nname: [a\nqrels: b\n", "x.yaml:line 3: this is no YAML"),
    ("pool/x", b"kind: files\n\tname: a\n", "x.yaml:line 2: this is no YAML"),
    ("slices/x", b"defs:\n  NO: {where: 'length > 6'}\n", "line 2: YAML reads the key NO as bool"),
    ("slices/x", b"defs:\n  2024: {where: 'length > 6'}\n", 'quote the key: "2024"'),
]


@pytest.mark.parametrize(("name", "content", "message"), BROKEN)
def test_a_fault_in_a_file_of_ones_own_names_it(
    inside: Any, here: Path, name: str, content: bytes, message: str
) -> None:
    path = here / "conf" / f"{name}.yaml"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    group = path.parent.name
    value = "[x]" if group == "models" else "x"
    done = inside("check", "--config-dir", "conf", *FILES, f"{group}={value}")
    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert str(path) in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", [[], ["-m", "seed=1,2"]], ids=["one", "sweep"])
def test_a_refused_comparison_leaves_no_folder(inside: Any, here: Path, words: list[str]) -> None:
    done = inside("compare", *FILES, "candidate=nobody", *words)
    assert done.returncode == 2
    assert not list((here / "outputs").glob("*"))


def test_an_empty_folder_of_the_users_stays(inside: Any, here: Path) -> None:
    (here / "mine").mkdir()
    assert inside("compare", *FILES, "candidate=nobody", "out=mine").returncode == 2
    assert (here / "mine").is_dir()


def test_a_sweep_says_how_each_job_ended(inside: Any) -> None:
    words = ["pool.labels=human", "candidates=[ce.trec],[nowhere.trec]", "out=o", "-m"]
    done = inside("compare", *FILES, *words)
    assert done.returncode == 2
    assert done.stdout.splitlines()[-3:] == [
        "job 0: candidates=[ce.trec] -> o/0 (exit code 0)",
        "job 1: candidates=[nowhere.trec] (exit code 2)",
        "worst exit code of 2 jobs: 2",
    ]


@pytest.mark.parametrize(
    ("candidates", "line"),
    [
        ("[ce.trec,splade.trec]", "exit code 0: 1 of 2 candidates passed"),
        ("[ce.trec]", "exit code 0: candidate ce passed the gate"),
        ("[splade.trec]", "exit code 4: candidate splade is inconclusive at the gate"),
    ],
)
def test_an_enforced_gate_says_why_the_code_is_what_it_is(
    inside: Any, candidates: str, line: str
) -> None:
    words = ["pool.labels=human", "gate.enforce=true", f"candidates={candidates}"]
    done = inside("compare", *FILES, *words)
    assert done.stdout.splitlines()[-1] == line
    assert f"exit code {done.returncode}:" in line


@pytest.mark.parametrize("stderr", [subprocess.PIPE, subprocess.STDOUT], ids=["apart", "together"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["compare", *FILES], 0),
        (["check", *FILES], 0),
        (["check", *FILES, "seed=abc"], 2),
        (["check", *FILES, "--cfg", "job"], 0),
    ],
    ids=["compare", "check", "mistake", "cfg"],
)
def test_a_reader_that_goes_away_changes_nothing(
    here: Path, environment: dict[str, str], words: list[str], code: int, stderr: int
) -> None:
    process = subprocess.Popen(
        ["samepool", *words], cwd=here, env=environment, stdout=subprocess.PIPE, stderr=stderr
    )
    assert process.stdout is not None
    process.stdout.close()
    said = process.stderr.read().decode() if process.stderr else ""
    assert process.wait(timeout=120) == code, said
    assert "Broken" not in said
    assert "Traceback" not in said


def test_what_is_piped_is_wide(here: Path, environment: dict[str, str]) -> None:
    environment = {k: v for k, v in environment.items() if k != "COLUMNS"}
    done = subprocess.run(
        ["samepool", "compare", *FILES], cwd=here, env=environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert max(map(len, done.stdout.splitlines())) > 80


def test_a_pool_is_checked_without_a_model(inside: Any) -> None:
    done = inside("check", "pool.qrels=qrels.trec", "pool.queries=queries.csv")
    assert (done.returncode, done.stderr) == (0, "")
    assert "ok: the pool; no model is named" in done.stdout
    done = inside("compare", "pool.qrels=qrels.trec", "tracking=none")
    assert done.returncode == 2
    assert "no model to measure -> models=[popular,svd]" in done.stderr


def test_a_model_is_not_dropped_for_the_name_of_the_baselines_file(inside: Any) -> None:
    words = ["check", "pool.qrels=qrels.trec", "models=[bm25]", "baseline=bm25.trec"]
    done = inside(*words)
    assert done.returncode == 2
    assert "bm25.trec and bm25 are both called bm25 -> write {path: FILE, name:" in done.stderr


def test_the_run_that_a_command_speaks_of_is_among_its_keys(inside: Any) -> None:
    done = inside("stamp", "path=ce.trec", "version=models:/ranker/1")
    assert done.returncode == 2
    assert "there is no key path" in done.stderr
    assert " run," in done.stderr
