"""The comparison on a terminal. Text objects only: names never act as markup."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from pipeline.report import _format as fmt
from pipeline.report import _slices
from pipeline.report._layout import (
    GAP,
    STYLES,
    Block,
    Column,
    elided,
    labelled,
    names,
    number,
    pieces,
    table,
    taken,
)
from pipeline.report._verdicts import DecisionView
from pipeline.report._view import LedgerRow, MeansRow, ModelView, View

_COUNTS = (
    ("asked", "asked"),
    ("judged", "judged"),
    ("returned", "returned"),
    ("missing (score worst)", "missing"),
)
_RARE = (
    ("answered with nothing", "empty"),
    ("constant scores", "constant"),
    ("ties at the cutoff", "tied"),
    ("ineligible in the top", "ineligible"),
    ("rows outside the pool", "outside"),
    ("unknown items returned", "foreign"),
)
_LEAST = 76  # below it the terminal wraps lines; columns are not squeezed
_NAMES = 30  # a longer model name folds
_OPEN = 12  # verdicts of one candidate that are listed


def show(view: View, console: Console) -> None:
    """Prints ``view``; the most important last, where a reader's eye is."""
    width = max(console.width, _LEAST)
    _print(console, *_heading(view, width))
    for title, body in _ledgers(view, width):
        _print(console, title, body)
    _print(console, *_rests(view), apart=False)
    if view.warnings:
        _print(console, Text("Warnings", "bold yellow"), *map(_item, view.warnings))
    for title, body in _leaderboards(view, width):
        _print(console, title, body)
    for title, body in _primary(view, width):
        _print(console, title, body)
    _print(console, *(_note(line) for line in view.brief), apart=_several(view))
    _print(console, *_decisions(view))


def _several(view: View) -> bool:
    """Whether the notes belong to more tables than the one above them."""
    return len(view.primary.groups) == 2


def _print(console: Console, *parts: Text | Table | Padding, apart: bool = True) -> None:
    """Prints the parts, under a blank line; no line ends in spaces, nothing is cropped."""
    if parts and apart:
        console.print()
    options = console.options.update(width=max(console.width, _LEAST))
    for part in parts:
        for line in console.render_lines(part, options, pad=False):
            console.print(Segments([*_trimmed(line), Segment.line()]), end="", soft_wrap=True)


def _trimmed(line: list[Segment]) -> list[Segment]:
    while line and not line[-1].text.strip():
        line = line[:-1]
    if line:
        last = line[-1]
        line = [*line[:-1], Segment(last.text.rstrip(), last.style)]
    return line


def _item(line: str) -> Table:
    return _hanging((Text("  -"), 3), (Text(line), None), gap=1)


def _note(line: str) -> Padding:
    return Padding(Text(line, "dim"), (0, 0, 0, 2), expand=False)


def _hanging(*cells: tuple[Text, int | None], gap: int = GAP) -> Table:
    """Cells side by side, each at most so wide; what is too long goes on under its beginning."""
    grid = Table.grid(padding=(0, gap, 0, 0))
    for _, width in cells:
        grid.add_column(overflow="fold", width=width)
    grid.add_row(*(text for text, _ in cells))
    return grid


def _heading(view: View, width: int) -> list[Text | Table]:
    roles = [model.role if view.baseline else "model" for model in view.models]
    role = max(cell_len(text) for text in ("pool", *roles))
    name = min(_NAMES, max(cell_len(model.name) for model in view.models))
    room = width - role - name - 2 * GAP
    pool = view.pool
    about = (
        f"{pool.queries} {view.unit}, {pool.judgments} judgments, {pool.items} items; "
        f"labels: {pool.labels}; as of: {pool.as_of}"
    )
    return [
        _hanging((Text("pool", "bold"), role), (Text(f"{pool.name}@{pool.digest}"), None)),
        _hanging((Text(""), role), (Text(about), None)),
        *(
            _hanging(
                (Text(text, "bold"), role),
                (Text(model.name), name),
                (Text(elided(_origin(model), room), "dim"), None),
            )
            for text, model in zip(roles, view.models, strict=True)
        ),
    ]


def _origin(model: ModelView) -> str:
    """What the model is, without saying its name or anything else twice."""
    parts = [part for part in (model.requested, model.resolved) if part != model.name]
    return " -> ".join(dict.fromkeys(parts))


