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

    The edge lies at the largest value at which the queries from there upwards hold at least the
    top share. Queries with exactly that value are all on the top side, so equal values never
    straddle the edge, ``top: x`` holds at least x, and ``bottom: 1 - x`` is the rest. Queries
    without a value are on neither side.

    Attributes:
        column: numeric column of the queries table.
        top: share in (0, 1) held by the largest values.
        bottom: share in (0, 1) left for the smallest values.
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
        if not 0 < self._top_share() < 1:
            raise ValueError("top and bottom are shares between 0 and 1")

    def _top_share(self) -> float:
        return self.top if self.top is not None else 1.0 - (self.bottom or 0.0)

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
        edge = _edge(values, weights, self._top_share())
        mask[known] = (values >= edge) if self.top is not None else (values < edge)
        return (QuerySlice(name, mask, self._words(edge, mask)),)

    def _words(self, edge: float, mask: Bool) -> str:
        side, share = ("top", self.top) if self.top is not None else ("bottom", self.bottom)
        sign = ">=" if self.top is not None else "<"
        return (
            f"{self.column} {sign} {edge:g}: {side} {100 * (share or 0):g} % of {self.of}, "
            f"{int(mask.sum()):,} queries"
        )


def _edge(values: F64, weights: F64, share: float) -> float:
    """Largest value from which upwards at least ``share`` of the weight lies.

    >>> _edge(np.array([5.0, 1, 1, 3]), np.array([5.0, 1, 1, 3]), 0.5)
    5.0
    """
    order = np.argsort(-values, kind="stable")
    held = np.cumsum(weights[order])
    # Sums of decimal shares land a few ulp off: a share reached but for rounding is reached.
    first = int(np.searchsorted(held, share * held[-1] * (1 - 1e-12)))
    return float(values[order][min(first, len(values) - 1)])


PLUGIN = Share
