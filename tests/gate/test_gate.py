import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import stats

from pipeline import gate
from pipeline.core import registry
from pipeline.core.problems import SamepoolError
from pipeline.core.scores import Reason

ROOT = Path(__file__).parents[2]
CASES = ROOT.parent / "shared" / "cases" / "statistics" / "cases.json"
needs_cases = pytest.mark.skipif(not CASES.exists(), reason="acceptance cases are not here")
BETTER = {"better": {"kind": "superiority"}}
SAFE = {"safe": {"kind": "max_drop", "max_drop": 0.01}}


def only(decisions):
    (decision,) = decisions
    return decision


def verdict(decisions):
    (found,) = only(decisions).verdicts
    return found


def complaint(rules, **changes):
    with pytest.raises(SamepoolError) as caught:
        gate.claims(gate.build(rules), changes.pop("axes"))
    return str(caught.value)


# superiority


@pytest.mark.parametrize(
    ("delta", "half", "p", "min_gain", "status"),
    [
        (0.05, 0.01, 0.001, 0.0, "pass"),
        (0.05, 0.01, 0.001, 0.03, "pass"),
        (0.05, 0.01, 0.03, 0.0, "inconclusive"),  # the interval clears 0, the p-value does not
        (0.05, 0.06, 0.001, 0.0, "inconclusive"),  # the other way round
        (0.05, 0.01, 0.001, 0.04, "inconclusive"),  # a bound on the limit does not clear it
        (0.05, 0.01, 0.5, 0.07, "fail"),
        (-0.05, 0.01, 1.0, 0.0, "fail"),
        (-0.005, 0.01, 0.9, 0.0, "inconclusive"),
    ],
)
def test_superiority(kit, delta, half, p, min_gain, status):
    rules = {"better": {"kind": "superiority", "min_gain": min_gain}}
    decision = only(kit.decide(rules, {"*": {"delta": delta, "half": half, "p": p}}))
    found = decision.verdicts[0]
    assert (found.status, decision.status) == (status, status)
    assert found.value == pytest.approx(delta)
    assert found.limit == min_gain
    assert found.ci == pytest.approx((delta - half, delta + half))
    assert (found.n, found.p, decision.p) == (1_000, p, p)
    assert f"gain {delta:+.4f}" in found.reason


def test_where_lower_is_better_a_gain_is_a_decrease(kit):
    rules = {"fast": {"kind": "superiority", "metric": "Latency", "min_gain": 2.0}}
    (claim,) = gate.claims(gate.build(rules), kit.axes())
    assert claim.side == "less"
    faster = verdict(kit.decide(rules, {"*": {"delta": -5.0, "half": 1.0}}))
    assert (faster.status, faster.value, faster.ci) == ("pass", 5.0, (4.0, 6.0))
    slower = verdict(kit.decide(rules, {"*": {"delta": 5.0, "half": 1.0, "p": 1.0}}))
    assert (slower.status, slower.value) == ("fail", -5.0)


# max_drop


@pytest.mark.parametrize(
    ("delta", "half", "p", "status"),
    [
        (0.0, 0.005, 0.001, "pass"),
        (-0.005, 0.002, 0.001, "pass"),
        (0.0, 0.02, 0.2, "inconclusive"),
        (-0.01, 0.005, 0.5, "inconclusive"),
        (-0.02, 0.005, 0.99, "fail"),
        (0.0, 0.005, 0.03, "inconclusive"),
    ],
)
def test_max_drop(kit, delta, half, p, status):
    found = verdict(kit.decide(SAFE, {"*": {"delta": delta, "half": half, "p": p}}))
    assert (found.status, found.limit) == (status, -0.01)


def test_an_inconclusive_drop_says_how_many_more_queries(kit):
    tests = {"*": {"delta": 0.0, "half": 0.02, "p": 0.2, "n_needed": 1_234}}
    found = verdict(kit.decide(SAFE, tests))
    assert found.n_needed == 1_234
    assert "about 1,234 more queries" in found.reason


def test_patterns_match_slices(kit):
    def slices(*patterns):
        rules = {"safe": {"kind": "max_drop", "max_drop": 0.01, "slices": list(patterns)}}
        return [claim.slice for claim in gate.claims(gate.build(rules), kit.axes())]

    assert slices("*") == ["all", "head", "tail", "new_items", "tail_new"]
    assert slices("tail*", "head", "tail") == ["tail", "tail_new", "head"]


