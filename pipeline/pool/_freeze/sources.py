"""Raw tables in files: which files, which columns, and how SQL reads them."""

import csv
import glob
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.core.suggest import did_you_mean
from pipeline.formats import unusable
from pipeline.pool._freeze.engine import path as literal
from pipeline.pool._freeze.engine import text

_KINDS = {".parquet": "parquet", ".pq": "parquet", ".csv": "csv", ".tsv": "tsv"}
_WILD = ("*", "?", "[")
_HEADER = 1 << 20
_PANDAS_INDEX = "__index_level_"


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are alike.

    Attributes:
        kind: parquet, csv or tsv.
        files: paths.
        columns: name -> Arrow type, in the order of the files; everything is text in CSV and TSV.
        packed: whether CSV or TSV is gzip.
    """

    kind: str
    files: tuple[str, ...]
    columns: Mapping[str, pa.DataType]
    packed: bool = False

    def column(self, name: str) -> str:
        """SQL of a column: by its place, since DuckDB takes names for one that differ in case."""
        return f"c{[*self.columns].index(name)}"

    def scan(self, files: Sequence[str] | None = None) -> str:
        """SQL of the table function that reads the files, or some of them."""
        names = "[" + ", ".join(literal(f) for f in files or self.files) + "]"
        if self.kind == "parquet":
            placed = ", ".join(f"c{place}" for place in range(len(self.columns)))
            return f"read_parquet({names}, hive_partitioning=false) AS raw({placed})"
        columns = ", ".join(f"c{place}: 'VARCHAR'" for place in range(len(self.columns)))
        quotes = "quote='\"', escape='\"'" if self.kind == "csv" else "quote='', escape=''"
        sign = "," if self.kind == "csv" else "\t"
        return (
            f"read_csv({names}, auto_detect=false, header=true, delim={text(sign)}, {quotes},"
            f" nullstr='', columns={{{columns}}}, strict_mode=true, hive_partitioning=false,"
            f" compression='{'gzip' if self.packed else 'none'}')"
        )


@dataclass(frozen=True, slots=True)
class Source:
    """A raw table.

    Attributes:
        table: queries, items, qrels or logs.
        asked: the path as the user wrote it.
        option: under which, e.g. ``source.logs``.
        parts: its files, alike ones together.
        renamed: our name -> theirs.
    """

    table: str
    asked: str
    option: str
    parts: tuple[Part, ...]
    renamed: Mapping[str, str]

    @property
    def files(self) -> tuple[str, ...]:
        """All files, in the order of their names."""
        return tuple(sorted(file for part in self.parts for file in part.files))

    @property
    def typed(self) -> bool:
        """Whether the files say what types their columns have."""
        return all(part.kind == "parquet" for part in self.parts)

    def names(self) -> tuple[str, ...]:
        """Our names of all columns, sorted."""
        return tuple(sorted({name for part in self.parts for name in self.of_part(part)}))

    def of_part(self, part: Part) -> dict[str, str]:
        """Our name -> name in the files, of the columns of a part."""
        back = {theirs: ours for ours, theirs in self.renamed.items()}
        return {
            back.get(name, name): name
            for name in part.columns
            if name in back or not name.startswith(_PANDAS_INDEX)
        }

    def kind_of(self, part: Part, ours: str) -> pa.DataType | None:
        """The type of a column; None where the part lacks it."""
        theirs = self.of_part(part).get(ours)
        return None if theirs is None else part.columns[theirs]


def open_source(table: str, asked: str, option: str, renamed: Mapping[str, str]) -> Source:
    """Finds the files and reads their headers.

    Raises:
        SamepoolError: no such file; a file that cannot be read; a column to
            rename that is not there.
    """
    alike: dict[tuple[str, bool, tuple[tuple[str, str], ...]], Part] = {}
    for file in _files(asked, option):
        kind = _kind(file)
        packed = kind != "parquet" and _packed(file)
        columns = _parquet(file) if kind == "parquet" else _header(file, kind, packed=packed)
        _mapped(table, file, columns, renamed)
        key = kind, packed, tuple((name, str(type_)) for name, type_ in columns.items())
        before = alike[key].files if key in alike else ()
        alike[key] = Part(kind, (*before, file), columns, packed)
    return Source(table, asked, option, tuple(alike.values()), renamed)


def _files(asked: str, option: str) -> list[str]:
    path = Path(asked)
    if path.is_dir():
        found = sorted(
            str(p) for p in path.rglob("*")
            if p.is_file() and _suffix(p.name) and not _hidden(p.relative_to(path))
        )  # fmt: skip
        if not found:
            text_ = f"{option}: folder {asked} holds no .parquet, .csv or .tsv file"
            raise fault("no_such_file", text_, "name the folder of the parts")
        return found
    if any(sign in asked for sign in _WILD) and not path.exists():
        found = sorted(f for f in glob.glob(asked, recursive=True) if Path(f).is_file())  # noqa: PTH207
        if not found:
            raise fault("no_such_file", f"{option}: no file matches {asked}", "check the pattern")
        return found
    problem = unusable(asked)
    if problem is not None:
        raise SamepoolError([problem])
    return [asked]


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _suffix(name: str) -> str | None:
    return _KINDS.get(Path(name.lower().removesuffix(".gz")).suffix)


def _kind(file: str) -> str:
    kind = _suffix(Path(file).name)
    if kind is None:
        words = "raw tables are Parquet, CSV or TSV"
        raise fault("unknown_format", words, f"name it {Path(file).stem}.csv, or so", file=file)
    return kind


def _parquet(file: str) -> dict[str, pa.DataType]:
    try:
        schema = pq.read_schema(file)
    except (pa.ArrowException, OSError) as error:
        words = f"is not a sound Parquet file ({' '.join(str(error).split())})"
        raise fault("bad_parquet", words, "write it again", file=file) from error
    twice = sorted({name for name in schema.names if schema.names.count(name) > 1})
    if twice:
        words = f"column {twice[0]!r} occurs twice"
        raise fault("bad_header", words, "name each column once", file=file)
    return {f.name: f.type for f in schema}


def _packed(file: str) -> bool:
    """Whether a file is gzip, whatever its name."""
    with Path(file).open("rb") as raw:
        return raw.read(2) == b"\x1f\x8b"


def _header(file: str, kind: str, *, packed: bool) -> dict[str, pa.DataType]:
    try:
        with gzip.open(file) if packed else Path(file).open("rb") as stream:
            head = stream.read(_HEADER)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        words = "the gzip file is corrupt or cut short"
        raise fault("corrupt_gzip", words, "copy it again", file=file) from error
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:  # UTF-16
        raise fault("not_utf8", "is not UTF-8", "convert the file to UTF-8", file=file)
    lines = io.StringIO(head.decode("utf-8-sig", errors="ignore"), newline="")
    rows = (
        csv.reader(lines)
        if kind == "csv"
        else csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)
    )
    names = next(rows, [])
    twice = sorted({name for name in names if names.count(name) > 1})
    if not names or "" in names or twice:
        words = "is empty" if not any(names) else "a column has no name"
        words = f"column {twice[0]!r} occurs twice" if twice and "" not in twice else words
        fix = "the first line must name the columns, each once"
        raise fault("bad_header", words, fix, file=file, where="line 1")
    return dict.fromkeys(names, pa.string())


def _mapped(
    table: str, file: str, columns: Mapping[str, pa.DataType], renamed: Mapping[str, str]
) -> None:
    """Every column of the mapping is there, and none of our names is there twice."""
    problems = []
    for theirs in sorted({*renamed.values()}):
        given = [ours for ours in renamed if renamed[ours] == theirs]
        if len(given) > 1:
            words = f"columns.{table} gives {theirs} to {' and '.join(given)}"
            fix = "give each column one name; copy the column where both are needed"
            problems.append(Problem("duplicate_column", "error", words, fix, file))
    for ours, theirs in renamed.items():
        option = f"columns.{table}.{ours}"
        if theirs not in columns:
            words = f"{option}: there is no column {theirs}"
            problems.append(
                Problem("missing_column", "error", words, did_you_mean(theirs, columns), file)
            )
        elif ours in columns and ours not in renamed.values() and ours != theirs:
            words = f"{option}={theirs}, but there is a column {ours} as well"
            fix = f"map that one to another name: columns.{table}={{old_{ours}: {ours}}}"
            problems.append(Problem("duplicate_column", "error", words, fix, file))
    if problems:
        raise SamepoolError(problems)
