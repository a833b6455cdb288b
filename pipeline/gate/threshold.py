"""The candidate's own level of a metric must lie within limits."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pipeline.core.arrays import U8
from pipeline.core.comparison import Claim, Comparison
from pipeline.core.decision import Status, Verdict
from pipeline.core.evidence import Evidence
from pipeline.core.problems import fault
from pipeline.core.scores import MetricInfo, Reason, Scores
from pipeline.gate import Axes
from pipeline.gate._axes import matching, metric, within_range
from pipeline.kernels.means import macro


@dataclass(frozen=True, slots=True)
class Threshold:
    """Passes if the value lies within the limits; judges the value as it is, without a test.

    Attributes:
        metric: any metric, of queries (its mean over the slice) or of lists.
        slice: one slice.
        min: smallest value that passes.
        max: largest value that passes.
    """

    metric: str
    slice: str = "all"
    min: float | None = None
    max: float | None = None

    def __post_init__(self) -> None:
        """Checks what only shows together."""
        if self.min is None and self.max is None:
            raise ValueError("give min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            raise ValueError(f"min {self.min:g} is above max {self.max:g}")

    def claims(self, name: str, axes: Axes) -> tuple[Claim, ...]:
        """No claims; the names must be known all the same."""
        self._about(name, axes)
        return ()

    def _about(self, name: str, axes: Axes) -> tuple[MetricInfo, str]:
        where = f"gate.rules.{name}"
        info = metric(axes, self.metric, where)
        slices = matching(axes, [self.slice], where)
        if len(slices) > 1:
            text = f"{where}.slice: {self.slice!r} matches {', '.join(slices)}"
            raise fault("many_slices", text, "a threshold is about one slice")
        within_range(info, {f"{where}.min": self.min, f"{where}.max": self.max})
        return info, slices[0]

    def verdicts(
        self,
        name: str,
        axes: Axes,
        model: str,
        evidence: Evidence,
        comparisons: Mapping[str, Comparison],  # noqa: ARG002 - the protocol's
    ) -> tuple[Verdict, ...]:
        """One verdict, with p = 0 for a pass and 1 for a fail."""
        info, where = self._about(name, axes)
        scores = next((s for s in evidence.scores if s.model == model), None)
        value, n, note = _level(scores, info, where, evidence)
        what = f"{info.label} on {where}"
        if value is None:
            return (
                self._verdict(name, "invalid", (None, n), (info.label, where), f"{what}: {note}."),
            )
        wrong = self._wrong(value)
        status: Status = "fail" if wrong else "pass"
        words = wrong or self._limits()
        reason = f"{what}: {value:.4g} {words}{note}; the value itself, no test."
        return (self._verdict(name, status, (value, n), (info.label, where), reason),)

    def _wrong(self, value: float) -> str:
        if self.min is not None and not value >= self.min:
            return f"is below {self.min:g}"
        if self.max is not None and not value <= self.max:
            return f"is above {self.max:g}"
        return ""

    def _limits(self) -> str:
        if self.min is None:
            return f"is at most {self.max:g}"
        if self.max is None:
            return f"is at least {self.min:g}"
        return f"lies in {self.min:g} to {self.max:g}"

    def _verdict(
        self,
        name: str,
        status: Status,
        seen: tuple[float | None, int],
        about: tuple[str, str],
        reason: str,
    ) -> Verdict:
        value, n = seen
        limit = self.max if self.min is None else self.min
        if value is not None and self.max is not None and value > self.max:
            limit = self.max
        p = {"pass": 0.0, "fail": 1.0}.get(status)
        return Verdict(name, None, status, value, limit, None, p, n, None, *about, reason)


def _level(
    scores: Scores | None, info: MetricInfo, where: str, evidence: Evidence
) -> tuple[float | None, int, str]:
    """The model's value, the queries behind it, and a note on it or on why there is none."""
    query_slice, item_slice = evidence.slices.split(where)
    inside = evidence.slices.mask(query_slice)
    if scores is None:
        return None, 0, "the evidence holds no values of the model"
    if info.per == "list":
        value = scores.lists.get((where, info.label), np.nan)
        found = float(value) if np.isfinite(value) else None
        n = int((inside & scores.judged).sum())
        return found, n, "" if found is not None else "not measured there"
    column = scores.column(info.label, item_slice)
    if column is None:
        return None, 0, "not measured there"
    values, reason = column
    if np.isinf(values[inside]).any():
        return None, int((inside & ~np.isnan(values)).sum()), "a value is not finite"
    mean, n = macro(values, inside)
    if mean is None:
        return None, 0, _nothing(reason[inside])
    silent = int((inside & np.isnan(values) & (reason == Reason.MISSING)).sum())
    return mean, n, f" ({silent:,} unanswered queries left out)" if silent else ""


def _nothing(reason: U8) -> str:
    known = reason[reason != Reason.UNJUDGED]
    if len(known) and (known == Reason.UNDEFINED).all():
        return "not measurable: the metric is undefined for every query there"
    return "no query has a value (empty slice?)"


PLUGIN = Threshold
