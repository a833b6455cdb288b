import sqlite3
from contextlib import closing

import pytest

from pipeline.tracking import _template


def schema(database):
    """Tables and indexes; MLflow's migrations write a table's constraints in varying order."""
    with closing(sqlite3.connect(database)) as connection:
        made = connection.execute("select type, name, sql from sqlite_master order by 1, 2")
        words = [(*key, sorted((sql or "").replace(",", " ").split())) for *key, sql in made]
        return words, connection.execute("select * from alembic_version").fetchall()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SAMEPOOL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def only(cache):
    (found,) = cache.iterdir()
    return found


def test_a_new_store_is_what_mlflow_makes(cache, tmp_path, template, mlflow):
    database = tmp_path / "mlflow.db"
    _template.start(database)
    assert schema(database) == schema(template)
    client = mlflow.MlflowClient(f"sqlite:///{database}")
    assert [each.name for each in client.search_experiments()] == ["Default"]

    kept = only(cache)
    assert mlflow.__version__ in kept.name
    kept.write_bytes(kept.read_bytes()[:5_000])  # cut short: made anew, not copied
    database.write_bytes(b"")
    _template.start(database)
    assert schema(database) == schema(template)
    assert only(cache).stat().st_size > 5_000


def test_a_database_that_exists_is_left_alone(cache, tmp_path):
    database = tmp_path / "mlflow.db"
    database.write_bytes(b"somebody's")
    _template.start(database)
    assert database.read_bytes() == b"somebody's"
    assert not cache.exists()


def test_without_a_cache_mlflow_makes_the_tables(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    monkeypatch.setenv("SAMEPOOL_CACHE", str(blocked))
    _template.start(tmp_path / "mlflow.db")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
