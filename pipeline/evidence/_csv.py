"""CSV that keeps every float to the bit and never mistakes text for a missing value."""

import csv
import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pipeline.core.files import write_text
from pipeline.core.problems import fault
from pipeline.evidence._files import missing


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Writes rows under a header; None is empty, floats are the shortest text that reads back."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in rows)
    write_text(path, text.getvalue())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return repr(float(value))
    return str(value)


def read_csv(path: Path, columns: Sequence[str]) -> list[dict[str, str]]:
    """Rows as texts.

    Raises:
        SamepoolError: the file or a column is missing.
    """
    if not path.is_file():
        raise missing(path)
    with path.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(stream)
        absent = [name for name in columns if name not in (rows.fieldnames or [])]
        if absent:
            text = f"has no column {', '.join(absent)}"
            raise fault("evidence_damaged", text, "run the comparison again", file=str(path))
        return list(rows)


def number(text: str) -> float | None:
    """A cell as a float; empty is None."""
    return float(text) if text else None


def pair(low: str, high: str) -> tuple[float, float] | None:
    """Two cells as an interval; empty is None."""
    return (float(low), float(high)) if low and high else None
