"""Claims about a model against the baseline, and what the tests say of them."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["difference", "superior", "noninferior", "equivalent"]
Side = Literal["two-sided", "greater", "less"]


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement to be tested.

    A delta is model minus baseline, with its sign turned for metrics where lower is better only
    in verdicts, never in tables.

    Attributes:
        id: unique within a comparison.
        rule: name of the gate rule that needs it, or ``report``.
        model: key of the candidate.
        baseline: key of the baseline.
        metric: label of a per-query metric.
        slice: slice name.
        average: ``macro`` (each query counts once).
        kind: ``difference`` (from 0), ``superior`` (by more than margin), ``noninferior`` (worse
            by less than margin), ``equivalent`` (within margin either way).
        margin: >= 0, in the metric's units.
        side: which alternative the p-value is for, in raw deltas (model minus baseline).
        alpha: level of the test; the interval is 1 - alpha two-sided, or its one-sided bound.
        family: ``F1`` gate, ``F2`` alarm, ``F3`` exploration. Corrections stay inside a family.
        on: ``point``, or the ``low`` or ``high`` bound over unjudged items.
    """

    id: str
    rule: str
    model: str
    baseline: str
    metric: str
    slice: str
    average: str
    kind: Kind
    margin: float
    side: Side
    alpha: float
    family: Literal["F1", "F2", "F3"]
    on: Literal["point", "low", "high"] = "point"


@dataclass(frozen=True, slots=True)
class Comparison:
    """A claim and the evidence on it. None where a number does not exist; status says why.

    Attributes:
        claim: what was tested.
        n: paired queries.
        n_nonzero: clusters with a non-zero summed delta.
        n_clusters: clusters among the pairs.
        n_dropped: queries of the slice without a value on both sides.
        n_constant: pairs where either model's list was ordered by the tie rule alone.
        baseline_mean, mean: means over the pairs.
        delta: mean - baseline_mean.
        ci: two-sided interval for the delta at the family's report level (95 %).
        bound: one-sided bound of the delta at the claim's alpha, on the claim's side.
        joint_ci: simultaneous interval, where computed.
        p: p-value of the claim.
        p_adjusted: p-value after the family's correction, where it has one.
        wins, ties, losses: pairs in which the model is better, equal, worse (by direction).
        mde, n_needed: smallest detectable effect, further queries needed; where computed.
        status: ``ok``, ``no_data``, ``single``, ``all_zero``, ``zero_variance``, ``too_few``
            (below the evidence minimum) or ``invalid`` (a value on one side only).
        method: words for the report, e.g. ``cluster sign-flip, 99999 flips``.
        seed: seed of the resampling.
    """

    claim: Claim
    n: int
    n_nonzero: int
    n_clusters: int
    n_dropped: int
    n_constant: int
    baseline_mean: float | None
    mean: float | None
    delta: float | None
    ci: tuple[float, float] | None
    bound: float | None
    joint_ci: tuple[float, float] | None
    p: float | None
    p_adjusted: float | None
    wins: int
    ties: int
    losses: int
    mde: float | None
    n_needed: int | None
    status: str
    method: str
    seed: int
