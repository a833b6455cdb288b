"""Runs in a store: their tags, finding them again, ending those whose process is gone."""

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pipeline.core.redact import redact_uris
from pipeline.tracking import _here
from pipeline.tracking._store import Store
from pipeline.tracking._values import Start

PREFIX = "samepool."
KIND, COMPARISON, MODEL = f"{PREFIX}kind", "comparison", "model"
MANIFEST = f"{PREFIX}manifest"
NAME = f"{PREFIX}model"
POOL, POOL_DIGEST = f"{PREFIX}pool", f"{PREFIX}pool_digest"
HOST, PROCESS = f"{PREFIX}host", f"{PREFIX}process"
PARENT = "mlflow.parentRunId"
NOTE = "mlflow.note.content"
ENDED = {"FINISHED", "FAILED", "KILLED"}
# MLflow cuts longer ones off without a word.
_LONGEST = 5_000


def begun(start: Start) -> dict[str, str]:
    """Tags of a run that is opened before scoring."""
    return (
        tags(
            {
                "kind": COMPARISON,
                "begun": "before scoring",
                "pool": start.pool,
                "pool_digest": start.pool_digest,
                "rules_digest": start.rules_digest,
                "settings_digest": start.settings_digest,
                "n_models": start.n_models,
                "seed": start.seed,
                "out": start.out.absolute(),
            }
        )
        | here()
    )


def here() -> dict[str, str]:
    """Tags that say who, where and with what."""
    commit = _here.commit()
    found = tags(
        {
            "git_commit": commit,
            "host": _here.host(),
            "process": _here.process(),
            "version": _version(),
            "python": platform.python_version(),
        }
    )
    found |= {"mlflow.source.name": "samepool", "mlflow.source.type": "LOCAL"}
    if commit:
        found["mlflow.source.git.commit"] = commit.partition("+")[0]
    if _here.user():
        found["mlflow.user"] = _here.user()
    return found


def tags(values: dict[str, Any]) -> dict[str, str]:
    """Our tags: prefixed, as text, without credentials; None and empty ones left out."""
    shown = {
        PREFIX + name: redact_uris(str(value))
        for name, value in values.items()
        if value is not None
    }
    return {name: value[:_LONGEST] for name, value in shown.items() if value}


def search(store: Store, wanted: dict[str, str], condition: str = "") -> Iterator[Any]:
    """Active runs of the experiment with the tags ``wanted``, newest first."""
    terms = [f"tags.`{name}` = '{value}'" for name, value in wanted.items()]
    text = " and ".join([*terms, *([condition] if condition else [])])
    token = None
    while True:
        with store.doing("search runs"):
            page = store.client.search_runs(
                [store.experiment_id],
                text,
                order_by=["attributes.start_time DESC"],
                page_token=token,
            )
        yield from page
        token = page.token
        if not token:
            return


def sweep(store: Store) -> int:
    """Ends as KILLED our runs of this machine that are RUNNING although their process is gone.

    Returns:
        How many there were.
    """
    running = search(store, {HOST: _here.host()}, "attributes.status = 'RUNNING'")
    gone = [run for run in running if not _here.alive(run.data.tags.get(PROCESS, ""))]
    for run in gone:
        with store.doing("end a run that was left open"):
            store.client.set_terminated(run.info.run_id, "KILLED")
    return len(gone)


def children(store: Store, parent: str) -> dict[str, Any]:
    """Child runs of a comparison by the key of their model."""
    found = search(store, {PARENT: parent, KIND: MODEL})
    return {run.data.tags[NAME]: run for run in found if NAME in run.data.tags}


def get(store: Store, run_id: str) -> Any:
    """An active run of this experiment, or None."""
    if not run_id:
        return None
    with store.doing(f"read run {run_id}"):
        try:
            run = store.client.get_run(run_id)
        except Exception as error:
            if getattr(error, "error_code", "") == "RESOURCE_DOES_NOT_EXIST":
                return None
            raise
    ours = run.info.lifecycle_stage == "active" and run.info.experiment_id == store.experiment_id
    return run if ours else None


def _version() -> str:
    try:
        return version("samepool")
    except PackageNotFoundError:  # run from a checkout
        return "checkout"
