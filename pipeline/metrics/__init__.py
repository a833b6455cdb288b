"""Metrics: from ordered, judged lists to one value a query, or one a set of lists.

A metric is one file here: a frozen dataclass whose fields are the parameters of its notation,
exported as ``PLUGIN`` (or several as ``PLUGINS``), with ``info`` and ``measure``. It reads a
:class:`View`, which knows the relevant items found, their ranks, and what could have been found.
"""

from pipeline.metrics._base import Base
from pipeline.metrics._conventions import check as check_conventions
from pipeline.metrics._evaluate import evaluate
from pipeline.metrics._judge import judge
from pipeline.metrics._measure import measure
from pipeline.metrics._parse import known, parse, parse_all
from pipeline.metrics._protocol import ListMetric, Metric, QueryMetric
from pipeline.metrics._tops import tops
from pipeline.metrics._view import View

__all__ = [
    "Base",
    "ListMetric",
    "Metric",
    "QueryMetric",
    "View",
    "check_conventions",
    "evaluate",
    "judge",
    "known",
    "measure",
    "parse",
    "parse_all",
    "tops",
]
