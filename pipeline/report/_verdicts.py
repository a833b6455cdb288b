"""Decisions, ready to print: a sentence a candidate, a row a verdict, worst first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.comparison import Comparison
from pipeline.core.decision import WORST_FIRST, Decision, Verdict
from pipeline.core.evidence import Evidence
from pipeline.core.scores import MetricInfo
from pipeline.report import _format as fmt
from pipeline.report import _words as words

# What a reason may begin with although the row's columns say it: the place, and what was measured.
_MEASURED = re.compile(r"gain [^:]*, n = [\d,]+: ")


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
        why: the reason without the place and the numbers that the row shows.
        line: all of it that a terminal shows, without the status; no number twice.
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
    why: str
    line: str


@dataclass(frozen=True, slots=True)
class DecisionView:
    """One candidate's decision.

    Attributes:
        model: name.
        status: its status; ``word`` is how it is written.
        sentence: what follows.
        checks: how many checks hold, and what became of the others.
        p, p_holm: intersection-union p-value, and after Holm over the candidates.
        rules: every verdict, worst first; ``open`` are those that do not pass.
        rules_digest, evidence_digest: what it was decided by and on.
    """

    model: str
    status: str
    word: str
    sentence: str
    checks: str
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
    ordered = sorted(decision.verdicts, key=lambda v: WORST_FIRST.index(v.status))
    return DecisionView(
        fmt.clean(decision.model),
        decision.status,
        words.STATUS[decision.status],
        words.decision(decision),
        words.checks(decision),
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
    reason, why, repeats = _reason(verdict)
    shown = number(verdict.value), span(verdict.ci), number(verdict.limit)
    return RuleRow(
        verdict.status,
        words.STATUS[verdict.status],
        fmt.clean(verdict.rule),
        fmt.clean(verdict.metric),
        fmt.clean(verdict.slice),
        fmt.count(verdict.n) if verdict.metric else fmt.NA,
        words.claim(claim) if claim else "",
        words.level(claim) if claim else "",
        shown[0],
        shown[2],
        shown[1],
        fmt.delta(_bound(by_claim.get(claim.id) if claim else None, turned=turned)),
        words.bound(claim, turned=turned) if claim else "",
        fmt.p_value(verdict.p) if claim else fmt.NA,
        reason,
        why,
        _line(verdict, shown, why, repeats=repeats),
    )


def _reason(verdict: Verdict) -> tuple[str, str, bool]:
    """The reason; the reason without what columns say; whether its numbers were among that."""
    reason = fmt.clean(verdict.reason)
    if verdict.n_needed is not None and f"{verdict.n_needed:,}" not in reason:
        stop = "." if reason.endswith(".") else ""
        told = [reason.removesuffix("."), words.needed(verdict.n_needed)]
        reason = "; ".join(part for part in told if part) + stop
    why = reason.removeprefix(f"{_place(verdict)}: ")
    measured = _MEASURED.match(why) if verdict.claim else None
    if measured is None:
        return reason, why, False
    rest = why[measured.end() :]
    return reason, rest[:1].upper() + rest[1:], True


def _place(verdict: Verdict) -> str:
    if not verdict.metric:
        return ""
    return f"{fmt.clean(verdict.metric)} on {fmt.clean(verdict.slice)}"


def _line(verdict: Verdict, shown: tuple[str, str, str], why: str, *, repeats: bool) -> str:
    place = _place(verdict)
    head = ": ".join(part for part in (fmt.clean(verdict.rule), place) if part)
    speaks = not place or fmt.clean(verdict.reason).startswith(f"{place}: ")
    if speaks and not repeats:
        return f"{head}: {why}"
    value, ci, limit = shown
    numbers = [f"{value} {ci}" if ci != fmt.NA else value]
    numbers += [f"limit {limit}"] if limit != fmt.NA else []
    numbers.append(f"p {fmt.p_value(verdict.p)}" if verdict.claim else f"n {fmt.count(verdict.n)}")
    tail = words.needed(verdict.n_needed) if repeats else why
    return f"{head}: {', '.join(numbers)}" + (f"; {tail}" if tail else "")


def _bound(comparison: Comparison | None, *, turned: bool) -> float | None:
    if comparison is None or comparison.bound is None:
        return None
    return -comparison.bound if turned else comparison.bound
