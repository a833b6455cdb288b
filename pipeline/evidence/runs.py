"""runs/<model>.parquet: stage, query_id, item_id, score, given_rank. Producer: models.

Metadata hold what the columns do not. The same file serves as the cache of scored lists, under a
name that holds the digest of what determined them and that of its own bytes: a damaged or edited
file is not found, so its model is scored again.
"""

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from filelock import FileLock, Timeout

from pipeline.core.arrays import F64, I32
from pipeline.core.files import TEMPORARY
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault
from pipeline.core.redact import redact_values
from pipeline.core.run import Lists, Origin, Run
from pipeline.evidence._files import plain, read_parquet, write_parquet
from pipeline.kernels.digest import of_file

KEY = b"samepool.run"
SCHEMA = 3  # of the metadata; part of the cache's key, so that a file of another is not looked for
_LEFT = ("*.partial", ".*.parquet", f"{TEMPORARY}*", ".*.lock")


def find(cache: Path, key: str) -> Path | None:
    """The cached file of a key whose bytes are still those that were written.

    Raises:
        OSError: it may not be read.
    """
    for path in sorted(cache.glob(f"{key}-*.parquet")):
        if path.is_file() and path.stem.removeprefix(f"{key}-") == of_file(str(path)):
            return path
    return None


def keep(run: Run, pool: Pool, cache: Path, key: str) -> Path:
    """Writes a run into the cache, read-only: output folders link to the same bytes.

    Raises:
        SamepoolError: the cache cannot be written.
    """
    fresh = cache / f".{key}-{uuid4().hex}.parquet"
    write_run(run, pool, fresh)
    try:
        fresh.chmod(0o444)
        return fresh.rename(cache / f"{key}-{of_file(str(fresh))}.parquet")
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        raise fault("cannot_write", text, "engine.cache=FOLDER", file=str(cache)) from error


@contextmanager
def scratch(cache: Path, key: str, *, fresh: bool = False) -> Iterator[Path]:
    """A folder for the answers of one attempt at a model, found again by the next attempt.

    It is removed when the block ends well. Of two attempts at once only the first has that folder;
    the other gets one of its own, which nobody finds again.

    Args:
        cache: where scored lists are kept.
        key: of the lists.
        fresh: whether to forget what earlier attempts left.
    """
    lock = FileLock(cache / f".{key}.lock")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        folder = cache / f"{key}.partial"
    except (OSError, Timeout):  # a cache that cannot be written; another attempt
        folder = cache / f"{key}-{uuid4().hex}.partial"
    try:
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        yield folder
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        lock.release()


def tidy(cache: Path, days: float = 7) -> None:
    """Removes what attempts left that were cut off and not taken up again for so many days.

    Args:
        cache: where scored lists are kept; finished lists stay.
        days: since anything in it was last written.
    """
    before = time.time() - days * 86_400
    for path in [found for pattern in _LEFT for found in cache.glob(pattern)]:
        with suppress(OSError):  # another process may be at it too
            if max(each.stat().st_mtime for each in (path, *path.rglob("*"))) < before:
                _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink()


def write_run(run: Run, pool: Pool, path: Path) -> None:
    """Writes both lists of a run with ids in place of codes."""
    ids = pa.concat_arrays([pool.vocab.items, run.foreign])
    stages = {"final": run.final, "retrieval": run.retrieval}
    tables = [_table(lists, stage, pool, ids) for stage, lists in stages.items() if lists]
    about = {
        "origin": redact_values(plain(run.origin)),
        "cost": {name: values.tolist() for name, values in run.cost.items()},
        "outside": run.outside,
        "empty": pool.vocab.queries.take(pa.array(run.empty)).to_pylist(),
        "digest": run.digest,
        "has_retrieval": run.retrieval is not None,
        "problems": redact_values(plain(run.problems)),
        "has_rank": [lists.given_rank is not None for lists in stages.values() if lists],
    }
    metadata = {KEY: json.dumps(about, sort_keys=True).encode()}
    table = pa.concat_tables(tables).unify_dictionaries()
    # Nobody filters whole lists by statistics, which take longer than all the rest.
    write_parquet(path, table.replace_schema_metadata(metadata), statistics=False)


def _table(lists: Lists, stage: str, pool: Pool, ids: pa.Array) -> pa.Table:
    n = len(lists.query)
    rank = pa.nulls(n, pa.int32()) if lists.given_rank is None else pa.array(lists.given_rank)
    columns = {
        "stage": pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), pa.array([stage])),
        "query_id": pa.DictionaryArray.from_arrays(lists.query, pool.vocab.queries),
        "item_id": pa.DictionaryArray.from_arrays(lists.item, ids),
        "score": pa.array(lists.score),
        "given_rank": rank,
    }
    return pa.table(columns)


def read_run(path: Path, pool: Pool) -> Run:
    """Reads a run that :func:`write_run` wrote for the same pool.

    Raises:
        SamepoolError: the file is missing or damaged.
    """
    table = read_parquet(path)
    about = json.loads((table.schema.metadata or {})[KEY])
    items = table["item_id"].combine_chunks().cast(pa.string())
    known = pc.index_in(items, pool.vocab.items)
    unknown = items.filter(pc.is_null(known))
    foreign = pc.unique(unknown)
    other = pc.add(pc.index_in(items, foreign), pa.scalar(len(pool.vocab.items), pa.int32()))
    item: I32 = pc.coalesce(known, other).to_numpy().astype(np.int32)
    query: I32 = pc.index_in(
        table["query_id"].combine_chunks().cast(pa.string()), pool.vocab.queries
    ).to_numpy()
    score: F64 = table["score"].to_numpy()
    is_final = pc.equal(table["stage"].cast(pa.string()), "final").to_numpy(zero_copy_only=False)
    n_final = int(is_final.sum())
    ranks = table["given_rank"]
    parts = [slice(0, n_final), slice(n_final, len(item))]
    lists = [
        Lists(
            query[part].astype(np.int32),
            item[part],
            score[part],
            ranks.to_numpy()[part].astype(np.int32) if has_rank else None,
        )
        for part, has_rank in zip(parts, [*about["has_rank"], False], strict=False)
    ]
    return Run(
        origin=_origin(about["origin"]),
        final=lists[0],
        retrieval=lists[1] if about["has_retrieval"] else None,
        foreign=foreign,
        cost={name: np.array(values, dtype=np.float64) for name, values in about["cost"].items()},
        outside=about["outside"],
        empty=_codes(about["empty"], pool),
        digest=about["digest"],
        problems=tuple(
            Problem(**{**problem, "examples": tuple(problem["examples"])})
            for problem in about["problems"]
        ),
    )


def _origin(values: dict[str, Any]) -> Origin:
    return Origin(**{**values, "parts": tuple(map(_origin, values.get("parts", ())))})


def _codes(ids: list[str], pool: Pool) -> I32:
    found = pc.index_in(pa.array(ids, pa.string()), pool.vocab.queries)
    codes: I32 = found.to_numpy(zero_copy_only=False).astype(np.int32)
    return codes
