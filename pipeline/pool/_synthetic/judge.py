"""Who judged what: everything that is relevant, or only what some systems showed first."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import I32, I64, U8
from pipeline.kernels.simulate import Simulation, Truth, answers
from pipeline.kernels.simulate.clicks import first_places
from pipeline.kernels.simulate.draws import uniform

_BEST = 3  # largest grade


@dataclass(frozen=True, slots=True)
class Judging:
    """How judgments come about.

    Attributes:
        complete: whether every relevant item is judged, found or not.
        depth: first places of each system that are judged besides.
        systems: whose.
        noise: chance that a grade is one off, up or down, within 0 to 3.
    """

    complete: bool
    depth: int
    systems: tuple[str, ...]
    noise: float

    def table(self, world: Simulation, ids: tuple[pa.Array, pa.Array]) -> pa.Table:
        """The qrels, by query; ids are those of queries and items by number."""
        parts = list(self._parts(world))
        query, item, grade = (np.concatenate(column) for column in zip(*parts, strict=True))
        return pa.table(
            {
                "query_id": ids[0].take(pa.array(query)),
                "item_id": ids[1].take(pa.array(item)),
                "grade": pa.array(grade.astype(np.float64)),
            }
        )

    def _parts(self, world: Simulation) -> Iterator[tuple[I32, I32, U8]]:
        for block in world.blocks():
            truth = world.truth(np.arange(block.start, block.stop))
            seen = [(truth.item, truth.grade)] if self.complete else []
            if self.depth:
                lists = (answers(world, name, truth) for name in self.systems)
                seen += [first_places(one, self.depth) for one in lists]
            yield self._judged(world, truth, *map(np.hstack, zip(*seen, strict=True)))

    def _judged(self, world: Simulation, truth: Truth, item: I32, grade: U8) -> tuple[I32, I32, U8]:
        """Each pair once; -1 stands for no item."""
        seed, n = world.world.seed, world.world.n_items
        row, column = np.nonzero(item >= 0)
        key, first = np.unique(truth.asks.query[row] * n + item[row, column], return_index=True)
        grades = grade[row[first], column[first]]
        query, items = np.divmod(key, n)
        if self.noise:
            wrong = uniform(seed, "misjudged", query, items) < self.noise
            up = uniform(seed, "misjudged upwards", query, items) < 0.5
            moved: I64 = grades.astype(np.int64) + np.where(up, 1, -1)
            grades = np.where(wrong, np.clip(moved, 0, _BEST), grades).astype(np.uint8)
        return query.astype(np.int32), items.astype(np.int32), grades
