"""Engine: where the per-model work runs. It determines no number."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from pipeline.core.registry import build
from pipeline.core.settings import EngineSettings

T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """An engine kind."""

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks; at most one model's lists in memory at a time."""
        ...


def engine(settings: EngineSettings) -> Engine:
    """The engine that the settings name.

    Raises:
        SamepoolError: there is no such kind.
    """
    found: Engine = build("engine", {"kind": settings.kind}, "engine")
    return found
