"""Intervals and p-values of a mean over clustered observations, and of a rate."""

from dataclasses import dataclass

import numpy as np
from scipy import special

from pipeline.core.arrays import F64

_CONSTANT = 1e-12  # residuals this small beside the sums are rounding


@dataclass(frozen=True, slots=True)
class ClusterMean:
    """A mean over all observations with its cluster-robust standard error.

    Attributes:
        mean: mean over observations, each counted once.
        se: standard error; None below two clusters, 0 where clusters do not differ.
        df: degrees of freedom, G - 1.
    """

    mean: float
    se: float | None
    df: int

    def bound(self, alpha: float, sign: float) -> float | None:
        """One-sided bound at 1 - alpha: the lower one for ``sign`` +1, the upper one for -1."""
        if not self.se:
            return None
        return self.mean - sign * _quantile(1 - alpha, self.df) * self.se

    def interval(self, confidence: float) -> tuple[float, float] | None:
        """Two-sided interval."""
        alpha = (1 - confidence) / 2
        low, high = self.bound(alpha, 1.0), self.bound(alpha, -1.0)
        return None if low is None or high is None else (low, high)

    def p_above(self, null: float, sign: float) -> float | None:
        """One-sided p of H0 ``sign * mean <= null`` against above."""
        if not self.se:
            return None
        return _positive(_tail((sign * self.mean - null) / self.se, self.df))

    def p_differs(self) -> float | None:
        """Two-sided p of H0 ``mean == 0``."""
        if not self.se:
            return None
        return _positive(2 * _tail(abs(self.mean) / self.se, self.df))

    def detectable(self, alpha: float, power: float = 0.8) -> float | None:
        """Effect that a one-sided test at alpha detects with the given power.

        From the standard error alone, never from the mean that was seen.
        """
        if not self.se:
            return None
        return (_quantile(1 - alpha, self.df) + _quantile(power, self.df)) * self.se


# scipy.special's functions rather than scipy.stats' distributions, which call the same ones: the
# same bits at a hundredth of the time a call, without the half second that importing stats takes.


def _quantile(p: float, df: int) -> float:
    """Student's t below which it stays with probability p."""
    return float(special.stdtrit(df, p))


def _tail(t: float, df: int) -> float:
    """Probability of Student's t above ``t``."""
    return float(special.stdtr(df, -t))


def cluster_mean(sums: F64, sizes: F64) -> ClusterMean:
    """Mean of n observations in G clusters: SE = sqrt(G/(G-1) sum_g (D_g - n_g mean)^2) / n.

    With one observation a cluster this is the paired t-test's standard error.

    Args:
        sums: (G,) sums D_g of the observations of each cluster.
        sizes: (G,) numbers n_g of observations; clusters without any are passed over.

    Source: Liang & Zeger (1986), Biometrika 73(1), with the G/(G-1) correction.

    >>> cluster_mean(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    ClusterMean(mean=2.0, se=1.0, df=1)
    """
    used = sizes > 0
    sums, sizes = sums[used], sizes[used]
    groups, n = len(sums), float(sizes.sum())
    mean = float(sums.sum()) / n
    if groups < 2:
        return ClusterMean(mean, None, 0)
    residuals = sums - sizes * mean
    if np.abs(residuals).max() <= _CONSTANT * np.abs(sums).max():
        return ClusterMean(mean, 0.0, groups - 1)
    variance = groups / (groups - 1) * float(np.square(residuals).sum())
    return ClusterMean(mean, variance**0.5 / n, groups - 1)


def rate_upper(events: int, trials: int, alpha: float) -> float:
    """Clopper-Pearson upper bound at 1 - alpha of a rate.

    Source: Clopper & Pearson (1934), Biometrika 26(4).

    >>> round(rate_upper(0, 200, 0.025), 6)
    0.018275
    """
    if events >= trials:
        return 1.0
    return float(special.betaincinv(events + 1, trials - events, 1 - alpha))


def rate_p(events: int, trials: int, rate: float) -> float:
    """Exact p of H0 ``rate or more`` against a smaller rate: P(X <= events).

    At most alpha exactly where :func:`rate_upper` at alpha is at most ``rate``.
    """
    from scipy.stats import binom  # noqa: PLC0415 - slow to import, and seldom asked

    return _positive(float(binom.cdf(events, trials, min(rate, 1.0))))


def _positive(p: float) -> float:
    """A p-value is never 0, also where it underflows."""
    return min(1.0, max(p, float(np.finfo(np.float64).tiny)))
