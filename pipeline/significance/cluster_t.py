"""The cluster-robust t test."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.comparison import Claim
from pipeline.significance import PValue
from pipeline.significance._pairs import Column
from pipeline.significance._student import p_value


@dataclass(frozen=True, slots=True)
class ClusterT:
    """Student's t of the mean difference, its standard error from cluster sums.

    Fast and close to sign flips on many clusters; promotes too often where differences are
    skewed, so it is an alternative for reports, not the default.
    """

    def p_values(
        self,
        columns: Sequence[Column],
        asked: Sequence[tuple[int, Claim]],
        seed: int,  # noqa: ARG002 - the protocol's
    ) -> tuple[PValue, ...]:
        """One p-value for each claim."""
        spreads = [columns[place].spread for place, _ in asked]
        return tuple(
            PValue(p_value(claim, spread), f"cluster t, {spread.df} df")
            for (_, claim), spread in zip(asked, spreads, strict=True)
            if spread is not None
        )


PLUGIN = ClusterT
