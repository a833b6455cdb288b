import numpy as np
import pytest

from pipeline.core.conventions import Conventions
from pipeline.core.problems import SamepoolError
from pipeline.core.scores import Reason
from pipeline.core.slices import Slices
from pipeline.metrics import evaluate, measure, parse_all
from pipeline.metrics._evaluate import everything

QRELS = {"p": {"a": 1, "b": 1}, "q": {"a": 1, "c": 0}, "r": {"d": 0}, "s": {}}
RUN = {"p": {"a": 2.0, "b": 1.0}, "r": {"d": 1.0}, "s": {"a": 1.0}}


def test_the_reason_of_every_value(case):
    expected = {
        "R@5": [Reason.OK, Reason.MISSING, Reason.NO_RELEVANT, Reason.UNJUDGED],
        "RR@5": [Reason.OK, Reason.MISSING, Reason.NO_RELEVANT_SCORED, Reason.UNJUDGED],
        "Judged@5": [Reason.OK, Reason.MISSING, Reason.OK, Reason.UNJUDGED],
        "Ineligible@5": [Reason.OK, Reason.MISSING, Reason.OK, Reason.UNJUDGED],
        "Age@5": [Reason.UNDEFINED, Reason.MISSING, Reason.UNDEFINED, Reason.UNJUDGED],
    }
    scores = case(QRELS, RUN, asked={"p": 1}, opens={"a": 0}).scores(*expected)
    assert scores.columns == tuple((name, "all") for name in expected)
    assert scores.reason.T.tolist() == list(expected.values())
    without = np.isin(scores.reason, [Reason.NO_RELEVANT, Reason.UNJUDGED, Reason.UNDEFINED])
    without |= (scores.reason == Reason.MISSING) & (np.array([*expected]) == "Age@5")
    assert (np.isnan(scores.values) == without).all()
    assert scores.values[1].tolist()[:4] == [0.0, 0.0, 0.0, 1.0]  # worst values
    assert scores.length.tolist() == [2, 0, 1, 1]


def test_an_answer_with_nothing_is_worst_and_not_missing(case):
    expected = {
        "R@5": (0.0, Reason.OK),
        "Judged@5": (0.0, Reason.OK),
        "Ineligible@5": (1.0, Reason.OK),
    }
    asked = case(QRELS, {**RUN, "q": {}}, asked={"p": 1, "q": 1}, opens={"a": 0})
    for name, found in expected.items():
        assert asked.column(name)["q"] == found
    assert asked.column("Age@5")["q"][1] == Reason.UNDEFINED  # nothing has no age
    one = case(QRELS, {"p": {"a": 1.0}, "r": {}}, conventions={"no_relevant": "one"})
    assert one.column("R@5")["r"] == (1.0, Reason.NO_RELEVANT_SCORED)  # rightly nothing


def test_judged_queries_are_known_without_a_metric_of_queries(case):
    scores = case(QRELS, RUN).scores("ItemCoverage@5")
    assert scores.columns == ()
    assert scores.judged.tolist() == [True, True, True, False]


@pytest.mark.parametrize(
    ("rule", "r", "rr"),
    [
        ("default", (None, Reason.NO_RELEVANT), (0.0, Reason.NO_RELEVANT_SCORED)),
        ("zero", (0.0, Reason.NO_RELEVANT_SCORED), (0.0, Reason.NO_RELEVANT_SCORED)),
        ("one", (1.0, Reason.NO_RELEVANT_SCORED), (1.0, Reason.NO_RELEVANT_SCORED)),
        ("skip", (None, Reason.NO_RELEVANT), (None, Reason.NO_RELEVANT)),
    ],
)
def test_nothing_relevant_by_convention(case, rule, r, rr):
    asked = case(QRELS, RUN, conventions={"no_relevant": rule})
    for name, (value, reason) in (("R@5", r), ("RR@5", rr)):
        found = asked.column(name)["r"]
        assert found[1] == reason
        assert np.isnan(found[0]) if value is None else found[0] == value
    assert asked.column("R@5")["q"] == (0.0, Reason.MISSING)


def test_nothing_relevant_is_decided_by_the_judgments_for_every_model_alike(case):
    answered = case(QRELS, {"r": {"d": 1.0}}).column("R@5")["r"][1]
    unanswered = case(QRELS, {}).column("R@5")["r"][1]
    assert answered == unanswered == Reason.NO_RELEVANT
    one = case(QRELS, {}, conventions={"no_relevant": "one"}).column("R@5")["r"]
    assert one == (0.0, Reason.MISSING)  # no answer earns nothing


def test_nothing_relevant_can_be_an_error(case):
    with pytest.raises(SamepoolError, match=r"RR@5: 1 queries have nothing relevant \(e\.g\. r\)"):
        case(QRELS, RUN, conventions={"no_relevant": "error"}).scores("RR@5")
    fine = case({"p": {"a": 1}}, RUN, conventions={"no_relevant": "error"})
    assert fine.value("RR@5", "p") == 1.0


