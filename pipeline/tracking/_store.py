"""The store that runs are logged to: which one, opening it safely, its experiments.

The embedded store is ``mlruns/mlflow.db`` and ``mlruns/artifacts/`` below the working directory.
MLflow creates a database's tables without a lock, so that parallel first openings break each
other; opening is therefore done under a file lock.
"""

import os
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from pipeline.core.problems import SamepoolError, fault
from pipeline.core.redact import redact_uris
from pipeline.core.suggest import did_you_mean
from pipeline.kernels.digest import of_strings
from pipeline.tracking import _moved, _probe, _template
from pipeline.tracking._errors import translated
from pipeline.tracking._library import library

FOLDER = "mlruns"
SQLITE = "sqlite:///"
_LOCK_SECONDS = 120.0
_NOTE = "Comparisons of models on fixed pools, made by samepool. Each top-level run is one."

_clients: dict[tuple[str, str, int], Any] = {}


@dataclass(frozen=True, slots=True)
class Where:
    """Which store.

    Attributes:
        uri: tracking URI; relative SQLite paths made absolute.
        registry_uri: of the model registry.
        artifacts: folder for artifacts of experiments made here; None where a server chooses.
        embedded: whether this is the store in ``mlruns/``, which keeps itself together.
    """

    uri: str
    registry_uri: str
    artifacts: Path | None
    embedded: bool

    @property
    def shown(self) -> str:
        """The URI without credentials."""
        return redact_uris(self.uri)

    @property
    def database(self) -> Path | None:
        """The SQLite file; None where the store is none."""
        return _sqlite_path(self.uri)


@dataclass(frozen=True, slots=True)
class Store:
    """An open experiment of a store.

    Attributes:
        client: an MlflowClient; runs are named by id in every call, there is no current run.
        where: which store.
        experiment: name.
        experiment_id: id.
    """

    client: Any
    where: Where
    experiment: str
    experiment_id: str

    def doing(self, what: str) -> Any:
        """Context in which MLflow's exceptions become problems."""
        return translated(self.where.uri, what)


def locate(uri: str | None, registry_uri: str | None) -> Where:
    """The store: the setting, else MLFLOW_TRACKING_URI, else the embedded one.

    Raises:
        SamepoolError: a kind of store that MLflow no longer supports.
    """
    here = Path.cwd() / FOLDER
    chosen = uri or os.environ.get("MLFLOW_TRACKING_URI") or ""
    found = _checked(chosen) if chosen else _addressed(here / "mlflow.db")
    registry = registry_uri or os.environ.get("MLFLOW_REGISTRY_URI") or ""
    artifacts: Path | None = (_sqlite_path(found) or here / "mlflow.db").parent / "artifacts"
    if found.startswith(("http", "databricks")):
        artifacts = None
    embedded = found == f"{SQLITE}{here / 'mlflow.db'}"
    return Where(found, _checked(registry) if registry else found, artifacts, embedded)


def connect(where: Where, *, create: bool) -> Any:
    """A client of a store that answers and whose tables exist.

    Args:
        where: which store.
        create: make an SQLite store that does not exist yet; else that is an error.

    Raises:
        UnreachableError: it does not answer within seconds.
        SamepoolError: it does not exist, or cannot be opened.
    """
    key = (where.uri, where.registry_uri, os.getpid())
    for uri in dict.fromkeys((where.uri, where.registry_uri)):
        _probe.answer(uri)
    database = where.database
    if database and not create and not database.is_file():
        text = f"there is no MLflow store at {database}"
        raise fault("no_store", text, _other_store())
    if key in _clients and (database is None or database.is_file()):
        return _clients[key]
    mlflow = library()
    with _alone(where), translated(where.uri, "open the store"):
        if database:
            _template.start(database)
            _keep_older_schema(database)
        if database and where.artifacts and where.embedded:
            _moved.follow(database, where.artifacts)
        client = mlflow.MlflowClient(where.uri, where.registry_uri)
        client.search_experiments(max_results=1)
    _clients[key] = client
    return client


def open_store(where: Where, experiment: str) -> Store:
    """Opens an experiment, making store and experiment where they do not exist.

    Raises:
        UnreachableError: the store does not answer.
        SamepoolError: the experiment was deleted, or its files cannot be reached from here.
    """
    client = connect(where, create=True)
    with translated(where.uri, f"open experiment {experiment!r}"):
        found = client.get_experiment_by_name(experiment)
        if found is None:
            with _alone(where):
                found = _get_or_create(client, where, experiment)
    if found.lifecycle_stage != "active":
        raise _deleted(found, where)
    _check_artifacts(found.artifact_location, where, experiment)
    return Store(client, where, experiment, str(found.experiment_id))


def find_experiment(where: Where, experiment: str) -> Store:
    """Opens an experiment that must exist.

    Raises:
        SamepoolError: there is no such experiment; the message says which there are.
    """
    client = connect(where, create=False)
    with translated(where.uri, f"find experiment {experiment!r}"):
        found = client.get_experiment_by_name(experiment)
        known = [] if found else [each.name for each in client.search_experiments()]
    if found is None:
        text = f"MLflow at {where.shown} has no experiment {experiment!r}"
        raise fault("no_experiment", text, did_you_mean(experiment, known))
    if found.lifecycle_stage != "active":
        raise _deleted(found, where)
    return Store(client, where, experiment, str(found.experiment_id))


