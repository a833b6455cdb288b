"""DuckDB, told how much memory it may take, and its errors in our words."""

import glob
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from pipeline.core.problems import SamepoolError, fault

_BATCH = 122_880
_SIZE = re.compile(r"\d+(\.\d+)? ?([KMGT]i?)?B", re.IGNORECASE)
_LINE = re.compile(r"CSV Error on Line: (\d+)")
_FILE = re.compile(r"^\s*file = (.+)$", re.MULTILINE)
_WIDTH = re.compile(r"Expected Number of Columns: (\d+) Found: (\d+)")

# A part of DuckDB's message in lower case -> code, words, fix.
_SIGNS = (
    ("unterminated quote", "open_quote", "a double quote is not closed or not doubled",
     'close it, or write " inside quotes as ""'),
    ("utf-8", "not_utf8", "is not UTF-8", "convert the file to UTF-8"),
    ("gzip", "corrupt_gzip", "the gzip file is corrupt or cut short", "copy it again"),
    ("maximum line size", "long_line", "a row is longer than 2,000,000 bytes",
     "store the table as Parquet"),
    ("full read on this file", "long_line", "a row is longer than can be read",
     "store the table as Parquet"),
    ("invalid state", "bad_csv", "lines end in different ways, or a quote is misplaced",
     "write the file again, all lines with one end, or as Parquet"),
)  # fmt: skip
# What a query of ours is to blame for, not a table.
_OURS = (
    duckdb.BinderException,
    duckdb.CatalogException,
    duckdb.InternalException,
    duckdb.ParserException,
    duckdb.SyntaxException,
    duckdb.TransactionException,
)


class Engine:
    """One database in a folder for what does not fit in memory.

    Times are microseconds in UTC, text compares by its bytes, and nothing is fetched.
    """

    def __init__(self, folder: Path, memory: str, threads: int | None) -> None:
        """Opens an empty database.

        Args:
            folder: for tables and what is spilled; the caller removes it.
            memory: e.g. ``4GB``.
            threads: None: all cores.

        Raises:
            SamepoolError: memory is no size; the folder's path has a question mark.
        """
        if not _SIZE.fullmatch(memory.strip()):
            raise fault("bad_option", f"memory={memory!r} is no size", "e.g. memory=4GB")
        if "?" in str(folder):  # DuckDB takes what follows for options
            words = "a path with a question mark cannot hold what does not fit in memory"
            raise fault("cannot_write", words, "temp=FOLDER without one", file=str(folder.parent))
        self.memory = memory
        config: dict[str, Any] = {
            "memory_limit": memory,
            "temp_directory": str(folder / "spilled"),
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "preserve_insertion_order": False,
        }
        config |= {"threads": threads} if threads else {}
        with self._translated():
            self._found = duckdb.connect(str(folder / "tables.duckdb"), config=config)
            self._found.execute("SET TimeZone = 'UTC'")
            self._found.execute("SET enable_progress_bar = false")

    def close(self) -> None:
        """Closes the database; its files stay."""
        self._found.close()

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Runs a statement."""
        with self._translated():
            self._found.execute(sql, list(values))

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query: few."""
        with self._translated():
            found: list[tuple[Any, ...]] = self._found.execute(sql, list(values)).fetchall()
            return found

    def row(self, sql: str, values: Sequence[Any] = ()) -> tuple[Any, ...]:
        """The first row of a query that has one."""
        return self.rows(sql, values)[0]

    def count(self, sql: str, values: Sequence[Any] = ()) -> int:
        """The single number that a query gives; 0 for null."""
        return int(self.row(sql, values)[0] or 0)

    def table(self, sql: str) -> pa.Table:
        """All rows of a query as one Arrow table: of what the pool holds in memory anyway."""
        with self._translated():
            return self._reader(sql).read_all()

    def batches(self, sql: str) -> Iterator[pa.RecordBatch]:
        """The rows of a query, a piece at a time."""
        with self._translated():
            yield from self._reader(sql)

    def schema(self, sql: str) -> dict[str, str]:
        """Column -> DuckDB's name of its type."""
        return {row[0]: row[1] for row in self.rows(f"DESCRIBE {sql}")}

    def _reader(self, sql: str) -> pa.RecordBatchReader:
        relation = self._found.sql(sql)
        # The older name goes away in DuckDB 2, the newer one is not there before 1.4.
        make = getattr(relation, "to_arrow_reader", None) or relation.fetch_record_batch
        return make(_BATCH)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except duckdb.InterruptException as error:
            raise KeyboardInterrupt from error
        except RuntimeError as error:  # a signal came while DuckDB worked
            if "interrupted" not in str(error):
                raise
            raise KeyboardInterrupt from error
        except duckdb.OutOfMemoryException as error:
            text = f"{self.memory} of memory are not enough"
            raise fault("memory", text, "memory=8GB, or threads=1, which needs less") from error
        except duckdb.Error as error:
            known = _explained(str(error))
            if known is None and isinstance(error, _OURS):
                raise
            raise known or _unread(str(error)) from error


def ident(name: str) -> str:
    """A column's name in SQL.

    >>> print(ident('say "a" once'))
    "say ""a"" once"
    """
    return '"' + name.replace('"', '""') + '"'


def text(value: object) -> str:
    """A text literal in SQL.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + str(value).replace("'", "''") + "'"


def path(name: object) -> str:
    """A text literal of a file's path, with which DuckDB reads that file and no other.

    >>> path("a[1].csv")
    "'a[[]1].csv'"
    """
    return text(glob.escape(str(name)))


def _explained(message: str) -> SamepoolError | None:
    """What is wrong with a file, by what DuckDB says of it."""
    file, line, width = (found.search(message) for found in (_FILE, _LINE, _WIDTH))
    place = {
        "file": file.group(1).strip() if file else None,
        "where": f"line {line.group(1)}" if line else None,
    }
    if width:
        text_ = f"expected {width.group(1)} fields as in the header, got {width.group(2)}"
        return _fault("wrong_field_count", text_, "mend the row", place)
    for sign, code, text_, fix in _SIGNS:
        if sign in message.lower():
            named = message.rpartition(": ")[2].strip() if code == "corrupt_gzip" else None
            return _fault(code, text_, fix, {**place, "file": place["file"] or named})
    if line:
        text_ = message.partition("\nPossible")[0].partition("\n")[2] or message
        return _fault("bad_csv", " ".join(text_.split())[:200], "mend the row", place)
    if message.startswith("IO Error"):
        first = message.partition("\n")[0].removeprefix("IO Error: ")
        return fault("cannot_write", first, "free some space, or choose another temp=FOLDER")
    return None


def _unread(message: str) -> SamepoolError:
    """Anything else that DuckDB says of a table, shortened."""
    words = " ".join(message.partition("\n")[0].split())[:200]
    return fault("cannot_read", f"a table cannot be read: {words}", "write it again, as Parquet")


def _fault(code: str, words: str, fix: str, place: Mapping[str, str | None]) -> SamepoolError:
    return fault(code, words, fix, file=place["file"], where=place["where"])
