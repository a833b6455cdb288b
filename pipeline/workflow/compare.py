"""samepool compare: the spine."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console

from pipeline import __version__
from pipeline import evidence as files
from pipeline.core.decision import Decision
from pipeline.core.evidence import SCHEMA, Evidence, PoolRecord
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault
from pipeline.core.run import Origin
from pipeline.core.settings import Comparison
from pipeline.core.slices import Slices
from pipeline.engine import engine
from pipeline.gate import build as build_rules
from pipeline.gate import rules_digest
from pipeline.kernels.digest import of_json
from pipeline.models import Registry
from pipeline.pool import load
from pipeline.report import render, terminal
from pipeline.slices import assign
from pipeline.tracking import Start, open_tracker
from pipeline.workflow import decide, progress
from pipeline.workflow.build import Contender, Experiment, build
from pipeline.workflow.measure import Measured, Task
from pipeline.workflow.publish import Publication
from pipeline.workflow.redact import redact
from pipeline.workflow.voice import say

LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "mlflow", "hydra-core")


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """Everything that can be known before a model runs."""

    experiment: Experiment
    pool: Pool
    slices: Slices
    origins: dict[str, Origin]
    registry: Registry


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A finished comparison."""

    folder: Path
    evidence: Evidence
    decisions: tuple[Decision, ...]
    exit_code: int


def prepare(settings: Comparison) -> Prepared:
    """Builds the experiment, loads the pool, assigns slices, finds models, checks the rules.

    Raises:
        SamepoolError: anything that would stop the comparison later.
    """
    experiment = build(settings)
    pool = load(experiment.pool)
    slices = assign(pool, experiment.slices)
    models = [(c.name, c.role) for c in experiment.contenders]
    about = decide.axes(
        models, experiment.infos, slices.names, experiment.primary, experiment.alpha
    )
    decide.all_claims(about, experiment.rules, experiment.significance)
    if settings.candidate is not None and settings.candidate not in about.candidates:
        text = f"candidate={settings.candidate} is not compared"
        raise fault("unknown_candidate", text, f"there are: {', '.join(about.candidates)}")
    tracker = open_tracker(settings.tracking)
    origins = {c.name: origin(c, tracker) for c in experiment.contenders}
    return Prepared(experiment, pool, slices, origins, tracker)


def origin(contender: Contender, registry: Registry) -> Origin:
    """Which model a contender is: the registry's answer for a URI, its own otherwise.

    Raises:
        SamepoolError: it cannot be found.
        UnreachableError: the registry does not answer.
    """
    uri = getattr(contender.model, "uri", None)
    if uri is None:
        return contender.model.origin(contender.name, contender.requested)
    return replace(registry.resolve(uri), name=contender.name, kind=contender.kind)


def compare(settings: Comparison, config: str = "", overrides: Sequence[str] = ()) -> Outcome:
    """Makes one comparison, from the pool to the log.

    Args:
        settings: what to compare.
        config: the unresolved config, kept beside the results.
        overrides: what the user overrode, likewise.

    Raises:
        SamepoolError: bad input, found before a model is scored wherever that is possible.
    """
    ready = prepare(settings)
    folder = _folder(settings)
    described = _settings(settings, ready)
    start = _start(settings, ready, described, folder)
    with Publication(settings.tracking, start) as publication:
        measured = _measure(settings, ready, folder)
        evidence, decisions = decide.conclude(
            _evidence(ready, described, measured), settings.gate.rules, settings.gate.alpha
        )
        _write(evidence, decisions, folder, (settings, config, overrides))
        terminal(evidence, decisions, Console(), settings.report)
        links, code = publication.publish(folder, evidence, decisions)
    _tell(folder, links)
    gated = (
        decide.exit_code(decisions, evidence.models, settings.candidate)
        if _enforced(settings)
        else 0
    )
    return Outcome(folder, evidence, decisions, code or gated)


def _enforced(settings: Comparison) -> bool:
    return settings.gate.enforce and not settings.gate.informational


