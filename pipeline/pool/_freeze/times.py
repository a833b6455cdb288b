"""Tables without the time by which they are cut: said, or refused, but never passed over."""

import re
from difflib import get_close_matches

import pyarrow as pa

from pipeline.core.problems import Problem
from pipeline.pool._freeze.options import TIMES
from pipeline.pool._freeze.plan import Plan
from pipeline.pool._freeze.shapes import SHAPES
from pipeline.pool._freeze.sources import Source

_SHOWN = 12
_LIKE = 0.76  # test, next and intent are attributes, txt is a slip
_WORDS = frozenset(
    ("at", "ts", "time", "timestamp", "datetime", "date", "day", "when",
     "created", "added", "issued", "published", "released")
)  # fmt: skip
_KEPT = "old_"  # how a column is kept under another name, as our own advice has it


def timelike(source: Source) -> tuple[str, ...]:
    """Columns that mean nothing to us and are times by their type or, it seems, by their name."""
    known = SHAPES[source.table].known()
    return tuple(
        name
        for name in source.names()
        if name not in known
        and any(_looks(name, source.kind_of(part, name)) for part in source.parts)
    )


def _theirs(source: Source) -> list[str]:
    """The same by their names in the files, as a mapping needs them."""
    return [source.renamed.get(name, name) for name in timelike(source)]


def _looks(name: str, kind: pa.DataType | None) -> bool:
    if kind is None or pa.types.is_boolean(kind):
        return False
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return True
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", name)
    return not _WORDS.isdisjoint(word.lower() for word in words)


def uncuttable(source: Source, plan: Plan) -> list[Problem]:
    """What is to be cut by a time that the table does not have, or says that it has not."""
    table, time = source.table, TIMES.get(source.table)
    if time is None:
        return []
    file, option = source.files[0], f"columns.{table}"
    if table in plan.undated:
        if time not in source.names():
            return []
        text = f"{option}.{time} is null, but there is a column {time}"
        fix = f"leave that out, or {option}={{{time}: null, {_KEPT}{time}: {time}}}"
        return [Problem("bad_option", "error", text, fix, file)]
    cut = table == "queries" or (table == "qrels" and plan.settings.judgments_until_as_of)
    if time in source.names() or not cut:
        return []
    near = _theirs(source)
    there = f"; there are: {', '.join(source.names()[:_SHOWN])}"
    if near:
        there = f"; {', '.join(near)} look{'s' * (len(near) == 1)} like a time"
    fix = f"{option}={{{time}: {near[0] if near else 'THEIR_NAME'}}}"
    by = "judgments_until_as_of"
    if table == "queries":
        by = "as_of and evaluate_from" if plan.evaluate_from is not None else "as_of"
        fix += f"; {option}={{{time}: null}} if no query has a time, and all are to be kept"
    text = f"no column {time}, by which {by} would cut the {table}{there}"
    return [Problem("undated", "error", text, fix, file)]


def notes(source: Source, plan: Plan) -> list[Problem]:
    """What is not cut for want of a time, where that is no error."""
    table, time = source.table, TIMES.get(source.table)
    if time is None or time in source.names():
        return []
    file, near = source.files[0], _theirs(source)
    if table in plan.undated:
        text = f"declared to have no {time}: none of the {table} are cut at as_of"
        return [] if table == "qrels" else [Problem("undated", "note", text, "", file)]
    if not near:
        text = f"no column {time}: none of the items are cut at as_of"
        return [] if table == "qrels" else [Problem("undated", "note", text, "", file)]
    what = "no judgments are counted or cut by it" if table == "qrels" else "no items are cut by it"
    text = f"column {near[0]} looks like a time, but is not used: {what}"
    fix = f"columns.{table}={{{time}: {near[0]}}}, or {{{time}: null}} if it is something else"
    return [Problem("time_not_used", "note" if table == "qrels" else "warning", text, fix, file)]


def misnamed(source: Source) -> list[Problem]:
    """Names given by the user that were meant to be another: they would be mere attributes."""
    shape, option = SHAPES[source.table], f"columns.{source.table}"
    elsewhere = {time for other in SHAPES.values() for time in other.times} - {*shape.known()}
    problems = []
    for ours, theirs in source.renamed.items():
        if ours in shape.known() or ours.startswith(_KEPT):
            continue
        meant = _meant(source, ours, time=ours in elsewhere)
        if not meant and ours not in elsewhere:
            continue
        means = "is a column of other tables" if ours in elsewhere else "means nothing here"
        shown = " or ".join(f"{option}={{{name}: {theirs}}}" for name in meant)
        fix = f"did you mean {shown}? " if meant else ""
        fix += f"an attribute of your own needs another name, e.g. their_{ours}"
        text = f"{option}.{ours}: {ours} {means}"
        problems.append(Problem("unknown_column", "error", text, fix, source.files[0]))
    return problems


def _meant(source: Source, ours: str, *, time: bool) -> list[str]:
    """Columns that the table could have, and has not, of which a name may be a slip."""
    shape, have = SHAPES[source.table], source.names()
    lacks = [name for name in shape.known() if name not in have]
    if time:
        return [name for name in lacks if name in shape.times][:1]
    near = get_close_matches(ours.casefold(), lacks, cutoff=_LIKE)
    return near or [name for name in lacks if name.startswith(f"{ours.casefold()}_")]
