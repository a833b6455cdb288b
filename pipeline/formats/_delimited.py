"""Text with a header and a delimiter."""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from pipeline.core.problems import Problem, SamepoolError
from pipeline.formats._columns import as_qrels, as_run, is_text, unique_names
from pipeline.formats._numbers import typed
from pipeline.formats._places import stamp
from pipeline.formats._source import Source, one_line

_EXAMPLES = 3
_SAMPLE = 200
_BLOCK = 1 << 22
_QUOTE = ord('"')
_SINGLE = frozenset({"grade", "score", "rank"})  # besides ids, columns that hold no prose


@dataclass(frozen=True, slots=True)
class Dialect:
    """How fields are told apart.

    Attributes:
        name: of the format, for messages.
        delimiter: one character.
        quoting: whether fields may stand in double quotes, with line ends inside.
    """

    name: str
    delimiter: str
    quoting: bool


def table(source: Source, dialect: Dialect) -> pa.Table:
    """All columns, each of the type that its values share; ids and text as strings."""
    found = _strings(source, dialect, all_columns=False)
    columns = {
        name: found[name] if is_text(name) else typed(found[name]) for name in found.column_names
    }
    return pa.table(columns).replace_schema_metadata(found.schema.metadata)


def qrels(source: Source, dialect: Dialect) -> pa.Table:
    """Judgments."""
    return as_qrels(source, _strings(source, dialect, all_columns=True))


def run(source: Source, dialect: Dialect) -> pa.Table:
    """Scored lists."""
    return as_run(source, _strings(source, dialect, all_columns=True))


def _strings(source: Source, dialect: Dialect, *, all_columns: bool) -> pa.Table:
    """All columns as strings; empty fields null.

    Line ends are refused in ids and numbers, or in all columns: in tables of attributes, prose
    may have them.
    """
    raw = source.data().to_pybytes()
    names = _header(source, raw, dialect)
    multiline = _check_quotes(source, raw, dialect)
    try:
        found, wrong = _parse(raw, dialect, names, multiline=multiline)
    except pa.ArrowInvalid as error:
        raise _bad(source, raw, one_line(error)) from error
    if multiline:
        single = [name for name in names if all_columns or name.endswith("_id") or name in _SINGLE]
        _check_line_ends(source, raw, dialect, found, single)
    # Line ends inside quotes and blank lines make more lines than rows.
    n_lines = raw.count(b"\n") + (not raw.endswith(b"\n"))
    by_line = found.num_rows + len(wrong) + 1 == n_lines
    unit, first = ("line", 2) if by_line else ("row", 1)
    gaps = np.array([row.number + first - 2 for row in wrong], np.int64)
    found = stamp(found, source.path, unit, first, gaps)
    _note_widths(source, wrong, unit, first - 2)
    if not dialect.quoting:
        _note_quotes(source, found)
    return found


def _header(source: Source, raw: bytes, dialect: Dialect) -> list[str]:
    text = raw[: 1 << 20].decode(errors="ignore")
    lines = io.StringIO(text, newline="")
    try:
        rows = (
            csv.reader(lines, delimiter=dialect.delimiter)
            if dialect.quoting
            else csv.reader(lines, delimiter=dialect.delimiter, quoting=csv.QUOTE_NONE)
        )
        names = next((row for row in rows if row), [])
    except csv.Error as error:
        raise source.fault("bad_csv", f"the header cannot be read: {one_line(error)}") from error
    if not names:
        raise source.fault("no_header", "is empty", "the first line must name the columns")
    unique_names(source, names)
    if "" in names:
        raise source.fault("unnamed_column", "a column has no name", "name it in the first line")
    return names


def _check_quotes(source: Source, raw: bytes, dialect: Dialect) -> bool:
    """Whether quoted fields may hold line ends; raises where a quote is out of place.

    An open quote would swallow the rows after it, silently.
    """
    if not dialect.quoting or b'"' not in raw:
        return False
    if not _regular(raw, dialect):
        start = 1
        try:
            for line, _ in _strictly(raw, dialect):
                start = line
        except csv.Error as error:
            text = f"a double quote is not closed or not doubled ({one_line(error)})"
            fix = 'close it, or write " inside quotes as ""'
            raise source.fault("open_quote", text, fix, where=f"line {start}") from error
    return True


