"""Pairs two models' values by query, and sums their differences by cluster."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from pipeline.core.arrays import F64, I32, I64, U8
from pipeline.core.comparison import Claim
from pipeline.core.pool import Units
from pipeline.core.problems import fault
from pipeline.core.scores import MetricInfo, Reason, Scores
from pipeline.core.slices import Slices
from pipeline.core.suggest import did_you_mean
from pipeline.kernels.intervals import ClusterMean, cluster_mean
from pipeline.kernels.resample import quantise

T = TypeVar("T")

_ROUNDING = 1e-12  # differences this small beside the values are rounding: ties


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Everything that pairs are looked up in.

    Attributes:
        scores: by model.
        metrics: by label.
        slices: masks.
        units: clusters.
    """

    scores: Mapping[str, Scores]
    metrics: Mapping[str, MetricInfo]
    slices: Slices
    units: Units


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Paired differences of one model, metric and slice.

    Attributes:
        n: pairs.
        n_dropped: judged queries of the slice that make no pair.
        n_invalid: queries with a value on one side only.
        n_constant: pairs in which the tie rule alone ordered either list.
        baseline_mean, mean, delta: means over the pairs; None without any, or if invalid.
        wins, losses: pairs in which the model is better or worse, by direction.
        clusters: (k,) codes of the clusters with pairs, ascending; the others have no part here.
        sums: (k,) summed differences of each.
        sizes: (k,) pairs of each.
        groups: clusters of the pool, G.
        spread: mean difference with its standard error; None without pairs.
    """

    n: int
    n_dropped: int
    n_invalid: int
    n_constant: int
    baseline_mean: float | None
    mean: float | None
    delta: float | None
    wins: int
    losses: int
    clusters: I64
    sums: F64
    sizes: F64
    groups: int
    spread: ClusterMean | None

    @property
    def n_nonzero(self) -> int:
        """Clusters with a non-zero summed difference."""
        return int(np.count_nonzero(self.sums))

    @property
    def n_clusters(self) -> int:
        """Clusters among the pairs."""
        return len(self.clusters)

    def status(self, min_nonzero: int) -> str:
        """What the pairs allow: see :class:`pipeline.core.comparison.Comparison`."""
        if self.n_invalid:
            return "invalid"
        if self.spread is None:
            return "no_data"
        if self.spread.se is None:
            return "single"
        if not self.n_nonzero:
            return "all_zero"
        if self.spread.se == 0:
            return "zero_variance"
        return "too_few" if self.n_nonzero < min_nonzero else "ok"


def pair(keys: Keys, claim: Claim) -> Column:
    """The paired differences that a claim is about.

    Raises:
        SamepoolError: model, metric or slice were not measured; an average or a bound that is
            not available.
    """
    if claim.average != "macro" or claim.on != "point":
        text = f"claim {claim.id}: average {claim.average!r} on {claim.on!r} is not available"
        raise fault("bad_claim", text, "average: macro, on: point")
    query_slice, item_slice = _split(keys, claim)
    inside = keys.slices.query[:, keys.slices.query_names.index(query_slice)]
    info = _known(claim, claim.metric, keys.metrics, "metric")
    base, base_reason = _values(keys, claim, claim.baseline, item_slice)
    model, model_reason = _values(keys, claim, claim.model, item_slice)
    judged = inside & ((base_reason != Reason.UNJUDGED) | (model_reason != Reason.UNJUDGED))
    both = judged & np.isfinite(base) & np.isfinite(model)
    if claim.family == "F1":
        # A silent baseline's worst values would pass for gains: there, it did as well.
        base = np.where(both & (base_reason == Reason.MISSING), model, base)
    lone = judged & ~both & ~(np.isnan(base) & np.isnan(model))
    if info.worst is None:
        missing = (base_reason == Reason.MISSING) | (model_reason == Reason.MISSING)
        lone &= ~missing
    constant = keys.scores[claim.baseline].constant | keys.scores[claim.model].constant
    counts = (int(judged.sum() - both.sum()), int(lone.sum()), int((constant[both] != 0).sum()))
    better = 1.0 if info.direction == "higher" else -1.0
    return _column(base[both], model[both], keys.units.cluster[both], counts, _Frame(keys, better))


@dataclass(frozen=True, slots=True, eq=False)
class _Frame:
    keys: Keys
    better: float

    @property
    def groups(self) -> int:
        cluster = self.keys.units.cluster
        return int(cluster.max()) + 1 if len(cluster) else 0


def _column(
    base: F64, model: F64, cluster: I32, counts: tuple[int, int, int], frame: _Frame
) -> Column:
    size = np.maximum(np.abs(base), np.abs(model))
    deltas = model - base
    deltas[np.abs(deltas) <= _ROUNDING * size] = 0.0
    # Integers add up exactly: +.1 and -.1 of one user are 0 in any order.
    whole, unit = quantise(deltas)
    groups = frame.groups
    sums: F64 = np.bincount(cluster, whole, groups).astype(np.float64) * unit
    sums[np.abs(sums) <= _ROUNDING * np.bincount(cluster, size, groups)] = 0.0
    sizes = np.bincount(cluster, minlength=groups).astype(np.float64)
    clusters = np.flatnonzero(sizes)
    sums, sizes = sums[clusters], sizes[clusters]
    n = len(deltas)
    spread = cluster_mean(sums, sizes) if n else None
    told = n > 0 and not counts[1]
    return Column(
        n=n,
        n_dropped=counts[0],
        n_invalid=counts[1],
        n_constant=counts[2],
        baseline_mean=float(base.mean()) if told else None,
        mean=float(model.mean()) if told else None,
        delta=float(deltas.mean() if sums.any() else 0.0) if told else None,
        wins=int((frame.better * deltas > 0).sum()),
        losses=int((frame.better * deltas < 0).sum()),
        clusters=clusters,
        sums=sums,
        sizes=sizes,
        groups=groups,
        spread=spread,
    )


def _split(keys: Keys, claim: Claim) -> tuple[str, str]:
    _known(claim, claim.slice, dict.fromkeys(keys.slices.names), "slice")
    return keys.slices.split(claim.slice)


def _values(keys: Keys, claim: Claim, model: str, item_slice: str) -> tuple[F64, U8]:
    scores = _known(claim, model, keys.scores, "model")
    if (claim.metric, item_slice) not in scores.columns:
        text = f"claim {claim.id}: {model} has no values of {claim.metric} on items {item_slice!r}"
        raise fault("not_measured", text, "claims are about metrics per query")
    place = scores.columns.index((claim.metric, item_slice))
    return scores.values[:, place], scores.reason[:, place]


def _known(claim: Claim, name: str, known: Mapping[str, T], what: str) -> T:
    if name not in known:
        text = f"claim {claim.id}: unknown {what} {name!r}"
        raise fault(f"unknown_{what}", text, did_you_mean(name, known))
    return known[name]
