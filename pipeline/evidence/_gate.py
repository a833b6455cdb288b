"""gate.json: the decision on each candidate, with every verdict. Producer: gate."""

from collections.abc import Sequence
from pathlib import Path

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.evidence._files import plain, write_json

FILE = "gate.json"


def write(evidence: Evidence, decisions: Sequence[Decision], folder: Path, *, same: bool) -> None:
    """Writes the decisions.

    Args:
        evidence: what they rest on.
        decisions: one a candidate.
        folder: where to.
        same: whether the rules are those fixed before scoring.
    """
    value = {
        "schema": 1,
        "pool": {"name": evidence.pool.name, "digest": evidence.pool.digest},
        "baseline": evidence.baseline,
        "rules_as_fixed": same,
        "decisions": plain(tuple(decisions)),
    }
    write_json(folder / FILE, value)