def _ledgers(view: View, width: int) -> list[Block]:
    """A row a count and a column a model; what is one number for all stands in the title."""
    same = [(words, {getattr(row, field) for row in view.ledger}) for words, field in _COUNTS[:2]]
    joint = all(len(found) == 1 for _, found in same)
    lines = [*_COUNTS[2 * joint :], *(line for line in _RARE if _alarmed(view, line[1]))]
    lead = names("", [*(words for words, _ in lines), *view.judged_at])
    each = [
        Column(
            row.model, [*(_count(row, field) for _, field in lines), *map(number, row.judged_at)]
        )
        for row in view.ledger
    ]
    title = Text(f"Ledger ({view.unit})", "bold")
    if joint:
        counts = ", ".join(f"{next(iter(found))} {words}" for words, found in same)
        title.append(f"  {counts}", "not bold")
    return [(title, table([lead, *run])) for run in pieces(each, width - taken([lead]))]


def _alarmed(view: View, field: str) -> bool:
    return any(field in row.alarms for row in view.ledger)


def _count(row: LedgerRow, field: str) -> Text:
    return Text(getattr(row, field), "yellow" if field in row.alarms else "")


def _rests(view: View) -> list[Padding]:
    """What no model has, and which queries the primary metric leaves out."""
    clear = [words for words, field in _RARE[1:] if not _alarmed(view, field)]
    lines = [_note(f"none: {', '.join(clear)}")] if clear else []
    metric = view.primary.metric
    if ";" in metric.coverage:
        lines.append(_note(f"{metric.label} on all: {metric.coverage}"))
    return lines


def _leaderboards(view: View, width: int) -> list[Block]:
    rows = [row for row in view.leaderboard if row.name not in view.judged_at]
    title = labelled("Means on all (best in bold; not a test)", view)
    better = Column("better", [Text(row.better) for row in rows])
    return _means(rows, view, width, title, lambda lead, n: [lead, better, n], "metric")


def _means(
    rows: Sequence[MeansRow],
    view: View,
    width: int,
    title: Text,
    order: Callable[[Column, Column], list[Column]],
    head: str,
) -> list[Block]:
    if not rows:
        return []
    lead = order(
        names(head, [row.name for row in rows]), Column("n", [Text(row.n) for row in rows])
    )
    each = [
        Column(model.name, [number(row.cells[place]) for row in rows])
        for place, model in enumerate(view.models)
    ]
    return [(title, table([*lead, *run])) for run in pieces(each, width - taken(lead))]


def _primary(view: View, width: int) -> list[Block]:
    found = view.primary
    if found.groups:
        return _slices.compared(found, view, width)
    title = labelled(f"{found.metric.label} ({found.metric.direction}) by slice", view)
    return _means(found.grid, view, width, title, lambda lead, n: [lead, n], "slice")


def _decisions(view: View) -> list[Text | Table]:
    """A line a candidate, the verdicts that it did not pass below it; the whole in one sentence."""
    judged = [decision for decision in view.decisions if decision.rules]
    lines: list[Text | Table] = [Text("Gate", "bold")] if judged else []
    state = max((cell_len(decision.word) for decision in judged), default=0)
    name = min(_NAMES, max((cell_len(decision.model) for decision in judged), default=0))
    for decision in judged:
        lines.append(
            _hanging(
                (Text(decision.word, STYLES[decision.status]), state),
                (Text(decision.model, "bold"), name),
                (Text(_checks(decision, several=len(judged) > 1)), None),
            )
        )
        lines += _open(decision)
    return [*lines, Text(view.headline, STYLES[view.status])]


def _checks(decision: DecisionView, *, several: bool) -> str:
    if decision.p == fmt.NA:
        return decision.checks
    holm = f", after Holm {decision.p_holm}" if several else ""
    return f"{decision.checks}; largest p {decision.p}{holm}"


def _open(decision: DecisionView) -> list[Table]:
    found = decision.open[:_OPEN]
    wide = max((cell_len(rule.word) for rule in found), default=0)
    lines = [
        _hanging(
            (Text(""), 0), (Text(rule.word, STYLES[rule.status]), wide), (Text(rule.line), None)
        )
        for rule in found
    ]
    if len(decision.open) > _OPEN:
        more = f"{len(decision.open) - _OPEN:,} more in report.html"
        lines.append(_hanging((Text(""), 0), (Text(more, "dim"), None)))
    return lines
