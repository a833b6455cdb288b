"""pool.json: what a frozen pool is, where it came from, and digests of its files."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import pyarrow as pa

from pipeline.core.files import write_text
from pipeline.core.pool import Declared
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.core.suggest import did_you_mean
from pipeline.formats import read_qrels, read_table, unusable
from pipeline.kernels.digest import of_file
from pipeline.pool._tables import Tables

RECORD = "pool.json"
SCHEMA = 1
_TABLES = ("queries", "items", "qrels", "candidates", "logs")


@dataclass(frozen=True, slots=True)
class Record:
    """The content of pool.json.

    Attributes:
        name: what people call the pool.
        digest: of the pool: queries, items, qrels, candidates, declared facts.
        declared: facts.
        files: file -> sha256, bytes, rows.
        sources: lineage: each source with its files' sha256, bytes, and its rows.
        counts: step -> what was read, cut, merged and drawn.
        settings: of the freeze.
        samepool: version that wrote it.
        created: when; in no digest.
        schema: of this file.
    """

    name: str
    digest: str
    declared: Declared
    files: Mapping[str, Mapping[str, Any]]
    sources: Mapping[str, Any] = field(default_factory=dict)
    counts: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    samepool: str = ""
    created: str = ""
    schema: int = SCHEMA


def write_record(record: Record, folder: Path) -> None:
    """Writes pool.json."""
    text = json.dumps(asdict(record), indent=2, ensure_ascii=False, allow_nan=False, default=str)
    write_text(folder / RECORD, text + "\n")


def read_record(folder: Path) -> Record:
    """Reads pool.json.

    Raises:
        SamepoolError: no such folder, no pool in it, or one that cannot be read.
    """
    path = folder / RECORD
    if not folder.is_dir():
        near = [p.name for p in folder.parent.iterdir()] if folder.parent.is_dir() else []
        fix = did_you_mean(folder.name, [name for name in near if not name.startswith(".")])
        raise fault("no_such_pool", "there is no such folder", fix, file=str(folder))
    if unusable(str(path)) is not None:
        fix = f"name a folder that samepool freeze wrote: it has a {RECORD}"
        raise fault("no_such_pool", "holds no frozen pool", fix, file=str(folder))
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["schema"] != SCHEMA:
            text = f"has schema {found['schema']}; this version reads {SCHEMA}"
            raise fault("bad_record", text, "freeze again", file=str(path))
        _well_formed(found)
        declared = dict(found.pop("declared"))
        if declared.get("grades"):
            declared["grades"] = tuple(declared["grades"])
        known = {f.name for f in fields(Record)}
        return Record(
            declared=Declared(**declared), **{k: v for k, v in found.items() if k in known}
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        text = f"is no record of a pool: {type(error).__name__} {error}"
        raise fault("bad_record", text, "freeze again", file=str(path)) from error


def _well_formed(found: dict[str, Any]) -> None:
    """What is read without further ado has its type; everything else is in the digest.

    Raises:
        ValueError: a part of another type, no digest, or a file that is none of a pool's.
    """
    declared, files, grades = found["declared"], found["files"], found["declared"].get("grades")
    tables = {f"{table}.parquet" for table in _TABLES}
    checks = {
        "name": isinstance(found["name"], str),
        "digest": isinstance(found["digest"], str) and bool(found["digest"]),
        "declared.facts": isinstance(declared.get("facts", {}), dict),
        "declared.as_of": isinstance(declared.get("as_of"), str | None),
        "declared.grades": grades is None or _two_numbers(grades),
        "files": {"qrels.parquet"} <= {*files} <= tables
        and all(isinstance(files[name]["sha256"], str) for name in files),
    }
    wrong = [name for name, good in checks.items() if not good]
    if wrong:
        raise ValueError(f"in {', '.join(wrong)}")


def _two_numbers(found: object) -> bool:
    return isinstance(found, list) and [*map(type, found)] in ([float] * 2, [int] * 2)


def read_tables(
    folder: Path, record: Record, problems: list[Problem], *, logs: bool = True
) -> Tables:
    """The tables of a folder, their bytes verified.

    Raises:
        SamepoolError: a file is missing or was edited.
    """
    wanted = [name for name in record.files if logs or name != "logs.parquet"]
    raise_errors([problem for name in wanted for problem in _edited(folder, record, name)])
    found: dict[str, pa.Table | None] = {
        table: read_table(str(folder / f"{table}.parquet"), problems)
        for table in _TABLES
        if f"{table}.parquet" in wanted and table != "qrels"
    }
    qrels = read_qrels(str(folder / "qrels.parquet"), problems)
    digest = record.digest or None
    return Tables(name=record.name, qrels=qrels, declared=record.declared, digest=digest, **found)


def _edited(folder: Path, record: Record, name: str) -> list[Problem]:
    path = folder / name
    problem = unusable(str(path))
    if problem is not None:
        return [problem]
    if of_file(str(path)) == record.files[name]["sha256"]:
        return []
    text = f"was edited: its SHA-256 is not the one in {RECORD}"
    fix = "restore it, or freeze again: a changed pool is another pool"
    return [Problem("pool_edited", "error", text, fix, str(path))]
