"""File formats: Arrow tables out of files, one file a format.

Ids and text stay what they are in the file, to the byte. What is wrong with a file is appended
to the caller's list of problems, with the line or row; a table that was read with errors holds
the rows that could be read and serves only to look for further problems.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar, Protocol

import pyarrow as pa

from pipeline.core.problems import Problem, SamepoolError
from pipeline.formats._columns import QRELS, RUN, renames
from pipeline.formats._exact import changed_numbers, changed_texts
from pipeline.formats._manifest import (
    MANIFEST_SCHEMA,
    Asked,
    Manifest,
    Version,
    Written,
    beside,
    read_manifest,
    write_manifest,
)
from pipeline.formats._numbers import floats
from pipeline.formats._paths import unusable
from pipeline.formats._places import place, stamp
from pipeline.formats._recognise import recognise
from pipeline.formats._source import Source, one_line

__all__ = [
    "MANIFEST_SCHEMA", "QRELS", "RUN", "Asked", "Format", "Manifest", "Version", "Written",
    "beside", "changed_numbers", "changed_texts", "floats", "place", "read_manifest", "read_qrels",
    "read_run", "read_table", "renames", "unusable", "write_manifest",
]  # fmt: skip


class Format(Protocol):
    """One file format.

    Attributes:
        suffixes: what names of such files end in, in lower case and without ``.gz``.
    """

    suffixes: ClassVar[tuple[str, ...]]

    def table(self, source: Source) -> pa.Table:
        """All columns of an attribute table."""
        ...

    def qrels(self, source: Source) -> pa.Table:
        """Judgments: query_id, item_id, grade, and source and judge where the file has them."""
        ...

    def run(self, source: Source) -> pa.Table:
        """Scored lists: query_id, item_id, score, and rank where the file has it."""
        ...


def read_table(path: str, problems: list[Problem], *, format: str | None = None) -> pa.Table:  # noqa: A002
    """Reads an attribute table: queries, items, candidates or logs.

    Columns named ``text`` or ``*_id`` are strings, exactly as written; others have the type that
    all their values share (int64, float64, bool, string, or what Parquet declares). Empty CSV
    and TSV fields are null, and nothing else is.

    Args:
        path: the file.
        problems: what is wrong with it is appended here.
        format: name of the format; recognised by suffix, then by content, where None.

    Returns:
        The table; :func:`place` tells the line or row that a row came from. Empty where the file
        could not be read at all.
    """
    return _read(Source(Path(path), problems), format, lambda f, s: f.table(s), pa.schema([]))


def read_qrels(
    path: str,
    problems: list[Problem],
    *,
    format: str | None = None,  # noqa: A002
    grade_map: Mapping[str, float] | None = None,
) -> pa.Table:
    """Reads judgments.

    Args:
        path: the file.
        problems: what is wrong with it is appended here; no judgments at all is an error.
        format: as in :func:`read_table`.
        grade_map: text of a grade -> the number it stands for; others are read as numbers.

    Returns:
        query_id, item_id (string), grade (float64), and source, judge where the file has them.
    """
    source = Source(Path(path), problems, grade_map)
    before = len(problems)
    found = _read(source, format, lambda f, s: f.qrels(s), QRELS)
    if not found.num_rows and len(problems) == before:
        source.error("no_judgments", "has no judgments", "a qrels file needs at least one row")
    return found


def read_run(path: str, problems: list[Problem], *, format: str | None = None) -> pa.Table:  # noqa: A002
    """Reads scored lists.

    Args:
        path: the file.
        problems: what is wrong with it is appended here; an empty run and scores that are not
            finite are errors.
        format: as in :func:`read_table`.

    Returns:
        query_id, item_id (string), score (float64, larger is better), and rank (int32) where the
        file has one, in the order of the file.
    """
    source = Source(Path(path), problems)
    before = len(problems)
    found = _read(source, format, lambda f, s: f.run(s), RUN)
    if not found.num_rows and len(problems) == before:
        source.error("empty_run", "the run is empty: it has no rows", "rerun the model")
    return found


def _read(
    source: Source,
    name: str | None,
    read: Callable[[Format, Source], pa.Table],
    schema: pa.Schema,
) -> pa.Table:
    try:
        return read(recognise(source, name, named=not schema.names), source)
    except SamepoolError as error:
        source.problems.extend(error.problems)
    except OSError as error:
        source.error("unreadable", f"cannot be read: {error.strerror or one_line(error)}")
    return stamp(schema.empty_table(), source.path, "line", 1)