def _regular(raw: bytes, dialect: Dialect) -> bool:
    """Whether every quote opens a field, closes one, or is doubled; spares the slow reader.

    Of the quotes of such a file, every other one opens: it follows a border of fields, or the
    quote that it doubles.
    """
    view = np.frombuffer(raw, np.uint8)
    at = np.flatnonzero(view == _QUOTE)
    if len(at) % 2:
        return False
    borders = np.zeros(256, bool)
    borders[[_QUOTE, ord(dialect.delimiter), 10, 13]] = True
    opening, closing = at[::2], at[1::2]
    before = borders[view[opening[opening > 0] - 1]]
    after = borders[view[closing[closing + 1 < len(view)] + 1]]
    return bool(before.all() and after.all())


def _strictly(raw: bytes, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Rows as the standard library reads them, with the line on which the next one starts."""
    lines = io.StringIO(raw.decode(errors="replace"), newline="")
    limit = csv.field_size_limit(len(raw) + 1)
    try:
        reader = csv.reader(lines, delimiter=dialect.delimiter, strict=True)
        for row in reader:
            yield reader.line_num + 1, row
    finally:
        csv.field_size_limit(limit)


def _check_line_ends(
    source: Source, raw: bytes, dialect: Dialect, found: pa.Table, names: Iterable[str]
) -> None:
    """Raises where a field that holds no prose has a line end: an open quote swallowed rows.

    Raises:
        SamepoolError: a line end in a field of one of the columns.
    """
    bad = [name for name in names if _any_line_end(found[name])]
    if not bad:
        return
    places = [found.column_names.index(name) for name in bad]
    start = 1
    for line, row in _strictly(raw, dialect):
        if any(p < len(row) and re.search(r"[\r\n]", row[p]) for p in places):
            break
        start = line
    text = f"a field of column {', '.join(bad)} has a line end in it: a quote is not closed"
    fix = "close the quote, or remove the line end"
    raise source.fault("line_end_in_field", text, fix, where=f"line {start}")


def _any_line_end(column: pa.ChunkedArray) -> bool:
    found = pc.match_substring_regex(column, r"[\r\n]")
    return bool(pc.any(found, min_count=0).as_py())


def _parse(
    raw: bytes, dialect: Dialect, names: list[str], *, multiline: bool
) -> tuple[pa.Table, list[pacsv.InvalidRow]]:
    """The rows of the header's width as strings, and the others."""
    wrong: list[pacsv.InvalidRow] = []

    def skip(row: pacsv.InvalidRow) -> str:
        wrong.append(row)
        return "skip"

    parse = pacsv.ParseOptions(
        delimiter=dialect.delimiter,
        quote_char='"' if dialect.quoting else False,
        double_quote=dialect.quoting,
        newlines_in_values=multiline,
        ignore_empty_lines=True,
        invalid_row_handler=skip,
    )
    convert = pacsv.ConvertOptions(
        column_types={name: pa.string() for name in names},
        null_values=[""],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )
    # Only a single thread knows the numbers of wrong rows: a second reading, where there are any.
    for threads in (True, False):
        wrong.clear()
        read = pacsv.ReadOptions(use_threads=threads, block_size=_BLOCK)
        found = pacsv.read_csv(pa.BufferReader(raw), read, parse, convert)
        if not wrong:
            break
    return found, wrong


def _bad(source: Source, raw: bytes, why: str) -> SamepoolError:
    """The error for bytes that Arrow cannot read."""
    try:
        raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        text = f"{raw[error.start : error.start + 1]!r} is not UTF-8"
        return source.fault("not_utf8", text, "convert the file to UTF-8", where=f"line {line}")
    return source.fault("bad_csv", why)


def _note_widths(source: Source, wrong: list[pacsv.InvalidRow], unit: str, shift: int) -> None:
    if not wrong:
        return
    first = wrong[0]
    text = f"expected {first.expected_columns} fields as in the header, got {first.actual_columns}"
    rest = wrong[1 : 1 + _EXAMPLES]
    examples = tuple(f"{unit} {row.number + shift}: {row.actual_columns} fields" for row in rest)
    where = f"{unit} {first.number + shift}"
    source.problems.append(
        Problem(
            "wrong_field_count", "error", text, "", str(source.path), where, examples, len(wrong)
        )
    )


def _note_quotes(source: Source, found: pa.Table) -> None:
    """Warns where TSV fields stand in quotes: TSV has no quoting, so they are part of the value."""
    head = found.slice(0, _SAMPLE)
    for name in head.column_names:
        quoted = pc.match_substring_regex(head[name], r'^".*"$')
        if len(head) and pc.all(quoted, min_count=1).as_py():
            text = f"the values of {name} stand in double quotes, which are read as part of them"
            fix = "write TSV without quotes, or CSV"
            source.problems.append(Problem("quoted_tsv", "warning", text, fix, str(source.path)))
