"""What rank() checks, whatever the model; and the digest of what it returns."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

from pipeline.core import registry
from pipeline.core.problems import SamepoolError
from pipeline.core.run import Lists
from pipeline.models import Model, Ranking, Tools, build, rank


@dataclass(frozen=True)
class Fixed(Model):
    """A model that returns what it is told."""

    final: Lists
    retrieval: Lists | None = None
    foreign: tuple[str, ...] = ()
    cost: tuple[tuple[str, np.ndarray], ...] = ()
    complete: bool = False

    def origin(self, name, requested):
        raise NotImplementedError

    def rank(self, pool, tools):
        foreign = pa.array(self.foreign, pa.string())
        cost = dict(self.cost)
        return Ranking(self.final, self.retrieval, foreign, cost, complete=self.complete)


def lists(query, item, score=None, given=None):
    score = np.arange(len(query), 0, -1.0) if score is None else np.array(score)
    given = None if given is None else np.array(given, dtype=np.int32)
    return Lists(np.array(query, np.int32), np.array(item, np.int32), score, given)


@pytest.fixture
def pool(make_pool):
    return make_pool({"q1": {}, "q2": {}}, {"a": {}, "b": {}, "c": {}})


@pytest.fixture
def ask(pool, origin):
    return lambda final, **more: rank(Fixed(final, **more), origin, pool, Tools())


@pytest.mark.parametrize("base", [(), (Model,)])
def test_a_kind_of_others_is_a_model(monkeypatch, base):
    @dataclass(frozen=True, slots=True)
    class Theirs(*base):
        size: int = 1

        def origin(self, name, requested, _registry):
            raise NotImplementedError

        def rank(self, pool, tools):
            raise NotImplementedError

    monkeypatch.setattr(registry, "plugin", lambda *_: Theirs)
    if base:
        model = build({"kind": "theirs", "size": 3}, "models.x")
        assert (model.size, model.at_most, model.on_disk, model.recorded) == (3, None, False, False)
        assert model.fits(None, None, None) == ()
        assert not hasattr(model, "__dict__")
    else:
        with pytest.raises(SamepoolError, match=r"models.x: kind 'theirs' lacks .* inherit pipel"):
            build({"kind": "theirs"}, "models.x")


def test_good_lists_pass(ask):
    final = lists([0, 0, 1], [2, 0, 3], [1.0, 2.0, 3.0], [2, 1, 1])
    run = ask(final, foreign=("x",))
    assert run.final.item.tolist() == [2, 0, 3]
    assert run.foreign.to_pylist() == ["x"]
    assert run.problems == ()
    assert len(run.digest) == 64


def test_no_rows_at_all_pass(ask):
    assert len(ask(lists([], [])).final.query) == 0


def test_wider_types_are_narrowed(ask):
    final = Lists(np.array([0, 1]), np.array([0, 1]), np.array([1.0, 2.0], np.float32))
    run = ask(final)
    assert run.final.query.dtype == np.int32
    assert run.final.score.dtype == np.float64


@pytest.mark.parametrize(
    ("final", "words"),
    [
        (lists([1, 0], [0, 0]), "query codes of its list do not ascend"),
        (lists([0, 2], [0, 0]), "query code 2 of its list is not in 0..1"),
        (lists([-1, 0], [0, 0]), "query code -1"),
        (lists([0, 0], [0, 3]), "item code 3 of its list is not in 0..2"),
        (lists([0], [0], [1.0, 2.0]), "columns of different lengths"),
        (lists([0], [0], [1.0], [1, 2]), "columns of different lengths"),
    ],
)
def test_codes_out_of_place_are_named(ask, final, words):
    with pytest.raises(SamepoolError, match=words) as caught:
        ask(final)
    assert "model mine" in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_no_number_is_named_with_its_ids(ask, bad):
    with pytest.raises(SamepoolError) as caught:
        ask(lists([0, 0, 1], [0, 1, 2], [1.0, bad, bad]))
    (problem,) = caught.value.problems
    assert problem.code == "score_not_finite"
    assert problem.count == 2
    assert problem.text == "model mine: 2 scores of its list are NaN or infinite"
    assert problem.examples == (f"q1/b = {bad}", f"q2/c = {bad}")


def test_an_item_twice_is_named_with_its_query(ask):
    with pytest.raises(SamepoolError) as caught:
        ask(lists([0, 0, 0, 1], [0, 3, 3, 3]), foreign=("x",))
    (problem,) = caught.value.problems
    assert problem.code == "item_twice"
    assert problem.count == 1
    assert problem.examples == ("query `q1` lists `x` more than once",)


def test_an_item_twice_in_a_file_is_named_with_its_lines(pool, origin):
    @dataclass(frozen=True)
    class Read(Fixed):
        def rank(self, pool, tools):
            file = replace(
                super().rank(pool, tools), places=(lambda n: ("x.run", f"line {n + 7}"),)
            )
            return replace(file, retrieval=self.final)

    with pytest.raises(SamepoolError) as caught:
        rank(Read(lists([0, 0, 0, 1], [0, 1, 0, 0])), origin, pool, Tools())
    of_file, of_retrieval = caught.value.problems
    assert of_file.examples == ("query `q1` lists `a` more than once: line 7, line 9",)
    assert of_file.file == "x.run"
    assert of_retrieval.examples == ("query `q1` lists `a` more than once",)
    assert of_retrieval.file is None


def test_problems_of_both_lists_come_together(ask):
    with pytest.raises(SamepoolError) as caught:
        ask(lists([0], [0], [np.nan]), retrieval=lists([1, 1], [1, 1]))
    assert [p.code for p in caught.value.problems] == ["score_not_finite", "item_twice"]
    assert "retrieval list" in caught.value.problems[1].text


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_a_rank_against_the_score_is_a_warning(ask, order):
    final = lists([1] * 3, np.arange(3)[order], np.array([2.0, 3.0, 1.0])[order])
    final = replace(final, given_rank=np.array([1, 2, 3], np.int32)[order])
    (problem,) = ask(final).problems
    assert (problem.code, problem.severity) == ("rank_against_score", "warning")
    assert problem.examples == ("query `q2`",)


def test_a_rank_that_starts_anew_with_each_query_is_fine(ask):
    assert ask(lists([0, 0, 1, 1], [0, 1, 0, 1], [5.0, 4.0, 9.0, 9.0], [1, 2, 1, 2])).problems == ()


def test_what_was_never_retrieved_is_a_warning(ask):
    run = ask(lists([0, 0], [1, 2]), retrieval=lists([0, 0, 1], [0, 2, 1]))
    (problem,) = run.problems
    assert (problem.code, problem.severity, problem.count) == ("not_retrieved", "warning", 1)
    assert problem.examples == ("q1/b",)


def test_a_cost_needs_a_number_a_query(ask):
    assert ask(lists([0], [0]), cost=(("latency_ms", np.ones(2)),)).cost["latency_ms"].size == 2
    with pytest.raises(SamepoolError, match=r"cost latency_ms has shape \(3,\), not \(2,\)"):
        ask(lists([0], [0]), cost=(("latency_ms", np.ones(3)),))


def test_digest_does_not_depend_on_how_foreign_ids_are_numbered(ask):
    one = ask(lists([0, 0, 1], [3, 4, 4], [3.0, 2.0, 1.0]), foreign=("x", "y"))
    two = ask(lists([0, 0, 1], [4, 3, 3], [3.0, 2.0, 1.0]), foreign=("y", "x"))
    three = ask(lists([0, 0, 1], [4, 6, 6], [3.0, 2.0, 1.0]), foreign=("z", "x", "w", "y"))
    assert one.digest == two.digest == three.digest


def test_digest_does_not_depend_on_what_else_the_pool_holds(ask, make_pool, origin):
    wider = make_pool({"q0": {}, "q1": {}, "q2": {}}, {"a": {}, "aa": {}, "b": {}, "c": {}})
    one = ask(lists([0, 1], [1, 2], [1.0, 2.0]))
    two = rank(Fixed(lists([1, 2], [2, 3], [1.0, 2.0])), origin, wider, Tools())
    assert one.digest == two.digest


@pytest.mark.parametrize(
    "other",
    [
        lists([0, 1], [0, 1], [1.0, 2.5]),
        lists([0, 1], [0, 2], [1.0, 2.0]),
        lists([0, 0], [0, 1], [1.0, 2.0]),
        lists([0], [0], [1.0]),
        lists([0, 1], [0, 1], [1.0, 2.0], [1, 1]),
    ],
)
def test_digest_tells_lists_apart(ask, other):
    assert ask(other).digest != ask(lists([0, 1], [0, 1], [1.0, 2.0])).digest


def test_digest_tells_stages_apart(ask):
    one, two = lists([0, 0], [0, 1]), lists([0, 0], [0, 1], [1.0, 2.0])
    digests = {
        ask(one).digest,
        ask(one, retrieval=one).digest,
        ask(one, retrieval=two).digest,
        ask(two, retrieval=one).digest,
    }
    assert len(digests) == 4


def test_digest_tells_ids_apart_whose_text_joins_alike(ask):
    one = ask(lists([0, 0], [3, 4], [2.0, 1.0]), foreign=("ab", "c"))
    two = ask(lists([0, 0], [3, 4], [2.0, 1.0]), foreign=("a", "bc"))
    assert one.digest != two.digest


def test_a_query_without_items_was_answered_if_all_were_asked(pool, tools, origin):
    asked = rank(Fixed(lists([1], [0]), complete=True), origin, pool, tools)
    assert asked.empty.tolist() == [0]
    unknown = rank(Fixed(lists([1], [0])), origin, pool, tools)
    assert unknown.empty.tolist() == []
    assert asked.digest != unknown.digest
