"""Slices by range of a numeric column."""

from dataclasses import dataclass

from pipeline.core.pool import Pool
from pipeline.slices import Part
from pipeline.slices._columns import Over, numeric, part


@dataclass(frozen=True, slots=True)
class Range:
    """Rows with ``min <= value < max``: half-open, so that ranges side by side share no row.

    Attributes:
        column: numeric column.
        min: smallest value inside; open where unset.
        max: smallest value above; open where unset.
        over: ``queries`` or ``items``.
    """

    column: str
    min: float | None = None
    max: float | None = None
    over: Over = "queries"

    def __post_init__(self) -> None:
        """Checks what only shows together."""
        if self.min is None and self.max is None:
            raise ValueError("give min, max or both")
        if self.min is not None and self.max is not None and self.min >= self.max:
            raise ValueError(f"min {self.min:g} is not below max {self.max:g}")

    def parts(self, name: str, pool: Pool) -> tuple[Part, ...]:
        """One slice."""
        column = numeric(pool, self.over, self.column, f"slices.defs.{name}")
        mask = ~column.null
        words = self.column
        if self.min is not None:
            mask &= column.data >= self.min
            words = f"{self.min:g} <= {words}"
        if self.max is not None:
            mask &= column.data < self.max
            words = f"{words} < {self.max:g}"
        return (part(name, self.over, mask, words, pool),)


PLUGIN = Range
