"""Discounted cumulative gain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.kernels.gains import Gain
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._gain import SPELLINGS, formula
from pipeline.metrics._view import View


@dataclass(frozen=True)
class DCG(Base):
    """Discounted gains of the list, added up.

    Formula: sum of gain / log2(rank + 1) over ranks up to the cutoff.
    Source: Jarvelin and Kekalainen 2002; gains as for nDCG.
    Range: 0 to unbounded, higher is better. Unanswered query: 0.
    Ties: ordered by the tie rule. Unjudged, ineligible and negative items gain nothing and hold
    their ranks. Short list: the places that are not there gain nothing. Nothing that gains: 0, as
    nothing is divided; under the convention ``one`` left out, as no value is the best.

    Attributes:
        cutoff: ranks that count; None for all.
        gain: ``exp``, ``linear`` or ``identity``; always part of the label.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "DCG"
    PRINTED: ClassVar[frozenset[str]] = frozenset({"gain"})
    SPELLINGS: ClassVar[Mapping[str, Mapping[str, tuple[str, str]]]] = SPELLINGS

    cutoff: int | None = None
    gain: Gain = "exp"
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            range=(0.0, None),
            formula=formula(self.gain),
            words=(
                f"The gains of the items {self.within()}, early ranks counting most; queries "
                "with many relevant items weigh more than others, and ties stand by the tie rule. "
                "Unjudged and ineligible items and missing places gain nothing; queries with "
                "nothing relevant score 0."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        relevant = view.ideal_dcg(self.gain, self.cutoff) > 0
        return view.settle(self.info(), view.dcg(self.gain, self.cutoff), relevant, "zero")


PLUGIN = DCG
