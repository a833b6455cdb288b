"""Means of every model on every metric and slice, with the counts that stand behind them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.core.arrays import F64, U8, Bool
from pipeline.core.evidence import Evidence
from pipeline.core.scores import MetricInfo, Reason, Scores
from pipeline.core.slices import Slices
from pipeline.kernels.means import macro

Place = tuple[str, str, str]  # model, metric, slice

_WORDS = {
    Reason.MISSING: "not answered",
    Reason.UNJUDGED: "without judgments",
    Reason.NO_RELEVANT: "with nothing relevant",
    Reason.UNDEFINED: "where the metric does not exist",
}


@dataclass(frozen=True, slots=True)
class Mean:
    """A macro mean: each query counts once.

    Attributes:
        value: the mean, or the value of a list metric; None where there is none.
        n: queries behind it; for a list metric the judged queries of the slice.
        left_out: judged queries of the slice that have no value.
        scored: queries with nothing relevant that the convention's value stands for.
        constant: queries behind it whose order is the tie rule's alone.
        why: why queries are left out or the value does not exist; empty if neither.
    """

    value: float | None
    n: int
    left_out: int
    scored: int
    constant: int
    why: str


def means(evidence: Evidence) -> dict[Place, Mean]:
    """The mean of each model, metric and slice; a place that was not measured is absent."""
    found: dict[Place, Mean] = {}
    for scores in evidence.scores:
        for name in evidence.slices.names:
            found.update(_of_slice(scores, evidence.slices, name, evidence.metrics))
    return found


def _of_slice(
    scores: Scores, slices: Slices, name: str, metrics: Sequence[MetricInfo]
) -> dict[Place, Mean]:
    query_slice, item_slice = slices.split(name)
    inside = slices.mask(query_slice)
    found: dict[Place, Mean] = {}
    for info in metrics:
        column = scores.column(info.label, item_slice)
        # Constant scores leave the order of final lists to the tie rule.
        flat = scores.constant & (info.stage == "final")
        if column is not None:
            found[scores.model, info.label, name] = _mean(*column, inside, flat)
        elif (name, info.label) in scores.lists:
            value, judged = scores.lists[name, info.label], inside & scores.judged
            found[scores.model, info.label, name] = _of_lists(value, judged, flat)
    return found


def _of_lists(value: float, judged: Bool, constant: Bool) -> Mean:
    n, flat = int(np.count_nonzero(judged)), int(np.count_nonzero(judged & constant))
    if np.isnan(value):
        return Mean(None, n, 0, 0, flat, "not defined here" if n else "no queries")
    return Mean(float(value), n, 0, 0, flat, "")


def _mean(values: F64, reason: U8, inside: Bool, constant: Bool) -> Mean:
    value, n = macro(values, inside)
    used = inside & ~np.isnan(values)
    gone = np.bincount(reason[inside & ~used], minlength=len(Reason))
    left_out = int(gone.sum() - gone[Reason.UNJUDGED])
    return Mean(
        value,
        n,
        left_out,
        int(np.count_nonzero(reason[used] == Reason.NO_RELEVANT_SCORED)),
        int(np.count_nonzero(used & constant)),
        _why(tuple(int(number) for number in gone), n),
    )


def _why(gone: tuple[int, ...], n: int) -> str:
    if not any(gone):
        return "" if n else "no queries"
    named = [
        f"{gone[reason]:,} {words}"
        for reason, words in _WORDS.items()
        if gone[reason] and (reason != Reason.UNJUDGED or not n)
    ]
    return ", ".join(named)
