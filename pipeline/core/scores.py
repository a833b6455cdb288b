"""Metric values of one model, a row a query, a column a metric and item slice."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from pipeline.core.arrays import F64, I32, U8, Bool


class Reason(IntEnum):
    """Why a value is what it is; stands beside every value."""

    OK = 0
    MISSING = 1  # the model did not answer: worst value (NaN if the metric has no worst)
    UNJUDGED = 2  # the query has no judgments: not in the topic set, NaN
    NO_RELEVANT = 3  # nothing relevant: left out, NaN
    NO_RELEVANT_SCORED = 4  # nothing relevant: the convention's value stands
    UNDEFINED = 5  # the metric does not exist here, e.g. the age of undated items: NaN


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """What a metric is, for reports and for the gate.

    Attributes:
        label: canonical notation, e.g. ``nDCG(gain=exp)@10``; the identity everywhere.
        direction: ``higher`` or ``lower`` is better.
        range: smallest and largest possible value; None where unbounded.
        worst: value of an unanswered query; None where the metric has no finite worst value.
        per: ``query`` (a mean over queries) or ``list`` (one value for a set of lists).
        stage: ``final`` or ``retrieval``.
        formula: how it is computed.
        words: what it tells, its reading of ties, unjudged items, short lists, nothing relevant.
    """

    label: str
    direction: Literal["higher", "lower"]
    range: tuple[float | None, float | None]
    worst: float | None
    per: Literal["query", "list"]
    stage: Literal["final", "retrieval"]
    formula: str
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """Values of one model.

    Attributes:
        model: key of the model.
        columns: C pairs (metric label, item slice name); per-query metrics only.
        values: (Q, C); NaN exactly where the reason says that there is no value.
        reason: (Q, C) codes of :class:`Reason`.
        lists: (slice name, label of a list metric) -> value; NaN where undefined.
        judged: (Q,) whether the query has judgments: the topic set, also of list metrics.
        tied: (Q,) whether a tie crosses the cutoff of the first metric, the primary one.
        constant: (Q,) whether all scores that the model gave the query were equal.
        length: (Q,) items returned.
    """

    model: str
    columns: tuple[tuple[str, str], ...]
    values: F64
    reason: U8
    lists: Mapping[tuple[str, str], float]
    judged: Bool
    tied: Bool
    constant: Bool
    length: I32

    def column(self, label: str, item_slice: str) -> tuple[F64, U8] | None:
        """(Q,) values and (Q,) reasons of a per-query metric; None where it was not measured."""
        if (label, item_slice) not in self.columns:
            return None
        place = self.columns.index((label, item_slice))
        return self.values[:, place], self.reason[:, place]
