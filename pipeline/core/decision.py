"""What the rules say of a model."""

from dataclasses import dataclass
from typing import Final, Literal

from pipeline.core.comparison import Claim

Status = Literal["pass", "fail", "inconclusive", "invalid"]
DecisionStatus = Literal["pass", "fail", "inconclusive", "invalid", "no_criteria"]

WORST_FIRST: Final[tuple[Status, ...]] = ("invalid", "fail", "inconclusive", "pass")
BEST_FIRST: Final[tuple[DecisionStatus, ...]] = (*reversed(WORST_FIRST), "no_criteria")


@dataclass(frozen=True, slots=True)
class Verdict:
    """One rule's answer for one model, metric and slice.

    Attributes:
        rule: name of the rule.
        claim: the claim it rests on; None for rules that test nothing.
        status: pass, fail, inconclusive or invalid.
        value: what was measured (a delta or a level); None where it does not exist.
        limit: what it was held against; same unit.
        ci: interval of the value, where there is one.
        p: p-value of the claim, where there is one; 0 or 1 for rules that test nothing.
        n: queries behind the value.
        n_needed: further queries that would settle an inconclusive one, where known.
        metric, slice: what was measured and where.
        reason: one sentence.
    """

    rule: str
    claim: Claim | None
    status: Status
    value: float | None
    limit: float | None
    ci: tuple[float, float] | None
    p: float | None
    n: int
    n_needed: int | None
    metric: str
    slice: str
    reason: str


@dataclass(frozen=True, slots=True)
class Decision:
    """All the verdicts on one model and what follows from them.

    Attributes:
        model: key of the candidate.
        status: worst of the verdicts: invalid, fail, inconclusive, pass; or no_criteria.
        p: intersection-union p-value: the largest of its rules' p-values.
        p_holm: that p-value after Holm over the candidates.
        verdicts: every one, not only the failures.
        rules_digest: SHA-256 of the rules applied.
        evidence_digest: SHA-256 of the evidence they were applied to.
    """

    model: str
    status: DecisionStatus
    p: float | None
    p_holm: float | None
    verdicts: tuple[Verdict, ...]
    rules_digest: str
    evidence_digest: str
