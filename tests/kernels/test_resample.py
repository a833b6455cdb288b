import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from threadpoolctl import threadpool_limits

from pipeline.kernels import resample
from pipeline.kernels.intervals import cluster_mean
from pipeline.kernels.resample import exact_signflips, quantise

tenths = st.integers(-5, 5).map(lambda n: n / 10)


def signflips(columns, *more, **options):
    return resample.signflips(sparse.csc_array(columns), *more, **options)


def bootstrap_t(sums, sizes, *more, **options):
    return resample.bootstrap_t(sparse.csc_array(sums), sparse.csc_array(sizes), *more, **options)


def counted(counts, at=0):
    return [int(part[at]) for part in (counts.greater, counts.less, counts.both, counts.total)]


def test_exact_by_hand():
    # sums of +-.1 +-.2: -.3, -.1, .1, .3; seen .1 (= .2 - .1)
    assert counted(exact_signflips(np.array([0.2, -0.1]))) == [2, 3, 4, 4]
    assert counted(exact_signflips(np.array([0.2, 0.1]))) == [1, 4, 2, 4]
    assert counted(exact_signflips(np.zeros(3))) == [1, 1, 1, 1]


def test_zeros_change_no_share():
    some = counted(exact_signflips(np.array([0.3, -0.1, 0.2])))
    padded = counted(exact_signflips(np.array([0.0, 0.3, -0.1, 0.0, 0.2])))
    assert some == padded


@settings(max_examples=60, deadline=None)
@given(st.lists(tenths, min_size=1, max_size=9))
def test_exact_counts_agree_with_enumeration_in_integers(column):
    whole = [round(10 * value) for value in column if value]
    sums = [
        sum(s * v for s, v in zip(signs, whole, strict=True))
        for signs in itertools.product([1, -1], repeat=len(whole))
    ]
    seen = sum(whole)
    expected = [
        sum(s >= seen for s in sums),
        sum(s <= seen for s in sums),
        sum(abs(s) >= abs(seen) for s in sums),
        len(sums),
    ]
    assert counted(exact_signflips(np.array(column))) == expected


