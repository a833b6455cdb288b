"""The few numbers of a comparison that MLflow shows; the record is in the files."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.core.comparison import Comparison
from pipeline.core.evidence import Evidence
from pipeline.core.scores import Scores
from pipeline.core.slices import ALL
from pipeline.kernels.means import macro
from pipeline.tracking import _keys

# Beyond some sixty keys MLflow's run page becomes unreadable, then slow.
MOST = 60
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Figures:
    """Metrics of one child run.

    Attributes:
        values: key -> finite value, rounded; at most ``MOST``, ``n_invalid`` included.
        left_out: how many more there would have been.
    """

    values: Mapping[str, float]
    left_out: int


def mean(evidence: Evidence, scores: Scores, slice_name: str, label: str) -> float:
    """Macro mean of a metric on a slice over queries that have a value; NaN where none has.

    Also the value of a metric of whole sets of lists, which is no mean.
    """
    if (slice_name, label) in scores.lists:
        return float(scores.lists[slice_name, label])
    query_slice, item_slice = evidence.slices.split(slice_name)
    column = scores.column(label, item_slice)
    if column is None:
        return math.nan
    value, _ = macro(column[0], evidence.slices.mask(query_slice))
    return math.nan if value is None else value


def compared(evidence: Evidence, model: str, label: str, slice_name: str) -> Comparison | None:
    """The comparison with the baseline that describes a difference best: the two-sided one."""
    found = [
        each
        for each in evidence.comparisons
        if (each.claim.model, each.claim.metric, each.claim.slice) == (model, label, slice_name)
        and (each.claim.on, each.claim.average) == ("point", "macro")
    ]
    order = {"difference": 0}
    return min(found, key=lambda each: order.get(each.claim.kind, 1), default=None)


def guarded(evidence: Evidence) -> tuple[str, ...]:
    """Slices that a gate rule makes a claim on, in the order of the slices; ``all`` always."""
    claimed = {each.claim.slice for each in evidence.comparisons if each.claim.family == "F1"}
    return tuple(name for name in evidence.slices.names if name == ALL or name in claimed)


def of_models(evidence: Evidence) -> dict[str, Figures]:
    """Metrics of every child run. Keys are distinct over the whole comparison."""
    raw = {scores.model: dict(_of_one(evidence, scores)) for scores in evidence.scores}
    names = _keys.keys(pair for values in raw.values() for pair in values)
    return {model: _chosen(values, names) for model, values in raw.items()}


def groups(figures: Iterable[Figures]) -> tuple[str, ...]:
    """What stands before the / in the keys, each once: ``all``, differences, slices, the rest."""
    keys = dict.fromkeys(key for each in figures for key in each.values)
    found = dict.fromkeys(key.rpartition("/")[0] for key in keys if "/" in key)
    first = {ALL: 0, "delta": 1, "ci_low": 3, "ci_high": 3, "p_adjusted": 3}
    return tuple(sorted(found, key=lambda name: first.get(name, 2)))


def _of_one(evidence: Evidence, scores: Scores) -> Iterable[tuple[tuple[str, str], float | None]]:
    """((group, label), value) pairs, the most important first; None and NaN included."""
    main = evidence.primary
    slices = guarded(evidence)
    yield (ALL, main), mean(evidence, scores, ALL, main)
    yield from _differences(evidence, scores.model, main, ALL)
    for info in evidence.metrics:
        yield (ALL, info.label), mean(evidence, scores, ALL, info.label)
    for name in slices[1:]:
        yield (name, main), mean(evidence, scores, name, main)
        yield from _differences(evidence, scores.model, main, name)
    for name in evidence.slices.names:
        yield (name, main), mean(evidence, scores, name, main)


def _differences(
    evidence: Evidence, model: str, label: str, slice_name: str
) -> Iterable[tuple[tuple[str, str], float | None]]:
    found = compared(evidence, model, label, slice_name)
    if found is None:
        return
    low, high = found.ci or (None, None)
    values = {"delta": found.delta, "ci_low": low, "ci_high": high, "p_adjusted": found.p_adjusted}
    for group, value in values.items():
        yield (group, f"{slice_name}.{label}"), value


def _chosen(
    values: Mapping[tuple[str, str], float | None], names: Mapping[tuple[str, str], str]
) -> Figures:
    finite = {
        names[pair]: round(float(value), DIGITS)
        for pair, value in values.items()
        if value is not None and math.isfinite(value)
    }
    kept = dict(list(finite.items())[: MOST - 1])
    return Figures({**kept, "n_invalid": float(len(values) - len(finite))}, len(finite) - len(kept))