def _get_or_create(client: Any, where: Where, name: str) -> Any:
    found = client.get_experiment_by_name(name)  # another process may have been first
    if found is not None:
        return found
    location = (where.artifacts / _plain(name)).as_uri() if where.artifacts else None
    tags = {"mlflow.experimentKind": "custom_model_development", "mlflow.note.content": _NOTE}
    try:
        created = client.create_experiment(name, artifact_location=location, tags=tags)
    except Exception:
        found = client.get_experiment_by_name(name)  # on a server the lock is not ours alone
        if found is None:
            raise
        return found
    return client.get_experiment(created)


def _plain(name: str) -> str:
    """A folder name for an experiment; distinct for distinct names."""
    plain = re.sub(r"[^\w.-]+", "_", name).strip(".") or "experiment"
    return plain if plain == name else f"{plain}-{of_strings([name])[:8]}"


def _deleted(found: Any, where: Where) -> SamepoolError:
    text = f"experiment {found.name!r} was deleted in MLflow, which keeps its name reserved"
    restore = f"MLFLOW_TRACKING_URI={where.shown} mlflow experiments restore -x"
    fix = f"restore it ({restore} {found.experiment_id}), or set tracking.experiment"
    return fault("experiment_deleted", text, fix)


def _check_artifacts(location: str, where: Where, experiment: str) -> None:
    if location.startswith("mlflow-artifacts:") and not where.uri.startswith("http"):
        text = (
            f"experiment {experiment!r} was made through a server: its files are only there, "
            f"not in {where.shown}"
        )
        raise fault("artifacts_elsewhere", text, "set tracking.uri to it, or tracking.experiment")
    if where.embedded and where.artifacts and not _moved.below(location, where.artifacts):
        text = f"experiment {experiment!r} keeps its files in {location}, outside {where.artifacts}"
        fix = f"was {FOLDER}/ moved without its artifacts? else set tracking.experiment"
        raise fault("store_moved", text, fix)


def _checked(uri: str) -> str:
    """The URI in absolute form, if it is of a kind that can be used."""
    scheme = urlsplit(uri).scheme
    if scheme in {"", "file"} or len(scheme) == 1:  # one letter: a Windows drive
        text = f"{uri!r} is a file store: MLflow keeps those only for reading old runs"
        fix = f"use {SQLITE}{FOLDER}/mlflow.db or a server's http address; unset is embedded"
        raise fault("file_store", text, fix)
    if not scheme.startswith("sqlite"):
        return uri
    path = _sqlite_path(uri)
    if path is None:
        text = f"{uri!r} is a database in memory: results would be lost"
        raise fault("memory_store", text, f"use {SQLITE}PATH")
    _, mark, query = uri.partition("?")
    return f"{_addressed(path)}{mark}{query}"


def _addressed(path: Path) -> str:
    if "%" in str(path) or "?" in str(path):
        text = f"{path}: MLflow cannot address a database whose path has % or ? in it"
        raise fault("bad_store_path", text, "rename the folder, or set tracking.uri")
    return f"{SQLITE}{path}"


def _sqlite_path(uri: str) -> Path | None:
    if not uri.startswith("sqlite"):
        return None
    name = uri.partition(":///")[2].partition("?")[0]
    return Path.cwd() / name if name and name != ":memory:" else None


@contextmanager
def _alone(where: Where) -> Iterator[None]:
    """Nobody else opens this SQLite store meanwhile; of other stores the server takes care."""
    database = where.database
    if database is None:
        yield
        return
    lock = _lock_beside(database, where)
    try:
        with FileLock(str(lock), timeout=_LOCK_SECONDS):
            yield
    except Timeout as error:
        text = f"another process has held {lock} for {_LOCK_SECONDS:.0f} s"
        raise fault("store_locked", text, "end it, or wait") from error


def _lock_beside(database: Path, where: Where) -> Path:
    """The lock's path; makes the folder, and keeps the embedded store out of version control."""
    folder = database.parent
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _check_writable(database)
        if not where.embedded:
            return folder / f".{database.name}.lock"
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    except OSError as error:
        text = f"the MLflow store {database} cannot be written: {error}"
        fix = "check the folder's rights, or set tracking.uri"
        raise fault("store_failed", text, fix) from error
    return folder / ".lock"


def _check_writable(database: Path) -> None:
    # MLflow retries a file that it cannot open for minutes.
    if not os.access(database if database.exists() else database.parent, os.W_OK):
        raise PermissionError(13, "permission denied")


def _keep_older_schema(database: Path) -> None:
    """Copies a database that another MLflow version wrote: opening it may migrate it for good."""
    if not database.is_file() or database.stat().st_size == 0:
        return
    revision = _revision(database)
    head = library("mlflow.store.db.utils")._get_latest_schema_revision()  # noqa: SLF001
    backup = database.with_name(f"{database.name}.{revision}.backup")
    if revision not in {"", head} and not backup.exists():
        shutil.copyfile(database, backup)


def _revision(database: Path) -> str:
    try:
        connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True, timeout=5.0)
        try:
            row = connection.execute("select version_num from alembic_version").fetchone()
        finally:
            connection.close()
    except sqlite3.DatabaseError as error:
        if "no such table" in str(error):
            return ""
        text = f"{database} is not an MLflow database: {error}"
        raise fault("store_failed", text, "set tracking.uri to another one") from error
    return str(row[0]) if row else ""


def _other_store() -> str:
    """Where MLflow keeps what is logged without a tracking URI, if it did so here."""
    if Path("mlflow.db").is_file():
        return "there is a mlflow.db here: tracking.uri=sqlite:///mlflow.db reads it"
    return "set tracking.uri or MLFLOW_TRACKING_URI to where the models are"
