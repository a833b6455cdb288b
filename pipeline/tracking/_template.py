"""Starts new SQLite stores from a copy of an empty one that MLflow made.

MLflow makes the tables of a new database by running every migration it ever had, which takes
seconds. What comes out is the same every time, so an empty database is kept in the user's cache,
one for each version of MLflow and of its tables. Without it everything works, only slower.
"""

import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from pipeline.core.cache import cache_folder
from pipeline.tracking._library import library, quiet


def start(database: Path) -> None:
    """Puts an empty store with all tables where there is no database, or an empty file.

    Does nothing where that does not work: MLflow makes the tables then.

    Args:
        database: SQLite file; nobody else may open it meanwhile. Its folder exists.
    """
    if database.is_file() and database.stat().st_size:
        return
    try:
        template = _template()
        with tempfile.TemporaryDirectory(dir=database.parent, prefix=".new-") as scratch:
            copy = Path(scratch) / database.name
            shutil.copyfile(template, copy)
            copy.replace(database)  # whole or not at all
    except Exception:  # noqa: BLE001 - a shortcut: whatever is wrong, the long way says so
        return


def _template() -> Path:
    """The empty database in the cache; made where it is missing or not sound."""
    utils, version = library("mlflow.store.db.utils"), library().__version__
    head = utils._get_latest_schema_revision()  # noqa: SLF001
    path = cache_folder() / f"mlflow-{version}-{head}.db"
    if path.is_file() and _sound(path, head):
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch, quiet():
        fresh = Path(scratch) / path.name
        engine = utils.create_sqlalchemy_engine(f"sqlite:///{fresh}")
        try:
            utils._initialize_tables(engine)  # noqa: SLF001 - what MLflow calls on an empty one
        finally:
            engine.dispose()
        fresh.replace(path)
    return path


def _sound(path: Path, head: str) -> bool:
    """Whether a database is whole, of this revision, and without runs or experiments."""
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
            (state,) = connection.execute("pragma quick_check(1)").fetchone()
            (revision,) = connection.execute("select version_num from alembic_version").fetchone()
            (used,) = connection.execute("select count(*) from experiments").fetchone()
    except (sqlite3.DatabaseError, TypeError):
        return False
    return bool(state == "ok" and revision == head and not used)
