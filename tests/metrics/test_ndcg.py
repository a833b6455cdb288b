from math import log2

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.scores import Reason

QRELS = {"q": {"a": 3, "b": 0, "c": 2}}


def test_the_worked_example(case, ranked):
    example = case(QRELS, ranked("a", "b", "c"))
    ideal = 7 + 3 / log2(3)
    assert example.value("DCG@3") == pytest.approx(8.5, abs=1e-12)
    assert ideal == pytest.approx(8.893, abs=5e-4)
    assert example.value("nDCG@3") == pytest.approx(8.5 / ideal, abs=1e-12)
    assert example.value("nDCG@3") == pytest.approx(0.956, abs=5e-4)


def test_gains_given_directly_give_the_same(case, ranked):
    gains = case({"q": {"a": 7, "b": 0, "c": 3}}, ranked("a", "b", "c"))
    by_grade = case(QRELS, ranked("a", "b", "c"))
    assert gains.value("nDCG(gain=identity)@3") == by_grade.value("nDCG@3")
    assert gains.value("nDCG(gain=linear)@3") == by_grade.value("nDCG@3")


def test_the_ideal_counts_items_that_were_not_returned(case, ranked):
    found = case(QRELS, ranked("c")).value("nDCG(gain=linear)@3")
    assert found == pytest.approx(2 / (3 + 2 / log2(3)))


def test_the_cutoff_bounds_the_ideal_too(case, ranked):
    assert case(QRELS, ranked("a", "b", "c")).value("nDCG@1") == 1.0


def test_the_cutoff_can_be_left_out(case, ranked):
    example = case(QRELS, ranked("x", "y", "z", "a"), items=("x", "y", "z"))
    assert example.value("nDCG@3") == 0.0
    assert example.value("nDCG") == pytest.approx((7 / log2(5)) / (7 + 3 / log2(3)))


def test_negative_grades_gain_nothing(case, ranked):
    example = case({"q": {"a": -2, "b": 1}}, ranked("a", "b"))
    assert example.value("nDCG@2") == pytest.approx(1 / log2(3))


def test_an_ineligible_item_is_a_loss_and_holds_its_rank(case, ranked):
    example = case(QRELS, ranked("a", "b", "c"), ineligible=frozenset({("q", "a")}))
    assert example.value("nDCG@3") == pytest.approx((3 / log2(4)) / (7 + 3 / log2(3)))


def test_nothing_relevant_is_skipped_by_ndcg_and_zero_for_dcg(case, ranked):
    example = case({"q": {"a": 0, "b": -1}}, ranked("a"))
    value, reason = example.column("nDCG@3")["q"]
    assert value != value
    assert reason == Reason.NO_RELEVANT
    assert example.column("DCG@3")["q"] == (0.0, Reason.NO_RELEVANT_SCORED)


def test_dcg_has_no_best_value_to_give_for_one(case, ranked):
    example = case({"q": {"a": 0}}, ranked("a"), conventions={"no_relevant": "one"})
    assert example.column("DCG@3")["q"][1] == Reason.NO_RELEVANT
    assert example.column("nDCG@3")["q"] == (1.0, Reason.NO_RELEVANT_SCORED)


def test_real_grades(case, ranked):
    example = case({"q": {"a": 0.9, "b": 1.7}}, ranked("b", "a"))
    assert example.value("nDCG(gain=linear)@10") == 1.0


def test_a_grade_that_overflows_is_refused(case, ranked):
    example = case({"q": {"a": 5000}}, ranked("a"))
    with pytest.raises(SamepoolError, match=r"gain=exp: a grade of 5000 .* use gain=linear"):
        example.scores("nDCG@3")
    assert example.value("nDCG(gain=linear)@3") == 1.0


def test_relevant_from_does_not_touch_graded_metrics(case, ranked):
    example = case({"q": {"a": 1}}, ranked("a"), conventions={"relevant_from": 2.0})
    assert example.column("nDCG@1")["q"] == (1.0, Reason.OK)
    assert example.column("R@1")["q"][1] == Reason.NO_RELEVANT
