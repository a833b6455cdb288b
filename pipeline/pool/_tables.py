"""What a source hands over, and how problems in it are told."""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import I64, Bool
from pipeline.core.pool import Declared
from pipeline.core.problems import Problem, Severity
from pipeline.formats import place

_EXAMPLES = 3


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """Raw tables of a pool; DESIGN names their columns.

    Attributes:
        name: what people call the pool.
        qrels: query_id, item_id, grade, optional source and judge.
        declared: what the owner states.
        queries: one row a query; None: the queries are those of the qrels.
        items: one row an item; None: what is judged or a candidate.
        candidates: query_id, item_id, features.
        logs: past interactions.
        digest: what the pool's digest must be; None: anything.
    """

    name: str
    qrels: pa.Table
    declared: Declared
    queries: pa.Table | None = None
    items: pa.Table | None = None
    candidates: pa.Table | None = None
    logs: pa.Table | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A table under its name, and the list that its problems go to.

    Attributes:
        name: of the table, e.g. ``qrels``.
        table: with rows in the order of the file.
        problems: shared with the caller.
    """

    name: str
    table: pa.Table
    problems: list[Problem]

    @property
    def file(self) -> str:
        """The file, or the table's name where it came from no file."""
        return place(self.table, 0)[0] or self.name

    def where(self, row: int) -> str:
        """Line or row in the file."""
        return place(self.table, row)[1]

    def say(self, severity: Severity, code: str, text: str, fix: str = "") -> None:
        """Notes a problem of the whole table."""
        self.problems.append(Problem(code, severity, text, fix, self.file))

    def say_of(
        self, severity: Severity, code: str, text: str, rows: I64 | Bool, fix: str = ""
    ) -> None:
        """Notes a problem of some rows (numbers or a mask); none where there are no rows."""
        found = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        if not len(found):
            return
        first, *others = (self.where(int(row)) for row in found[: 1 + _EXAMPLES])
        examples = tuple(f"also {other}" for other in others)
        self.problems.append(
            Problem(code, severity, text, fix, self.file, first, examples, len(found))
        )


def mask(values: pa.ChunkedArray | pa.Array) -> Bool:
    """Arrow booleans as a NumPy mask; null is false."""
    return np.asarray(pc.fill_null(values, fill_value=False), dtype=np.bool_)
