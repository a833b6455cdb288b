"""Slices by share of traffic, or by share of queries, along a numeric column."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pipeline.core.arrays import F64, Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.slices import Part, QuerySlice
from pipeline.slices._columns import numeric


@dataclass(frozen=True, slots=True)
class Share:
    """The queries with the largest (``top``) or smallest (``bottom``) values of a column.

    The edge is the first value, counted from that end, at which at least the share is reached;
    queries with exactly that value are all inside. So equal values never straddle the edge, each
    slice holds at least its share, and is never empty where there are values. Queries without a
    value are on neither side.

    Attributes:
        column: numeric column of the queries table.
        top: share in (0, 1) held by the largest values.
        bottom: share in (0, 1) held by the smallest values.
        of: share of ``traffic`` (the sum of the column) or of ``queries`` (quantiles).
    """

    column: str = "frequency"
    top: float | None = None
    bottom: float | None = None
    of: Literal["traffic", "queries"] = "traffic"

    def __post_init__(self) -> None:
        """Checks what only shows together."""
        if (self.top is None) == (self.bottom is None):
            raise ValueError("give either top or bottom, a share between 0 and 1")
        if not 0 < self._share() < 1:
            raise ValueError("top and bottom are shares between 0 and 1")

    def _share(self) -> float:
        return self.top if self.top is not None else self.bottom or 0.0

    def parts(self, name: str, pool: Pool) -> tuple[Part, ...]:
        """One query slice."""
        where = f"slices.defs.{name}"
        column = numeric(pool, "queries", self.column, where)
        known = ~column.null
        values = column.data[known]
        if self.of == "traffic" and (values < 0).any():
            text = f"{where}: column {self.column!r} has negative values, which hold no traffic"
            raise fault("bad_column", text, f"set {where}.of=queries for quantiles")
        mask = np.zeros(len(column.null), dtype=np.bool_)
        if not len(values):
            return (QuerySlice(name, mask, f"no query has a {self.column}"),)
        weights = values if self.of == "traffic" else np.ones_like(values)
        if self.top is not None:
            edge = -_edge(-values, weights, self.top)
            mask[known] = values >= edge
        else:
            edge = _edge(values, weights, self._share())
            mask[known] = values <= edge
        return (QuerySlice(name, mask, self._words(edge, mask)),)

    def _words(self, edge: float, mask: Bool) -> str:
        side, sign = ("top", ">=") if self.top is not None else ("bottom", "<=")
        share = f"{side} {100 * self._share():g} % of {self.of}"
        return f"{self.column} {sign} {edge:g}: {share}, {int(mask.sum()):,} queries"


def _edge(values: F64, weights: F64, share: float) -> float:
    """Smallest value up to which at least ``share`` of the weight lies.

    >>> _edge(np.array([5.0, 1, 1, 3]), np.array([5.0, 1, 1, 3]), 0.5)
    3.0
    """
    order = np.argsort(values, kind="stable")
    held = np.cumsum(weights[order])
    # Sums of decimal shares land a few ulp off: a share reached but for rounding is reached.
    first = int(np.searchsorted(held, share * held[-1] * (1 - 1e-12)))
    return float(values[order][min(first, len(values) - 1)])


PLUGIN = Share
