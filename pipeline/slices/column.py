"""Slices by the value of a column."""

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.slices import ItemSlice, Part, QuerySlice
from pipeline.slices._columns import Column as Data
from pipeline.slices._columns import Over, literal, part, read


@dataclass(frozen=True, slots=True)
class Column:
    """Rows with a given value, with one of several, or one slice per value.

    Rows without a value are in no slice.

    Attributes:
        column: column of the queries or items table.
        value: the value; its type must be the column's.
        values: several values, for one slice.
        max_values: most slices to make where neither is given: one per value, each called
            ``<name>_<value>`` with what is not a letter, digit, _ or - turned into _.
        over: ``queries`` or ``items``.
    """

    column: str
    value: Any = None
    values: list[Any] | None = None
    max_values: int = 20
    over: Over = "queries"

    def __post_init__(self) -> None:
        """Checks what only shows together."""
        if self.value is not None and self.values is not None:
            raise ValueError("give value or values, not both")
        if self.value is not None and not isinstance(self.value, str | int | float):
            raise ValueError(f"value is {self.value!r}; use values for a list")

    def parts(self, name: str, pool: Pool) -> tuple[Part, ...]:
        """One slice, or one per value."""
        where = f"slices.defs.{name}"
        data = read(pool, self.over, self.column, where)
        if self.value is None and self.values is None:
            return self._each(name, data, pool, where)
        wanted = [self.value] if self.values is None else self.values
        mask = np.zeros(len(data.null), dtype=np.bool_)
        for value in wanted:
            mask |= ~data.null & (data.data == literal(value, data, where).data)
        words = f"{self.column} is {' or '.join(map(str, wanted))}"
        return (part(name, self.over, mask, words, pool),)

    def _each(self, name: str, data: Data, pool: Pool, where: str) -> tuple[Part, ...]:
        values = sorted(set(data.data[~data.null].tolist()))
        if data.type == "time":
            raise fault(
                "bad_column", f"{where}: column {self.column!r} holds times", "kind: window"
            )
        if len(values) > self.max_values:
            text = f"{where}: column {self.column!r} has {len(values):,} values, too many slices"
            fix = f"give value or values, or raise {where}.max_values"
            raise fault("too_many_slices", text, fix)
        return tuple(self._one(name, data, value, pool) for value in values)

    def _one(self, name: str, data: Data, value: Any, pool: Pool) -> QuerySlice | ItemSlice:
        shown = _shown(value)
        mask = ~data.null & (data.data == value)
        plain = f"{name}_{re.sub(r'[^A-Za-z0-9_-]+', '_', shown)}"
        return part(plain, self.over, mask, f"{self.column} is {shown}", pool)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


PLUGIN = Column
