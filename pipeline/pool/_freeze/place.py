"""The folder of a pool: taken whole, and never over another one."""

from pathlib import Path

from pipeline.core.problems import SamepoolError, fault
from pipeline.pool._record import RECORD, Record, read_record


def unwritable(target: Path) -> None:
    """Refuses, before any work, a folder that holds what is no pool.

    Raises:
        SamepoolError: the folder is a file, or has other files in it.
    """
    if target.exists() and not target.is_dir():
        raise fault("bad_out", "is a file, not a folder", "give another out=", file=str(target))
    if target.is_dir() and any(target.iterdir()) and not (target / RECORD).exists():
        text = "holds other files, which freeze would not touch"
        raise fault("bad_out", text, "give another out=", file=str(target))


def settle(folder: Path, target: Path, record: Record) -> bool:
    """Makes a finished folder the pool's; whether that was needed.

    Raises:
        SamepoolError: another pool is there.
    """
    if (target / RECORD).exists():
        _same(target, record)
        return False
    folder.chmod(0o755)
    try:
        folder.replace(target)  # over nothing, or an empty folder
    except OSError as error:
        text = f"cannot be written: {error.strerror or error}"
        raise fault("cannot_write", text, "give another out=", file=str(target)) from error
    return True


def _same(target: Path, record: Record) -> None:
    try:
        there = read_record(target)
    except SamepoolError:
        there = None
    if there is not None and (there.digest, there.files) == (record.digest, record.files):
        return
    which = "something else" if there is None else f"pool {there.name}@{there.digest[:8]}"
    text = f"holds {which}; this one is {record.name}@{record.digest[:8]}"
    if there is not None and there.digest == record.digest:
        text = f"holds pool {there.name}@{there.digest[:8]} with other logs"
    raise fault("pool_exists", text, "give another out=, or remove the folder", file=str(target))
