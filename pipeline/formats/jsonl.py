"""JSON lines: one object a line.

Read value by value: Arrow's own JSON reader would turn ids that look like dates into dates.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import I64
from pipeline.core.problems import Problem
from pipeline.formats._columns import as_qrels, as_run, is_text, not_exact
from pipeline.formats._exact import holds
from pipeline.formats._places import place, stamp
from pipeline.formats._source import Source, one_line

_EXAMPLES = 3
_SHOWN = 40


@dataclass(frozen=True)
class Jsonl:
    """JSON lines."""

    suffixes: ClassVar[tuple[str, ...]] = (".jsonl", ".ndjson")

    def table(self, source: Source) -> pa.Table:
        """All columns of an attribute table; integers in id columns become their digits."""
        return _read(source)

    def qrels(self, source: Source) -> pa.Table:
        """Judgments of keys query_id, item_id, grade."""
        return as_qrels(source, _read(source))

    def run(self, source: Source) -> pa.Table:
        """Scored lists of keys query_id, item_id, score, rank."""
        return as_run(source, _read(source))


PLUGIN = Jsonl


def _read(source: Source) -> pa.Table:
    lines = source.data().to_pybytes().split(b"\n")
    bad: list[tuple[int, str]] = []
    numbered = list(_objects(lines, bad))
    _note_bad(source, bad)
    taken = {number for number, _ in numbered}
    gaps: I64 = np.array([n for n in range(1, len(lines) + 1) if n not in taken], np.int64)
    rows = [row for _, row in numbered]
    names = dict.fromkeys(name for row in rows for name in row)
    # A table without columns has no rows to count either; the stamp needs them for its messages.
    blank = stamp(pa.table({"": pa.nulls(len(rows))}), source.path, "line", 1, gaps)
    columns = {
        name: _column(source, blank, name, [row.get(name) for row in rows]) for name in names
    }
    return pa.table(columns).replace_schema_metadata(blank.schema.metadata)


def _objects(
    lines: list[bytes], bad: list[tuple[int, str]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line, object_pairs_hook=_pairs, parse_float=_float)
        except (ValueError, RecursionError) as error:
            bad.append((number, one_line(error)))
            continue
        if isinstance(row, dict):
            yield number, row
        else:
            bad.append((number, "not an object"))


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice")
    return found


def _note_bad(source: Source, bad: list[tuple[int, str]]) -> None:
    if not bad:
        return
    number, why = bad[0]
    text = f"not a JSON object: {why}"
    examples = tuple(f"line {n}" for n, _ in bad[1 : 1 + _EXAMPLES])
    source.problems.append(
        Problem(
            "bad_json", "error", text, "write one JSON object a line", str(source.path),
            f"line {number}", examples, len(bad),
        )
    )  # fmt: skip


def _column(source: Source, blank: pa.Table, name: str, values: list[Any]) -> pa.Array:
    if is_text(name):
        bad = [i for i, v in enumerate(values) if not _is_id(v)]
        if bad:
            text = f"{name} is {json.dumps(values[bad[0]])}, not a string"
            source.error("id_not_text", text, "quote it", where=place(blank, bad[0])[1])
        values = [v if v is None else str(v) if _is_id(v) else json.dumps(v) for v in values]
    try:
        return pa.array(values, pa.string() if is_text(name) else None, from_pandas=False)
    except (pa.ArrowException, UnicodeEncodeError, OverflowError) as error:
        if {type(v) for v in values} <= {int, float, type(None)}:
            return _numbers(source, blank, name, values)
        kinds = sorted({type(v).__name__ for v in values if v is not None})
        text = f"the values of {name} are of mixed kinds ({', '.join(kinds)}), or no sound text"
        raise source.fault("mixed_types", text, f"write {name} alike in every line") from error


def _numbers(source: Source, blank: pa.Table, name: str, values: list[Any]) -> pa.Array:
    """Numbers of which some are no int64; an integer that no float64 holds is an error."""
    bad = [i for i, v in enumerate(values) if type(v) is int and not holds(v)]
    if bad:
        not_exact(source, blank, name, _short(values[bad[0]]), np.array(bad))
    lost = set(bad)
    found = [None if v is None else 0.0 if i in lost else float(v) for i, v in enumerate(values)]
    return pa.array(found, pa.float64())


def _is_id(value: Any) -> bool:
    """A string, null, or an integer, whose digits JSON writes in one way only."""
    return value is None or isinstance(value, str) or type(value) is int


def _float(text: str) -> float:
    found = float(text)
    if found == 0 and any(digit in "123456789" for digit in text.casefold().partition("e")[0]):
        raise ValueError(f"the number {_short(text)} is too small for a float64")
    return found


def _short(number: object) -> str:
    text = str(number)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text)} characters)"