@pytest.mark.parametrize("alternative", ["greater", "less", "two-sided"])
def test_exact_counts_agree_with_scipy(alternative):
    deltas = np.random.default_rng(3).normal(0.2, 1, 10)
    oracle = stats.permutation_test(
        (deltas, np.zeros(10)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        alternative=alternative,
    )
    counts = exact_signflips(deltas)
    part = {"greater": counts.greater, "less": counts.less, "two-sided": counts.both}[alternative]
    assert part[0] / counts.total[0] == pytest.approx(oracle.pvalue, abs=1e-12)


def test_random_flips_approach_the_exact_share():
    column = np.random.default_rng(4).normal(0.3, 1, 14)
    exact = exact_signflips(column)
    sampled = signflips(column[:, None], np.array([20_000]), seed=5)
    share = exact.both[0] / exact.total[0]
    error = 4 * (share * (1 - share) / 20_000) ** 0.5
    assert sampled.both[0] / 20_000 == pytest.approx(share, abs=error)


def table(groups=150, m=7, seed=6):
    rng = np.random.default_rng(seed)
    return np.round(rng.normal(size=(groups, m)), 2) * (rng.random((groups, m)) < 0.5)


def test_columns_do_not_depend_on_each_other_nor_on_chunks():
    columns, flips = table(), np.array([500, 700, 500, 123, 700, 500, 500])
    whole = signflips(columns, flips, seed=1)
    for at in range(7):
        alone = signflips(columns[:, [at]], flips[[at]], seed=1, chunk_rows=37)
        assert counted(whole, at) == counted(alone)
    turned = signflips(columns[:, ::-1], flips[::-1], seed=1, chunk_rows=64)
    assert [counted(whole, at) for at in range(7)] == [counted(turned, 6 - at) for at in range(7)]
    other = signflips(columns, flips, seed=2)
    assert any(counted(whole, at) != counted(other, at) for at in range(7))


def by_definition(columns, flips, seed):
    """The sign matrix written out: row b, cluster g is bit g of the row's 64-bit words."""
    groups, words = len(columns), -(-len(columns) // 64)
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    drawn = generator.integers(0, 2**64, size=(int(flips.max()), words), dtype=np.uint64)
    place = np.arange(groups)
    bits = drawn[:, place // 64] >> (place % 64).astype(np.uint64) & np.uint64(1)
    whole = np.rint(1_000 * columns).astype(np.int64)
    sums, seen = (2 * bits.astype(np.int64) - 1) @ whole, whole.sum(axis=0)
    return [
        [int(sum(part)) for part in (
            sums[:n, j] >= seen[j], sums[:n, j] <= seen[j], abs(sums[:n, j]) >= abs(seen[j]),
        )] + [int(n)]
        for j, n in enumerate(flips)
    ]  # fmt: skip


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
def test_counts_are_those_of_the_sign_matrix(share):
    """Thin and full columns, several blocks of clusters, several chunks, clusters of no column."""
    rng = np.random.default_rng(7)
    columns = np.round(rng.normal(0.05, 1, (1_000, 9)), 3)
    columns[:, 3:] *= rng.random((1_000, 6)) < share
    columns[300:500] = 0
    flips = np.array([600, 1_100, 20, 600, 1_100, 20, 1_100, 600, 600])
    found = signflips(columns, flips, seed=11)
    assert [counted(found, at) for at in range(9)] == by_definition(columns, flips, 11)


def test_threads_change_nothing():
    columns, flips, sizes = table(400, 30), np.full(30, 1_000), np.ones((400, 30))
    with threadpool_limits(1):
        one = signflips(columns, flips, seed=1), bootstrap_t(columns, sizes, 300, seed=1)
    two = signflips(columns, flips, seed=1), bootstrap_t(columns, sizes, 300, seed=1)
    assert [counted(one[0], at) for at in range(30)] == [counted(two[0], at) for at in range(30)]
    assert np.array_equal(one[1], two[1], equal_nan=True)


def test_more_flips_extend_fewer():
    columns = table(m=1)
    few = signflips(columns, np.array([100]), seed=1)
    both = signflips(np.column_stack([columns, columns]), np.array([100, 300]), seed=1)
    assert counted(few) == counted(both, 0)
    assert counted(both, 1)[2] >= counted(both, 0)[2]


def test_ties_count_as_extreme():
    # every sum of 40 equal steps lies on a lattice: naive comparison of floats would lose ties
    column = np.full(40, 0.1)
    column[:20] = -0.1
    counts = signflips(column[:, None], np.array([2_000]), seed=1)
    assert int(counts.both[0]) == 2_000  # the sum seen is 0


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-1e6, 1e6, allow_subnormal=False), min_size=1, max_size=30))
def test_quantised_sums_are_exact(values):
    whole, unit = quantise(np.array(values))
    assert sum(abs(int(value)) for value in whole) < 2**52
    assert float(whole.sum()) == sum(int(value) for value in whole)
    error = np.abs(whole * unit - np.array(values)).max()
    assert error <= max(np.abs(values).sum(), 1e-300) * 2**-50


def test_bootstrap_t_by_hand():
    sums, sizes = np.array([[1.0], [3.0], [4.0]]), np.ones((3, 1))
    stars = bootstrap_t(sums, sizes, 2_000, seed=1)[:, 0]
    mean = 8 / 3
    expected = set()
    for draw in itertools.product([1.0, 3.0, 4.0], repeat=3):
        if len(set(draw)) > 1:
            expected.add(round((np.mean(draw) - mean) / (np.std(draw, ddof=1) / 3**0.5), 6))
    found = {round(float(star), 6) for star in stars if not np.isnan(star)}
    assert found == expected
    assert np.isnan(stars).mean() == pytest.approx(3 / 27, abs=0.03)


def test_bootstrap_t_does_not_depend_on_columns_or_chunks():
    columns = table()
    sizes = np.tile([[1.0], [2.0], [3.0]], (50, 7))
    whole = bootstrap_t(columns, sizes, 200, seed=1)
    alone = bootstrap_t(columns[:, [3]], sizes[:, [3]], 200, seed=1, chunk_rows=17)
    assert np.array_equal(whole[:, [3]], alone, equal_nan=True)


def test_bootstrap_t_is_the_same_whether_columns_are_thin_or_full():
    """Clusters outside a column are drawn too; they only add nothing."""
    rng = np.random.default_rng(8)
    sums, sizes = np.round(rng.normal(size=(300, 3)), 2), rng.integers(1, 4, (300, 3)) * 1.0
    sums[20:, 1] = sizes[20:, 1] = 0.0
    stars = bootstrap_t(sums, sizes, 40, seed=3)
    generator = np.random.Generator(np.random.PCG64([3, 2]))
    for row in range(40):
        drawn = (generator.random(300) * 300).astype(int)
        for column in range(3):
            seen = cluster_mean(sums[:, column], sizes[:, column])
            star = cluster_mean(sums[drawn, column], sizes[drawn, column])
            expected = (star.mean - seen.mean) / star.se
            assert stars[row, column] == pytest.approx(expected, rel=1e-9)
