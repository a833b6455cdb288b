import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from threadpoolctl import threadpool_info, threadpool_limits

from pipeline import significance
from pipeline.core import registry
from pipeline.core.pool import Units
from pipeline.core.problems import SamepoolError
from pipeline.core.scores import Reason
from pipeline.core.settings import SignificanceSettings
from pipeline.kernels import resample
from pipeline.kernels.adjust import holm

CASES = Path(__file__).parents[3] / "shared" / "cases" / "statistics" / "cases.json"
needs_cases = pytest.mark.skipif(not CASES.exists(), reason="acceptance cases are not here")


def case(kind, at=0):
    found = [c for c in json.loads(CASES.read_text()) if c["kind"] == kind][at]
    return found["input"], found["expected"]


def skewed(n=200, seed=1):
    return np.round(np.random.default_rng(seed).normal(0.02, 0.1, n), 3)


# agreement with cases worked out elsewhere


@needs_cases
def test_case_paired_t(kit):
    given_, expected = case("ttest")
    deltas = np.subtract(given_["B"], given_["A"])
    claims = [kit.claim(), kit.claim(side="greater")]
    both, greater = kit.run(deltas, claims, kind="cluster_t")
    assert both.p == pytest.approx(expected["p_two_sided"], rel=1e-9)
    assert greater.p == pytest.approx(expected["p_greater"], rel=1e-9)
    assert both.ci == pytest.approx(tuple(expected["ci95"]), rel=1e-9)
    assert both.delta == pytest.approx(expected["mean_delta"], rel=1e-9)


@needs_cases
def test_case_exact_signflip(kit):
    given_, expected = case("signflip_exact")
    sides = {"p_two_sided": "two-sided", "p_greater": "greater", "p_less": "less"}
    found = kit.run(given_["deltas"], [kit.claim(side=side) for side in sides.values()])
    assert [c.p for c in found] == [expected[name] for name in sides]
    assert found[0].method == "exact cluster sign-flip, 256 patterns"


@needs_cases
def test_case_monte_carlo_signflip(kit):
    given_, expected = case("signflip_mc")
    (found,) = kit.run(given_["deltas"], [kit.claim()], flips=99_999)
    tolerance = expected["abs_tolerance_two_sided"]
    assert found.p == pytest.approx(expected["p_two_sided_exact"], abs=tolerance)
    assert found.n_nonzero == np.count_nonzero(given_["deltas"])


@needs_cases
def test_case_clusters(kit):
    given_, expected = case("cluster_signflip")
    names = sorted(set(given_["cluster"]))
    cluster = [names.index(name) for name in given_["cluster"]]
    (found,) = kit.run(given_["deltas"], [kit.claim()], cluster=cluster)
    assert (found.n, found.n_clusters) == (expected["n_queries"], expected["n_clusters"])
    assert found.p == expected["p_cluster_signflip_two_sided"]
    assert found.ci == pytest.approx(tuple(expected["ci95"]), rel=1e-9)
    (by_t,) = kit.run(given_["deltas"], [kit.claim()], cluster=cluster, kind="cluster_t")
    assert by_t.p == pytest.approx(expected["p_cluster_t"], rel=1e-9)


@needs_cases
def test_case_degenerate(kit):
    given_, expected = case("degenerate")
    inputs = given_["inputs"]
    (none,) = kit.run(inputs["n0"], [kit.claim()])
    assert (none.delta, none.p, none.status) == (None, None, "no_data")
    (one,) = kit.run(inputs["n1"], [kit.claim()])
    assert (one.delta, one.p, one.ci, one.status) == (0.3, 1.0, None, "single")
    (zeros,) = kit.run(inputs["zeros"], [kit.claim()])
    assert (zeros.delta, zeros.p, zeros.ci, zeros.status) == (0.0, 1.0, None, "all_zero")
    (constant,) = kit.run(inputs["constant"], [kit.claim()])
    assert constant.p == expected["constant"]["p_signflip_two_sided"]
    assert (constant.ci, constant.status) == (None, "zero_variance")


@needs_cases
def test_case_noninferiority_and_equivalence(kit):
    given_, expected = case("noninferiority")
    margin = given_["margin"]
    claims = [
        kit.claim("noninferior", "greater", margin=margin),
        kit.claim("equivalent", margin=margin),
        kit.claim("noninferior", "less", margin=margin),
    ]
    lower, tost, upper = kit.run(given_["deltas"], claims)
    assert lower.p == pytest.approx(expected["p_noninferior"], rel=1e-9)
    assert lower.bound == pytest.approx(expected["lower_bound"], rel=1e-9)
    assert tost.p == pytest.approx(expected["p_tost"], rel=1e-9)
    assert tost.bound is None
    assert upper.bound == pytest.approx(expected["upper_bound"], rel=1e-9)


