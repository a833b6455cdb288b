"""The candidate must be better than the baseline."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pipeline.core.comparison import Claim, Comparison
from pipeline.core.decision import Verdict
from pipeline.core.evidence import Evidence
from pipeline.core.problems import fault
from pipeline.gate import Axes
from pipeline.gate._axes import below_width, claim, compared
from pipeline.gate._compared import judge


@dataclass(frozen=True, slots=True)
class Superiority:
    """Passes if the mean gain is shown to exceed ``min_gain``.

    Attributes:
        metric: the primary metric where unset.
        slice: one slice.
        min_gain: smallest gain worth having, in the metric's units; for metrics where lower is
            better a gain is a decrease.
    """

    metric: str | None = None
    slice: str = "all"
    min_gain: float = 0.0

    def __post_init__(self) -> None:
        """Checks what types cannot."""
        if self.min_gain < 0:
            raise ValueError(f"min_gain is {self.min_gain:g}; for a tolerated drop use max_drop")

    def claims(self, name: str, axes: Axes) -> tuple[Claim, ...]:
        """One claim a candidate."""
        info, slices = compared(axes, name, self.metric, [self.slice])
        below_width(info, f"gate.rules.{name}.min_gain", self.min_gain)
        if len(slices) > 1:
            text = f"gate.rules.{name}.slice: {self.slice!r} matches {', '.join(slices)}"
            raise fault("many_slices", text, "superiority is about one slice")
        return tuple(
            claim(
                axes, rule=name, kind="superior", model=model, info=info, where=slices[0],
                margin=self.min_gain,
            )
            for model in axes.candidates
        )  # fmt: skip

    def verdicts(
        self,
        name: str,
        axes: Axes,
        model: str,
        evidence: Evidence,
        comparisons: Mapping[str, Comparison],
    ) -> tuple[Verdict, ...]:
        """One verdict."""
        info, _ = compared(axes, name, self.metric, [self.slice])
        mine = self.claims(name, replace(axes, candidates=(model,)))
        return tuple(judge(one, info, evidence, comparisons) for one in mine)


PLUGIN = Superiority
