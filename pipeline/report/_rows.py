"""Rows of the slice tables: one candidate against the baseline, one metric, one slice."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pipeline.core.comparison import Comparison
from pipeline.core.decision import WORST_FIRST, Decision, Verdict
from pipeline.core.scores import MetricInfo
from pipeline.report import _format as fmt
from pipeline.report import _words as words
from pipeline.report._means import Mean, Place

NOTHING = Mean(None, 0, 0, 0, 0, "not measured")
DETECTS = ", detects "


@dataclass(frozen=True, slots=True)
class Cell:
    """A number ready to print.

    Attributes:
        text: the number, or n/a.
        constant: queries behind it whose order is the tie rule's alone; 0 for none.
        why: why there is no number; empty if there is one.
        best: whether it is the best mean of its metric.
    """

    text: str
    constant: int = 0
    why: str = ""
    best: bool = False

    @property
    def mark(self) -> str:
        """``c12`` where twelve constant-score queries touch the number."""
        return f"c{self.constant:,}" if self.constant else ""


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison, ready to print; raw numbers beside it for the drawing.

    Attributes:
        slice: name.
        n, left_out: pairs; queries of the slice without a value.
        baseline, model, delta: numbers and their marks.
        ci, joint: intervals of the delta.
        p: p-value, adjusted where the family has a correction.
        wtl: wins / ties / losses.
        mark: what may be said: the gate's verdict, else better, worse, unclear, or why not tested.
        tone: class of the mark: pass, fail, inconclusive, invalid, better, worse, few or none.
        why: the rules behind a verdict, or why nothing was tested; may be empty.
        comparison: the numbers; None where nothing was compared.
    """

    slice: str
    n: str
    left_out: str
    baseline: Cell
    model: Cell
    delta: Cell
    ci: str
    joint: str
    p: str
    wtl: str
    mark: str
    tone: str
    why: str
    comparison: Comparison | None

    @property
    def word(self) -> str:
        """The mark without the effect that the test could detect."""
        return self.mark.partition(DETECTS)[0]

    @property
    def short(self) -> str:
        """The mark in a few letters, for a table with many candidates."""
        return " ".join(words.SHORT.get(part, part) for part in self.word.split(", "))


def shown(comparisons: Iterable[Comparison]) -> dict[Place, Comparison]:
    """The comparison that tables show at each place: what is reported, else what a rule tests."""
    order = {"difference": 0, "superior": 1, "noninferior": 2, "equivalent": 3}
    found: dict[Place, Comparison] = {}
    ranks: dict[Place, tuple[bool, int]] = {}
    for comparison in comparisons:
        claim = comparison.claim
        place = claim.model, claim.metric, claim.slice
        rank = claim.rule != "report", order[claim.kind]
        if claim.on == "point" and (place not in ranks or rank < ranks[place]):
            found[place], ranks[place] = comparison, rank
    return found


def verdicts(decisions: Iterable[Decision]) -> dict[Place, tuple[Verdict, ...]]:
    """The verdicts on each model, metric and slice."""
    found: dict[Place, tuple[Verdict, ...]] = {}
    for decision in decisions:
        for verdict in decision.verdicts:
            place = decision.model, verdict.metric, verdict.slice
            found[place] = (*found.get(place, ()), verdict)
    return found


def cell(mean: Mean, *, best: bool = False) -> Cell:
    """A mean as a cell."""
    return Cell(fmt.mean(mean.value), mean.constant, "" if mean.n else mean.why, best)


@dataclass(frozen=True, slots=True)
class Tables:
    """What rows are looked up in."""

    means: Mapping[Place, Mean]
    comparisons: Mapping[Place, Comparison]
    verdicts: Mapping[Place, tuple[Verdict, ...]]

    def row(self, baseline: str, model: str, metric: MetricInfo, name: str) -> Row | None:
        """The row of a model on a metric and a slice; None if it was not measured there."""
        place = model, metric.label, name
        comparison = self.comparisons.get(place)
        base = self.means.get((baseline, metric.label, name))
        mine = self.means.get(place)
        if comparison is None:
            if base is None and mine is None:
                return None
            return self._bare(place, base or NOTHING, mine or NOTHING)
        return self._compared(comparison, metric, base or NOTHING, mine or NOTHING)

    def _bare(self, place: Place, base: Mean, mine: Mean) -> Row:
        mark, tone, why = self._mark(place, None, higher=True)
        n = str(mine.n) if mine.n == base.n else f"{base.n:,} / {mine.n:,}"
        left = fmt.count(max(base.left_out, mine.left_out))
        return Row(
            fmt.clean(place[2]),
            n,
            left,
            cell(base),
            cell(mine),
            Cell(fmt.NA),
            fmt.NA,
            fmt.NA,
            fmt.NA,
            fmt.NA,
            mark,
            tone,
            why,
            None,
        )

    def _compared(self, comparison: Comparison, metric: MetricInfo, base: Mean, mine: Mean) -> Row:
        claim = comparison.claim
        place = claim.model, claim.metric, claim.slice
        mark, tone, why = self._mark(place, comparison, higher=metric.direction == "higher")
        gone = "" if comparison.n else words.UNTESTED_LONG.get(comparison.status, "")
        return Row(
            fmt.clean(claim.slice),
            fmt.count(comparison.n),
            fmt.count(max(base.left_out, mine.left_out, comparison.n_dropped)),
            Cell(fmt.mean(comparison.baseline_mean), base.constant, gone),
            Cell(fmt.mean(comparison.mean), mine.constant, gone),
            Cell(fmt.delta(comparison.delta), comparison.n_constant, gone),
            fmt.interval(comparison.ci),
            fmt.interval(comparison.joint_ci),
            _p(comparison),
            f"{comparison.wins}/{comparison.ties}/{comparison.losses}",
            mark,
            tone,
            why,
            comparison,
        )

    def _mark(
        self, place: Place, comparison: Comparison | None, *, higher: bool
    ) -> tuple[str, str, str]:
        found = self.verdicts.get(place, ())
        status = comparison.status if comparison else "none"
        flag = words.UNTESTED.get(status, "")
        if found:
            worst = min(found, key=lambda verdict: WORST_FIRST.index(verdict.status))
            text = words.STATUS[worst.status] + (f", {flag}" if flag else "")
            why = ", ".join(dict.fromkeys(v.rule for v in found))
            return text, worst.status, fmt.clean(why)
        if comparison is None:
            return "not tested", "none", "no claim was made here"
        if flag:
            return flag, "few", words.UNTESTED_LONG[status]
        tendency = words.tendency(comparison, higher=higher)
        low, high = comparison.ci or (1.0, 0.0)
        known = tendency == "unclear" and comparison.mde is not None and low <= 0 <= high
        detects = f"{DETECTS}{fmt.mean(comparison.mde)}" if known else ""
        return tendency + detects, tendency, ""


def _p(comparison: Comparison) -> str:
    if comparison.claim.kind != "difference":
        return fmt.NA  # a rule's p-value answers the rule's question; it stands with the rule
    if comparison.p_adjusted is None and comparison.p is not None:
        return f"{fmt.p_value(comparison.p)} raw"
    return fmt.p_value(comparison.p_adjusted)