# degenerate inputs


def test_degenerate_claims_about_a_margin(kit):
    claims = [
        kit.claim("noninferior", "greater", margin=0.1),
        kit.claim("superior", "greater", margin=0.1),
        kit.claim("superior", "greater"),
        kit.claim("superior", "less"),
    ]
    assert [c.p for c in kit.run(np.zeros(9), claims)] == [None, 1.0, 1.0, 1.0]
    assert [c.p for c in kit.run([0.2] * 9, claims)] == [None, None, 2**-9, 1.0]
    assert [c.p for c in kit.run([-0.2] * 9, claims)] == [None, None, 1.0, 2**-9]
    assert [c.p for c in kit.run([0.2], claims)] == [1.0] * 4
    assert [c.status for c in kit.run([0.2] * 9, claims)] == ["zero_variance"] * 4
    (many,) = kit.run([0.2] * 3_000, [kit.claim("superior", "greater")])
    assert 0 < many.p < 1e-300


def test_one_cluster_is_single_however_many_queries(kit):
    (found,) = kit.run([0.1, 0.2, 0.3], [kit.claim()], cluster=[0, 0, 0])
    assert (found.status, found.n, found.n_clusters, found.p, found.ci) == (
        "single",
        3,
        1,
        1.0,
        None,
    )


def test_differences_that_cancel_within_users_are_no_differences(kit):
    (found,) = kit.run([0.1, -0.1, 0.3, -0.1, -0.2], [kit.claim()], cluster=[0, 0, 1, 1, 1])
    assert (found.status, found.n_nonzero, found.wins, found.losses) == ("all_zero", 0, 2, 3)


def test_too_few_is_shown_but_not_corrected_for(kit):
    few = {"few": np.arange(60) < 5}
    claims = [kit.claim(), kit.claim(slice="few")]
    whole, small = kit.run(skewed(60), claims, slices=kit.slices_of(60, few), min_nonzero=30)
    assert whole.status == "ok"
    assert whole.p_adjusted == whole.p
    assert small.status == "too_few"
    assert small.p is not None
    assert small.ci is not None
    assert small.p_adjusted is None


# pairing


def paired(kit, old, new, claims=None, **more):
    n = len(old["values"])
    ones = np.ones(n)
    cluster = np.arange(n, dtype=np.int32)
    units = Units(pa.array(map(str, range(n))), cluster, ones, ones, np.zeros(n, np.int32))
    return significance.test(
        {"old": kit.scores("old", **old), "new": kit.scores("new", **new)},
        [kit.metric(**more)],
        kit.slices_of(n),
        units,
        claims or [kit.claim()],
        SignificanceSettings(min_nonzero=2),
        1,
    )[0]


def test_pairs_without_a_value_on_both_sides_are_dropped_and_counted(kit):
    nan = np.nan
    found = paired(kit, {"values": [0, nan, 0.5, 0]}, {"values": [1, nan, 0.5, 0.25]})
    assert (found.n, found.n_dropped, found.status) == (3, 1, "ok")
    assert (found.baseline_mean, found.mean) == pytest.approx((0.5 / 3, 1.75 / 3))
    assert (found.wins, found.ties, found.losses) == (2, 1, 0)


def test_unjudged_queries_are_not_in_the_topic_set(kit):
    reason = [Reason.OK, Reason.UNJUDGED, Reason.OK]
    side = {"values": [0.1, np.nan, 0.2], "reason": reason}
    found = paired(kit, side, {**side, "values": [0.2, np.nan, 0.5]})
    assert (found.n, found.n_dropped) == (2, 0)


def test_a_value_on_one_side_only_is_invalid(kit):
    found = paired(kit, {"values": [0, 0.1, 0.5]}, {"values": [1, np.nan, 0.5]})
    assert found.status == "invalid"
    assert (found.p, found.delta, found.mean, found.ci, found.bound) == (None,) * 5


def test_infinity_is_invalid(kit):
    found = paired(kit, {"values": [0, 0.1, 0.5]}, {"values": [1, np.inf, 0.5]})
    assert found.status == "invalid"


def test_an_unanswered_query_without_a_worst_value_drops_the_pair(kit):
    reason = [Reason.OK, Reason.MISSING, Reason.OK]
    old, new = {"values": [1.0, 2.0, 3.0]}, {"values": [1.5, np.nan, 2.5], "reason": reason}
    assert paired(kit, old, new, worst=None).n_dropped == 1
    assert paired(kit, old, new, worst=None).status == "ok"
    assert paired(kit, old, new, worst=0.0).status == "invalid"


