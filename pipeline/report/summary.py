"""summary.md: the verdict and its tables, for a comment on a change that is updated in place."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from pipeline.report import _format as fmt
from pipeline.report._rows import Cell, Row
from pipeline.report._verdicts import DecisionView
from pipeline.report._view import MeansRow, View

MARKER = "<!-- samepool:summary -->"
_LIMIT = 65_536  # characters in a comment on GitHub
_SPARE = 1_000
_ROWS = 40
_ICONS = {
    "pass": "\u2705",
    "fail": "\u274c",
    "inconclusive": "\u2754",
    "invalid": "\u26d4",
    "no_criteria": "\u2796",
}
_PLAIN = frozenset(" .,:;-+=()/'%?@")
_STRICT = frozenset(" -")
# Words with these would become mentions, issue links, addresses or formulas.
_LIVE = re.compile(r"\S*(?:[@#$]|://|www\.)\S*(?<![.,;:])")
_ADDRESS = re.compile(r"://|www\.", re.IGNORECASE)
_INWARD = re.compile(r"(?<=[0-9A-Za-z])_(?=[0-9A-Za-z])")  # an underscore that is no emphasis


@dataclass(frozen=True, slots=True)
class Summary:
    """Markdown for GitHub; its first line never changes, so that a bot finds its own comment."""

    name: ClassVar[str] = "summary.md"

    def render(self, view: View) -> str:
        """The document; sections that would not fit are named, not cut in the middle."""
        text, left = "", []
        for title, section in _sections(view):
            if len(text) + len(section) < _LIMIT - _SPARE:
                text += section + "\n"
            else:
                left.append(title)
        if left:
            text += f"\nLeft out for length: {', '.join(left)}. See report.html.\n"
        return text


def code(text: str, width: int = 100) -> str:
    """A name, to be shown as it is: nothing in it is Markdown, HTML, a mention or a link."""
    short = text if len(text) <= width else f"{text[: width // 2]}...{text[-width // 2 :]}"
    plain = _STRICT if _ADDRESS.search(short) else _PLAIN
    return f"<code>{_entities(short, plain)}</code>"


def prose(text: str, width: int = 600) -> str:
    """A sentence: words that GitHub would turn into mentions or links are shown as code."""
    short = text if len(text) <= width else f"{text[:width]}..."
    pieces, end = [], 0
    for match in _LIVE.finditer(short):
        pieces += [_entities(short[end : match.start()]), code(match[0])]
        end = match.end()
    return "".join([*pieces, _entities(short[end:])])


def _entities(text: str, plain: frozenset[str] = _PLAIN) -> str:
    inward = {match.start() for match in _INWARD.finditer(text)}
    return "".join(
        char
        if char.isalnum() or char in plain or ord(char) > 127 or at in inward
        else _entity(char)
        for at, char in enumerate(text)
    )


def _entity(char: str) -> str:
    return f"&#{ord(char)};"


def _sections(view: View) -> Iterable[tuple[str, str]]:
    yield "heading", _heading(view)
    for decision in view.decisions:
        if decision.rules:
            folded = decision.status == "pass" and len(view.decisions) > 1
            yield f"rules of {prose(decision.model, 60)}", _rules(decision, folded=folded)
    for group in view.primary.groups:
        yield f"slices of {prose(group.model, 60)}", _slices(group.model, group.rows, view)
    if not view.primary.groups:
        yield "slices", _grid("slice", view.primary.grid, view)
    yield "means", _grid("metric", view.leaderboard, view)
    yield "warnings", _bullets("Warnings", [prose(line) for line in view.warnings])
    yield "details", _details(view)


def _heading(view: View) -> str:
    pool, icon = view.pool, _ICONS[view.status]
    against = f" Baseline: {code(view.baseline)}." if view.baseline else ""
    lines = [MARKER, f"### {icon} {prose(view.headline)}", ""]
    if len(view.decisions) > 1:
        shown = (f"- {_ICONS[d.status]} {prose(d.sentence)}" for d in view.decisions[:_ROWS])
        lines += [*shown, ""]
    lines.append(
        f"Pool {code(f'{pool.name}@{pool.digest}')}: {pool.queries} {view.unit}, "
        f"{pool.judgments} judgments, {pool.items} items; labels: {prose(pool.labels, 100)}; "
        f"as of: {prose(pool.as_of, 100)}.{against}"
    )
    return "\n".join([*lines, ""])


def _titled(title: str, body: str, *, folded: bool) -> str:
    """A table below its title; folded: opened by a click, as what only long comments have."""
    if folded:
        return f"<details><summary>{title}</summary>\n\n{body}\n</details>\n"
    return f"**{title}**\n\n{body}"


def _rules(decision: DecisionView, *, folded: bool) -> str:
    rows = [
        (
            f"{_ICONS[rule.status]} {rule.word}",
            code(rule.rule),
            code(rule.metric) if rule.metric else "",
            code(rule.slice) if rule.slice else "",
            rule.n,
            rule.value,
            rule.limit,
            rule.ci,
            prose(rule.why),
        )
        for rule in decision.rules
    ]
    head = ("verdict", "rule", "metric", "slice", "n", "value", "limit", "interval", "reason")
    title = f"Rules: {prose(decision.model, 100)}"
    return _titled(title, _table(head, rows, "lllleeeel"), folded=folded)


def _slices(model: str, rows: Sequence[Row], view: View) -> str:
    metric = view.primary.metric
    labels = f" ({prose(view.labels)})" if view.labels else ""
    title = f"{code(metric.label)} by slice: {code(model)}{labels}; {metric.direction}"
    head = ("slice", "n", "baseline", "candidate", "delta", f"{view.level} CI", "p", "W/T/L", "")
    body = [
        (
            code(row.slice),
            row.n,
            _cell(row.baseline),
            _cell(row.model),
            _cell(row.delta),
            row.ci,
            _entities(row.p),  # it may begin with a sign that HTML would read
            row.wtl,
            row.mark,
        )
        for row in rows
    ]
    return _titled(title, _table(head, body, "leeeeeeel"), folded=view.primary.beside)


def _cell(cell: Cell) -> str:
    text = f"**{cell.text}**" if cell.best else cell.text
    return f"{text} <sub>{cell.mark}</sub>" if cell.mark else text


def _grid(name: str, rows: Sequence[MeansRow], view: View) -> str:
    labels = f" ({prose(view.labels)})" if view.labels else ""
    head = (name, "n", *(code(model.name, 60) for model in view.models))
    body = [
        (code(row.name) + f" {row.arrow}", row.n, *(_cell(cell) for cell in row.cells))
        for row in rows
    ]
    what = "on all; best in bold, not a test" if name == "metric" else "by slice"
    return f"**Means {what}**{labels}\n\n" + _table(head, body, "l" + "e" * (len(head) - 1))


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    rule = ("--:" if letter == "e" else "---" for letter in align)
    lines = [_line(head), _line(list(rule)), *(_line(row) for row in rows[:_ROWS])]
    if len(rows) > _ROWS:
        lines += ["", f"{fmt.counted(len(rows) - _ROWS, 'more row')} in report.html."]
    return "\n".join([*lines, ""])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _bullets(title: str, lines: Sequence[str]) -> str:
    if not lines:
        return ""
    more = [f"- {len(lines) - _ROWS:,} more in report.html"] if len(lines) > _ROWS else []
    return "\n".join([f"**{title}**", "", *(f"- {x}" for x in lines[:_ROWS]), *more, ""])


def _defined(name: str, words: str) -> str:
    return f"{code(name)}: {prose(words or 'no words given')}"


def _details(view: View) -> str:
    rows = [
        (
            code(row.model),
            row.asked,
            row.judged,
            row.returned,
            row.missing,
            row.empty,
            row.constant,
            row.tied,
            row.ineligible,
            *(_cell(cell) for cell in row.judged_at),
        )
        for row in view.ledger
    ]
    counts = (
        "model", "asked", "judged", "returned", "missing", "empty", "constant", "tied",
        "ineligible",
    )  # fmt: skip
    head = (*counts, *(code(label) for label in view.judged_at))
    parts = [
        "<details><summary>Ledger, definitions and reading</summary>\n",
        _table(head, rows, "l" + "e" * (len(head) - 1)),
        _bullets("Reading", [prose(line) for line in view.legend]),
        _bullets("Slices", [_defined(s.name, s.definition) for s in view.slices]),
        _bullets(
            "Metrics", [_defined(m.label, f"{m.formula}; {m.direction}") for m in view.metrics]
        ),
        _bullets("Conventions", [_defined(f.name, f.value) for f in view.conventions]),
        _bullets("Notes", [prose(line) for line in view.notes]),
        "</details>\n",
    ]
    return "\n".join(part for part in parts if part)


PLUGIN = Summary
