"""Functions of one's own that misbehave: each is one clear problem, and the comparison goes on."""

import os
import sys
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.models import Tools, rank

HEAD = """
import os
import sys

import numpy as np
import pandas as pd


def lists(pool):
    pairs = pool.queries[["query_id"]].merge(pool.items[["item_id"]], how="cross")
    return pairs.assign(score=np.arange(len(pairs), dtype=float))


class Odd(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def model(pool):
"""


@pytest.fixture
def pool(make_pool):
    return make_pool({"q1": {"n": 1}, "q2": {"n": 2}}, {"a": {"x": 1.5}, "b": {"x": 2.5}})


@pytest.fixture
def own(tmp_path, monkeypatch, request):
    """A model whose function has the given body; modules of one name are never mixed up."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    name = "hostile_" + "".join(c if c.isalnum() else "_" for c in request.node.name)

    def make(*lines, head=HEAD):
        body = "".join(f"    {line}\n" for line in lines)
        (tmp_path / f"{name}.py").write_text(dedent(head) + body)
        return build("models", {"kind": "python", "call": f"{name}:model"}, "models.own")

    yield make
    sys.modules.pop(name, None)


def ask(model, pool):
    origin = model.origin("own", "own")
    return rank(model, origin, pool, Tools(origin=origin))


def refused(model, pool):
    with pytest.raises(SamepoolError) as caught:
        ask(model, pool)
    (problem,) = caught.value.problems
    assert str(problem).isprintable()
    return str(problem)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sys.exit(0)", "raised SystemExit: 0"),
        ("raise GeneratorExit", "raised GeneratorExit: "),
        ("raise MemoryError", "raised MemoryError: "),
        ("raise Odd()", "raised Odd: (what it says cannot be shown)"),
        (r"raise ValueError('\ud800 \x1b[31mred\nline 2')", "raised ValueError: [31mred line 2"),
        ("raise ValueError('at http://ann:pw@host/x')", "raised ValueError: at http://host/x"),
    ],
)
def test_whatever_it_raises_is_one_line(pool, own, line, words):
    assert words in refused(own(line), pool)


def test_an_interruption_goes_through(pool, own):
    with pytest.raises(KeyboardInterrupt):
        ask(own("raise KeyboardInterrupt"), pool)


def test_a_module_that_exits_when_it_is_imported_is_a_problem(pool, own):
    assert "raised SystemExit" in refused(own(head="import sys\nsys.exit(0)\n"), pool)


def test_a_package_that_fails_is_told_as_such(pool, own, tmp_path):
    own("pass")
    (tmp_path / "hostile_package").mkdir()
    (tmp_path / "hostile_package" / "__init__.py").write_text("1 / 0\n")
    model = build("models", {"kind": "python", "call": "hostile_package.a:f"}, "models.own")
    assert "raised ZeroDivisionError" in refused(model, pool)


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("pd.concat([lists(pool), lists(pool)[['score']]], axis=1)", "more than one column score"),
        ("pd.concat([lists(pool)[['item_id']], lists(pool)], axis=1)", "one column item_id"),
        ("lists(pool).T.set_index([list('abc'), list('def')]).T", "no column query_id, item_id"),
        ("lists(pool).assign(score=lambda t: t.score + 1j)", "score of complex128, not numbers"),
        ("lists(pool).assign(score=2**62 + np.arange(4))", "whole numbers up to 46116860184273"),
        ("lists(pool).assign(rank=2**32 + np.arange(4))", "rank from 4294967296 to 4294967299"),
        (
            r"lists(pool).assign(item_id=pd.Series(['\ud800'] * 4, dtype=object))",
            r"no Unicode text: '\ud800'",
        ),
    ],
)  # fmt: skip
def test_what_is_no_list_is_refused(pool, own, returned, words):
    assert words in refused(own(f"return {returned}"), pool)


def test_large_whole_numbers_that_floats_tell_apart_are_scores(pool, own):
    run = ask(own("return lists(pool).assign(score=2**60 + 2**10 * np.arange(4))"), pool)
    assert np.diff(run.final.score).tolist() == [1024.0, 1024.0, 1024.0]


def test_it_may_not_change_the_pool_or_the_working_directory(pool, own):
    before = [pool.queries.to_pydict(), pool.items.to_pydict()]
    run = ask(
        own(
            "result = lists(pool)",
            "pool.items.loc[:, 'x'] = 0.0",
            "pool.queries.loc[:, 'n'] = 0",
            "os.chdir('/')",
            "return result",
        ),
        pool,
    )
    assert len(run.final.query) == 4
    assert [pool.queries.to_pydict(), pool.items.to_pydict()] == before
    assert Path.cwd() != Path("/")


@pytest.mark.parametrize("line", ["raise ValueError('in the child')", "return lists(pool)"])
def test_a_child_that_comes_back_ends_there(pool, own, line, tmp_path):
    model = own(
        "child = os.fork()",
        "if not child:",
        f"    {line}",
        "assert os.waitpid(child, 0)[1] != 0",
        "return lists(pool)",
    )
    parent = os.getpid()
    assert len(ask(model, pool).final.query) == 4
    if os.getpid() != parent:  # the child went on: end it before it runs other tests
        os._exit(0)
    assert os.getpid() == parent


def test_code_that_was_edited_after_its_import_is_not_taken_for_the_new_code(pool, own):
    model = own("return lists(pool)")
    origin = model.origin("own", "own")
    own("return lists(pool).assign(score=1.0)")
    with pytest.raises(SamepoolError, match="was edited after it was imported"):
        rank(model, origin, pool, Tools(origin=origin))
    again = model.origin("own", "own")  # as a second job of one process
    assert again.source_digest != origin.source_digest
    with pytest.raises(SamepoolError, match="was edited after it was imported"):
        rank(model, again, pool, Tools(origin=again))


def test_processes_of_a_model_end_without_a_word(here, samepool):
    (here / "many.py").write_text(
        "import multiprocessing, signal\n\n"
        "def model(pool):\n"
        "    with multiprocessing.get_context('fork').Pool(2) as workers:\n"
        "        found = workers.map(signal.getsignal, [signal.SIGTERM] * 9)\n"
        "    assert set(found) == {signal.SIG_DFL}, found  # a handler could wait\n"
        "    pairs = pool.queries[['query_id']].merge(pool.items[['item_id']], how='cross')\n"
        "    return pairs.assign(score=range(len(pairs)))\n"
    )
    words = ["pool.qrels=qrels.trec", "tracking=none", "significance.flips=99"]
    done = samepool("compare", *words, "baseline=many:model")
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
