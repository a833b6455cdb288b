"""Gate: rules that make claims, and decide from the evidence on them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol, cast

from pipeline.core import registry
from pipeline.core.comparison import Claim, Comparison
from pipeline.core.decision import WORST_FIRST, Decision, DecisionStatus, Verdict
from pipeline.core.evidence import Evidence
from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.core.scores import MetricInfo
from pipeline.gate import _labels
from pipeline.kernels import digest
from pipeline.kernels.adjust import holm

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_RESERVED = ("report", "holm", "label_source")


@dataclass(frozen=True, slots=True)
class Axes:
    """What rules may speak of.

    Attributes:
        baseline: key of the model compared against; None where one model is alone.
        candidates: keys of the models to decide on.
        metrics: what is measured.
        slices: names of slices.
        primary: label of the primary metric.
        alpha: one-sided level.
        average: how queries count.
        canonical: turns a metric's name into its label; raises SamepoolError for no metric.
    """

    baseline: str | None
    candidates: tuple[str, ...]
    metrics: tuple[MetricInfo, ...]
    slices: tuple[str, ...]
    primary: str
    alpha: float
    average: str = "macro"
    canonical: Callable[[str], str] = str


class Rule(Protocol):
    """A criterion of the gate; a plugin is a dataclass of its options."""

    def claims(self, name: str, axes: Axes) -> tuple[Claim, ...]:
        """What must be tested for the rule ``name``: for each candidate, metric and slice.

        Raises:
            SamepoolError: a metric or slice that there is not, all of them together.
        """
        ...

    def verdicts(
        self,
        name: str,
        axes: Axes,
        model: str,
        evidence: Evidence,
        comparisons: Mapping[str, Comparison],
    ) -> tuple[Verdict, ...]:
        """The rule's answers for one candidate, at least one; ``comparisons`` are by claim id."""
        ...


def build(rules: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Rule]:
    """The rules by name; a null takes a rule of a preset away.

    Raises:
        SamepoolError: all problems of all rules.
    """
    built: dict[str, Rule] = {}
    problems: list[Problem] = []
    for name, spec in rules.items():
        if spec is None:
            continue
        try:
            built[name] = _rule(name, spec)
        except SamepoolError as error:
            problems.extend(error.problems)
    if problems:
        raise SamepoolError(problems)
    return built


def _rule(name: Any, spec: Any) -> Rule:
    where = f"gate.rules.{name}"
    if not isinstance(name, str) or not _PLAIN.fullmatch(name):
        text = f"{where}: {name!r} is not a plain name"
        raise fault("bad_rule_name", text, "letters, digits, _ and - only; quote NO and numbers")
    if name in _RESERVED:
        raise fault("bad_rule_name", f"{where}: {name!r} is reserved", "choose another name")
    if not isinstance(spec, Mapping):
        text = f"{where} is {spec!r}, not a rule"
        raise fault("bad_rule", text, f"give {where}.kind={'|'.join(registry.kinds('gate'))}")
    rule: Rule = registry.build("gate", spec, where)
    return rule


def claims(rules: Mapping[str, Rule], axes: Axes) -> tuple[Claim, ...]:
    """All claims that the rules rest on.

    Raises:
        SamepoolError: every unknown metric and slice of every rule.
    """
    found: list[Claim] = []
    problems: list[Problem] = []
    for name, rule in rules.items():
        try:
            found.extend(rule.claims(name, axes))
        except SamepoolError as error:
            problems.extend(error.problems)
    if problems:
        raise SamepoolError(problems)
    return tuple(found)


def rules_digest(rules: Mapping[str, Rule], alpha: float) -> str:
    """SHA-256 of the rules, with every default filled in, and of the level."""
    written = {
        name: [type(rule).__module__, asdict(cast("Any", rule))] for name, rule in rules.items()
    }
    return digest.of_json({"alpha": alpha, "rules": written})


def decide(
    rules: Mapping[str, Rule], axes: Axes, evidence: Evidence, evidence_digest: str
) -> tuple[Decision, ...]:
    """One decision a candidate: the worst of its verdicts, then Holm over candidates.

    A candidate's p-value is the largest of its rules' (intersection-union: every rule must hold,
    so none is corrected for the others); Holm pays for choosing among candidates. A candidate
    without a p-value counts in Holm as one with p = 1. What is not clearly a pass is none.

    Raises:
        SamepoolError: as :func:`claims`.
    """
    claims(rules, axes)
    sha = rules_digest(rules, axes.alpha)
    if not rules:
        return tuple(
            Decision(model, "no_criteria", None, None, (), sha, evidence_digest)
            for model in axes.candidates
        )
    by_id = {comparison.claim.id: comparison for comparison in evidence.comparisons}
    verdicts = [_verdicts(rules, axes, model, evidence, by_id) for model in axes.candidates]
    p_values = [_largest(found) for found in verdicts]
    adjusted = holm([1.0 if p is None else p for p in p_values])
    return tuple(
        _decision(
            Decision(model, _worst(found), p, None if p is None else p_holm, found, sha, ""),
            axes.alpha,
            evidence_digest,
        )
        for model, found, p, p_holm in zip(
            axes.candidates, verdicts, p_values, adjusted, strict=True
        )
    )


def _verdicts(
    rules: Mapping[str, Rule],
    axes: Axes,
    model: str,
    evidence: Evidence,
    comparisons: Mapping[str, Comparison],
) -> tuple[Verdict, ...]:
    found: list[Verdict] = list(_labels.verdicts(evidence.pool.declared))
    for name, rule in rules.items():
        answers = rule.verdicts(name, axes, model, evidence, comparisons)
        found.extend(answers or [_silent(name)])
    return tuple(found)


def _silent(name: str) -> Verdict:
    reason = "The rule judged nothing."
    return Verdict(name, None, "invalid", None, None, None, None, 0, None, "", "", reason)


def _largest(verdicts: Sequence[Verdict]) -> float | None:
    p_values = [verdict.p for verdict in verdicts]
    known = [p for p in p_values if p is not None and 0 <= p <= 1]
    return max(known) if known and len(known) == len(p_values) else None


def _worst(verdicts: Sequence[Verdict]) -> DecisionStatus:
    statuses = {verdict.status for verdict in verdicts}
    unknown = statuses - set(WORST_FIRST)
    return "invalid" if unknown else next(s for s in WORST_FIRST if s in statuses)


def _decision(decision: Decision, alpha: float, evidence_digest: str) -> Decision:
    decision = replace(decision, evidence_digest=evidence_digest)
    if decision.status != "pass":
        return decision
    if decision.p_holm is None:
        added = replace(_silent("holm"), reason="A rule that passed has no p-value.")
        return replace(decision, status="invalid", verdicts=(*decision.verdicts, added))
    if decision.p_holm <= alpha:
        return decision
    reason = (
        f"Every rule passes, but p = {decision.p:.4g} is {decision.p_holm:.4g} after Holm over "
        f"the candidates, above {alpha:g}: choosing among several has its price."
    )
    added = replace(
        _silent("holm"),
        status="inconclusive",
        value=decision.p_holm,
        limit=alpha,
        p=decision.p_holm,
        reason=reason,
    )
    return replace(decision, status="inconclusive", verdicts=(*decision.verdicts, added))
