"""Decisions, ready to print: a sentence a candidate, a row a verdict, worst first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.comparison import Comparison
from pipeline.core.decision import Decision, Verdict
from pipeline.core.evidence import Evidence
from pipeline.core.scores import MetricInfo
from pipeline.report import _format as fmt
from pipeline.report import _words as words


@dataclass(frozen=True, slots=True)
class RuleRow:
    """One verdict.

    Attributes:
        status: pass, fail, inconclusive or invalid; ``word`` is how it is written.
        rule, metric, slice, n: what was asked, and where.
        claim: the claim as a phrase, and side and level of its test; empty for plain rules.
        value, limit, ci, bound: numbers; deltas have their sign turned where lower is better.
        bound_name: what ``bound`` is.
        p: p-value of the claim, not adjusted.
        reason: one sentence; with how many more queries would settle it, where known.
    """

    status: str
    word: str
    rule: str
    metric: str
    slice: str
    n: str
    claim: str
    level: str
    value: str
    limit: str
    ci: str
    bound: str
    bound_name: str
    p: str
    reason: str


@dataclass(frozen=True, slots=True)
class DecisionView:
    """One candidate's decision.

    Attributes:
        model: name.
        status: its status; ``word`` is how it is written.
        sentence: what follows.
        p, p_holm: intersection-union p-value, and after Holm over the candidates.
        rules: every verdict, worst first; ``open`` are those that do not pass.
        rules_digest, evidence_digest: what it was decided by and on.
    """

    model: str
    status: str
    word: str
    sentence: str
    p: str
    p_holm: str
    rules: tuple[RuleRow, ...]
    rules_digest: str
    evidence_digest: str

    @property
    def open(self) -> tuple[RuleRow, ...]:
        """The verdicts that stand in the way."""
        return tuple(row for row in self.rules if row.status != "pass")


def views(evidence: Evidence, decisions: Sequence[Decision]) -> tuple[DecisionView, ...]:
    """The decisions in the order given."""
    by_claim = {comparison.claim.id: comparison for comparison in evidence.comparisons}
    infos = {info.label: info for info in evidence.metrics}
    return tuple(_view(decision, by_claim, infos) for decision in decisions)


def _view(
    decision: Decision, by_claim: Mapping[str, Comparison], infos: Mapping[str, MetricInfo]
) -> DecisionView:
    ordered = sorted(decision.verdicts, key=lambda v: words.WORST_FIRST.index(v.status))
    return DecisionView(
        fmt.clean(decision.model),
        decision.status,
        words.STATUS[decision.status],
        words.decision(decision),
        fmt.p_value(decision.p),
        fmt.p_value(decision.p_holm),
        tuple(_rule(verdict, by_claim, infos) for verdict in ordered),
        fmt.digest(decision.rules_digest),
        fmt.digest(decision.evidence_digest),
    )


def _rule(
    verdict: Verdict, by_claim: Mapping[str, Comparison], infos: Mapping[str, MetricInfo]
) -> RuleRow:
    claim = verdict.claim
    turned = verdict.metric in infos and infos[verdict.metric].direction == "lower"
    number, span = (fmt.delta, fmt.interval) if claim else (fmt.mean, fmt.level_interval)
    reason = [fmt.clean(verdict.reason), words.needed(verdict.n_needed)]
    return RuleRow(
        verdict.status,
        words.STATUS[verdict.status],
        fmt.clean(verdict.rule),
        fmt.clean(verdict.metric),
        fmt.clean(verdict.slice),
        fmt.count(verdict.n),
        words.claim(claim) if claim else "",
        words.level(claim) if claim else "",
        number(verdict.value),
        number(verdict.limit),
        span(verdict.ci),
        fmt.delta(_bound(by_claim.get(claim.id) if claim else None, turned=turned)),
        words.bound(claim, turned=turned) if claim else "",
        fmt.p_value(verdict.p) if claim else fmt.NA,
        "; ".join(part for part in reason if part),
    )


def _bound(comparison: Comparison | None, *, turned: bool) -> float | None:
    if comparison is None or comparison.bound is None:
        return None
    return -comparison.bound if turned else comparison.bound
