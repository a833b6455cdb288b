"""Normalised discounted cumulative gain."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pipeline.core.arrays import F64, U8
from pipeline.core.scores import MetricInfo
from pipeline.kernels.gains import Gain
from pipeline.metrics._base import Base, Stage
from pipeline.metrics._gain import SPELLINGS, formula
from pipeline.metrics._view import View


@dataclass(frozen=True)
class NDCG(Base):
    """DCG at the cutoff, divided by the largest DCG that any list could have there.

    Formula: sum of gain / log2(rank + 1) over ranks up to the cutoff, over the same sum of the
    query's grades in descending order; all judged items count there, returned and eligible or not.
    Source: Jarvelin and Kekalainen 2002; gain ``exp`` = 2^grade - 1 as Burges et al. 2005,
    ``linear`` = the grade as trec_eval, ``identity`` the same for gains given directly.
    Range: 0 to 1, higher is better. Unanswered query: 0.
    Ties: ordered by the tie rule. Unjudged, ineligible and negative items gain nothing and hold
    their ranks. Short list: the places that are not there gain nothing. Nothing that gains: 0 / 0,
    so that the query is left out.

    Attributes:
        cutoff: ranks that count; None for all.
        gain: ``exp``, ``linear`` or ``identity``; always part of the label.
        stage: ``retrieval`` for the list before ranking.
    """

    NAME: ClassVar[str] = "nDCG"
    ALIASES: ClassVar[tuple[str, ...]] = ("NDCG",)
    PRINTED: ClassVar[frozenset[str]] = frozenset({"gain"})
    SPELLINGS: ClassVar[Mapping[str, Mapping[str, tuple[str, str]]]] = SPELLINGS

    cutoff: int | None = None
    gain: Gain = "exp"
    stage: Stage = "final"

    def info(self) -> MetricInfo:
        """What the metric is."""
        return self.describe(
            formula=f"DCG / ideal DCG; DCG = {formula(self.gain)}",
            words=(
                f"How close the order of grades {self.within()} comes to the best possible one, "
                "early ranks counting most; ties stand by the tie rule. "
                "Unjudged and ineligible items and missing places gain nothing; queries with "
                "nothing relevant are left out."
            ),
        )

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and reasons."""
        ideal = view.ideal_dcg(self.gain, self.cutoff)
        gained = view.dcg(self.gain, self.cutoff)
        ratio = np.divide(gained, ideal, out=np.zeros(view.n), where=ideal > 0)
        # Rounding may lift two almost equal sums above one another.
        return view.settle(self.info(), np.minimum(ratio, 1.0), ideal > 0)


PLUGIN = NDCG
