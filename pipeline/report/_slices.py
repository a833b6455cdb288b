"""The primary metric by slice on a terminal: a table a candidate, or many candidates in one."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.text import Text

from pipeline.report import _format as fmt
from pipeline.report._layout import (
    STYLES,
    Block,
    Column,
    labelled,
    names,
    number,
    pieces,
    table,
    taken,
)
from pipeline.report._rows import Cell, Row
from pipeline.report._view import Group, MetricTable, View


def compared(found: MetricTable, view: View, width: int) -> list[Block]:
    """The tables of a metric that was compared."""
    if found.beside:
        return _beside(found, view, width)
    return [_group(group, found, view, width) for group in found.groups]


def _group(group: Group, found: MetricTable, view: View, width: int) -> Block:
    about = f"{found.metric.label} ({found.metric.direction})"
    title = labelled(f"{about}: {group.model} against {view.baseline}", view)
    full = _full(group.rows, view)
    if taken(full) <= width:
        return title, table(full)
    return title, table(_folded(group.rows, view), gap=1)


def _full(rows: Sequence[Row], view: View) -> list[Column]:
    return [
        names("slice", [row.slice for row in rows]),
        Column("n", [Text(row.n) for row in rows]),
        Column("baseline", [number(row.baseline) for row in rows]),
        Column("candidate", [number(row.model) for row in rows]),
        Column(f"delta [{view.level} CI]", [_delta(row, " ") for row in rows]),
        Column("p adj", [Text(row.p) for row in rows]),
        Column("W/T/L", [Text(row.wtl) for row in rows]),
        _verdicts(rows),
    ]


def _folded(rows: Sequence[Row], view: View) -> list[Column]:
    """Two lines a row, for narrow terminals."""
    return [
        names("slice", [row.slice for row in rows]),
        Column("n", [Text(row.n) for row in rows]),
        Column("base", [number(row.baseline, "\n") for row in rows]),
        Column("cand", [number(row.model, "\n") for row in rows]),
        Column(f"delta [{view.level} CI]", [_delta(row, "\n") for row in rows]),
        Column("p adj, W/T/L", [Text(f"{row.p}\n{row.wtl}") for row in rows]),
        _verdicts(rows),
    ]


def _verdicts(rows: Sequence[Row]) -> Column:
    """What may be said; the effect that a test could detect stands in the files."""
    return Column("verdict", [Text(row.word, STYLES.get(row.tone, "")) for row in rows], "words")


def _delta(row: Row, apart: str) -> Text:
    delta = number(row.delta)
    return delta if row.ci == fmt.NA else delta.append(f"{apart}{row.ci}")


def _beside(found: MetricTable, view: View, width: int) -> list[Block]:
    """A row a slice; a candidate is one column: its delta and a short mark."""
    by_slice: dict[str, list[Row | None]] = {}
    for place, group in enumerate(found.groups):
        for row in group.rows:
            by_slice.setdefault(row.slice, [None] * len(found.groups))[place] = row
    lines = list(by_slice.values())
    lead = [
        names("slice", list(by_slice)),
        Column("n", [Text(_span(row.n for row in line if row)) for line in lines]),
        Column("baseline", [_base([row for row in line if row]) for line in lines]),
    ]
    each = [
        _candidate(group.model, [line[place] for line in lines])
        for place, group in enumerate(found.groups)
    ]
    about = f"{found.metric.label}: delta against {view.baseline}"
    title = labelled(f"{about} ({found.metric.direction})", view)
    return [(title, table([*lead, *run])) for run in pieces(each, width - taken(lead))]


def _base(rows: Sequence[Row]) -> Text:
    marked = max((row.baseline for row in rows), key=lambda cell: cell.constant)
    text = _span(row.baseline.text for row in rows)
    return number(Cell(text, marked.constant))


def _span(texts: Iterable[str]) -> str:
    """One number, or from the least to the most where candidates were paired on other queries."""
    found = sorted({t for t in texts if t != fmt.NA}, key=lambda t: float(t.replace(",", "")))
    if len(found) < 2:
        return found[0] if found else fmt.NA
    return f"{found[0]} to {found[-1]}"


def _candidate(model: str, rows: Sequence[Row | None]) -> Column:
    """Deltas under deltas, marks under marks."""
    room = max(cell_len(row.delta.text) for row in rows if row)
    marks = max(cell_len(row.delta.mark) for row in rows if row)
    return Column(model, [_short(row, room, marks) for row in rows], "mark")


def _short(row: Row | None, room: int, marks: int) -> Text:
    if row is None:
        return Text(fmt.NA.rjust(room))
    text = Text(row.delta.text.rjust(room))
    if marks:
        text.append(f" {row.delta.mark.ljust(marks)}", "yellow")
    return text.append(f" {row.short}", STYLES.get(row.tone, ""))
