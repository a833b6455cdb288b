"""Fixed candidates that say how they were retrieved are a model's first stage."""

from dataclasses import replace

import pyarrow as pa
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.models import rank

PAIRS = [("q1", "a"), ("q1", "c"), ("q2", "b")]


@pytest.fixture
def fixed(make_pool):
    """A pool with candidates and further columns of them."""

    def make(**columns):
        pool = make_pool({"q1": {}, "q2": {}}, {i: {"pop": n} for n, i in enumerate("abc")},
                         [{"item_id": i} for i in "aab"], candidates=PAIRS)  # fmt: skip
        table = pool.candidates
        for name, values in columns.items():
            table = table.append_column(name, pa.array(values))
        return replace(pool, candidates=table)

    return make


def popular(pool, origin, tools):
    return rank(build("models", {"kind": "popularity"}, "m"), origin, pool, tools)


def test_scores_make_the_retrieval_list(fixed, origin, tools, as_dict):
    pool = fixed(retrieval_score=[1.5, 2.5, 0.5], price=[1, 2, 3])
    run = popular(pool, origin, tools)
    assert as_dict(run.retrieval, pool) == {"q1": {"a": 1.5, "c": 2.5}, "q2": {"b": 0.5}}
    assert as_dict(run.final, pool) == {"q1": {"a": 2.0, "c": 0.0}, "q2": {"b": 1.0}}


def test_ranks_do_as_well_and_the_score_comes_first(fixed, origin, tools, as_dict):
    pool = fixed(retrieval_rank=[2, 1, 1])
    run = popular(pool, origin, tools)
    assert as_dict(run.retrieval, pool) == {"q1": {"a": -2.0, "c": -1.0}, "q2": {"b": -1.0}}
    assert run.retrieval.given_rank.tolist() == [2, 1, 1]
    pool = fixed(retrieval_rank=[2, 1, 1], retrieval_score=[3.0, 4.0, 5.0])
    assert popular(pool, origin, tools).retrieval.score.tolist() == [3.0, 4.0, 5.0]


def test_without_such_a_column_nothing_is_known(fixed, origin, tools):
    assert popular(fixed(price=[1, 2, 3]), origin, tools).retrieval is None


def test_a_model_that_returns_others_did_not_order_these(fixed, origin, tools, tmp_path):
    (tmp_path / "mine.py").write_text(
        "def rank(pool):\n    return pool.queries.merge(pool.items, how='cross')"
        ".assign(score=1.0)[['query_id', 'item_id', 'score']]\n"
    )
    pool = fixed(retrieval_score=[1.5, 2.5, 0.5])
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(tmp_path)
        model = build("models", {"kind": "python", "call": "mine:rank"}, "m")
        assert rank(model, origin, pool, tools).retrieval is None


def test_a_run_file_names_its_own_first_stage(fixed, origin, tools, tmp_path):
    (tmp_path / "run.trec").write_text("q1 Q0 a 1 1.0 x\n")
    model = build("models", {"kind": "run_file", "path": str(tmp_path / "run.trec")}, "m")
    pool = fixed(retrieval_score=[1.5, 2.5, 0.5])
    assert rank(model, origin, pool, tools).retrieval is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([1.0, None, 3.0], "1 candidates have no finite retrieval_score"),
        (["x", "y", "z"], "retrieval_score of candidates holds string, not numbers"),
    ],
)
def test_a_column_that_orders_nothing_is_an_error(fixed, origin, tools, values, words):
    with pytest.raises(SamepoolError, match=words):
        popular(fixed(retrieval_score=values), origin, tools)
