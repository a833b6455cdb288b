"""Lets the embedded store follow its folder: MLflow keeps absolute artifact paths in the database.

A moved or copied ``mlruns/`` would otherwise lose its artifacts, or write into the old place,
without a word.
"""

import sqlite3
from pathlib import Path

_MARK = "/mlruns/artifacts/"
_COLUMNS = (
    ("experiments", "artifact_location"),
    ("runs", "artifact_uri"),
    ("logged_models", "artifact_location"),
    ("model_versions", "source"),
    ("model_versions", "storage_location"),
)


def below(location: str, artifacts: Path) -> bool:
    """Whether an artifact location lies in the embedded store's artifact folder."""
    return location.startswith(f"{artifacts.as_uri()}/")


def follow(database: Path, artifacts: Path) -> None:
    """Rewrites the paths of a store whose artifacts were moved along with the database.

    Args:
        database: SQLite file; may not exist or be empty yet.
        artifacts: where the embedded store's artifacts are now.
    """
    if not artifacts.is_dir() or not database.is_file():
        return
    connection = sqlite3.connect(database, timeout=20.0)
    try:
        with connection:
            for old in _left_behind(connection, artifacts):
                _rewrite(connection, old, artifacts.as_uri())
    finally:
        connection.close()


def _left_behind(connection: sqlite3.Connection, artifacts: Path) -> list[str]:
    """Artifact roots in the database that are elsewhere, while their folders are here."""
    try:
        rows = connection.execute(
            "select artifact_location from experiments where artifact_location like ?",
            (f"file:%{_MARK}%",),
        ).fetchall()
    except sqlite3.OperationalError:  # no tables yet
        return []
    roots = set()
    for (location,) in rows:
        root, _, name = location.rpartition("/")
        if not below(location, artifacts) and (artifacts / name).is_dir():
            roots.add(root)
    return sorted(roots)


def _rewrite(connection: sqlite3.Connection, old: str, new: str) -> None:
    for table, column in _COLUMNS:
        connection.execute(
            f"update {table} set {column} = ? || substr({column}, ?) "  # noqa: S608 - our names
            f"where substr({column}, 1, ?) = ?",
            (new, len(old) + 1, len(old) + 1, f"{old}/"),
        )
