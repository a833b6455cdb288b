import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from pipeline.kernels.intervals import ClusterMean, cluster_mean, rate_p, rate_upper


def test_one_observation_a_cluster_is_the_paired_t_test():
    deltas = np.random.default_rng(1).normal(0.1, 1, 40)
    found = cluster_mean(deltas, np.ones(40))
    oracle = stats.ttest_1samp(deltas, 0)
    assert found.p_differs() == pytest.approx(oracle.pvalue, rel=1e-12)
    assert found.interval(0.95) == pytest.approx(tuple(oracle.confidence_interval(0.95)))
    greater = stats.ttest_1samp(deltas, 0.05, alternative="greater")
    assert found.p_above(0.05, 1.0) == pytest.approx(greater.pvalue, rel=1e-12)
    less = stats.ttest_1samp(deltas, -0.05, alternative="less")
    assert found.p_above(0.05, -1.0) == pytest.approx(less.pvalue, rel=1e-12)
    assert found.bound(0.05, 1.0) == pytest.approx(found.interval(0.9)[0])
    assert found.bound(0.05, -1.0) == pytest.approx(found.interval(0.9)[1])


def test_clusters_agree_with_a_sandwich_regression():
    rng = np.random.default_rng(2)
    cluster = np.sort(rng.integers(0, 12, 60))
    deltas = rng.normal(size=12)[cluster] + rng.normal(size=60)
    groups = len(set(cluster.tolist()))
    fit = sm.OLS(deltas, np.ones(60)).fit(
        cov_type="cluster", cov_kwds={"groups": cluster, "use_correction": False}
    )
    found = cluster_mean(np.bincount(cluster, deltas), np.bincount(cluster).astype(float))
    assert found.se == pytest.approx(fit.bse[0] * (groups / (groups - 1)) ** 0.5, rel=1e-12)
    assert found.df == groups - 1


def test_too_little_for_an_interval():
    assert cluster_mean(np.array([0.4]), np.array([2.0])) == ClusterMean(0.2, None, 0)
    constant = cluster_mean(np.array([0.1, 0.2, 0.3]), np.array([1.0, 2.0, 3.0]))
    assert constant.se == 0
    for found in (constant, ClusterMean(0.2, None, 0)):
        assert found.interval(0.95) is None
        assert found.bound(0.05, 1.0) is None
        assert found.p_above(0.0, 1.0) is None
        assert found.p_differs() is None
        assert found.detectable(0.025) is None


def test_empty_clusters_are_passed_over():
    with_empty = cluster_mean(np.array([1.0, 0.0, 3.0]), np.array([1.0, 0.0, 1.0]))
    assert with_empty == cluster_mean(np.array([1.0, 3.0]), np.ones(2))


def test_p_never_reaches_zero():
    assert 0 < ClusterMean(1.0, 1e-300, 500).p_above(0.0, 1.0) < 1e-300
    assert 0 < rate_p(0, 10**6, 0.9) < 1e-300


def test_detectable_effect_has_its_power():
    found = ClusterMean(0.3, 0.01, 100_000)
    effect = found.detectable(0.025)
    assert stats.norm.sf(1.959964 - effect / 0.01) == pytest.approx(0.8, abs=1e-4)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 400), st.data())
def test_rate_bound_is_clopper_pearson_and_matches_its_p(trials, data):
    events = data.draw(st.integers(0, trials))
    upper = rate_upper(events, trials, 0.025)
    assert upper == pytest.approx(proportion_confint(events, trials, 0.05, "beta")[1])
    if upper < 0.999:
        assert rate_p(events, trials, upper) == pytest.approx(0.025, rel=1e-6)


def test_rate_bound_of_no_events():
    assert rate_upper(0, 200, 0.025) == pytest.approx(1 - 0.025 ** (1 / 200), rel=1e-12)
    assert rate_upper(0, 368, 0.025) < 0.01 < rate_upper(0, 367, 0.025)
