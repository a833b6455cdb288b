"""Slices by date."""

from dataclasses import dataclass

from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.slices import Part
from pipeline.slices._columns import WORDS, Over, moment, part, read


@dataclass(frozen=True, slots=True)
class Window:
    """Rows with ``since <= time < until``; rows without a date are outside.

    Attributes:
        column: column of dates or times.
        since: ISO date or time, inclusive; open where unset. UTC unless it names a zone.
        until: ISO date or time, exclusive; open where unset.
        over: ``queries`` or ``items``.
    """

    column: str = "issued_at"
    since: str | None = None
    until: str | None = None
    over: Over = "queries"

    def __post_init__(self) -> None:
        """Checks what only shows together."""
        if self.since is None and self.until is None:
            raise ValueError("give since, until or both")

    def parts(self, name: str, pool: Pool) -> tuple[Part, ...]:
        """One slice."""
        where = f"slices.defs.{name}"
        column = read(pool, self.over, self.column, where)
        if column.type != "time":
            text = f"{where}: column {self.column!r} holds {WORDS[column.type]}, not times"
            raise fault("bad_column", text, "give a column of dates")
        start = None if self.since is None else moment(self.since, f"{where}.since")
        end = None if self.until is None else moment(self.until, f"{where}.until")
        if start is not None and end is not None and start >= end:
            raise fault("bad_date", f"{where}: since {self.since} is not before until {self.until}")
        mask = ~column.null
        words = self.column
        if start is not None:
            mask &= column.data >= start
            words = f"{self.since} <= {words}"
        if end is not None:
            mask &= column.data < end
            words = f"{words} < {self.until}"
        return (part(name, self.over, mask, words, pool),)


PLUGIN = Window