@needs_cases
def test_case_verdicts(kit):
    cases = json.loads(CASES.read_text())
    found = next(case for case in cases if case["kind"] == "verdicts")
    expected = found["expected"]["rows"]
    for row, wanted in zip(found["input"]["rows"], expected, strict=True):
        half = stats.t.ppf(1 - row["alpha"], row["df"]) * row["se"]
        for key, rule, limit in (
            ("superiority", {"kind": "superiority", "min_gain": row["min_gain"]}, row["min_gain"]),
            ("noninferiority", {"kind": "max_drop", "max_drop": row["margin"]}, -row["margin"]),
        ):
            p = stats.t.sf((row["mean"] - limit) / row["se"], row["df"])
            tests = {"*": {"delta": row["mean"], "half": half, "p": float(p)}}
            assert verdict(kit.decide({"r": rule}, tests)).status == wanted[key].lower()


# thin evidence


@pytest.mark.parametrize("status", ["single", "all_zero", "zero_variance", "too_few"])
def test_thin_evidence_never_passes_superiority(kit, status):
    tests = {"*": {"delta": 0.0 if status == "all_zero" else 0.05, "status": status, "p": 0.001}}
    found = verdict(kit.decide(BETTER, tests))
    assert found.status == "inconclusive"
    assert found.reason.endswith("(400 of 1,000).")


def test_too_few_says_how_many_are_needed(kit):
    built = gate.build(BETTER)
    (claim,) = gate.claims(built, kit.axes())
    few = kit.comparison(claim, status="too_few", n_nonzero=6, n_clusters=6)
    settings = {"significance": {"min_nonzero": 30}}
    evidence = replace(kit.evidence([few]), settings=settings)
    reason = verdict(gate.decide(built, kit.axes(), evidence, "s")).reason
    assert reason.endswith(
        "only 6 of 6 users or queries differ, and 30 are needed (the evidence minimum)."
    )


def test_a_clear_drop_on_thin_evidence_is_inconclusive(kit):
    tests = {"*": {"delta": -0.5, "status": "too_few", "p": 1.0, "losses": 12, "n_clusters": 20}}
    assert verdict(kit.decide(SAFE, tests)).status == "inconclusive"


@pytest.mark.parametrize(("n", "status"), [(367, "inconclusive"), (368, "pass")])
def test_no_differences_pass_by_the_exact_bound(kit, n, status):
    """The smallest n is ln(alpha) / ln(1 - drop / range): 368 for .01 and .025."""
    tests = {
        "*": {"delta": 0.0, "status": "all_zero", "p": None, "n": n, "n_clusters": n}
        | {"losses": 0, "wins": 0, "n_nonzero": 0}
    }
    found = verdict(kit.decide(SAFE, tests))
    assert found.status == status
    assert (found.p <= 0.025) == (status == "pass")
    assert found.n_needed == (1 if n == 367 else None)
    assert "no user or query differs (0 of" in found.reason


def test_few_losers_among_many_pass_by_the_exact_bound(kit):
    few = {"delta": 0.0, "status": "too_few", "p": 0.9, "losses": 2}
    found = verdict(kit.decide(SAFE, {"*": {**few, "n_clusters": 1_000}}))
    upper = stats.beta.ppf(0.975, 3, 998)
    assert found.status == "pass"
    assert f"2 lose, so the mean drop is at most {upper:.4g}" in found.reason
    found = verdict(kit.decide(SAFE, {"*": {**few, "n_clusters": 500}}))
    assert found.status == "inconclusive"
    assert "does not exclude a drop of 0.01" in found.reason


def test_a_metric_without_a_range_has_no_exact_bound(kit):
    rules = {"fast": {"kind": "max_drop", "metric": "Latency", "max_drop": 5.0}}
    tests = {"*": {"delta": 0.0, "status": "all_zero", "p": None, "losses": 0}}
    assert verdict(kit.decide(rules, tests)).status == "inconclusive"


# fails closed


