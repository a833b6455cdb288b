"""Logs a finished comparison. Every step can be repeated without leaving a second trace.

Metrics carry the parent's start time, so that logging them again is a duplicate that the store
drops; runs and logged models are found by their tags before they are made.
"""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence, ModelRecord
from pipeline.core.problems import Problem, SamepoolError, UnreachableError, fault
from pipeline.core.slices import ALL
from pipeline.tracking import _figures, _keys, _links, _params, _probe, _runs, _words
from pipeline.tracking._library import library
from pipeline.tracking._state import MANIFEST, Manifest
from pipeline.tracking._store import Store
from pipeline.tracking._values import Links

T = TypeVar("T")

_DIGEST = 12  # characters of the pool's digest that MLflow's dataset column has room for


@dataclass(frozen=True, slots=True)
class Job:
    """One publication.

    Attributes:
        store: the open experiment.
        folder: sealed output folder.
        manifest: its manifest.
        evidence, decisions: its content.
        problems: warnings met on the way.
    """

    store: Store
    folder: Path
    manifest: Manifest
    evidence: Evidence
    decisions: tuple[Decision, ...]
    problems: list[Problem] = field(default_factory=list)

    def cosmetic(self, what: str, step: Callable[[], T]) -> T | None:
        """A step whose failure is a warning, as long as the service still answers.

        Returns:
            What the step returned; None where it failed.
        """
        try:
            with self.store.doing(what):
                done = step()
        except SamepoolError as error:
            if isinstance(error, UnreachableError):
                _probe.answer(self.store.where.uri)
            text = f"not logged: {what}: {error.problems[0].text}"
            self.problems.append(Problem("tracking_degraded", "warning", text))
            return None
        return done


def parent(job: Job, run_ids: Sequence[str]) -> Any:
    """The run that this folder belongs to; made if there is none.

    Args:
        job: the publication.
        run_ids: ids under which it may be known, most trusted first.

    Raises:
        SamepoolError: the run was opened for another pool.
    """
    wanted = job.manifest.digest
    for run_id in run_ids:
        run = _runs.get(job.store, run_id)
        if run is not None and run.data.tags.get(_runs.MANIFEST, wanted) == wanted:
            return _claimed(job, run)
    for run in _runs.search(job.store, {_runs.MANIFEST: wanted, _runs.KIND: _runs.COMPARISON}):
        return _claimed(job, run)
    pool = job.evidence.pool
    tags = _runs.here() | _runs.tags(
        {
            "kind": _runs.COMPARISON,
            "begun": "at upload",
            "pool": pool.name,
            "pool_digest": pool.digest,
            "out": job.folder.absolute(),
            "manifest": wanted,
        }
    )
    with job.store.doing("create a run"):
        return job.store.client.create_run(job.store.experiment_id, tags=tags, run_name=pool.name)


def comparison(job: Job, run: Any) -> Links:
    """Logs everything into the parent run and its children, and ends them as FINISHED."""
    found = _words.outcome(job.evidence, job.decisions)
    figures = _figures.of_models(job.evidence)
    run_id = run.info.run_id
    _head(job, run, found, figures)
    existing = _runs.children(job.store, run_id)
    for place, record in enumerate(job.evidence.models):
        child = existing.get(record.name) or _new_child(job, run, record, place)
        _child(job, run, child, record, found, figures[record.name])
    view = _view(job, run_id, found, figures)
    _files(job, run_id)
    _end(job, run)
    return _links.links(job.store.where, job.store.experiment_id, run_id, view, job.problems)


def _claimed(job: Job, run: Any) -> Any:
    """An earlier run, marked as this folder's and, unless it is complete, as running here."""
    opened_for = run.data.tags.get(_runs.POOL_DIGEST, job.evidence.pool.digest)
    if opened_for != job.evidence.pool.digest:
        text = (
            f"run {run.info.run_id} was opened for pool {opened_for[:12]}, the folder has another"
        )
        raise fault("other_pool", text, "compare again", file=str(job.folder))
    tags = _runs.tags({"manifest": job.manifest.digest})
    open_again = run.info.status != "FINISHED"
    if open_again:
        tags |= {key: _runs.here()[key] for key in (_runs.HOST, _runs.PROCESS)}
    with job.store.doing("write a run's tags"):
        _batch(job, run.info.run_id, tags=tags)
        if open_again and run.info.status != "RUNNING":
            job.store.client.update_run(run.info.run_id, status="RUNNING")
    return run