def test_an_item_slice_restricts_what_is_relevant_and_keeps_positions(case):
    qrels = {"p": {"a": 1, "b": 1, "c": 1}, "q": {"a": 1}, "r": {"a": 0, "b": 1}}
    run = {"p": {"a": 3.0, "b": 2.0, "x": 1.0}, "q": {"a": 1.0}, "r": {"b": 1.0}}
    some = {("p", "b"), ("p", "c"), ("r", "a"), ("r", "b")}
    asked = case(qrels, run, item_slices={"some": some})
    assert asked.value("R@5", "p", "some") == 0.5
    assert asked.value("RR@5", "p", "some") == 0.5
    assert asked.value("AP@5", "p", "some") == 0.25
    ideal = 1 + 1 / np.log2(3)
    assert asked.value("nDCG@5", "p", "some") == pytest.approx(1 / np.log2(3) / ideal)
    assert asked.value("R@5", "r", "some") == 1.0
    for name in ("R@5", "RR@5", "P@5", "Success@5", "nDCG@5", "DCG@5", "AP@5"):
        assert asked.column(name, "some")["q"][1] == Reason.NO_RELEVANT
        forced = case(qrels, run, item_slices={"some": some}, conventions={"no_relevant": "zero"})
        assert forced.column(name, "some")["q"][1] == Reason.NO_RELEVANT


def test_metrics_that_ignore_relevance_do_not_exist_in_an_item_slice(case):
    asked = case(QRELS, RUN, item_slices={"some": {("p", "a")}})
    for name in ("Judged@5", "Ineligible@5", "QueryCoverage@5", "Age@5", "Freshness@5"):
        found = [reason for _, reason in asked.column(name, "some").values()]
        assert found == [Reason.UNDEFINED] * 3 + [Reason.UNJUDGED]


def test_an_empty_item_slice_leaves_every_query_out(case):
    found = case(QRELS, RUN, item_slices={"none": set()}).column("nDCG@5", "none")
    assert {reason for _, reason in found.values()} == {Reason.NO_RELEVANT, Reason.UNJUDGED}


def test_columns_go_metric_by_metric_then_slice_by_slice(case):
    asked = case(QRELS, RUN, item_slices={"x": set(), "y": set()}, query_slices={"z": {"p"}})
    scores = asked.scores("RR@5", "ItemCoverage@5", "P@5")
    assert scores.columns == tuple(
        (label, name) for label in ("RR@5", "P@5") for name in ("all", "x", "y")
    )
    assert list(scores.lists) == [(name, "ItemCoverage@5") for name in ("all", "z", "x", "y")]


def test_stages_are_measured_apart(case):
    asked = case({"q": {"a": 1}}, {"q": {"x": 1.0}}, {"q": {"x": 2.0, "a": 1.0}})
    assert asked.value("R@5") == 0.0
    assert asked.value("R(stage=retrieval)@5") == 1.0
    assert asked.value("R(stage=retrieval)@1") == 0.0
    assert asked.value("QueryCoverage(stage=retrieval)@2") == 1.0
    lists = asked.scores("ItemCoverage(stage=retrieval)@5", "ItemCoverage@5").lists
    assert [*lists.values()] == [1.0, 0.0]


def test_a_tie_across_the_primary_cutoff_is_told(case):
    qrels = {query: {"a": 1} for query in "pqr"}
    run = {
        "p": {"a": 3.0, "b": 2.0, "c": 2.0, "d": 1.0},
        "q": {"a": 2.0, "b": 2.0, "c": 1.0, "d": 1.0},
        "r": {"a": 1.0, "b": 1.0},
    }
    asked = case(qrels, run)
    assert asked.scores("P@2").tied.tolist() == [1, 0, 0]
    assert asked.scores("P@1", "RR@3").tied.tolist() == [0, 1, 1]
    assert asked.scores("RR@3", "P@1").tied.tolist() == [0, 1, 0]
    assert asked.scores("AP", "P@2", "RR@3").tied.tolist() == [1, 0, 0]
    assert asked.scores("P@1").tied.tolist() == [0, 1, 1]
    assert asked.scores("P@2", "R(stage=retrieval)@3").tied.tolist() == [1, 0, 0]
    assert asked.scores("AP", "P@9").tied.tolist() == [0, 0, 0]
    near = case({"q": {"a": 1}}, {"q": {"a": 16777217.0, "b": 16777216.0}})
    assert near.scores("P@1").tied.tolist() == [0]
    single = case(near.qrels, near.run, conventions={"precision": "float32"})
    assert single.scores("P@1").tied.tolist() == [1]


def test_a_label_twice_is_refused(case):
    asked = case(QRELS, RUN)
    metrics = parse_all(["P@5"]) * 2
    with pytest.raises(SamepoolError, match="P@5 is named twice"):
        measure("m", asked.judged(), metrics, everything(asked.pool), asked.pool, Conventions())


def test_lists_judged_too_shallow_are_a_bug(case):
    asked = case({"q": {"a": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    slices: Slices = everything(asked.pool)
    with pytest.raises(ValueError, match="judge with depth=2 or more"):
        measure("m", asked.judged(1), parse_all(["P@2"]), slices, asked.pool, Conventions())


def test_evaluate_has_the_mean_of_each_metric():
    found = evaluate(QRELS, RUN, ["R@5", "RR@5", "ItemCoverage@5"])
    assert found == {"R@5": 0.5, "RR@5": pytest.approx(1 / 3), "ItemCoverage@5": 0.75}
    assert np.isnan(evaluate({"q": {"a": 0}}, RUN, ["R@5"])["R@5"])
