"""Freezes a pool: raw tables larger than memory in, a folder of Parquet with digests out."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pipeline import __version__
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.core.settings import FreezeCommand
from pipeline.kernels.digest import of_file
from pipeline.pool._freeze import cut, leaks, merge, negatives, sample, write
from pipeline.pool._freeze.engine import Engine
from pipeline.pool._freeze.place import settle, unwritable
from pipeline.pool._freeze.plan import Plan, plan
from pipeline.pool._load import pool_of
from pipeline.pool._record import Record, read_tables, write_record
from pipeline.pool._result import FreezeResult, Stratum

__all__ = ["freeze"]

_Counts = dict[str, dict[str, int]]
_Files = dict[str, dict[str, Any]]


def freeze(settings: FreezeCommand) -> FreezeResult:
    """Cuts, merges, samples and writes; see :func:`pipeline.pool.freeze`."""
    asked = plan(settings)
    target = Path(asked.out)
    unwritable(target)
    with _workshop(target, settings.temp) as (folder, scratch):
        engine = Engine(scratch, settings.memory, settings.threads)
        try:
            raw = cut.open_all(engine, asked)
            counts, strata = _draw(engine, raw, asked)
            files = _write(engine, raw, asked, folder, counts)
            counts["leaks"] = leaks.count(engine, raw, asked)
        finally:
            engine.close()
        record = _record(asked, raw, (counts, strata), files)
        problems = [*raw.notes, *leaks.notes(counts, asked), *negatives.notes(counts, asked)]
        pool = _load(folder, target, record, problems)
        record = replace(record, digest=pool.digest)
        write_record(record, folder)
        fresh = settle(folder, target, record)
    return FreezeResult(pool, record, strata, target, fresh, pool.problems)


def _load(folder: Path, target: Path, record: Record, problems: list[Problem]) -> Pool:
    """The pool as it will be read; problems name the folder that stays, not the workshop's."""

    def placed(problem: Problem) -> Problem:
        file = problem.file and problem.file.replace(str(folder), str(target))
        return replace(problem, file=file)

    try:
        pool = pool_of(read_tables(folder, record, problems, logs=False), problems)
    except SamepoolError as error:
        raise SamepoolError(map(placed, error.problems)) from error
    return replace(pool, problems=tuple(map(placed, pool.problems)))


def _draw(engine: Engine, raw: cut.Raw, asked: Plan) -> tuple[_Counts, tuple[Stratum, ...]]:
    counts: _Counts = {"queries": cut.read_queries(engine, raw, asked)}
    counts["queries"] |= merge.merge_queries(engine, raw, asked)
    counts["items"] = cut.read_items(engine, raw, asked)
    counts["qrels"] = merge.unite_judgments(engine, raw, asked)
    counts["logs"] = cut.read_logs(engine, raw, asked)
    counts["population"], strata = sample.draw(engine, asked)
    return counts, strata


def _write(engine: Engine, raw: cut.Raw, asked: Plan, folder: Path, counts: _Counts) -> _Files:
    """File -> sha256, bytes, rows; adds what was drawn of negatives to the counts."""
    rows = {
        "queries.parquet": write.write_queries(engine, raw, folder),
        "qrels.parquet": write.write_qrels(engine, raw, folder),
    }
    if asked.negatives.per_query:
        table, counts["negatives"] = negatives.candidates(engine, raw, asked)
        rows["candidates.parquet"] = write.write_table(table, folder / "candidates.parquet")
    rows["items.parquet"] = write.write_items(engine, raw, asked, folder)
    rows["logs.parquet"] = write.write_logs(engine, raw, asked, folder)
    return {
        path.name: {
            "sha256": of_file(str(path)),
            "bytes": path.stat().st_size,
            "rows": rows[path.name],
        }
        for path in sorted(folder.glob("*.parquet"))
    }


def _record(
    asked: Plan,
    raw: cut.Raw,
    drawn: tuple[_Counts, tuple[Stratum, ...]],
    files: _Files,
) -> Record:
    counts, strata = drawn
    return Record(
        name=asked.settings.name or Path(asked.out).name,
        digest="",
        declared=asked.declared(
            catalogue=counts["items"]["rows"] - counts["items"]["after_as_of"]
            if counts["items"]
            else None,
            sampling=sample.words(asked, strata),
            facts=sample.design(asked, counts["population"], strata),
        ),
        files=files,
        sources={table: _lineage(source, raw.rows[table]) for table, source in raw.sources.items()},
        counts=counts,
        settings=asdict(asked.settings),
        samepool=__version__,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _lineage(source: Any, rows: int) -> dict[str, Any]:
    return {
        "path": source.asked,
        "rows": rows,
        "files": [
            {"file": file, "sha256": of_file(file), "bytes": Path(file).stat().st_size}
            for file in source.files
        ],
    }


@contextmanager
def _workshop(target: Path, temp: str | None) -> Iterator[tuple[Path, Path]]:
    """A folder that will become the pool, and one for what does not fit in memory."""
    made: list[Path] = []
    try:
        for prefix, parent in ((".new-", target.parent), (".freeze-", Path(temp or target.parent))):
            made.append(_folder_in(parent, prefix, create=prefix == ".new-"))
        yield made[0], made[1]
    finally:
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)


def _folder_in(parent: Path, prefix: str, *, create: bool) -> Path:
    try:
        if create:
            parent.mkdir(parents=True, exist_ok=True)
        return Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        raise fault("cannot_write", text, "choose another out or temp", file=str(parent)) from error
