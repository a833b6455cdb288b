"""SQL that brings the columns of raw tables to the types of a pool, and finds what resists."""

# ruff: noqa: S608 - all names and texts in this SQL went through ident and text

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from pipeline.core.problems import Problem
from pipeline.formats import renames
from pipeline.pool._freeze.engine import Engine, ident, text
from pipeline.pool._freeze.sources import Part, Source

_ISO = (
    r"\d{4}-\d{2}-\d{2}"
    r"([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}(:?\d{2})?)?)?"
)
EXACT = "9007199254740992"
_NUMBER = r"[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)"
_SPACES = "chr(32) || chr(9) || chr(10) || chr(11) || chr(12) || chr(13)"
_TIME_FIX = "write ISO 8601, e.g. 2024-02-29T12:00:00Z; without a zone it is read as UTC"
_STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)


@dataclass(frozen=True, slots=True)
class Shape:
    """Which columns of a raw table mean something to us, by type."""

    needed: tuple[str, ...]
    texts: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    only: bool = False  # other columns are left out

    def known(self) -> tuple[str, ...]:
        """All of them, in the order in which they are written."""
        return (*dict.fromkeys((*self.needed, *self.texts, *self.numbers, *self.times)),)


SHAPES = {
    "queries": Shape(("query_id",), ("text", "user_id"), ("frequency",), ("issued_at",)),
    "items": Shape(
        ("item_id",), ("text",), ("popularity",), ("created_at", "eligible_from", "eligible_until")
    ),
    "qrels": Shape(
        ("query_id", "item_id", "grade"), ("source", "judge"), ("grade",), ("judged_at",), only=True
    ),
    "logs": Shape(
        ("item_id",), ("query_id", "user_id", "session_id"),
        ("position", "click", "reward", "propensity"), ("at",),
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """A condition that no row may meet.

    Attributes:
        code: of the problem.
        column: ours.
        when: SQL over the raw columns of a part.
        words: with ``{!r}`` for the offending value.
        fix: what to do.
    """

    code: str
    column: str
    when: str
    words: str
    fix: str


def select(source: Source) -> str:
    """SQL of the whole table with our names and types."""
    names = source.names()
    shape = SHAPES[source.table]
    kept = [n for n in names if n in shape.known() or not shape.only]
    pieces = []
    for part in source.parts:
        theirs = source.of_part(part)
        columns = ", ".join(
            f"{_typed(source, part, name)} AS {column(source, name)}"
            for name in kept
            if name in theirs
        )
        pieces.append(f"SELECT {columns} FROM {part.scan()}")
    return "(" + " UNION ALL BY NAME ".join(pieces) + ")"


def column(source: Source, name: str) -> str:
    """SQL of a column of :func:`select`: by its own name only if it is one of ours.

    The owner's columns are numbered. DuckDB takes names for one that differ in case, and any of
    them may be one that a query here gives to a column of its own.
    """
    if name in SHAPES[source.table].known():
        return ident(name)
    return ident(f"own {source.names().index(name)}")


def missing(source: Source) -> list[Problem]:
    """Needed columns that a file lacks, with the nearest there are."""
    shape, problems = SHAPES[source.table], []
    for part in source.parts:
        have = [*source.of_part(part)]
        lacks = [name for name in shape.needed if name not in have]
        if not lacks:
            continue
        shown = ", ".join(have[:12])
        hints = renames(lacks, have, shape.known())
        pairs = [hint.removeprefix("rename ").split(" to ") for hint in hints]
        mapping = ", ".join(f"{ours}: {theirs}" for theirs, ours in pairs)
        fix = f"columns.{source.table}={{{mapping or f'{lacks[0]}: THEIR_NAME'}}}"
        words = f"missing column{'s' * (len(lacks) > 1)} {', '.join(lacks)}; there are: {shown}"
        problems.append(Problem("missing_column", "error", words, fix, part.files[0]))
    return problems


def untyped(source: Source) -> list[Problem]:
    """Columns of types that cannot be what they must be."""
    problems = []
    shape = SHAPES[source.table]
    for part in source.parts:
        for name in source.of_part(part):
            kind = source.kind_of(part, name)
            if kind is None or not _checked(shape, name):
                continue
            why = _mistyped(shape, name, kind)
            if why:
                code, words, fix = why
                problems.append(Problem(code, "error", words, fix, part.files[0]))
    return problems


def _checked(shape: Shape, name: str) -> bool:
    return name in shape.known() or (_is_id(name) and not shape.only)


def _mistyped(shape: Shape, name: str, kind: pa.DataType) -> tuple[str, str, str] | None:
    plain = any(test(kind) for test in _STRINGS) or pa.types.is_null(kind)
    plain = plain or (pa.types.is_dictionary(kind) and pa.types.is_string(kind.value_type))
    if name in shape.times:
        if plain or pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return None
        return "not_a_time", f"{name} is of type {kind}, not a time", _TIME_FIX
    if name in shape.numbers:
        good = plain or pa.types.is_integer(kind) or pa.types.is_floating(kind)
        good = good or pa.types.is_decimal(kind) or pa.types.is_boolean(kind)
        fix = "store numbers"
        return None if good else (
            "not_a_number", f"{name} is of type {kind}; it must be a number", fix
        )  # fmt: skip
    if plain or pa.types.is_integer(kind):
        return None
    words = f"column {name} is of type {kind}; ids and text must be strings"
    return "id_not_text", words, f"store {name} as a string column"


def _is_id(name: str) -> bool:
    return name.endswith("_id")


def _typed(source: Source, part: Part, name: str) -> str:
    """SQL of one column in the type that a pool has."""
    shape, raw = SHAPES[source.table], part.column(source.of_part(part)[name])
    kind = source.kind_of(part, name)
    if name in shape.times:
        return _time(raw, kind)
    if name in shape.numbers:
        return _number(raw, kind)
    if name in shape.known() or _is_id(name):
        return f"CAST({raw} AS VARCHAR)"
    return _attribute(raw, kind)


def _time(raw: str, kind: pa.DataType | None) -> str:
    if kind is not None and (pa.types.is_timestamp(kind) or pa.types.is_date(kind)):
        return _micros(raw, kind)
    good = f"regexp_full_match({raw}, {text(_ISO)})"
    return f"CASE WHEN {good} THEN TRY_CAST({raw} AS TIMESTAMPTZ) END"


def _micros(raw: str, kind: pa.DataType) -> str:
    """Finer times are cut to microseconds, as everywhere else; a cast would round them."""
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        return f"make_timestamptz(epoch_ns({raw}) // 1000)"
    return f"CAST({raw} AS TIMESTAMPTZ)"


def _number(raw: str, kind: pa.DataType | None) -> str:
    if kind is not None and not any(test(kind) for test in _STRINGS):
        return f"CAST({raw} AS DOUBLE)"
    good = f"regexp_full_match({raw}, {text(_NUMBER)})"
    return f"CASE WHEN {good} THEN TRY_CAST({raw} AS DOUBLE) END"


def _attribute(raw: str, kind: pa.DataType | None) -> str:
    """Attributes as text, int64, float64, bool or times, as a pool reads them; others stay."""
    if kind is None:
        return raw
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_uint64(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        number = f"CAST({raw} AS DOUBLE)"
        return f"CASE WHEN isnan({number}) THEN NULL ELSE {number} END"
    if pa.types.is_integer(kind):
        return f"CAST({raw} AS BIGINT)"
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _micros(raw, kind)
    return raw


def _inexact(raw: str, typed: str, kind: pa.DataType | None) -> str:
    """SQL: a float64 does not hold the number, which then would be equal to others.

    As in a pool of files: integers and decimals past 2^53, and text that underflows to zero.
    """
    if kind is None or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return "false"
    large = f"abs({typed}) >= {EXACT}"
    if pa.types.is_decimal(kind):
        whole = f"DECIMAL({kind.precision}, {kind.scale})"
        return f"{large} AND TRY_CAST({typed} AS {whole}) IS DISTINCT FROM {raw}"
    differs = f"coalesce(TRY_CAST({typed} AS HUGEINT) <> TRY_CAST({raw} AS HUGEINT), true)"
    if pa.types.is_integer(kind):
        return f"{large} AND {differs}"
    whole = f"regexp_full_match({raw}, '[+-]?[0-9]+(\\.0*)?')"
    small = f"{typed} = 0 AND regexp_matches({raw}, '^[^eE]*[1-9]')"
    return f"({large} AND {whole} AND {differs}) OR ({small})"


def faults(source: Source, part: Part) -> Iterator[Fault]:
    """What each row of a part is checked for."""
    shape, theirs = SHAPES[source.table], source.of_part(part)
    for name in (n for n in shape.known() if n in theirs):
        raw, typed = part.column(theirs[name]), _typed(source, part, name)
        if name in shape.times:
            when = f"{raw} IS NOT NULL AND {typed} IS NULL"
            yield Fault("not_a_time", name, when, f"{name} {{!r}} is not a time", _TIME_FIX)
        elif name in shape.numbers:
            when = f"{raw} IS NOT NULL AND ({typed} IS NULL OR NOT isfinite({typed}))"
            if name in shape.needed:
                when = f"{typed} IS NULL OR NOT isfinite({typed})"
            yield Fault(
                "not_a_number", name, when, f"{name} {{!r}} is not a finite number",
                "write numbers; larger is better" if name == "grade" else "mend it",
            )  # fmt: skip
            yield _not_exact(name, _inexact(raw, typed, source.kind_of(part, name)))
        elif _is_id(name):
            yield from _of_ids(name, typed, needed=name in shape.needed)
    yield from _of_attributes(source, part)
    if "frequency" in theirs and source.table == "queries":
        number = _typed(source, part, "frequency")
        yield Fault(
            "bad_frequency", "frequency", f"{number} IS NULL OR {number} < 0",
            "frequency {!r} must be 0 or more", "give every row a frequency, or none",
        )  # fmt: skip


def _of_attributes(source: Source, part: Part) -> Iterator[Fault]:
    """Attributes that become float64 and would be other numbers then."""
    shape, theirs = SHAPES[source.table], source.of_part(part)
    for name in (n for n in theirs if n not in shape.known() and not shape.only):
        kind = source.kind_of(part, name)
        if kind is not None and (pa.types.is_uint64(kind) or pa.types.is_decimal(kind)):
            raw, typed = part.column(theirs[name]), _typed(source, part, name)
            yield _not_exact(name, _inexact(raw, typed, kind))


def _not_exact(name: str, when: str) -> Fault:
    words = f"{name} {{!r}} is not exact as a float64"
    return Fault("not_exact", name, when, words, "write numbers that float64 holds")


def _of_ids(name: str, typed: str, *, needed: bool) -> Iterator[Fault]:
    if needed:
        when = f"{typed} IS NULL OR {typed} = ''"
        yield Fault("empty_id", name, when, f"{name} is empty", "give every row an id")
    # Few ids begin below "!" or end in white space: only those are trimmed, which is slow.
    ends = " OR ".join(f"ends_with({typed}, chr({code}))" for code in (32, 9, 10, 11, 12, 13))
    padded = f"CASE WHEN {typed} < '!' OR {ends} THEN {typed} <> trim({typed}, {_SPACES}) END"
    yield Fault(
        "padded_id", name, padded,
        f"{name} {{!r}} has white space around it", "remove it: ids are compared to the byte",
    )  # fmt: skip


def check(engine: Engine, source: Source) -> tuple[int, list[Problem]]:
    """Rows of a source, and every kind of fault in it with its first row."""
    total, problems = 0, []
    for part in source.parts:
        asked = list(faults(source, part))
        counts = ", ".join(f"count(*) FILTER (WHERE {fault.when})" for fault in asked)
        found = engine.row(f"SELECT count(*), {counts} FROM {part.scan()}")
        total += found[0]
        for one, count in zip(asked, found[1:], strict=True):
            if count:
                problems.append(_located(engine, source, part, (one, count)))
    return total, _once(problems)


def _once(problems: Sequence[Problem]) -> list[Problem]:
    """A value that is no number is not told of again as one that is too small."""
    seen = {(p.file, p.where) for p in problems if p.code == "not_a_number"}
    return [p for p in problems if p.code != "bad_frequency" or (p.file, p.where) not in seen]


def _located(engine: Engine, source: Source, part: Part, found: tuple[Fault, int]) -> Problem:
    """The problem with the file and the row of its first occurrence."""
    one, count = found
    raw = part.column(source.of_part(part)[one.column])
    engine.run("SET preserve_insertion_order = true")
    try:
        for file in part.files:
            rows = engine.rows(
                f"SELECT r, {raw} FROM (SELECT row_number() OVER () AS r, * FROM"
                f" {part.scan([file])}) WHERE {one.when} ORDER BY r LIMIT 1"
            )
            if rows:
                row, value = rows[0]
                shown = one.words.replace("{!r}", "(empty)" if value is None else repr(value))
                return Problem(one.code, "error", shown, one.fix, file, f"row {row}", (), count)
    finally:
        engine.run("SET preserve_insertion_order = false")
    raise AssertionError("a row was counted that cannot be found")