def test_a_silent_baseline_makes_no_gain_in_the_gate(kit):
    reason = [Reason.OK, Reason.MISSING, Reason.OK]
    old, new = {"values": [0.2, 0.0, 0.1], "reason": reason}, {"values": [0.3, 0.9, 0.3]}
    report = paired(kit, old, new)
    gated = paired(kit, old, new, [kit.claim(family="F1")])
    assert (report.delta, report.wins) == (pytest.approx(1.2 / 3), 3)
    assert (gated.delta, gated.wins, gated.n) == (pytest.approx(0.3 / 3), 2, 3)
    assert gated.baseline_mean == pytest.approx(1.2 / 3)


def test_lists_ordered_by_the_tie_rule_alone_are_counted(kit):
    old = {"values": [0.1, 0.2, 0.3], "constant": [1, 0, 0]}
    new = {"values": [0.2, 0.2, 0.5], "constant": [1, 1, 0]}
    assert paired(kit, old, new).n_constant == 2


def test_rounding_makes_no_wins(kit):
    found = paired(kit, {"values": [0.3, 0.5, 0.1]}, {"values": [0.1 + 0.2, 0.5, 0.4]})
    assert (found.wins, found.ties, found.losses, found.n_nonzero) == (1, 2, 0, 1)


def test_wins_follow_the_direction_and_deltas_do_not(kit):
    lower = [kit.metric(direction="lower")]
    (found,) = kit.run([0.1, -0.2, -0.3, 0.0], [kit.claim()], metrics=lower)
    assert (found.wins, found.ties, found.losses) == (2, 1, 1)
    assert found.delta == pytest.approx(-0.1)


def test_slices_and_crossings_pick_their_columns(kit):
    n = 6
    mask = np.array([1, 1, 1, 0, 0, 0], dtype=np.bool_)
    slices = kit.slices_of(n, {"f": mask}, ("all", "fresh"), {"f_fresh": ("f", "fresh")})
    columns = (("m", "all"), ("m", "fresh"))
    values = np.array([[0.1, 1.0], [0.2, 0.9], [0.3, np.nan], [1, 0.7], [1, 0.6], [1, 0.5]])
    ones = np.ones(n)
    units = Units(
        pa.array("abcdef"), np.arange(n, dtype=np.int32), ones, ones, ones.astype(np.int32)
    )
    found = significance.test(
        {
            "old": kit.scores("old", np.where(np.isnan(values), np.nan, 0.0), columns=columns),
            "new": kit.scores("new", values, columns=columns),
        },
        [kit.metric()],
        slices,
        units,
        [kit.claim(slice=name) for name in ("f_fresh", "all", "fresh", "f")],
        SignificanceSettings(),
        1,
    )
    assert [c.claim.slice for c in found] == ["f_fresh", "all", "fresh", "f"]
    assert [c.n for c in found] == [2, 6, 5, 3]
    assert [c.n_dropped for c in found] == [1, 0, 1, 0]
    assert [c.mean for c in found] == pytest.approx([0.95, 0.6, 0.74, 0.2])


# claims


def test_families_take_their_own_number_of_flips(kit):
    deltas = skewed()
    report = kit.claim("superior", "greater")
    gate = kit.claim("superior", "greater", family="F1")
    low, high = kit.run(deltas, [report, gate])
    assert low.method == "cluster sign-flip, 999 flips"
    assert high.method == (
        "larger p of cluster sign-flip, 1,999 flips and cluster bootstrap-t, 999 draws"
    )
    assert low.p_adjusted is not None
    assert high.p_adjusted is None


def test_margins_are_tested_by_t_not_by_shifted_flips(kit):
    deltas = skewed()
    claims = [
        kit.claim("superior", "greater", margin=0.01),
        kit.claim("noninferior", "greater", margin=0.01),
        kit.claim("noninferior", "less", margin=0.04),
    ]
    found = kit.run(deltas, claims)
    for comparison, null, side in zip(
        found, (0.01, -0.01, 0.04), ("greater", "greater", "less"), strict=True
    ):
        oracle = stats.ttest_1samp(deltas, null, alternative=side)
        assert comparison.p == pytest.approx(oracle.pvalue, rel=1e-9)
        assert comparison.method == "cluster t, 199 df"


