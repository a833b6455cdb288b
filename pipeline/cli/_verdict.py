"""Why a gate's exit code is what it is."""

from collections.abc import Sequence

from pipeline.core.decision import Decision
from pipeline.core.problems import SamepoolError, fault
from pipeline.core.settings import CompareSettings, GateSettings

_WORDS = {
    "pass": "passed the gate",
    "fail": "failed the gate",
    "inconclusive": "is inconclusive at the gate",
    "invalid": "cannot be judged by the gate",
    "no_criteria": "was measured, not judged",
}


def no_criteria() -> SamepoolError:
    """The error of a gate that shall decide by no rule."""
    text = "no criteria: there is no rule in gate.rules, so nothing can be decided"
    return fault("no_criteria", text, "gate=default, or gate.rules.NAME={kind: superiority}")


def require_rules(settings: CompareSettings) -> None:
    """Refuses, before anything is scored, a gate that is enforced without a rule.

    Raises:
        SamepoolError: it has none.
    """
    rules = [rule for rule in settings.gate.rules.values() if rule is not None]
    if enforced(settings.gate) and not rules:
        raise no_criteria()


def enforced(gate: GateSettings) -> bool:
    """Whether the exit code is the gate's."""
    return gate.enforce and not gate.informational


def why(decisions: Sequence[Decision], candidate: str | None, code: int) -> str:
    """One line on an exit code.

    Args:
        decisions: one a candidate.
        candidate: whose decision counts; None: the best one's.
        code: the exit code.
    """
    if code == 5:
        return "exit code 5: a service was unreachable; the results wait on disk"
    counted = [d for d in decisions if candidate in {None, d.model}]
    if len(counted) == 1:
        return f"exit code {code}: candidate {counted[0].model} {_WORDS[counted[0].status]}"
    passed = sum(decision.status == "pass" for decision in counted)
    if passed:
        return f"exit code {code}: {passed} of {len(counted)} candidates passed"
    each = ", ".join(f"{d.model} {_WORDS[d.status]}" for d in counted)
    return f"exit code {code}: none of {len(counted)} candidates passed: {each}"
