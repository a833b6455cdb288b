"""Means of every model on every metric and slice, with the counts that stand behind them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pipeline.core.arrays import Bool
from pipeline.core.evidence import Evidence
from pipeline.core.scores import MetricInfo, Reason, Scores
from pipeline.core.slices import Slices

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
        n: queries behind it.
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
    infos = {info.label: info for info in evidence.metrics}
    found: dict[Place, Mean] = {}
    for scores in evidence.scores:
        for name in evidence.slices.names:
            found.update(_of_slice(scores, evidence.slices, name, infos))
    return found


def _of_slice(
    scores: Scores, slices: Slices, name: str, infos: Mapping[str, MetricInfo]
) -> dict[Place, Mean]:
    query_slice, item_slice = slices.split(name)
    inside: Bool = slices.query[:, slices.query_names.index(query_slice)]
    constant = scores.constant.astype(bool)
    found: dict[Place, Mean] = {}
    for column, (label, on) in enumerate(scores.columns):
        if on == item_slice:
            final = label not in infos or infos[label].stage == "final"
            flat = constant if final else np.zeros_like(constant)
            found[scores.model, label, name] = _mean(scores, column, inside, flat)
    for (on, label), value in scores.lists.items():
        if on == name:
            n = int(np.count_nonzero(inside))
            flat_n = int(np.count_nonzero(inside & constant))
            exists = not np.isnan(value)
            why = "" if exists else "not defined here" if n else "no queries"
            place = scores.model, label, name
            found[place] = Mean(float(value) if exists else None, n, 0, 0, flat_n, why)
    return found


def _mean(scores: Scores, column: int, inside: Bool, constant: Bool) -> Mean:
    values, reason = scores.values[:, column], scores.reason[:, column]
    used = inside & ~np.isnan(values)
    n = int(np.count_nonzero(used))
    gone = np.bincount(reason[inside & ~used], minlength=len(Reason))
    left_out = int(gone.sum() - gone[Reason.UNJUDGED])
    return Mean(
        float(values[used].mean()) if n else None,
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
