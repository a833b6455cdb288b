"""Options of a freeze that are groups of their own."""

from dataclasses import dataclass
from typing import Literal

TABLES = ("queries", "items", "qrels", "logs", "train")
# What each table is cut by, and may be declared to have not.
TIMES = {"queries": "issued_at", "items": "created_at", "qrels": "judged_at"}
Allocation = Literal["equal", "proportional"]


def default_strata() -> dict[str, str]:
    """Shares of traffic; text, so that they are the decimals that they look like."""
    return {"head": "0.5", "torso": "0.4", "tail": "0.1"}


@dataclass(frozen=True, slots=True)
class Repeats:
    """Which rows are one query.

    Attributes:
        by: ``loose`` (texts that differ in case and white space only), ``exact`` texts, or
            ``none``: ids alone.
        per_user: texts of different users stay different queries.
        conflicts: two grades of one pair after merging: an ``error``, or the ``max`` is taken.
    """

    by: Literal["loose", "exact", "none"] = "loose"
    per_user: bool = False
    conflicts: Literal["error", "max"] = "error"


@dataclass(frozen=True, slots=True)
class Negatives:
    """Unjudged items drawn into a candidates table.

    Attributes:
        per_query: how many; 0: no candidates table.
        how: each item alike, or in proportion to its popularity.
        seed: of the draw; unset, the freeze's.
    """

    per_query: int = 0
    how: Literal["uniform", "popularity"] = "uniform"
    seed: int | None = None

    def __post_init__(self) -> None:
        """Refuses a negative number."""
        if self.per_query < 0:
            raise ValueError(f"per_query is {self.per_query}; it must be 0 or more")


@dataclass(frozen=True, slots=True)
class Labels:
    """Declared facts of the judgments; see :class:`pipeline.core.pool.Declared`."""

    labels: str = "unknown"
    labels_reason: str | None = None
    grades: tuple[float, float] | None = None