def test_bounds_are_on_the_side_of_the_claim(kit):
    claims = [kit.claim("superior", side) for side in ("greater", "less")] + [kit.claim()]
    greater, less, two = kit.run(skewed(), claims, confidence=0.95)
    assert greater.bound == pytest.approx(two.ci[0])
    assert less.bound == pytest.approx(two.ci[1])
    assert two.bound is None


def test_further_queries_for_noninferiority(kit):
    deltas = skewed()
    tight = kit.claim("noninferior", "greater", margin=0.005)
    wide = kit.claim("noninferior", "greater", margin=0.1)
    difference = kit.claim()
    first, second, third = kit.run(deltas, [tight, wide, difference])
    se = deltas.std(ddof=1) / 200**0.5
    z = stats.t.ppf([0.975, 0.8], 199).sum()
    assert first.n_needed == int(np.ceil(200 * (z * se / 0.005) ** 2)) - 200
    assert second.n_needed is None
    assert third.n_needed is None
    assert first.mde == pytest.approx(z * se)


def test_exploration_is_corrected_by_holm(kit):
    masks = {f"s{i}": np.arange(200) % 3 == i for i in range(3)}
    claims = [kit.claim(slice=name) for name in ("all", *masks)]
    claims.append(kit.claim("superior", "greater", family="F1"))
    found = kit.run(skewed(), claims, slices=kit.slices_of(200, masks))
    assert [c.p_adjusted for c in found[:4]] == holm([c.p for c in found[:4]])
    assert found[4].p_adjusted is None


def test_the_gate_is_not_fooled_by_rare_large_losses(kit):
    """25 % +.1 and 5 % -.5 have mean 0; where few losses were drawn, flips alone would pass."""
    rng = np.random.default_rng(7)
    passes = {"F1": 0, "F3": 0}
    claims = [kit.claim("superior", "greater", family=family) for family in passes]
    for _ in range(150):
        draw = rng.random(150)
        deltas = np.where(draw < 0.25, 0.1, np.where(draw > 0.95, -0.5, 0.0))
        for found in kit.run(deltas, claims, gate_flips=999):
            passes[found.claim.family] += found.p <= 0.025
    assert passes["F1"] < passes["F3"]


def test_size_under_symmetry(kit):
    rng = np.random.default_rng(11)
    hits = 0
    for _ in range(200):
        deltas = rng.normal(size=40)
        (found,) = kit.run(deltas, [kit.claim()], flips=499)
        hits += found.p <= 0.1
    assert 0.05 <= hits / 200 <= 0.155  # three standard errors about .1


# determinism


def key(comparison):
    return comparison.claim.id, comparison.p, comparison.ci, comparison.delta


def test_order_and_set_of_claims_change_nothing(kit):
    masks = {f"s{i}": np.arange(200) % 7 <= i for i in range(6)}
    slices = kit.slices_of(200, masks)
    claims = [
        kit.claim(kind, side, slice=name, family=family)
        for name in ("all", *masks)
        for kind, side, family in (
            ("difference", "two-sided", "F3"),
            ("superior", "greater", "F1"),
        )
    ]
    whole = {key(c) for c in kit.run(skewed(), claims, slices=slices)}
    assert {key(c) for c in kit.run(skewed(), claims[::-1], slices=slices)} == whole
    for claim in claims[::5]:
        (alone,) = kit.run(skewed(), [claim], slices=slices)
        assert key(alone) in whole
    with threadpool_limits(1):
        assert {key(c) for c in kit.run(skewed(), claims, slices=slices)} == whole
    assert {key(c) for c in kit.run(skewed(), claims, slices=slices, seed=2)} != whole


@settings(max_examples=40, deadline=None)
@given(
    deltas=st.lists(st.integers(-4, 4), min_size=1, max_size=25),
    data=st.data(),
    kind=st.sampled_from(["cluster_signflip", "cluster_t"]),
)
def test_every_p_is_a_probability_above_zero(kit, deltas, data, kind):
    cluster = data.draw(st.lists(st.integers(0, 9), min_size=len(deltas), max_size=len(deltas)))
    claims = [
        kit.claim("difference"),
        kit.claim("superior", "greater", family="F1"),
        kit.claim("noninferior", "less", margin=0.2),
        kit.claim("equivalent", margin=0.2),
    ]
    found = kit.run(np.array(deltas) / 10, claims, cluster=cluster, kind=kind, flips=99)
    for comparison in found:
        assert comparison.p is None or 0 < comparison.p <= 1
        assert (comparison.ci is None) == (comparison.status not in {"ok", "too_few"})
        assert comparison.wins + comparison.ties + comparison.losses == comparison.n


# complaints


