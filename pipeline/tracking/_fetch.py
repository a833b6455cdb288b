"""Finds published comparisons and downloads them."""

import tempfile
from pathlib import Path
from typing import Any

from pipeline.core.problems import SamepoolError, fault
from pipeline.tracking import _runs, _state
from pipeline.tracking._errors import translated
from pipeline.tracking._store import Store, Where, connect


def fetch(where: Where, run_id: str, into: Path) -> Path:
    """Downloads a comparison's files into ``into``.

    Their manifest is the one that was published; whether they are still as it says is found when
    the folder is read.

    Raises:
        UnreachableError: the store does not answer.
        SamepoolError: no such run, it is no finished comparison, files are missing, or another
            manifest.
    """
    client = connect(where, create=False)
    run = _comparison(client, where, run_id)
    into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=into, prefix=".fetch-") as temporary:
        with translated(where.uri, f"download the files of run {run_id}"):
            if not client.list_artifacts(run_id):
                raise _no_files(run)
            found = Path(client.download_artifacts(run_id, "", temporary))
        _check(found, run)
        for path in sorted(found.rglob("*")):
            if path.is_file():
                target = into / path.relative_to(found)
                target.parent.mkdir(parents=True, exist_ok=True)
                path.replace(target)
    return into


def latest(store: Store, pool: str | None) -> str:
    """Run id of the newest published comparison, on the pool of this name or digest if given."""
    wanted = {_runs.KIND: _runs.COMPARISON}
    for run in _runs.search(store, wanted, "attributes.status = 'FINISHED'"):
        tags = run.data.tags
        if _runs.MANIFEST in tags and _on(tags, pool):
            return str(run.info.run_id)
    about = f" on pool {pool}" if pool else ""
    text = f"experiment {store.experiment!r} at {store.where.shown} has no comparison{about}"
    raise fault("no_run", text, "compare first, or name one: run=ID or run=FOLDER")


def _on(tags: dict[str, str], pool: str | None) -> bool:
    if pool is None or tags.get(_runs.POOL) == pool:
        return True
    return len(pool) >= 8 and tags.get(_runs.POOL_DIGEST, "").startswith(pool)


def _comparison(client: Any, where: Where, run_id: str) -> Any:
    try:
        with translated(where.uri, f"read run {run_id}"):
            run = client.get_run(run_id)
    except SamepoolError as error:
        if error.exit_code != SamepoolError.exit_code or "not found" not in str(error).lower():
            raise
        text = f"MLflow at {where.shown} has no run {run_id!r}"
        raise fault("no_run", text, "copy the id from the run's page, or use run=latest") from error
    tags = run.data.tags
    if tags.get(_runs.KIND) == _runs.MODEL:
        text = f"run {run_id} is one model of a comparison"
        raise fault("no_run", text, f"use its comparison: run={tags.get(_runs.PARENT)}")
    if tags.get(_runs.KIND) != _runs.COMPARISON:
        raise fault("no_run", f"run {run_id} is no comparison of samepool", "use run=latest")
    if run.info.lifecycle_stage != "active":
        raise fault("no_run", f"run {run_id} was deleted", f"mlflow runs restore --run-id {run_id}")
    if _runs.MANIFEST not in tags or run.info.status != "FINISHED":
        text = f"run {run_id} is {run.info.status}: its comparison was not published in whole"
        raise fault("unfinished", text, "samepool upload run=FOLDER, or compare again")
    return run


def _no_files(run: Any) -> SamepoolError:
    text = f"run {run.info.run_id} has no files at {run.info.artifact_uri}"
    return fault("no_files", text, "were they moved or deleted? then use run=FOLDER")


def _check(folder: Path, run: Any) -> None:
    """The manifest is there with all the files it names, and is the one that was published."""
    try:
        manifest = _state.manifest(folder)
    except SamepoolError as error:
        raise _no_files(run) from error
    if manifest.digest != run.data.tags[_runs.MANIFEST]:
        text = f"run {run.info.run_id}: its manifest is not the one that was published"
        raise fault("evidence_altered", text, "compare again, or use run=FOLDER")
