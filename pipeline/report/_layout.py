"""Pieces of the terminal output: text cells, and tables whose numbers always stand whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

from pipeline.report._rows import Cell
from pipeline.report._view import View

Block = tuple[Text, Table]  # a title and its table

STYLES = {
    "pass": "bold green",
    "fail": "bold red",
    "invalid": "bold red",
    "inconclusive": "bold yellow",
    "no_criteria": "bold",
    "better": "green",
    "worse": "red",
    "few": "dim",
    "none": "dim",
}
GAP = 2  # between columns
_HEAD = 16  # a longer heading folds
_NAMES = 28  # a longer name in the first column folds


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and its cells.

    Attributes:
        head: the heading; it folds where it is longer than the cells are wide.
        cells: one a row.
        kind: ``number``, right and whole; ``mark``, left and whole; ``words``, which may fold.
    """

    head: str
    cells: Sequence[Text]
    kind: Literal["number", "mark", "words"] = "number"

    @property
    def width(self) -> int:
        """What the widest cell needs; of the heading, what does not fold."""
        lines = (line for cell in self.cells for line in cell.plain.split("\n"))
        return max([min(cell_len(self.head), _HEAD), *map(cell_len, lines)])


def names(head: str, found: Sequence[str]) -> Column:
    """A first column."""
    return Column(head, [Text(name) for name in found], "words")


def taken(columns: Sequence[Column], gap: int = GAP) -> int:
    """Width of a table's leading columns; long names fold and do not push numbers out."""
    first, *others = columns
    return min(first.width, _NAMES) + sum(gap + column.width for column in others)


def pieces(columns: Sequence[Column], room: int) -> list[Sequence[Column]]:
    """The columns in runs of about equal length, each of which fits into ``room``."""
    fit = max(1, room // (GAP + max(column.width for column in columns)))
    runs = -(-len(columns) // fit)
    size = -(-len(columns) // runs)
    return [columns[start : start + size] for start in range(0, len(columns), size)]


def table(columns: Sequence[Column], gap: int = GAP) -> Table:
    """A table without lines."""
    drawn = Table(box=None, padding=(0, gap, 0, 0), header_style="bold")
    for place, column in enumerate(columns):
        if not place:
            width = min(max(column.width, 8), _NAMES)
            drawn.add_column(Text(column.head), overflow="fold", min_width=8, max_width=width)
        elif column.kind == "words":
            drawn.add_column(Text(column.head), overflow="fold", min_width=8)
        else:
            side: Literal["left", "right"] = "right" if column.kind == "number" else "left"
            width = column.width
            drawn.add_column(Text(column.head), justify=side, overflow="fold", width=width)
    for row in zip(*(column.cells for column in columns), strict=True):
        drawn.add_row(*row)
    return drawn


def number(cell: Cell, apart: str = " ") -> Text:
    """A number and its mark."""
    text = Text(cell.text, "bold" if cell.best else "")
    if cell.mark:
        text.append(f"{apart}{cell.mark}", "yellow not bold")
    return text


def labelled(title: str, view: View) -> Text:
    """A title that names where labels come from, if not from people."""
    text = Text(title, "bold")
    return text.append(f"  {view.labels}", "yellow not bold") if view.labels else text


def elided(text: str, room: int) -> str:
    """Text on one line: options lose their end; a path or an address, its middle.

    >>> elided("svd(factors=64, seed=0)", 14), elided("models:/a-long-name/13", 16)
    ('svd(factors...', 'models:...ame/13')
    >>> elided("svd()", 14)
    'svd()'
    """
    if cell_len(text) <= room:
        return text
    end = 0 if "(" in text else (room - 3) // 2
    start = room - 3 - end
    while start and cell_len(text[:start]) + end + 3 > room:
        start -= 1
    while end and cell_len(text[-end:]) + cell_len(text[:start]) + 3 > room:
        end -= 1
    return f"{text[:start]}...{text[len(text) - end :]}"
