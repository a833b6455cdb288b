"""TREC text: qrels of four fields, runs of six, separated by ASCII white space.

Only ASCII white space separates, as in trec_eval: a no-break space is part of an id. Files whose
fields are separated by one space or one tab throughout are parsed by Arrow in place, others after
their white space has been evened out; those with blank or wrong lines are read line by line, with
the same result.
"""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from pipeline.core.arrays import I64, U8
from pipeline.core.problems import Problem
from pipeline.formats._columns import finite, grades, numbers, ranks
from pipeline.formats._exact import changed_texts, suspects
from pipeline.formats._places import place, skip_first, stamp
from pipeline.formats._source import Source

_HEAD = 1 << 16
_PIECE = 1 << 18  # bytes looked at together; fits the processor's cache
_BLOCK = 1 << 22
_BATCH = 100_000
_TO_SPACE = bytes.maketrans(b"\t\v\f\r", b"    ")
_EXAMPLES = 3
_TYPES = {"grade": pa.float64(), "score": pa.float64(), "rank": pa.int32()}
_HEADER_WORDS = frozenset({
    "query", "query_id", "queryid", "query-id", "qid", "topic", "iter", "iteration", "q0", "item",
    "item_id", "docid", "doc_id", "docno", "document", "corpus-id", "rel", "relevance", "grade",
    "rating", "label", "rank", "score", "sim", "tag", "run", "run_id",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Layout:
    """Where a kind of line has what."""

    what: str
    other: str
    width: int
    more: bool  # whether fields past the width are tolerated, as trec_eval does
    names: tuple[str, ...]
    taken: tuple[str, ...]
    value: str


_QRELS = _Layout(
    what="qrels",
    other="a run, not judgments",
    width=4,
    more=False,
    names=("query_id", "_iter", "item_id", "grade"),
    taken=("query_id", "item_id", "grade"),
    value="grade",
)
_RUN = _Layout(
    what="run",
    other="judgments, not a run",
    width=6,
    more=True,
    names=("query_id", "_q0", "item_id", "rank", "score", "_tag"),
    taken=("query_id", "item_id", "score", "rank"),
    value="score",
)


@dataclass(frozen=True)
class Trec:
    """TREC qrels and runs."""

    suffixes: ClassVar[tuple[str, ...]] = (".trec", ".run", ".qrels", ".qrel", ".txt")

    def table(self, source: Source) -> pa.Table:
        """TREC files have no named columns: always an error."""
        raise source.fault(
            "no_columns",
            "a TREC file has no named columns and cannot be a table of attributes",
            "use CSV, TSV, JSONL or Parquet",
        )

    def qrels(self, source: Source) -> pa.Table:
        """Judgments of lines ``query iteration item grade``."""
        data = _data(source)
        quick = None if source.grade_map else _quick(source, data, _QRELS)
        if quick is not None:
            return quick
        text = _slow(source, data, _QRELS)
        values = grades(source, text, text["grade"])
        return _with(text, grade=values)

    def run(self, source: Source) -> pa.Table:
        """Scored lists of lines ``query Q0 item rank score tag``."""
        data = _data(source)
        found = _quick(source, data, _RUN)
        if found is None:
            text = _slow(source, data, _RUN)
            found = _with(text, score=numbers(source, text, text["score"], "score", ""))
            rank = ranks(source, text, text["rank"])
            found = found.drop_columns(["rank"]) if rank is None else _with(found, rank=rank)
        finite(source, found)
        return found


PLUGIN = Trec


def _data(source: Source) -> pa.Buffer:
    """The file's bytes, which are not JSON lines: their words can pass for fields."""
    found = source.data()
    first = found.slice(0, min(_HEAD, found.size)).to_pybytes().lstrip().partition(b"\n")[0]
    if first.startswith(b"{"):
        with suppress(ValueError, RecursionError):
            json.loads(first)
            fix = "name the file .jsonl, or set its format to jsonl"
            raise source.fault("not_trec", "the content is JSON lines, not TREC text", fix)
    return found


def _with(table: pa.Table, **columns: pa.ChunkedArray) -> pa.Table:
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def _quick(source: Source, data: pa.Buffer, layout: _Layout) -> pa.Table | None:
    """The table, parsed by Arrow; None where a line is blank, or anything is wrong."""
    delimiter = _delimiter(data)
    if delimiter is None:
        data = _evened(data)
        delimiter = _delimiter(data)
    if delimiter is None:
        return None
    types = {name: pa.string() for name in layout.taken}
    try:
        table = _parsed(
            data, delimiter, layout, {n: _TYPES.get(n, kind) for n, kind in types.items()}
        )
    except pa.ArrowInvalid:
        return None
    values = table[layout.value]
    if len(suspects(values)):  # only these need a look at their text
        texts = _parsed(data, delimiter, layout, {layout.value: pa.string()})[layout.value]
        if len(changed_texts(texts, values)):
            return None
    return stamp(table, source.path, "line", 1)


def _parsed(
    data: pa.Buffer, delimiter: str, layout: _Layout, types: dict[str, pa.DataType]
) -> pa.Table:
    """The columns of the types given.

    Raises:
        ArrowInvalid: a line of another width, or a value of another type.
    """
    return pacsv.read_csv(
        pa.BufferReader(data),
        read_options=pacsv.ReadOptions(column_names=list(layout.names), block_size=_BLOCK),
        parse_options=pacsv.ParseOptions(
            delimiter=delimiter,
            quote_char=False,
            double_quote=False,
            escape_char=False,
            newlines_in_values=False,
            ignore_empty_lines=False,
        ),
        convert_options=pacsv.ConvertOptions(
            include_columns=list(types),
            column_types=types,
            null_values=[],
            strings_can_be_null=False,
        ),
    )


def _delimiter(data: pa.Buffer) -> str | None:
    """The one byte that separates all fields of the file; None where there is no such byte.

    Then every pair of neighbouring white space is a CRLF, every CR is in one, and besides line
    ends only one kind of white space occurs.
    """
    view = np.frombuffer(data, np.uint8)
    if not len(view) or view[0] in b" \t\n\v\f\r":
        return None
    white, pairs, spaces, tabs, feeds, returns = _white_counts(view)
    crlf = data.to_pybytes().count(b"\r\n") if returns else 0
    if pairs != crlf or returns != crlf or white != spaces + tabs + feeds + returns:
        return None
    if spaces and tabs:
        return None
    return "\t" if tabs else " "


def _evened(data: pa.Buffer) -> pa.Buffer:
    """The same lines with one space between fields and none around them."""
    raw = data.to_pybytes().translate(_TO_SPACE)
    while b"  " in raw:
        raw = raw.replace(b"  ", b" ")
    raw = raw.replace(b" \n", b"\n").replace(b"\n ", b"\n")
    return pa.py_buffer(raw.removeprefix(b" ").rstrip(b" \n"))


def _white_counts(view: U8) -> list[int]:
    """White space, pairs of it in a row, spaces, tabs, line feeds and carriage returns."""
    counts = np.zeros(6, np.int64)
    for start in range(0, len(view), _PIECE):
        piece = view[start : start + _PIECE + 1]  # one byte over: pairs across the border count
        is_white = ((piece - np.uint8(9)) <= 4) | (piece == 32)
        pairs = np.count_nonzero(is_white[1:] & is_white[:-1])
        own = piece[:_PIECE]
        kinds = [np.count_nonzero(own == byte) for byte in (32, 9, 10, 13)]
        counts += np.array([np.count_nonzero(is_white[:_PIECE]), pairs, *kinds])
    found: list[int] = counts.tolist()
    return found


def _slow(source: Source, data: pa.Buffer, layout: _Layout) -> pa.Table:
    """The taken columns as strings; lines of a wrong width are noted and left out."""
    places = [layout.names.index(name) for name in layout.taken]
    wrong: list[tuple[int, int]] = []
    skipped: list[int] = []
    batches: list[pa.RecordBatch] = []
    for rows in _batches(data, layout, wrong, skipped):
        columns = [_strings(source, [fields[p] for _, fields in rows], rows) for p in places]
        batches.append(pa.record_batch(columns, names=list(layout.taken)))
    schema = pa.schema([(name, pa.string()) for name in layout.taken])
    gaps: I64 = np.array(skipped, np.int64)
    table = stamp(pa.Table.from_batches(batches, schema), source.path, "line", 1, gaps)
    head = data.slice(0, min(len(data), _HEAD)).to_pybytes()
    _note_widths(source, layout, wrong, "" if table.num_rows else _other_format(head))
    return _without_header(source, table, layout)


def _batches(
    data: pa.Buffer, layout: _Layout, wrong: list[tuple[int, int]], skipped: list[int]
) -> Iterator[list[tuple[int, list[bytes]]]]:
    rows: list[tuple[int, list[bytes]]] = []
    for number, line in enumerate(data.to_pybytes().split(b"\n"), 1):
        fields = line.split()
        width = len(fields)
        if width == layout.width or (layout.more and width > layout.width):
            rows.append((number, fields))
        else:
            skipped.append(number)
            if width:
                wrong.append((number, width))
        if len(rows) == _BATCH:
            yield rows
            rows = []
    yield rows


def _strings(source: Source, values: list[bytes], rows: list[tuple[int, list[bytes]]]) -> pa.Array:
    try:
        return pc.cast(pa.array(values, pa.binary()), pa.string())
    except pa.ArrowInvalid as error:
        for (number, _), value in zip(rows, values, strict=True):
            try:
                value.decode()
            except UnicodeDecodeError:
                raise source.fault(
                    "not_utf8", f"{value!r} is not UTF-8", "convert the file to UTF-8",
                    where=f"line {number}",
                ) from error  # fmt: skip
        raise


def _other_format(head: bytes) -> str:
    """The format that a file not one line of which is TREC seems to be in; empty if unknown."""
    first = next((line for line in head.split(b"\n") if line.strip()), b"")
    words = {word.strip(b'"').decode(errors="replace") for word in re.split(rb"[,\s]", first)}
    named = bool({word.casefold() for word in words} & _HEADER_WORDS)
    if b"," in first and (named or len(first.split()) == 1):
        return "csv"
    return "tsv" if b"\t" in first and named else ""


def _note_widths(
    source: Source, layout: _Layout, wrong: list[tuple[int, int]], other_format: str
) -> None:
    if not wrong:
        return
    number, width = wrong[0]
    other, fix = _RUN if layout is _QRELS else _QRELS, ""
    hint = f"; this looks like {layout.other}" if width == other.width else ""
    if other_format:
        hint = f"; the content looks like {other_format}"
        fix = f"name the file .{other_format}, or set its format to {other_format}"
    text = f"expected {layout.width} TREC {layout.what} fields, got {width}{hint}"
    examples = tuple(f"line {n}: {w} fields" for n, w in wrong[1 : 1 + _EXAMPLES])
    source.problems.append(
        Problem(
            "wrong_field_count", "error", text, fix, str(source.path), f"line {number}", examples,
            len(wrong),
        )
    )  # fmt: skip


def _without_header(source: Source, table: pa.Table, layout: _Layout) -> pa.Table:
    """The table without its first row, where that names columns; the header is an error."""
    if not table.num_rows:
        return table
    first = {name: str(table[name][0]) for name in layout.taken}
    known = sum(value.casefold() in _HEADER_WORDS for value in first.values())
    if known < 2 or first[layout.value].casefold() not in _HEADER_WORDS:
        return table
    line = place(table, 0)[1]
    text = f"{line} looks like a header ({', '.join(first.values())}); TREC files have none"
    source.error("header_line", text, "remove it, or name the file .csv or .tsv")
    return skip_first(table)
