"""comparisons.csv: one row a claim, with the evidence on it. Producer: significance."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from pipeline.core.comparison import Claim, Comparison, Kind, Side
from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.evidence._csv import number, pair, read_csv, write_csv

FILE = "comparisons.csv"
COLUMNS = (
    "claim", "rule", "kind", "model", "baseline", "metric", "slice", "average",
    "n", "n_nonzero", "n_clusters", "n_dropped", "n_constant",
    "mean", "baseline_mean", "delta", "ci_low", "ci_high", "bound", "joint_low", "joint_high",
    "p_value", "p_adjusted", "family", "alternative", "margin", "alpha", "on",
    "method", "seed", "wins", "ties", "losses", "mde", "n_needed", "status", "verdict",
)  # fmt: skip


def write(evidence: Evidence, folder: Path, decisions: Sequence[Decision] = ()) -> None:
    """Writes the rows; ``verdict`` is what the decisions say of the claim."""
    verdicts = {
        verdict.claim.id: verdict.status
        for decision in decisions
        for verdict in decision.verdicts
        if verdict.claim is not None
    }
    rows = [_row(comparison, verdicts) for comparison in evidence.comparisons]
    write_csv(folder / FILE, COLUMNS, rows)


def _row(c: Comparison, verdicts: dict[str, Any]) -> list[Any]:
    claim = c.claim
    ci, joint = c.ci or (None, None), c.joint_ci or (None, None)
    return [
        claim.id, claim.rule, claim.kind, claim.model, claim.baseline, claim.metric,
        claim.slice, claim.average,
        c.n, c.n_nonzero, c.n_clusters, c.n_dropped, c.n_constant,
        c.mean, c.baseline_mean, c.delta, *ci, c.bound, *joint,
        c.p, c.p_adjusted, claim.family, claim.side, claim.margin, claim.alpha, claim.on,
        c.method, c.seed, c.wins, c.ties, c.losses, c.mde, c.n_needed, c.status,
        verdicts.get(claim.id),
    ]  # fmt: skip


def read(folder: Path) -> tuple[Comparison, ...]:
    """Reads them back, in order."""
    return tuple(_comparison(row) for row in read_csv(folder / FILE, COLUMNS))


def _comparison(row: dict[str, str]) -> Comparison:
    claim = Claim(
        id=row["claim"],
        rule=row["rule"],
        model=row["model"],
        baseline=row["baseline"],
        metric=row["metric"],
        slice=row["slice"],
        average=row["average"],
        kind=cast("Kind", row["kind"]),
        margin=float(row["margin"]),
        side=cast("Side", row["alternative"]),
        alpha=float(row["alpha"]),
        family=cast("Any", row["family"]),
        on=cast("Any", row["on"]),
    )
    counts = ("n", "n_nonzero", "n_clusters", "n_dropped", "n_constant", "wins", "ties", "losses")
    return Comparison(
        claim=claim,
        baseline_mean=number(row["baseline_mean"]),
        mean=number(row["mean"]),
        delta=number(row["delta"]),
        ci=pair(row["ci_low"], row["ci_high"]),
        bound=number(row["bound"]),
        joint_ci=pair(row["joint_low"], row["joint_high"]),
        p=number(row["p_value"]),
        p_adjusted=number(row["p_adjusted"]),
        mde=number(row["mde"]),
        n_needed=int(row["n_needed"]) if row["n_needed"] else None,
        status=row["status"],
        method=row["method"],
        seed=int(row["seed"]),
        **{name: int(row[name]) for name in counts},
    )
