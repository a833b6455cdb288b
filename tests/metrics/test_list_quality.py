"""Judged, Ineligible, coverage, age and freshness, by hand."""

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.scores import Reason

QRELS = {"q": {"a": 1, "b": 0, "c": -1}}


def nan(value):
    return value != value


def test_judged_divides_by_what_is_there(case, ranked):
    assert case(QRELS, ranked("a", "x", "b", "y")).value("Judged@3") == pytest.approx(2 / 3)
    assert case(QRELS, ranked("a", "x", "b", "y")).value("Judged@10") == 0.5
    assert case(QRELS, ranked("a", "c")).value("Judged@10") == 1.0
    assert case(QRELS, {}).column("Judged@10")["q"] == (0.0, Reason.MISSING)


def test_ineligible_items_in_the_first_places(case, ranked):
    found = case(
        QRELS, ranked("a", "b", "x", "f"), items=("x",), asked={"q": 10},
        opens={"a": 10, "b": 11}, closes={"a": 11, "x": 10},
    )  # fmt: skip
    assert found.value("Ineligible@1") == 0.0  # from the first moment on
    assert found.value("Ineligible@2") == 0.5  # not yet
    assert found.value("Ineligible@3") == pytest.approx(2 / 3)  # no longer
    assert found.value("Ineligible@9") == 0.5  # f is outside the pool


def test_nothing_is_ineligible_for_a_query_without_a_time(case, ranked):
    qrels = {"q": {"a": 1, "b": 1}, "timed": {"a": 1}}
    run = {name: ranked("a", "b")["q"] for name in qrels}
    found = case(qrels, run, asked={"timed": 10}, opens={"a": 10}, closes={"b": 0})
    assert found.column("Ineligible@2") == {"q": (0.0, Reason.OK), "timed": (0.5, Reason.OK)}


@pytest.mark.parametrize(
    "times",
    [{}, {"asked": {"q": 10}}, {"opens": {"a": 10}, "closes": {"b": 0}}],
    ids=["nothing", "no windows", "no times"],
)
def test_ineligible_is_undefined_where_nothing_could_be(case, ranked, times):
    """A 0 would pass for a measurement."""
    qrels = {"q": {"a": 1, "b": 1}, "silent": {"a": 1}, "unjudged": {}}
    column = case(qrels, ranked("a", "b"), **times).column("Ineligible@2")
    assert all(nan(value) for value, _ in column.values())
    reasons = {name: reason for name, (_, reason) in column.items()}
    assert reasons == {
        "q": Reason.UNDEFINED, "silent": Reason.UNDEFINED, "unjudged": Reason.UNJUDGED,
    }  # fmt: skip


def test_an_unanswered_query_is_wholly_ineligible(case, ranked):
    qrels, times = {"q": {"a": 1}, "silent": {"a": 1}}, {"q": 10, "silent": 10}
    found = case(qrels, ranked("a"), asked=times, opens={"a": 10})
    assert found.column("Ineligible@5")["silent"] == (1.0, Reason.MISSING)


def test_item_coverage_counts_distinct_eligible_items_of_the_pool(case):
    qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1, "d": 1}, "q3": {}}
    run = {
        "q1": {"a": 3.0, "b": 2.0, "f": 1.0},
        "q2": {"a": 3.0, "c": 2.0, "d": 1.0},
        "q3": {"b": 3.0},
    }
    found = case(
        qrels, run, items=("e",), asked={"q1": 5, "q2": 5}, closes={"c": 1},
        query_slices={"one": {"q1"}, "none": set()}, item_slices={"some": {("q1", "a")}},
        crossings={"one_some": ("one", "some")},
    )  # fmt: skip
    lists = found.scores("ItemCoverage@2").lists
    assert lists["all", "ItemCoverage@2"] == pytest.approx(2 / 5)  # a and b; c is ineligible
    assert lists["one", "ItemCoverage@2"] == pytest.approx(2 / 5)
    assert nan(lists["none", "ItemCoverage@2"])
    assert nan(lists["some", "ItemCoverage@2"])
    assert nan(lists["one_some", "ItemCoverage@2"])
    assert found.scores("ItemCoverage@3").lists["all", "ItemCoverage@3"] == pytest.approx(3 / 5)
    assert found.scores("ItemCoverage@3").columns == ()


def test_item_coverage_of_a_declared_catalogue(case, ranked):
    found = case(QRELS, ranked("a", "b"), catalogue=8).scores("ItemCoverage@5")
    assert found.lists["all", "ItemCoverage@5"] == 0.25
    with pytest.raises(SamepoolError, match="declared to hold 1 items, but 2 were shown"):
        case(QRELS, ranked("a", "b"), catalogue=1).scores("ItemCoverage@5")


def test_query_coverage_asks_for_full_answers(case, ranked):
    found = case(QRELS, ranked("x", "y"))
    assert found.value("QueryCoverage@2") == 1.0
    assert found.value("QueryCoverage@3") == 0.0
    assert case(QRELS, {}).column("QueryCoverage@1")["q"] == (0.0, Reason.MISSING)


def test_age_is_the_mean_over_dated_items(case, ranked):
    found = case(
        QRELS, ranked("a", "b", "c", "x"), asked={"q": 100}, created={"a": 90, "b": 70.5, "c": 101}
    )
    assert found.value("Age@1") == pytest.approx(10)
    assert found.value("Age@2") == pytest.approx((10 + 29.5) / 2)
    assert found.value("Age@4") == pytest.approx((10 + 29.5) / 2)  # made later; undated


def test_age_does_not_exist_without_dates(case, ranked):
    undated = case(QRELS, ranked("a"), asked={"q": 1}, created={"b": 0}).column("Age@1")["q"]
    assert nan(undated[0])
    assert undated[1] == Reason.UNDEFINED
    timeless = case(QRELS, ranked("a"), created={"a": 0}).column("Age@1")["q"]
    assert timeless[1] == Reason.UNDEFINED


def test_an_unanswered_query_has_no_age(case):
    value, reason = case(QRELS, {}, asked={"q": 1}, created={"a": 0}).column("Age@1")["q"]
    assert nan(value)
    assert reason == Reason.MISSING


def test_freshness_is_the_share_of_new_items(case, ranked):
    found = case(
        QRELS, ranked("a", "b", "c", "x"), asked={"q": 100}, created={"a": 70, "b": 69.9, "c": 101}
    )
    assert found.value("Freshness@2") == 0.5  # 30 days are new, 30.1 are not
    assert found.value("Freshness(new=31)@2") == 1.0
    assert found.value("Freshness@4") == 0.25  # made later, or undated: not known to be new
    assert case(QRELS, ranked("a")).column("Freshness@4")["q"][1] == Reason.UNDEFINED