def _folder(settings: Comparison) -> Path:
    folder = Path(settings.out)
    if (folder / "manifest.json").exists():
        text = "holds a finished comparison"
        raise fault("folder_taken", text, "give another out=, or delete it", file=str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _measure(settings: Comparison, ready: Prepared, folder: Path) -> list[Measured]:
    task = Task(
        experiment=ready.experiment,
        pool=ready.pool,
        slices=ready.slices,
        engine=settings.engine,
        top=settings.report.top,
        folder=folder,
        origins=ready.origins,
        registry=ready.registry,
        progress=progress.bar if settings.engine.progress else progress.silent,
    )
    return list(engine(settings.engine).map(task, ready.experiment.contenders))


def _settings(settings: Comparison, ready: Prepared) -> dict[str, Any]:
    """The JSON-ready settings of the evidence: what determined the numbers, with digests."""
    experiment = ready.experiment
    return {
        "samepool": __version__,
        "seed": experiment.seed,
        "primary": experiment.primary,
        "alpha": experiment.alpha,
        "rules": experiment.rules,
        "rules_digest": rules_digest(build_rules(experiment.rules), experiment.alpha),
        "significance": asdict(experiment.significance),
        "slices": experiment.slices,
        "keep_depth": settings.engine.keep_depth,
        "tracking_experiment": settings.tracking.experiment,
        "title": settings.report.title,
        "digests": {
            "pool": ready.pool.digest,
            "logs": ready.pool.logs_digest,
            "slices": ready.slices.digest,
            "conventions": experiment.conventions.digest,
            "metrics": of_json([info.label for info in experiment.infos]),
        },
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in LIBRARIES},
        },
        "plugins": experiment.plugins,
    }


def _start(settings: Comparison, ready: Prepared, described: dict[str, Any], folder: Path) -> Start:
    names = [contender.name for contender in ready.experiment.contenders]
    return Start(
        name=settings.report.title or f"{ready.pool.name}: {' vs '.join(names[:3])}",
        pool=ready.pool.name,
        pool_digest=ready.pool.digest,
        rules_digest=described["rules_digest"],
        settings_digest=of_json(described),
        n_models=len(names),
        out=folder,
        seed=ready.experiment.seed,
    )


def _evidence(ready: Prepared, described: dict[str, Any], measured: list[Measured]) -> Evidence:
    experiment, slices = ready.experiment, ready.slices
    return Evidence(
        schema=SCHEMA,
        settings=described,
        pool=pool_record(ready.pool),
        models=tuple(one.record for one in measured),
        metrics=experiment.infos,
        conventions=experiment.conventions,
        units=ready.pool.units,
        slices=replace(slices, item=np.zeros((0, len(slices.item_names)), dtype=bool)),
        scores=tuple(one.scores for one in measured),
        tops=pa.concat_tables(one.tops for one in measured),
        comparisons=(),
        problems=_problems(ready, measured),
    )


def pool_record(pool: Pool) -> PoolRecord:
    """The pool as evidence knows it."""
    declared = asdict(pool.declared)
    if declared["grades"] is not None:
        declared["grades"] = list(declared["grades"])
    return PoolRecord(
        name=pool.name,
        digest=pool.digest,
        logs_digest=pool.logs_digest,
        n_queries=len(pool.vocab.queries),
        n_items=len(pool.vocab.items),
        n_judgments=len(pool.judgments.item),
        n_judged_queries=int((np.diff(pool.judgments.query_ptr) > 0).sum()),
        n_clusters=len(np.unique(pool.units.cluster)),
        declared=declared,
    )


def _problems(ready: Prepared, measured: list[Measured]) -> tuple[Problem, ...]:
    of_models = [problem for one in measured for problem in one.problems]
    return (*ready.pool.problems, *of_models, *_notes(ready.experiment))


def _notes(experiment: Experiment) -> tuple[Problem, ...]:
    if experiment.baseline is None and len(experiment.contenders) > 1:
        text = "no baseline: models are measured side by side, nothing is tested or decided"
        return (Problem("no_baseline", "note", text, "baseline=NAME"),)
    return ()


def _write(
    evidence: Evidence,
    decisions: tuple[Decision, ...],
    folder: Path,
    asked: tuple[Comparison, str, Sequence[str]],
) -> None:
    settings, config, overrides = asked
    files.write(evidence, folder, decisions)
    files.write_decisions(evidence, decisions, folder, same=True)
    render(evidence, decisions, folder, settings.report)
    files.write_config(folder, redact(config), [redact(word) for word in overrides])
    files.seal(folder)


def _tell(folder: Path, links: Sequence[str]) -> None:
    """Where to look; the links last, because that is where eyes are."""
    say(f"report: {folder / 'report.html'}")
    for line in links:
        say(line)
