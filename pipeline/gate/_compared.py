"""Verdicts from a comparison with the baseline: pass, fail, inconclusive or invalid."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from pipeline.core.comparison import Claim, Comparison
from pipeline.core.decision import Verdict
from pipeline.core.evidence import Evidence
from pipeline.core.scores import MetricInfo, Reason
from pipeline.kernels.intervals import rate_p, rate_upper

_MISSING_SHARE = 0.001  # more of the baseline's answers missing, and the comparison is invalid
_THIN = {
    "single": "one user or query cannot show a difference",
    "all_zero": "no user or query differs",
    "zero_variance": "all differences are the same, so there is no interval",
    "too_few": "too few users or queries differ",  # as long as nobody says how many are needed
}


@dataclass(frozen=True, slots=True)
class _Gain:
    """A comparison turned so that more is better.

    Attributes:
        value: mean gain over the baseline.
        ci: its two-sided interval, if any.
        lower, upper: its one-sided bounds at the claim's alpha, if any.
        limit: the gain must be shown to lie above it.
    """

    value: float
    ci: tuple[float, float] | None
    lower: float | None
    upper: float | None
    limit: float


def judge(
    claim: Claim, info: MetricInfo, evidence: Evidence, comparisons: Mapping[str, Comparison]
) -> Verdict:
    """The verdict on one claim of superiority or non-inferiority.

    With the limit L (the least gain, or minus the largest drop) and one-sided bounds at alpha: pass
    if the lower bound is above L and p <= alpha, fail if the upper bound is below L, else
    inconclusive. Below the evidence minimum non-inferiority passes by an exact bound alone:
    the metric's range times the Clopper-Pearson bound of the share of losing clusters.
    """
    empty = Verdict(
        claim.rule, claim, "invalid", None, _limit(claim), None, None, 0, None,
        claim.metric, claim.slice, "",
    )  # fmt: skip
    what = f"{claim.metric} on {claim.slice}"
    found = comparisons.get(claim.id)
    if found is None or found.claim != claim:
        return replace(empty, reason=f"{what}: the evidence holds no test of this claim.")
    empty = replace(empty, n=found.n)
    unfit = _unfit(found, evidence)
    if unfit:
        return replace(empty, reason=f"{what}: {unfit}.")
    gain = _gain(found, info)
    seen = replace(empty, value=gain.value, ci=gain.ci, p=found.p)
    if found.status == "ok":
        return _tested(seen, gain, found, what)
    return _thin(seen, found, info, f"{what}: {_why(found, evidence)}")


def _limit(claim: Claim) -> float:
    return claim.margin if claim.kind == "superior" else -claim.margin


def _unfit(found: Comparison, evidence: Evidence) -> str:
    """Why a comparison supports no verdict; empty where it does."""
    if found.status == "invalid":
        return "some query has a value for one of the two models only, or one that is not a number"
    if found.status == "no_data" or not found.n:
        return f"no paired queries (empty slice? {found.n_dropped:,} left out)"
    if found.status != "ok" and found.status not in _THIN:
        return f"unknown status {found.status!r}"
    numbers = [found.delta, *(found.ci or ())]
    if found.status == "ok":
        numbers += [found.bound, found.p]
    if any(number is None or not math.isfinite(number) for number in numbers):
        return "a number of the comparison is missing or not finite"
    return _unanswered(found.claim, evidence)


def _unanswered(claim: Claim, evidence: Evidence) -> str:
    """A baseline that did not answer scores the worst value, which would look like a gain."""
    scores = next((s for s in evidence.scores if s.model == claim.baseline), None)
    query_slice, item_slice = evidence.slices.split(claim.slice)
    column = scores.column(claim.metric, item_slice) if scores else None
    if column is None:
        return "the evidence holds no values of the baseline"
    reason = column[1][evidence.slices.mask(query_slice)]
    judged = int((reason != Reason.UNJUDGED).sum())
    missing = int((reason == Reason.MISSING).sum())
    if missing <= _MISSING_SHARE * judged:
        return ""
    return (
        f"{claim.baseline} did not answer {missing:,} of {judged:,} judged queries "
        f"({100 * missing / judged:.2g} %, at most {100 * _MISSING_SHARE:g} % allowed); "
        "its worst values there would pass for gains"
    )


def _gain(found: Comparison, info: MetricInfo) -> _Gain:
    turn = 1.0 if info.direction == "higher" else -1.0
    value = turn * (found.delta or 0.0) + 0.0
    ci = None
    if found.ci is not None:
        low, high = sorted(turn * end for end in found.ci)
        ci = (low, high)
    lower = None if found.bound is None else turn * found.bound
    # The interval is symmetric, so the other one-sided bound mirrors this one.
    upper = None if lower is None else 2 * value - lower
    return _Gain(value, ci, lower, upper, _limit(found.claim))


def _tested(seen: Verdict, gain: _Gain, found: Comparison, what: str) -> Verdict:
    claim, p = found.claim, found.p
    assert gain.lower is not None
    assert gain.upper is not None
    assert p is not None
    shown = f"{what}: {_interval(gain)}, {_p(p)}, n = {found.n:,}"
    against = _against(claim)
    if gain.lower > gain.limit and p <= claim.alpha:
        return replace(seen, status="pass", reason=f"{shown}: {against} is shown.")
    if gain.upper < gain.limit:
        return replace(seen, status="fail", reason=f"{shown}: {against} is ruled out.")
    more = ""
    if found.n_needed:
        more = f"; about {found.n_needed:,} more queries would show it of a model as good"
    return replace(
        seen,
        status="inconclusive",
        n_needed=found.n_needed,
        reason=f"{shown}: {against} is neither shown nor ruled out{more}.",
    )


def _why(found: Comparison, evidence: Evidence) -> str:
    """Why the evidence is too thin for a test."""
    needed = evidence.settings.get("significance", {}).get("min_nonzero")
    if found.status == "too_few" and needed is not None:
        of = f"{found.n_nonzero:,} of {found.n_clusters:,} users or queries differ"
        return f"only {of}, and {needed:,} are needed (the evidence minimum)"
    return f"{_THIN[found.status]} ({found.n_nonzero:,} of {found.n_clusters:,})"


def _thin(seen: Verdict, found: Comparison, info: MetricInfo, why: str) -> Verdict:
    low, high = info.range
    if found.claim.kind != "noninferior" or low is None or high is None or high <= low:
        return replace(seen, status="inconclusive", reason=f"{why}.")
    return _exact(replace(seen, reason=why), found, high - low)


def _exact(seen: Verdict, found: Comparison, span: float) -> Verdict:
    """Non-inferiority by counting: a loser loses the metric's whole range at worst."""
    claim = found.claim
    # Losing pairs are no fewer than losing clusters.
    losers = min(found.losses, found.n_clusters)
    drop = span * rate_upper(losers, found.n_clusters, claim.alpha)
    p = rate_p(losers, found.n_clusters, claim.margin / span)
    counted = f"{losers} lose, so the mean drop is at most {drop:.4g} (exact bound)"
    if drop < claim.margin and p <= claim.alpha:
        reason = f"{seen.reason}; {counted}, within {claim.margin:g}."
        return replace(seen, status="pass", p=p, reason=reason)
    needed = None
    if not losers and claim.margin < span:
        enough = math.log(claim.alpha) / math.log(1 - claim.margin / span)
        needed = int(np.ceil(enough)) - found.n_clusters
    reason = f"{seen.reason}; {counted}, which does not exclude a drop of {claim.margin:g}."
    if needed:
        reason = f"{reason[:-1]}; {needed:,} more queries without a loss would."
    return replace(seen, status="inconclusive", p=p, n_needed=needed, reason=reason)


def _interval(gain: _Gain) -> str:
    ci = f" [{gain.ci[0]:+.4f}, {gain.ci[1]:+.4f}]" if gain.ci else ""
    return f"gain {gain.value:+.4f}{ci}"


def _p(p: float) -> str:
    return "p < .0001" if p < 0.0001 else f"p = {p:.4f}"


def _against(claim: Claim) -> str:
    if claim.kind == "superior":
        return f"a gain above {claim.margin:g}"
    return f"a drop of less than {claim.margin:g}"
