"""The comparison on a terminal. Text objects only: names never act as markup."""

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from pipeline.report import _format as fmt
from pipeline.report._rows import Cell, Row
from pipeline.report._verdicts import DecisionView, RuleRow
from pipeline.report._view import Group, LedgerRow, MeansRow, View

Block = tuple[Text, Table]  # a title and its table

_STYLES = {
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
_LEDGER = (
    ("asked", "asked"),
    ("judged", "judged"),
    ("returned", "returned"),
    ("missing (score worst)", "missing"),
    ("constant scores", "constant"),
    ("tied at the cutoff", "tied"),
    ("ineligible in the top", "ineligible"),
    ("rows outside the pool", "outside"),
    ("unknown items returned", "foreign"),
)
_LEAST = 76  # below it the terminal wraps lines; columns are not squeezed
_HEAD = 16  # a longer heading folds
_NAMES = 24  # room that a slice's name and its verdict need; else a row takes two lines


def show(view: View, console: Console) -> None:
    """Prints ``view``; the most important last, where a reader's eye is."""
    width = max(console.width, _LEAST)
    _print(console, _heading(view))
    _print(console, _models(view))
    for block in _ledgers(view, width):
        _print(console, *block)
    if view.warnings:
        _print(console, Text("Warnings", "bold yellow"), *map(_item, view.warnings))
    for block in _leaderboards(view, width):
        _print(console, *block)
    for block in _primary(view, width):
        _print(console, *block)
    _print(console, *(_item(line, "dim") for line in view.legend))
    for decision in view.decisions:
        _print(console, *_open(decision))
    _print(console, *_decisions(view))


def _print(console: Console, *parts: Text | Table | Padding) -> None:
    """Prints the parts under a blank line; no line ends in spaces, nothing is cropped."""
    if parts:
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


def _item(line: str, style: str = "") -> Padding:
    return Padding(Text(f"- {line}", style), (0, 0, 0, 2), expand=False)


def _heading(view: View) -> Text:
    pool = view.pool
    return Text.assemble(
        ("pool ", "bold"),
        f"{pool.name}@{pool.digest}  {pool.queries} {view.unit}, {pool.judgments} judgments, "
        f"{pool.items} items, labels: {pool.labels}, as of: {pool.as_of}",
    )


def _models(view: View) -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(overflow="fold")
    for model in view.models:
        same = model.requested == model.resolved
        resolved = model.requested if same else f"{model.requested} -> {model.resolved}"
        role = Text(model.role if view.baseline else "model", "bold")
        table.add_row(role, Text(model.name), Text(resolved, "dim"))
    return table


def _table(heads: Sequence[str], rows: Sequence[Sequence[Text]], gap: int = 2) -> Table:
    """Names left, in the first column and a verdict's; they fold. Numbers right, always whole."""
    table = Table(box=None, padding=(0, gap, 0, 0), header_style="bold")
    for place, head in enumerate(heads):
        if place and head != "verdict":
            least = _widest(place, head, rows)
            table.add_column(Text(head), justify="right", overflow="fold", width=least)
        else:
            table.add_column(Text(head), overflow="fold", min_width=8)
    for row in rows:
        table.add_row(*row)
    return table


def _widest(place: int, head: str, rows: Sequence[Sequence[Text]]) -> int:
    """Width of a column whose cells stand whole and whose heading may fold."""
    lines = (line for row in rows for line in row[place].plain.split("\n"))
    return max([min(len(head), _HEAD), *map(cell_len, lines)])


def _pieces(names: Sequence[str], cells: Iterable[Text], room: int) -> list[range]:
    """Places of ``names`` in runs whose columns fit into ``room``."""
    each = 2 + max(
        [*(cell_len(cell.plain) for cell in cells), *(min(len(n), _HEAD) for n in names)]
    )
    fit = max(1, room // each)
    return [range(start, min(start + fit, len(names))) for start in range(0, len(names), fit)]


def _ledgers(view: View, width: int) -> list[Block]:
    """A table with a row a count and a column a model, as many tables as the width asks for."""
    names = [row.model for row in view.ledger]
    lines = [(words, [_count(row, field) for row in view.ledger]) for words, field in _LEDGER]
    for place, label in enumerate(view.judged_at):
        lines.append((label, [_cell(row.judged_at[place]) for row in view.ledger]))
    cells = [cell for _, row in lines for cell in row]
    found = []
    for places in _pieces(names, cells, width - 24):
        heads = ["", *(names[place] for place in places)]
        rows = [[Text(words), *(row[place] for place in places)] for words, row in lines]
        found.append((Text(f"Ledger ({view.unit})", "bold"), _table(heads, rows)))
    return found


def _count(row: LedgerRow, field: str) -> Text:
    return Text(getattr(row, field), "yellow" if field in row.alarms else "")


def _cell(cell: Cell, apart: str = " ") -> Text:
    text = Text(cell.text, "bold" if cell.best else "")
    if cell.mark:
        text.append(f"{apart}{cell.mark}", "yellow not bold")
    return text


def _labelled(title: str, view: View) -> Text:
    text = Text(title, "bold")
    return text.append(f"  {view.labels}", "yellow not bold") if view.labels else text


def _leaderboards(view: View, width: int) -> list[Block]:
    title = _labelled("Means on all (best in bold; not a test)", view)
    return _means(view.leaderboard, view, width, title, "metric")


def _means(rows: Sequence[MeansRow], view: View, width: int, title: Text, name: str) -> list[Block]:
    names = [model.name for model in view.models]
    lead = ["better", "n"] if name == "metric" else ["n"]
    cells = [_cell(cell) for row in rows for cell in row.cells]
    found = []
    for places in _pieces(names, cells, width - 36):
        heads = [name, *lead, *(names[place] for place in places)]
        body = [
            [
                Text(row.name),
                *(Text(getattr(row, field)) for field in lead),
                *(_cell(row.cells[place]) for place in places),
            ]
            for row in rows
        ]
        found.append((title, _table(heads, body)))
    return found


def _primary(view: View, width: int) -> list[Block]:
    if view.primary is None:
        return []
    about = f"{view.primary.metric.label} ({view.primary.metric.direction})"
    if not view.primary.groups:
        title = _labelled(f"{about} by slice", view)
        return _means(view.primary.grid, view, width, title, "slice")
    return [_group(group, about, view, width) for group in view.primary.groups]


def _group(group: Group, about: str, view: View, width: int) -> Block:
    title = _labelled(f"{about}: {group.model} against {view.baseline}", view)
    ci = f"delta [{view.level} CI]"
    heads = ["slice", "n", "baseline", "candidate", ci, "p adj", "W/T/L", "verdict"]
    rows = [[Text(row.slice), *_wide(row), _mark(row)] for row in group.rows]
    numbers = sum(2 + _widest(place, heads[place], rows) for place in range(1, 7))
    if numbers + _NAMES <= width:
        return title, _table(heads, rows)
    heads = ["slice", "n", "base", "cand", ci, "p adj, W/T/L", "verdict"]
    rows = [[Text(row.slice), *_narrow(row), _mark(row)] for row in group.rows]
    return title, _table(heads, rows, gap=1)


def _wide(row: Row) -> list[Text]:
    delta = _cell(row.delta)
    if row.ci != fmt.NA:
        delta.append(f" {row.ci}")
    return [
        Text(row.n),
        _cell(row.baseline),
        _cell(row.model),
        delta,
        Text(row.p),
        Text(row.wtl),
    ]


def _narrow(row: Row) -> list[Text]:
    delta = _cell(row.delta)
    if row.ci != fmt.NA:
        delta.append(f"\n{row.ci}")
    means = [_cell(row.baseline, "\n"), _cell(row.model, "\n")]
    return [Text(row.n), *means, delta, Text(f"{row.p}\n{row.wtl}")]


def _mark(row: Row) -> Text:
    return Text(row.mark, _STYLES.get(row.tone, ""))


def _open(decision: DecisionView) -> list[Text | Padding]:
    if not decision.open:
        return []
    head = Text.assemble(("Not passed: ", "bold"), (decision.model, "bold"))
    return [head, *(_rule(rule) for rule in decision.open)]


def _decisions(view: View) -> list[Text]:
    lines = []
    for decision in view.decisions:
        line = Text.assemble((decision.word, _STYLES[decision.status]), "  ", decision.sentence)
        if decision.p != fmt.NA:
            line.append(f" p {decision.p} (largest), {decision.p_holm} after Holm over candidates.")
        lines.append(line)
    if len(view.decisions) != 1:
        lines.append(Text(view.headline, _STYLES[view.status]))
    return lines


def _rule(rule: RuleRow) -> Padding:
    text = Text.assemble(
        (rule.word, _STYLES[rule.status]),
        f" {rule.rule}: {rule.metric} on {rule.slice}: {rule.value}",
        f" {rule.ci}" if rule.ci != fmt.NA else "",
        f", limit {rule.limit}" if rule.limit != fmt.NA else "",
        f", n {rule.n}",
    )
    text.append(f"\n  {rule.reason}", "dim")
    return Padding(text, (0, 0, 0, 2), expand=False)
