"""Writes files whole or not at all; reads them with clear errors."""

import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core.files import replacing, write_text
from pipeline.core.problems import SamepoolError, fault


def write_json(path: Path, value: Any) -> None:
    """Writes JSON with sorted keys; a NaN in it is a bug of ours and raises ValueError."""
    text = json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False, allow_nan=False)
    write_text(path, text + "\n")


def write_parquet(path: Path, table: pa.Table, *, statistics: bool = True) -> None:
    """Writes an Arrow table; the same table gives the same bytes.

    Args:
        path: where to.
        table: what.
        statistics: of each column's values, by which readers may skip rows.
    """
    with replacing(path) as temporary:
        pq.write_table(table, temporary, compression="zstd", write_statistics=statistics)


def read_json(path: Path) -> Any:
    """A JSON file's value.

    Raises:
        SamepoolError: the file is missing or is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise missing(path) from error
    except (ValueError, UnicodeDecodeError) as error:
        raise damaged(path, error) from error


def read_parquet(path: Path) -> pa.Table:
    """A Parquet file's table.

    Raises:
        SamepoolError: the file is missing or is not Parquet.
    """
    if not path.is_file():
        raise missing(path)
    try:
        return pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise damaged(path, error) from error


def missing(path: Path) -> SamepoolError:
    """The error for a file of the contract that is not there."""
    text = f"{path.name} is missing"
    return fault("evidence_missing", text, "run the comparison again", file=str(path.parent))


def damaged(path: Path, error: Exception) -> SamepoolError:
    """The error for a file of the contract that cannot be read."""
    text = f"cannot be read: {error}"
    return fault("evidence_damaged", text, "run the comparison again", file=str(path))


def plain(value: Any) -> Any:
    """A core value as JSON-ready dicts and lists."""
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value