def _head(
    job: Job, run: Any, found: _words.Outcome, figures: Mapping[str, _figures.Figures]
) -> None:
    """Name, verdict, parameters and counts of the parent run; the pool as its dataset."""
    evidence, run_id = job.evidence, run.info.run_id
    size = sum((job.folder / name).stat().st_size for name in job.manifest.files)
    notes = [f"{len(job.manifest.files)} files, {size / 1e6:.1f} MB: report.html reads best"]
    tags = _runs.tags(
        {
            "gate": found.status,
            "winner": found.winner,
            "baseline": found.baseline.record.name if found.baseline else None,
            "primary": found.metric.label,
            "labels": evidence.pool.declared.get("labels"),
        }
    )
    tags[_runs.NOTE] = _words.comparison_page(evidence, found, notes)
    values = {
        "n_queries": evidence.pool.n_queries,
        "n_judged": evidence.pool.n_judged_queries,
        "n_invalid": sum(each.values["n_invalid"] for each in figures.values()),
    }
    if found.status not in {"none", "no_criteria"}:
        values = {"gate/passed": float(found.status == "pass"), **values}
    with job.store.doing("write the comparison's run"):
        job.store.client.update_run(run_id, name=_words.run_name(evidence, found))
        _batch(job, run_id, metrics=_metrics(run, values), params=_params.of(evidence), tags=tags)
    _dataset(job, run_id)


def _new_child(job: Job, run: Any, record: ModelRecord, place: int) -> Any:
    candidates = job.evidence.candidates
    color = _links.BASELINE_COLOR
    if record.name in candidates:
        color = _links.COLORS[candidates.index(record.name) % len(_links.COLORS)]
    here = _runs.here()
    tags = {
        _runs.PARENT: run.info.run_id,
        _runs.KIND: _runs.MODEL,
        _runs.NAME: record.name,
        _runs.HOST: here[_runs.HOST],
        _runs.PROCESS: here[_runs.PROCESS],
        "mlflow.runColor": color,
        "mlflow.source.name": "samepool",
        "mlflow.user": here.get("mlflow.user", ""),
    }
    with job.store.doing("create a child run"):
        return job.store.client.create_run(
            job.store.experiment_id,
            # MLflow lists the newest first; the baseline shall be that.
            start_time=run.info.start_time + len(job.evidence.models) - place,
            tags=tags,
            run_name=record.name,
        )


def _child(
    job: Job,
    run: Any,
    child: Any,
    record: ModelRecord,
    found: _words.Outcome,
    figures: _figures.Figures,
) -> None:
    child_id = child.info.run_id
    decision = next((each for each in job.decisions if each.model == record.name), None)
    tags = _runs.tags(
        {
            "role": record.role,
            "gate": decision.status if decision else None,
            "pool": job.evidence.pool.name,
            "pool_digest": job.evidence.pool.digest,
            "resolved": record.resolved,
            "run_digest": record.run_digest,
            "source_digest": record.source_digest,
        }
    )
    tags[_runs.NOTE] = _words.model_page(job.evidence, found, record.name, figures.left_out)
    dataset = _dataset(job, child_id)
    model_id = _model(job, child, record)
    metrics = _metrics(run, figures.values, model_id, job.evidence if dataset else None)
    with job.store.doing(f"write the run of {record.name}"):
        _batch(job, child_id, metrics=metrics, params=_params.of_model(record), tags=tags)
    _slices_table(job, child_id, record.name)
    _end(job, child)


def _model(job: Job, child: Any, record: ModelRecord) -> str | None:
    """Id of the logged model that the metrics are filed under; None where the server has none."""
    child_id = child.info.run_id
    if record.model_id:
        what = f"link to logged model {record.model_id}"
        linked = job.cosmetic(what, lambda: _linked_model(job, child_id, str(record.model_id)))
        if linked:
            return linked
    what = f"logged model of {record.name}"
    return job.cosmetic(what, lambda: _external_model(job, child_id, record))


def _linked_model(job: Job, child_id: str, model_id: str) -> str:
    """The logged model that was evaluated, as an input of the child run."""
    job.store.client.get_logged_model(model_id)
    inputs = job.store.client.get_run(child_id).inputs.model_inputs  # a search leaves them out
    if model_id not in {each.model_id for each in inputs or []}:
        model = library("mlflow.entities").LoggedModelInput(model_id)
        job.store.client.log_inputs(child_id, models=[model])
    return model_id


def _external_model(job: Job, child_id: str, record: ModelRecord) -> str:
    """A logged model whose files are not MLflow's; made once a child run."""
    client, owner = job.store.client, f"{_runs.PREFIX}run"
    here = [job.store.experiment_id]
    known = client.search_logged_models(here, filter_string=f"tags.`{owner}` = '{child_id}'")
    if known:
        model = known[0]
    else:
        model = client.create_logged_model(
            job.store.experiment_id,
            name=_keys.plain(record.name),
            source_run_id=child_id,
            tags={
                owner: child_id,
                "mlflow.model.isExternal": "true",
                **_runs.tags({"resolved": record.resolved, "source_digest": record.source_digest}),
            },
            params=dict(_params.of_model(record)),
            model_type=record.kind,
        )
    if str(model.status) != "READY":
        spec = library("mlflow.models.utils").get_external_mlflow_model_spec(model)
        with tempfile.TemporaryDirectory() as folder:
            spec.save(str(Path(folder) / "MLmodel"))
            client.log_model_artifacts(model.model_id, folder)
        client.finalize_logged_model(model.model_id, "READY")
    outputs = client.get_run(child_id).outputs
    if model.model_id not in {each.model_id for each in (outputs and outputs.model_outputs) or []}:
        made = library("mlflow.entities").LoggedModelOutput(model.model_id, 0)
        client.log_outputs(child_id, [made])
    return str(model.model_id)


