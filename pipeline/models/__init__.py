"""Models: anything that gives every query of the pool a list of scored items."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import pyarrow as pa

from pipeline.core.arrays import F64
from pipeline.core.pool import Pool
from pipeline.core.run import Lists, Origin


@dataclass(frozen=True, slots=True)
class Tools:
    """What the harness lends a model while it works.

    Attributes:
        keep_depth: items to keep per query when the model scores everything; all items tied with
            the last one kept are kept too, so that the cut never breaks a tie.
        seed: for models that draw random numbers.
        progress: wraps a sequence of steps and shows how far it has come.
    """

    keep_depth: int = 1_000
    seed: int = 0
    progress: Callable[[Sequence[slice], str], Iterator[slice]] = lambda steps, _label: iter(steps)


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """What a model returns: lists as in :class:`pipeline.core.run.Run`, before any check."""

    final: Lists
    retrieval: Lists | None
    foreign: pa.Array
    cost: Mapping[str, F64] = field(default_factory=dict)
    outside: int = 0


class Model(Protocol):
    """A model kind: a frozen dataclass of options with these two methods."""

    def origin(self, name: str, requested: str) -> Origin:
        """Which model this is, with the digest of all that determines its scores but the pool.

        Raises:
            SamepoolError: the model cannot be found.
        """
        ...

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores and lists for every query of the pool that the model can answer."""
        ...
