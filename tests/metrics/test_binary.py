"""P, R, RR, AP and Success, by hand."""

import pytest

from pipeline.core.scores import Reason

TEN = {"q": {f"d{place}": 1 for place in range(10)}}
TWO_LEVELS = {"q": {"a": 1, "b": 2, "c": 0}}


def test_ten_relevant_with_seven_retrieved(case, ranked):
    found = case(TEN, ranked(*(f"d{place}" for place in range(7))))
    assert found.value("R@10") == 0.7
    assert found.value("R") == 0.7
    assert found.value("R@1") == 0.1
    assert found.value("P@10") == 0.7


def test_three_of_five(case, ranked):
    found = case(TEN, ranked("d0", "x", "d1", "y", "d2"), items=("x", "y"))
    assert found.value("P@5") == 0.6
    assert found.value("Success@5") == 1.0


def test_precision_of_a_short_list_divides_by_the_cutoff(case, ranked):
    found = case({"q": {"a": 1}}, ranked("a"))
    assert found.value("P@5") == 0.2
    assert found.value("R@5") == 1.0


def test_reciprocal_rank_is_zero_past_the_cutoff(case, ranked):
    found = case(TEN, ranked("x", "y", "d0", "d1"))
    assert found.value("RR") == pytest.approx(1 / 3)
    assert found.value("RR@3") == pytest.approx(1 / 3)
    assert found.column("RR@2")["q"] == (0.0, Reason.OK)


def test_average_precision_divides_by_all_relevant(case, ranked):
    qrels = {"q": {"a": 1, "b": 1, "c": 1, "d": 0}}
    found = case(qrels, ranked("a", "d", "b", "x", "c"))
    assert found.value("AP") == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)
    assert found.value("AP@3") == pytest.approx((1 + 2 / 3) / 3)
    assert found.value("AP@1") == pytest.approx(1 / 3)


def test_rel_overrides_the_conventions(case, ranked):
    found = case(TWO_LEVELS, ranked("a", "b"), conventions={"relevant_from": 2.0})
    assert found.value("RR") == 0.5
    assert found.value("RR(rel=1)") == 1.0
    assert found.value("P(rel=1)@2") == 1.0
    assert found.value("P@2") == 0.5
    assert found.value("R(rel=2)@1") == 0.0


@pytest.mark.parametrize("name", ["P@3", "R@3", "RR@3", "AP@3", "Success@3"])
def test_an_ineligible_relevant_item_is_never_found(case, ranked, name):
    qrels, ineligible = {"q": {"a": 1, "b": 1}}, frozenset({("q", "a")})
    found = case(qrels, ranked("a", "b", "c"), ineligible=ineligible)
    expected = {"P@3": 1 / 3, "R@3": 0.5, "RR@3": 0.5, "AP@3": 0.25, "Success@3": 1.0}
    assert found.value(name) == pytest.approx(expected[name])
    alone = case({"q": {"a": 1}}, ranked("a"), ineligible=ineligible)
    assert alone.column(name)["q"] == (0.0, Reason.OK)


@pytest.mark.parametrize("name", ["P@3", "RR@3", "Success@3"])
def test_nothing_relevant_scores_zero(case, ranked, name):
    assert case({"q": {"a": 0}}, ranked("a")).column(name)["q"] == (0.0, Reason.NO_RELEVANT_SCORED)


@pytest.mark.parametrize("name", ["R@3", "AP@3", "AP"])
def test_nothing_relevant_is_left_out(case, ranked, name):
    value, reason = case({"q": {"a": 0}}, ranked("a")).column(name)["q"]
    assert value != value
    assert reason == Reason.NO_RELEVANT


def test_negative_grades_are_not_relevant(case, ranked):
    found = case({"q": {"a": -1, "b": 0.5}}, ranked("a", "b"), conventions={"relevant_from": 0.1})
    assert found.value("RR") == 0.5
    assert found.value("P@2") == 0.5