def _dataset(job: Job, run_id: str) -> bool:
    """Logs the pool as a run's dataset under our own digest; MLflow's reads 10,000 rows."""
    entities, pool = library("mlflow.entities"), job.evidence.pool
    profile = {"num_rows": pool.n_queries, "judgments": pool.n_judgments, "items": pool.n_items}
    dataset = entities.Dataset(
        name=pool.name,
        digest=pool.digest[:_DIGEST],
        source_type="samepool",
        source=json.dumps({"pool": pool.name, "sha256": pool.digest}),
        profile=json.dumps(profile),
    )
    context = entities.InputTag("mlflow.data.context", "evaluation")

    def step() -> bool:
        job.store.client.log_inputs(run_id, [entities.DatasetInput(dataset, [context])])
        return True

    return job.cosmetic("pool as dataset", step) is not None


def _slices_table(job: Job, child_id: str, name: str) -> None:
    """by_slice.json: the same wide table for every model, which MLflow can lay side by side."""
    evidence = job.evidence
    main = evidence.primary
    labels = [main, *(each.label for each in evidence.metrics if each.label != main)]
    scores = next(each for each in evidence.scores if each.model == name)
    rows = []
    for slice_name in evidence.slices.names:
        means = [_figures.mean(evidence, scores, slice_name, label) for label in labels]
        rows.append([slice_name, *(None if m != m else round(m, _figures.DIGITS) for m in means)])  # noqa: PLR0124 - NaN
    text = json.dumps({"columns": ["slice", *labels], "data": rows})
    table = json.dumps([{"path": "by_slice.json", "type": "table"}])

    def step() -> None:
        job.store.client.log_text(child_id, text, "by_slice.json")
        job.store.client.set_tag(child_id, "mlflow.loggedArtifacts", table)

    job.cosmetic(f"table of slices of {name}", step)


def _view(
    job: Job, run_id: str, found: _words.Outcome, figures: Mapping[str, _figures.Figures]
) -> str:
    """Stores the leaderboard's view.

    Returns:
        Its key; empty where the server takes none.
    """
    main = found.metric
    best = found.candidates or found.standings
    names = list(figures[best[0].record.name].values) if best else []
    # MLflow sorts columns by name and puts tags behind all metrics: with more of these the verdict
    # would be out of sight.
    metric = _keys.key(ALL, main.label)
    order = next((name for name in names if name.startswith(metric)), metric)
    delta = _keys.key("delta", f"{ALL}.{main.label}")
    columns = [f"metrics.`{order}`"]
    columns += [f"metrics.`{name}`" for name in names if name.startswith(delta)][:1]
    if job.decisions:
        columns.insert(0, f"tags.`{_runs.PREFIX}gate`")
    text = _links.leaderboard(
        run_id,
        columns,
        f"metrics.`{order}`",
        _figures.groups(figures.values()),
        ascending=main.direction == "lower",
    )
    key = _links.view_key(run_id)

    def step() -> str:
        tag = f"{_links.VIEWS}{key}"
        job.store.client.set_experiment_tag(job.store.experiment_id, tag, text)
        return key

    return job.cosmetic("leaderboard view", step) or ""


def _files(job: Job, run_id: str) -> None:
    """Uploads the folder's files under their own paths, the manifest last."""
    for name in [*sorted(job.manifest.files), MANIFEST]:
        below = Path(name).parent.as_posix()
        with job.store.doing(f"upload {name}"):
            job.store.client.log_artifact(
                run_id, str(job.folder / name), None if below == "." else below
            )


def _end(job: Job, run: Any) -> None:
    if run.info.status == "FINISHED":
        return
    with job.store.doing("end a run"):
        job.store.client.set_terminated(run.info.run_id, "FINISHED")


def _metrics(
    run: Any,
    values: Mapping[str, float],
    model_id: str | None = None,
    evidence: Evidence | None = None,
) -> list[Any]:
    """Metrics at the parent's start time; with evidence, filed under its dataset."""
    entities = library("mlflow.entities")
    filed = {}
    if evidence:
        filed = {
            "dataset_name": evidence.pool.name,
            "dataset_digest": evidence.pool.digest[:_DIGEST],
        }
    at = run.info.start_time
    return [
        entities.Metric(name, float(value), at, 0, model_id=model_id, **filed)
        for name, value in values.items()
    ]


def _batch(
    job: Job,
    run_id: str,
    *,
    metrics: Sequence[Any] = (),
    params: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> None:
    entities = library("mlflow.entities")
    job.store.client.log_batch(
        run_id,
        metrics=metrics,
        params=[entities.Param(*item) for item in (params or {}).items()],
        tags=[entities.RunTag(*item) for item in (tags or {}).items()],
        synchronous=True,
    )
