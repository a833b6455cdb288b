"""Which line or row of its file a row of a table came from."""

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import I64

_FILE = b"samepool.file"
_UNIT = b"samepool.unit"
_FIRST = b"samepool.first"
_SKIPPED = b"samepool.skipped"


def stamp(
    table: pa.Table, path: object, unit: str, first: int, skipped: I64 | None = None
) -> pa.Table:
    """The table with a note of where its rows come from, in the schema's metadata.

    Args:
        table: rows in the order of the file.
        path: the file.
        unit: ``line`` or ``row``.
        first: number of the line or row that row 0 came from.
        skipped: ascending numbers of lines that gave no row.
    """
    gaps = np.zeros(0, np.int64) if skipped is None else skipped.astype(np.int64)
    return table.replace_schema_metadata(
        {
            _FILE: str(path).encode(),
            _UNIT: unit.encode(),
            _FIRST: str(first).encode(),
            _SKIPPED: gaps.tobytes(),
        }
    )


def place(table: pa.Table, row: int) -> tuple[str | None, str]:
    """The file, and ``line 12`` or ``row 12`` in it, of row ``row`` (from 0) of a table as read.

    A table that no reader stamped has no file, and rows counted from 1.
    """
    notes = table.schema.metadata or {}
    if _FILE not in notes:
        return None, f"row {row + 1}"
    number = int(notes[_FIRST]) + row
    skipped = np.frombuffer(notes[_SKIPPED], np.int64)
    # The i-th skipped line (from 0) lies before row number r where it is at most r + i.
    shift = int(np.searchsorted(skipped - np.arange(len(skipped)), number, "right"))
    return notes[_FILE].decode(), f"{notes[_UNIT].decode()} {number + shift}"


def skip_first(table: pa.Table) -> pa.Table:
    """The stamped table without its first row; the others keep their places."""
    notes = table.schema.metadata
    line = int(place(table, 0)[1].split()[1])
    skipped = np.sort(np.append(np.frombuffer(notes[_SKIPPED], np.int64), line))
    return stamp(
        table.slice(1), notes[_FILE].decode(), notes[_UNIT].decode(), int(notes[_FIRST]), skipped
    )