@pytest.mark.parametrize("rules", [BETTER, SAFE])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"status": "invalid"}, "a value for one of the two models only"),
        ({"status": "no_data", "n": 0, "n_dropped": 7}, "no paired queries (empty slice? 7 left"),
        ({"n": 0}, "no paired queries"),
        ({"delta": math.nan}, "missing or not finite"),
        ({"bound": math.nan}, "missing or not finite"),
        ({"bound": None}, "missing or not finite"),
        ({"p": math.nan}, "missing or not finite"),
        ({"p": None}, "missing or not finite"),
        ({"ci": (math.nan, math.inf)}, "missing or not finite"),
        ({"status": "splendid"}, "unknown status 'splendid'"),
    ],
)
def test_what_is_not_a_number_is_invalid(kit, rules, change, words):
    decision = only(kit.decide(rules, {"*": change}))
    assert decision.status == "invalid"
    assert words in decision.verdicts[0].reason


def test_a_claim_that_was_not_tested_is_invalid(kit):
    rules = gate.build(BETTER)
    decision = only(gate.decide(rules, kit.axes(), kit.evidence(), "sha"))
    assert decision.status == "invalid"
    assert decision.p is None
    assert decision.p_holm is None
    assert "holds no test of this claim" in decision.verdicts[0].reason


@pytest.mark.parametrize("change", [{"alpha": 0.2}, {"margin": 0.5}, {"side": "less"}])
def test_a_test_of_another_claim_does_not_count(kit, change):
    rules = gate.build(BETTER)
    (claim,) = gate.claims(rules, kit.axes())
    other = kit.comparison(replace(claim, **change))
    assert only(gate.decide(rules, kit.axes(), kit.evidence([other]), "s")).status == "invalid"


@pytest.mark.parametrize(("missing", "status"), [(2, "pass"), (3, "invalid")])
def test_a_baseline_that_did_not_answer_is_invalid(kit, missing, status):
    found = verdict(kit.decide(BETTER, missing=missing))
    assert found.status == status
    if status == "invalid":
        assert "old did not answer 3 of 2,000 judged queries (0.15 %" in found.reason


def test_missing_answers_are_counted_within_the_slice(kit):
    rules = {"safe": {"kind": "max_drop", "max_drop": 0.01, "slices": ["tail_new"]}}
    found = verdict(kit.decide(rules, {"*": {"delta": 0.0, "half": 0.001}}, missing=1))
    assert "1 of 200 judged queries" in found.reason


def test_a_rule_that_judges_nothing_is_invalid(kit):
    class Silent:
        def claims(self, name, axes):
            return ()

        def verdicts(self, *_):
            return ()

    found = gate._verdicts({"s": Silent()}, kit.axes(), "new", kit.evidence(), {})
    assert found[0].status == "invalid"
    assert gate._worst([replace(found[0], status="great")]) == "invalid"
    passed = replace(found[0], status="pass", p=None)
    assert gate._largest([passed]) is None
    undecided = gate.Decision("new", "pass", None, None, (passed,), "", "")
    assert gate._decision(undecided, 0.025, "s").status == "invalid"


# threshold


@pytest.mark.parametrize(
    ("limits", "status", "words"),
    [
        ({"min": 0.5}, "pass", "0.5 is at least 0.5;"),
        ({"min": 0.51}, "fail", "0.5 is below 0.51"),
        ({"max": 0.4}, "fail", "0.5 is above 0.4"),
        ({"max": 0.5}, "pass", "0.5 is at most 0.5;"),
        ({"min": 0.1, "max": 0.5}, "pass", "0.5 lies in 0.1 to 0.5;"),
    ],
)
def test_threshold(kit, limits, status, words):
    rules = {"level": {"kind": "threshold", "metric": "nDCG@10", "slice": "tail", **limits}}
    decision = only(kit.decide(rules))
    found = decision.verdicts[0]
    assert (found.status, found.value, found.n) == (status, 0.5, 200)
    assert found.p == decision.p == (0.0 if status == "pass" else 1.0)
    assert words in found.reason
    assert "no test" in found.reason
    assert decision.status == status


def test_threshold_on_a_metric_of_lists(kit):
    rules = {"level": {"kind": "threshold", "metric": "ItemCoverage@10", "min": 0.3}}
    lists = {("all", "ItemCoverage@10"): 0.4}
    assert verdict(kit.decide(rules, lists=lists)).status == "pass"
    found = verdict(kit.decide(rules, lists=lists, unjudged=10))
    assert found.n == verdict(kit.decide(rules, lists=lists)).n - 10  # only judged queries are read
    assert verdict(kit.decide(rules)).status == "invalid"
    nan = {("all", "ItemCoverage@10"): math.nan}
    assert verdict(kit.decide(rules, lists=nan)).reason.endswith("not measured there.")


