"""Labels that people did not make decide nothing unless the pool says why they may."""

from collections.abc import Mapping
from typing import Any

from pipeline.core.decision import Status, Verdict

_WHY = {
    "click": "clicks follow position and presentation, not only relevance",
    "unknown": "nobody said where the grades come from",
}


def verdicts(declared: Mapping[str, Any]) -> tuple[Verdict, ...]:
    """Nothing for human labels; else one verdict, a pass where a reason is declared."""
    labels = str(declared.get("labels") or "unknown")
    reason = declared.get("labels_reason")
    if labels == "human":
        return ()
    if isinstance(reason, str) and reason.strip():
        return (_verdict("pass", 0.0, f"Labels: {labels}; declared fit to decide: {reason}."),)
    because = _WHY.get(labels, "they were not made by people who judge relevance")
    fix = f"set pool.labels_reason='...' to say why {labels} labels may decide"
    if labels == "unknown":
        fix = "set pool.labels=human, or another source with pool.labels_reason='...'"
    return (_verdict("invalid", None, f"Labels: {labels}; {because}; {fix}."),)


def _verdict(status: Status, p: float | None, reason: str) -> Verdict:
    return Verdict("label_source", None, status, None, None, None, p, 0, None, "", "", reason)
