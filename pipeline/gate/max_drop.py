"""The candidate must not be worse than the baseline by a given drop."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pipeline.core.comparison import Claim, Comparison
from pipeline.core.decision import Verdict
from pipeline.core.evidence import Evidence
from pipeline.gate import Axes
from pipeline.gate._axes import below_width, claim, compared
from pipeline.gate._compared import judge


@dataclass(frozen=True, slots=True)
class MaxDrop:
    """Passes on each slice if a mean drop of ``max_drop`` or more is ruled out.

    That no significant drop was found is not enough.

    Attributes:
        max_drop: smallest drop that is not tolerated, in the metric's units; for metrics where
            lower is better a drop is an increase.
        metric: the primary metric where unset.
        slices: names of slices; * stands for any characters.
    """

    max_drop: float
    metric: str | None = None
    slices: list[str] = field(default_factory=lambda: ["all"])

    def __post_init__(self) -> None:
        """Checks what types cannot."""
        if self.max_drop <= 0:
            raise ValueError(f"max_drop is {self.max_drop:g}; give a drop above 0")

    def claims(self, name: str, axes: Axes) -> tuple[Claim, ...]:
        """One claim a candidate and slice."""
        info, slices = compared(axes, name, self.metric, self.slices)
        below_width(info, f"gate.rules.{name}.max_drop", self.max_drop)
        return tuple(
            claim(
                axes, rule=name, kind="noninferior", model=model, info=info, where=where,
                margin=self.max_drop,
            )
            for model in axes.candidates
            for where in slices
        )  # fmt: skip

    def verdicts(
        self,
        name: str,
        axes: Axes,
        model: str,
        evidence: Evidence,
        comparisons: Mapping[str, Comparison],
    ) -> tuple[Verdict, ...]:
        """One verdict a slice."""
        info, _ = compared(axes, name, self.metric, self.slices)
        mine = self.claims(name, replace(axes, candidates=(model,)))
        return tuple(judge(one, info, evidence, comparisons) for one in mine)


PLUGIN = MaxDrop