def test_threshold_fails_closed(kit):
    rules = {"level": {"kind": "threshold", "metric": "R@10", "min": 0.0}}
    assert "no query has a value" in verdict(kit.decide(rules, values=math.nan)).reason
    assert "not finite" in verdict(kit.decide(rules, values=math.inf)).reason
    around = kit.axes(candidates=("ghost",))
    found = only(kit.decide(rules, around=around))
    assert found.status == "invalid"
    assert "no values of the model" in found.verdicts[0].reason


def test_a_metric_that_is_undefined_everywhere_is_not_measurable(kit):
    rules = {"level": {"kind": "threshold", "metric": "R@10", "max": 0.0}}
    evidence = kit.evidence(values=math.nan)
    reason = np.full((2_000, 6), Reason.UNDEFINED, np.uint8)
    reason[:5] = Reason.UNJUDGED
    scores = replace(evidence.scores[1], reason=reason)
    found = verdict(
        gate.decide(gate.build(rules), kit.axes(), replace(evidence, scores=(scores,)), "s")
    )
    assert found.status == "invalid"
    assert "not measurable: the metric is undefined" in found.reason


def test_threshold_leaves_out_and_counts_what_has_no_value(kit):
    values = np.full((2_000, 6), 0.5)
    values[:4] = np.nan
    rules = {"level": {"kind": "threshold", "metric": "R@10", "min": 0.4}}
    evidence = kit.evidence(values=values, missing=4)
    silent = replace(evidence, scores=(replace(evidence.scores[0], model="new"),))
    found = verdict(gate.decide(gate.build(rules), kit.axes(), silent, "s"))
    assert (found.n, found.value) == (1_996, 0.5)
    assert "(4 unanswered queries left out)" in found.reason


# decisions


def test_no_rules_are_no_criteria(kit):
    decision = only(kit.decide({}))
    assert (decision.status, decision.p, decision.verdicts) == ("no_criteria", None, ())


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (("pass", "inconclusive", "fail", "invalid"), "invalid"),
        (("pass", "inconclusive", "fail"), "fail"),
        (("pass", "inconclusive"), "inconclusive"),
        (("pass", "pass"), "pass"),
    ],
)
def test_the_worst_verdict_decides(kit, statuses, expected):
    one = verdict(kit.decide(BETTER))
    assert gate._worst([replace(one, status=status) for status in statuses]) == expected


def test_p_is_the_largest_of_the_rules(kit):
    rules = {**BETTER, **SAFE, "level": {"kind": "threshold", "metric": "R@10", "min": 0.1}}
    built = gate.build(rules)
    first, second = gate.claims(built, kit.axes())
    made = [kit.comparison(first, p=0.004), kit.comparison(second, p=0.011)]
    decision = only(gate.decide(built, kit.axes(), kit.evidence(made), "sha"))
    assert (decision.status, decision.p, decision.p_holm) == ("pass", 0.011, 0.011)
    assert decision.evidence_digest == "sha"


@needs_cases
def test_case_intersection_union_and_holm(kit):
    cases = json.loads(CASES.read_text())
    found = next(case for case in cases if case["kind"] == "gate")
    primary = found["input"]["p_primary_superiority"]
    guards = found["input"]["p_guardrail_noninferiority"]
    names = tuple(f"m{i}" for i in range(len(primary)))
    guard = {"kind": "max_drop", "max_drop": 0.01}
    rules = gate.build({**BETTER, "g0": guard, "g1": guard})
    around = kit.axes(candidates=names)
    p_values = {
        (rule, name): p
        for name, first, rest in zip(names, primary, guards, strict=True)
        for rule, p in zip(("better", "g0", "g1"), (first, *rest), strict=True)
    }
    made = [kit.comparison(c, p=p_values[c.rule, c.model]) for c in gate.claims(rules, around)]
    decisions = gate.decide(rules, around, kit.evidence(made), "sha")
    expected = found["expected"]
    assert [d.p for d in decisions] == pytest.approx(expected["p_iut"])
    assert [d.p_holm for d in decisions] == pytest.approx(expected["p_holm"])
    assert [d.status == "pass" for d in decisions] == expected["promotable"]
    assert [d.status for d in decisions] == ["inconclusive"] * 3 + ["pass"]
    last = decisions[0].verdicts[-1]
    assert (last.rule, last.status, last.limit) == ("holm", "inconclusive", 0.025)
    assert "p = 0.01 is 0.03 after Holm" in last.reason


