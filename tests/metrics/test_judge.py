from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.conventions import Conventions
from pipeline.core.problems import SamepoolError
from pipeline.metrics import judge
from pipeline.metrics._evaluate import pool_of, run_of

TIED = {"q": {"b": 1.0, "c": 1.0, "a": 1.0}}


def order(lists, pool, query=0):
    """Ids of the top of one query."""
    ids = [*pool.vocab.items.to_pylist(), *lists.foreign.to_pylist()]
    return [ids[code] for code in lists.top[query] if code >= 0]


def judged(qrels, run, depth=10, retrieval=None, **conventions):
    pool = pool_of(qrels)
    found = judge(run_of(run, pool, retrieval), pool, Conventions(**conventions), depth)
    return found[0], pool


@pytest.mark.parametrize(
    ("rule", "expected"), [("id_desc", "cba"), ("id_asc", "abc"), ("given", "bca")]
)
def test_tie_rules(rule, expected):
    lists, pool = judged({"q": {"a": 1, "b": 1, "c": 1}}, TIED, ties=rule)
    assert "".join(order(lists, pool)) == expected


@pytest.mark.parametrize("rule", ["id_desc", "id_asc"])
@pytest.mark.parametrize("known", ["", "z", "é日", "zé日9", "9"])
def test_ids_outside_the_pool_tie_by_their_bytes(rule, known):
    run = {"q": dict.fromkeys(["é", "9", "日", "10", "z"], 1.0)}
    lists, pool = judged({"q": dict.fromkeys(known, 1)}, run, ties=rule)
    expected = sorted(run["q"], key=str.encode, reverse=rule == "id_desc")
    assert order(lists, pool) == expected
    assert expected[0] == ("日" if rule == "id_desc" else "10")


def test_given_ranks_order_ties_but_not_scores():
    pool = pool_of({"q": {"a": 1, "b": 1, "c": 1}})
    run = run_of({"q": {"a": 1.0, "b": 1.0, "c": 2.0}}, pool)
    ranked = replace(run, final=replace(run.final, given_rank=np.array([2, 1, 3], dtype=np.int32)))
    lists, _ = judge(ranked, pool, Conventions(ties="given"), 10)
    assert order(lists, pool) == ["c", "b", "a"]


def test_float32_ties_what_float64_tells_apart():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 16777217.0, "b": 16777216.0}}
    exact, pool = judged(qrels, run)
    single, _ = judged(qrels, run, precision="float32")
    assert order(exact, pool) == ["a", "b"]
    assert order(single, pool) == ["b", "a"]
    assert single.top_score[0, :2].tolist() == [16777216.0, 16777217.0]
    assert (exact.constant.tolist(), single.constant.tolist()) == ([False], [True])
    huge, _ = judged(qrels, {"q": {"a": 1e300, "b": 2e300}}, precision="float32", ties="id_asc")
    assert order(huge, pool) == ["a", "b"]


def test_hits_ranks_and_tie_extents():
    qrels = {"p": {"a": 1}, "q": {"a": 1, "c": 0, "e": 1}}
    run = {"q": {"a": 1.0, "b": 3.0, "c": 2.0, "d": 2.0, "e": 2.0}}
    lists, pool = judged(qrels, run, depth=2)
    assert pool.vocab.items.to_pylist() == ["a", "c", "e"]
    assert lists.hit_query.tolist() == [1, 1, 1]
    assert lists.hit_judgment.tolist() == [3, 2, 1]  # e, c, a of q
    assert lists.rank.tolist() == [2, 4, 5]  # b e d c a
    assert lists.tie_first.tolist() == [2, 2, 5]
    assert lists.tie_last.tolist() == [4, 4, 5]
    assert lists.returned.tolist() == [False, True]
    assert lists.length.tolist() == [0, 5]
    assert lists.top[0].tolist() == [-1, -1, -1]
    assert np.isnan(lists.top_score[0]).all()
    assert order(lists, pool, 1) == ["b", "e", "d"]  # one more than the depth
    assert lists.top_score[1].tolist() == [3.0, 2.0, 2.0]


def test_a_list_is_constant_if_two_or_more_scores_are_equal():
    qrels = {query: {"a": 1} for query in "pqrs"}
    run = {"p": {"a": 1.0}, "q": {"a": 1.0, "b": 1.0}, "r": {"a": 1.0, "b": 1.0, "c": 0.0}}
    lists, _ = judged(qrels, run)
    assert lists.constant.tolist() == [False, True, False, False]


def test_one_stage_is_its_own_retrieval():
    pool = pool_of({"q": {"a": 1}})
    final, retrieval = judge(run_of(TIED, pool), pool, Conventions(), 5)
    assert (final.stage, retrieval.stage) == ("final", "retrieval")
    assert retrieval.top is final.top
    two = run_of(TIED, pool, {"q": {"x": 2.0, "a": 1.0}})
    final, retrieval = judge(two, pool, Conventions(), 5)
    assert order(final, pool) == ["c", "b", "a"]
    assert order(retrieval, pool) == ["x", "a"]
    assert retrieval.stage == "retrieval"


def test_scores_that_are_not_finite_are_refused():
    with pytest.raises(SamepoolError, match="score of item x for query q is nan"):
        judged({"q": {"a": 1}}, {"q": {"a": 1.0, "x": float("nan")}})


def test_a_judged_item_twice_is_refused():
    pool = pool_of({"p": {"a": 1}, "q": {"a": 1, "b": 1}})
    run = run_of({"q": {"a": 3.0, "b": 2.0, "x": 1.0}}, pool)
    item = run.final.item.copy()
    item[2] = item[0]
    with pytest.raises(SamepoolError, match="item a is twice in the list of query q"):
        judge(replace(run, final=replace(run.final, item=item)), pool, Conventions(), 5)


@pytest.mark.parametrize(
    ("conventions", "message"),
    [
        ({"ties": "id_dsc"}, "unknown ties 'id_dsc' -> did you mean id_desc"),
        ({"precision": "float16"}, "unknown precision 'float16'"),
        ({"no_relevant": "nan"}, "unknown no_relevant 'nan'"),
        ({"profile": "trec_eval-10"}, "profile 'trec_eval-10' is not supported"),
        ({"relevant_from": 0.0}, "relevant_from must be above 0"),
    ],
)
def test_unknown_conventions_are_refused(conventions, message):
    with pytest.raises(SamepoolError, match=message):
        judged({"q": {"a": 1}}, TIED, **conventions)


@given(
    st.dictionaries(st.sampled_from("abcdefghé日"), st.integers(0, 3), max_size=8),
    st.sets(st.sampled_from("abcdé日"), min_size=1),
    st.sampled_from(["id_desc", "id_asc"]),
    st.randoms(use_true_random=False),
)
def test_order_is_the_sort_by_score_then_bytes_whatever_the_rows(scores, known, rule, random):
    rows = list(scores.items())
    random.shuffle(rows)
    lists, pool = judged({"q": dict.fromkeys(known, 1)}, {"q": dict(rows)}, ties=rule)
    by_id = sorted(scores, key=str.encode, reverse=rule == "id_desc")
    expected = sorted(by_id, key=lambda item: -scores[item])
    assert order(lists, pool) == expected
    hits = [expected[rank - 1] for rank in lists.rank]
    assert hits == [item for item in expected if item in known]
    for item, first, last in zip(hits, lists.tie_first, lists.tie_last, strict=True):
        same = [place for place, other in enumerate(expected, 1) if scores[other] == scores[item]]
        assert (first, last) == (same[0], same[-1])