def test_settings_out_of_range(kit):
    with pytest.raises(SamepoolError) as caught:
        kit.run([0.1], [kit.claim()], flips=5, exact_up_to=40, confidence=95, min_nonzero=-1)
    text = str(caught.value)
    assert "significance.flips is 5, not between 99 and 10,000,000" in text
    assert "significance.exact_up_to is 40" in text
    assert "significance.min_nonzero is -1" in text
    assert "significance.confidence is 95, not between 0.5 and 0.999 -> for 95 % write" in text
    assert text.endswith("write 0.95")


@pytest.mark.parametrize("confidence", [0.5, 0.9991, 0.9999999999999999, 1.0])
def test_a_confidence_too_near_to_certain_is_shown_as_given(kit, confidence):
    with pytest.raises(SamepoolError) as caught:
        kit.run([0.1], [kit.claim()], confidence=confidence)
    assert f"significance.confidence is {confidence}, not between" in str(caught.value)
    assert kit.run([0.1, 0.2], [kit.claim()], confidence=0.999)[0].ci


@pytest.mark.parametrize(
    ("alpha", "options", "words"),
    [
        (1e-300, {}, "gate.alpha is 1e-300, below 0.001, the smallest p-value"),
        (0.0009, {}, "significance.flips=999 can give -> a larger alpha, or more flips"),
        (0.004, {"gate_flips": 99}, "significance.gate_flips=99 can give"),
    ],
)
def test_a_level_that_no_flips_reach_is_refused(kit, alpha, options, words):
    with pytest.raises(SamepoolError) as caught:
        kit.run([0.1], [kit.claim("superior", "greater", family="F1", alpha=alpha)], **options)
    assert words in str(caught.value)


def test_levels_that_can_be_reached_are_taken(kit):
    fine = SignificanceSettings(flips=999, gate_flips=999)
    significance.check(fine, 0.001)
    significance.check(fine)
    significance.check(SignificanceSettings(kind="cluster_t", flips=999), 1e-9)


def test_claims_about_what_was_not_measured(kit):
    claims = [
        kit.claim(model="nwe"),
        kit.claim(metric="n"),
        kit.claim(slice="al"),
        kit.claim(average="traffic"),
    ]
    with pytest.raises(SamepoolError) as caught:
        kit.run([0.1], claims)
    text = str(caught.value)
    assert "unknown model 'nwe' -> did you mean new?" in text
    assert "unknown metric 'n' -> there are: m" in text
    assert "unknown slice 'al' -> did you mean all?" in text
    assert "average 'traffic' on 'point' is not available" in text


def test_metrics_of_lists_have_no_values_per_query(kit):
    metrics = [kit.metric(), kit.metric("Gini")]
    with pytest.raises(SamepoolError, match="has no values of Gini"):
        kit.run([0.1], [kit.claim(metric="Gini")], metrics=metrics)


def test_two_claims_of_one_id(kit):
    with pytest.raises(SamepoolError, match="two claims have one id"):
        kit.run([0.1], [kit.claim(), kit.claim()])


def test_unknown_kind(kit):
    with pytest.raises(SamepoolError, match="did you mean cluster_t"):
        kit.run([0.1], [kit.claim()], kind="clustert")


def test_every_kind_is_known():
    assert set(registry.kinds("significance")) == {"cluster_signflip", "cluster_t"}


def test_small_p_values_are_computed_again_with_more_flips(kit):
    """With 999 flips p >= .001, which Holm over a hundred columns would turn into .1."""
    clear = np.random.default_rng(5).normal(1, 0.5, 40)
    small, large = kit.run(clear, [kit.claim()])[0], kit.run(-0.02 * clear**2, [kit.claim()])[0]
    for found in (small, large):
        assert found.method == "cluster sign-flip, 1,999 flips"
        assert found.p == 1 / 2_000
    (unclear,) = kit.run(clear - 0.95, [kit.claim()])
    assert unclear.method == "cluster sign-flip, 999 flips"


def test_two_sided_claims_of_the_gate_take_the_worse_p_too(kit):
    report, gated = kit.run(skewed(), [kit.claim(), kit.claim(family="F1")])
    assert gated.p >= report.p * 0.5
    assert gated.method.startswith("larger p of")


def test_resampling_runs_on_one_thread(kit, monkeypatch):
    """Threads that wait for each other at each small product are slow on a busy machine."""
    seen = []
    flips = resample.signflips

    def spy(*given, **named):
        seen.extend(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")
        return flips(*given, **named)

    monkeypatch.setattr(resample, "signflips", spy)
    kit.run(skewed(), [kit.claim()])
    assert seen
    assert set(seen) == {1}
