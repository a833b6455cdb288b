"""What a freeze makes; beside it, so that naming the types imports no engine."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem
from pipeline.pool._record import Record


@dataclass(frozen=True, slots=True)
class Stratum:
    """Queries of like frequency.

    Attributes:
        name: e.g. ``head``.
        queries: N_h, how many there are.
        low, high: smallest and largest frequency in it; 0 where it is empty.
        traffic: share of all traffic, in [0, 1].
        taken: n_h, how many are sampled.
    """

    name: str
    queries: int = 0
    low: float = 0.0
    high: float = 0.0
    traffic: float = 0.0
    taken: int = 0

    @property
    def weight(self) -> float:
        """N_h / n_h: how many queries one sampled query stands for."""
        return self.queries / self.taken if self.taken else 0.0


@dataclass(frozen=True, slots=True)
class FreezeResult:
    """What was made.

    Attributes:
        pool: without its logs, which may be larger than memory.
        record: as in pool.json.
        strata: with their sizes and samples.
        folder: where it lies.
        fresh: false where the very same pool was there already.
        problems: warnings and notes.
    """

    pool: Pool
    record: Record
    strata: tuple[Stratum, ...]
    folder: Path
    fresh: bool
    problems: tuple[Problem, ...]
