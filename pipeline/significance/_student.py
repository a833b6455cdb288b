"""P-values of claims by the cluster-robust t; sign flips cannot test a margin other than 0."""

from collections.abc import Callable

from pipeline.core.comparison import Claim
from pipeline.kernels.intervals import ClusterMean
from pipeline.significance import sign

OneSided = Callable[[float, float], float]


def of_claim(claim: Claim, one_sided: OneSided, two_sided: Callable[[], float]) -> float:
    """P-value of a claim from a one-sided test of ``sign * mean <= null``.

    Args:
        claim: any kind; equivalence is two one-sided tests.
        one_sided: p for a null and a sign.
        two_sided: p of a difference from 0.
    """
    match claim.kind:
        case "superior":
            return one_sided(claim.margin, sign(claim))
        case "noninferior":
            return one_sided(-claim.margin, sign(claim))
        case "equivalent":
            return max(one_sided(-claim.margin, 1.0), one_sided(-claim.margin, -1.0))
        case "difference":
            return two_sided() if claim.side == "two-sided" else one_sided(0.0, sign(claim))


def p_value(claim: Claim, spread: ClusterMean) -> float:
    """P-value by the cluster t; the spread must have a positive standard error."""
    return of_claim(
        claim,
        lambda null, side: spread.p_above(null, side) or 1.0,
        lambda: spread.p_differs() or 1.0,
    )
