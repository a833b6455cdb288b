"""Slices by a condition over columns."""

from dataclasses import dataclass

from pipeline.core.pool import Pool
from pipeline.slices import Part
from pipeline.slices._columns import Over, part, read, table
from pipeline.slices._evaluate import Evaluator


@dataclass(frozen=True, slots=True)
class Expression:
    """Rows for which a condition holds, e.g. ``length >= 6 and gender == "F"``.

    Comparisons (chained too), arithmetic, ``and``, ``or``, ``not``, ``in [...]``, ``is None`` over
    the columns of one table. A comparison with a missing value is false; so its ``not`` is true.

    Attributes:
        where: the condition.
        over: ``queries`` or ``items``.
    """

    where: str
    over: Over = "queries"

    def parts(self, name: str, pool: Pool) -> tuple[Part, ...]:
        """One slice."""
        where = f"slices.defs.{name}.where"
        rows = table(pool, self.over).num_rows
        evaluator = Evaluator(lambda column: read(pool, self.over, column, where), rows, where)
        return (part(name, self.over, evaluator.mask(self.where), self.where, pool),)


PLUGIN = Expression