def test_a_candidate_without_a_p_value_still_counts_in_holm(kit):
    around = kit.axes(candidates=("a", "b"))
    tests = {"a": {"p": 0.02}, "b": {"status": "invalid"}}
    first, second = kit.decide(BETTER, tests, around)
    assert (first.p, first.p_holm, first.status) == (0.02, 0.04, "inconclusive")
    assert (second.p, second.p_holm, second.status) == (None, None, "invalid")


def test_digest_of_rules(kit):
    built = gate.build(BETTER)
    spelled = gate.build({"better": {"kind": "superiority", "min_gain": 0, "slice": "all"}})
    other = gate.build({"better": {"kind": "superiority", "min_gain": 0.01}})
    assert gate.rules_digest(built, 0.025) == gate.rules_digest(spelled, 0.025)
    assert gate.rules_digest(built, 0.025) != gate.rules_digest(other, 0.025)
    assert gate.rules_digest(built, 0.025) != gate.rules_digest(built, 0.05)
    assert only(kit.decide(BETTER)).rules_digest == gate.rules_digest(built, 0.025)


# labels


@pytest.mark.parametrize(
    ("declared", "status", "words"),
    [
        ({"labels": "click"}, "invalid", "set pool.labels_reason="),
        ({"labels": "click", "labels_reason": " "}, "invalid", "clicks follow position"),
        ({"labels": "rating", "labels_reason": None}, "invalid", "Labels: rating"),
        ({}, "invalid", "set pool.labels=human"),
        ({"labels": "llm", "labels_reason": "checked"}, "pass", "declared fit to decide: checked"),
    ],
)
def test_labels_that_people_did_not_make_need_a_reason(kit, declared, status, words):
    decision = only(kit.decide(BETTER, declared=declared))
    found = decision.verdicts[0]
    assert (found.rule, found.status, decision.status) == ("label_source", status, status)
    assert words in found.reason


def test_human_labels_need_no_verdict(kit):
    assert [v.rule for v in only(kit.decide(BETTER)).verdicts] == ["better"]


# complaints


def test_all_unknown_names_are_listed(kit):
    rules = {
        "a": {"kind": "superiority", "metric": "nDGC@10", "slice": "tial"},
        "b": {"kind": "max_drop", "max_drop": 0.1, "slices": ["tail", "hd*", "newitems"]},
        "c": {"kind": "threshold", "metric": "R", "min": 0.1},
        "d": {"kind": "superiority", "metric": "ItemCoverage@10"},
    }
    text = complaint(rules, axes=kit.axes())
    assert "gate.rules.a.metric: 'nDGC@10' is not among the metrics measured" in text
    assert "did you mean nDCG@10?" in text
    assert "gate.rules.a: 'tial' matches no slice -> did you mean tail" in text
    assert "gate.rules.b: 'hd*' matches no slice" in text
    assert "'newitems' matches no slice -> did you mean new_items" in text
    assert "gate.rules.c.metric: 'R' is not among the metrics measured" in text
    assert "ItemCoverage@10 is one value for a set of lists; it has no pairs" in text
    assert "use kind: threshold" in text


def test_metric_names_are_read_as_metrics_do(kit):
    rules = {"a": {"kind": "superiority", "metric": "nDCG@10"}}
    (claim,) = gate.claims(gate.build(rules), kit.axes())
    assert claim.metric == "nDCG(gain=exp)@10"


