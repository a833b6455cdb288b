"""One process, one model after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Local:
    """Runs tasks in turn, so that memory is bounded by one model's lists."""

    def map(self, function: Callable[[T], R], tasks: Sequence[T]) -> Iterator[R]:
        """Results in the order of the tasks, each made when it is asked for."""
        return map(function, tasks)


PLUGIN = Local
