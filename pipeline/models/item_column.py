"""A column of the items table as the score: prior popularity, date, price."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Origin
from pipeline.core.suggest import did_you_mean
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._blocks import ByPair, rank_blocks
from pipeline.models._identity import fitted


@dataclass(frozen=True, slots=True)
class ItemColumn(Model):
    """The same scores for every query: a number or date that each item has.

    Items without a value are not returned.

    Attributes:
        column: column of the pool's items; numbers, booleans or dates (scored in microseconds).
        descending: whether the largest value comes first.
    """

    column: str
    descending: bool = True

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options and its code; the column belongs to the pool."""
        return fitted(self, name, requested)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores over each query's rankable items.

        Raises:
            SamepoolError: there is no such column, or it holds text or nothing.
        """
        values, given = self._values(pool)
        scores = values if self.descending else -values
        return rank_blocks(
            pool,
            tools,
            f"item column {self.column}",
            lambda block, _mask: np.broadcast_to(scores, (block.stop - block.start, len(scores))),
            given,
            pairs=ByPair(lambda _query, item: scores[item]),
        )

    def _values(self, pool: Pool) -> tuple[F64, Bool]:
        """(I,) values, and whether the item has one."""
        names = pool.items.column_names
        if self.column not in names:
            text = f"item_column: items have no column {self.column!r}"
            raise fault("unknown_column", text, did_you_mean(self.column, names))
        column = pool.items[self.column]
        kind = column.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
            column = column.cast(pa.timestamp("us", getattr(kind, "tz", None))).cast(pa.int64())
        elif not _is_number(kind):
            text = f"item_column: column {self.column!r} of items holds {kind}, not numbers"
            raise fault("not_numeric", text, "take a column of numbers or dates")
        if column.null_count == len(column):
            text = f"item_column: column {self.column!r} of items holds no value"
            raise fault("empty_column", text, "take a column with values")
        values = np.asarray(pc.fill_null(column.cast(pa.float64()), 0.0))
        return values, np.asarray(pc.is_valid(column))


def _is_number(kind: pa.DataType) -> bool:
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in tests)


PLUGIN = ItemColumn
