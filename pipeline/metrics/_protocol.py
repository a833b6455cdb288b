"""What a metric is."""

from typing import Protocol

from pipeline.core.arrays import F64, U8, Bool
from pipeline.core.scores import MetricInfo
from pipeline.metrics._view import View


class Metric(Protocol):
    """A metric: a frozen dataclass whose fields are the parameters of its notation."""

    @property
    def label(self) -> str:
        """Canonical notation; parsing it gives an equal metric."""
        ...

    @property
    def cutoff(self) -> int | None:
        """How many places are read; None for the whole list."""
        ...

    def info(self) -> MetricInfo:
        """What it is; ``per`` says which of the two protocols below it fulfils."""
        ...


class QueryMetric(Metric, Protocol):
    """A metric with a value for every query; its mean is the model's."""

    def measure(self, view: View) -> tuple[F64, U8]:
        """(Q,) values and (Q,) reasons, as :meth:`View.settle` gives them."""
        ...


class ListMetric(Metric, Protocol):
    """A metric with one value for the lists of a set of queries, which is no mean over them."""

    def measure(self, view: View, queries: Bool) -> float:
        """The value over the queries of a mask (Q,); NaN where it does not exist."""
        ...