def test_names_are_checked_without_a_baseline_too(kit):
    typo = {"a": {"kind": "max_drop", "max_drop": 0.1, "slices": ["tial"]}}
    assert "did you mean tail" in complaint(typo, axes=kit.axes(baseline=None))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            {"kind": "max_drop", "max_drop": 2},
            "max_drop 2 is as wide as nDCG(gain=exp)@10's range 0..1",
        ),
        ({"kind": "max_drop", "max_drop": 1}, "max_drop 1 is as wide"),
        ({"kind": "superiority", "min_gain": 1}, "min_gain 1 is as wide"),
        ({"kind": "threshold", "metric": "R@10", "max": 2}, "max 2 is outside R@10's range 0..1"),
        ({"kind": "threshold", "metric": "R@10", "min": -1}, "min -1 is outside R@10's range"),
        (
            {"kind": "threshold", "metric": "Latency", "min": -1},
            "min -1 is outside Latency's range 0..",
        ),
    ],
)
def test_limits_that_nothing_could_cross_are_refused(kit, rule, words):
    assert f"gate.rules.a.{words}" in complaint({"a": rule}, axes=kit.axes())


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "max_drop", "max_drop": 0.999},
        {"kind": "max_drop", "metric": "Latency", "max_drop": 2_000},
        {"kind": "threshold", "metric": "R@10", "min": 0, "max": 1},
        {"kind": "threshold", "metric": "Latency", "max": 300},
    ],
)
def test_limits_within_the_range_are_taken(kit, rule):
    gate.claims(gate.build({"a": rule}), kit.axes())


def test_a_refused_drop_names_a_likely_one(kit):
    rule = {"kind": "max_drop", "max_drop": 2}
    text = complaint({"a": rule}, axes=kit.axes())
    assert text.endswith("give it in the metric's units, e.g. 0.02")


def test_true_is_no_limit():
    with pytest.raises(SamepoolError, match="max_drop: True: true and false are not numbers"):
        gate.build({"a": {"kind": "max_drop", "max_drop": True}})


def test_one_slice_only(kit):
    one = {"a": {"kind": "superiority", "slice": "tail*"}}
    assert "matches tail, tail_new" in complaint(one, axes=kit.axes())
    one = {"a": {"kind": "threshold", "metric": "R@10", "min": 0, "slice": "*"}}
    assert "a threshold is about one slice" in complaint(one, axes=kit.axes())
    none = {"a": {"kind": "max_drop", "max_drop": 0.1, "slices": []}}
    assert "names no slice" in complaint(none, axes=kit.axes())


def test_rules_are_checked_together():
    with pytest.raises(SamepoolError) as caught:
        gate.build(
            {
                "holm": {"kind": "superiority"},
                "a b": {"kind": "superiority"},
                "c": {"kind": "superior"},
                "d": {"kind": "max_drop"},
                "e": {"kind": "max_drop", "max_drop": 0},
                "f": {"kind": "superiority", "min_gain": -1},
                "g": {"kind": "threshold", "metric": "R@10"},
                "h": {"kind": "threshold", "metric": "R@10", "min": 2, "max": 1},
                "i": "superiority",
                "j": {"kind": "max_drop", "max_dorp": 0.1, "max_drop": 0.1},
                "k": {"kind": "max_drop", "max_drop": math.nan},
            }
        )
    text = str(caught.value)
    for words in (
        "gate.rules.holm: 'holm' is reserved",
        "'a b' is not a plain name",
        "unknown kind 'superior' -> did you mean superiority?",
        "gate.rules.d.max_drop is not set",
        "max_drop is 0; give a drop above 0",
        "min_gain is -1; for a tolerated drop use max_drop",
        "gate.rules.g: give min, max or both",
        "min 2 is above max 1",
        "gate.rules.i is 'superiority', not a rule",
        "unknown option gate.rules.j.max_dorp -> did you mean max_drop?",
        "gate.rules.k.max_drop: nan",
    ):
        assert words in text


def test_null_takes_a_rule_away():
    assert gate.build({"better": None}) == {}


def test_every_kind_is_known():
    assert set(registry.kinds("gate")) == {"max_drop", "superiority", "threshold"}


@pytest.mark.parametrize("name", ["default", "strict", "none", "movielens"])
def test_presets(kit, name):
    preset = yaml.safe_load((ROOT / "conf" / "gate" / f"{name}.yaml").read_text())
    assert set(preset) == {"alpha", "enforce", "informational", "rules"}
    metrics = (*kit.metrics, kit.info("Ineligible@10", "lower"))
    slices = ("all", "frequent", "rare", "gender_F", "gender_M", "new_items")
    rules = gate.build(preset["rules"])
    claims = gate.claims(rules, kit.axes(metrics=metrics, slices=slices))
    assert len({claim.id for claim in claims}) == len(claims)
    assert all(claim.family == "F1" and claim.alpha == 0.025 for claim in claims)
