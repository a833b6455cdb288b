"""samepool stamp: writes down which registered version made a run, on which pool."""

from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from pipeline import __version__
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, collect, fault, raise_errors
from pipeline.core.run import Origin, Run
from pipeline.core.settings import StampCommand
from pipeline.formats import (
    MANIFEST_SCHEMA,
    Asked,
    Manifest,
    Version,
    Written,
    beside,
    read_run,
    unusable,
    write_manifest,
)
from pipeline.kernels.digest import of_file
from pipeline.models import Tools, build, rank
from pipeline.pool import load
from pipeline.tracking import open_tracker
from pipeline.workflow.voice import report, say


def stamp(settings: StampCommand, path: str) -> Manifest:
    """Reads and checks run and pool, resolves the version, writes the manifest.

    Args:
        settings: the version, the pool, and what else is to be written down.
        path: of the run.

    Raises:
        SamepoolError: everything that is wrong with run, pool and version.
        UnreachableError: the registry does not answer.
    """
    problems: list[Problem] = []
    version = collect(problems, lambda: _version(settings))
    files = [path, settings.retrieval] if settings.retrieval else [path]
    written = collect(problems, lambda: [_written(file, settings.format) for file in files])
    pool = collect(problems, lambda: load(settings.pool))
    run = None
    if pool is not None and written is not None:
        run = collect(problems, lambda: _run(settings, path, pool))
    if version is None or pool is None or written is None or run is None:
        raise_errors((*problems, *(pool.problems if pool else ())))
        raise AssertionError("a part is missing, but nothing is wrong with it")
    manifest = Manifest(
        schema=MANIFEST_SCHEMA,
        model=version,
        pool=Asked(pool.digest, pool.name),
        run=written[0],
        retrieval=written[1] if settings.retrieval else None,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        by=settings.by or f"samepool {__version__}",
        notes=settings.notes,
    )
    target = settings.manifest or beside(path)
    write_manifest(manifest, target)
    report((*pool.problems, *run.problems))
    for line in _lines(manifest, target, run, pool):
        say(line)
    say(f"use it: candidates='{_spec(settings, path, version)}'")
    return manifest


def _version(settings: StampCommand) -> Version:
    uri = settings.version
    if uri is None:
        text = "no version to stamp the run for"
        raise fault("no_version", text, "version=models:/NAME/VERSION or models:/NAME@ALIAS")
    found = open_tracker(settings.tracking).resolve(uri)
    if found.registered is None or found.version is None:
        text = f"{uri} is no registered version"
        raise fault("no_version", text, "write models:/NAME/VERSION or models:/NAME@ALIAS")
    return Version(found.registered, found.version, uri, found.model_id, found.source_digest)


def _written(path: str, name: str | None) -> Written:
    """A run file's bytes and rows."""
    problem = unusable(path, "run file")
    if problem is not None:
        raise SamepoolError([problem])
    problems: list[Problem] = []
    table = read_run(path, problems, format=name)
    raise_errors(problems)
    return Written(of_file(path), Path(path).name, table.num_rows)


def _run(settings: StampCommand, path: str, pool: Pool) -> Run:
    """The run's lists on the pool, checked as a comparison would."""
    spec = {"path": path, "retrieval": settings.retrieval, "format": settings.format}
    model = build({"kind": "run_file", **spec}, "run")
    name = Path(path).name
    return rank(model, Origin(name, "run_file", path, path, path=path), pool, Tools())


def _lines(manifest: Manifest, target: str, run: Run, pool: Pool) -> list[str]:
    model = manifest.model
    asked = "" if model.uri == model.resolved else f" ({model.uri})"
    answered = len(np.unique(run.final.query))
    lines = [
        f"version {model.resolved}{asked}: source digest {model.source_digest}",
        f"pool {manifest.pool.name}: digest {manifest.pool.digest}",
        f"{answered:,} of {len(pool.vocab.queries):,} queries answered",
    ]
    for what, file in (("run", manifest.run), ("retrieval", manifest.retrieval)):
        if file is not None:
            lines.append(f"{what} {file.file}: {file.rows:,} rows, SHA-256 {file.sha256}")
    return [*lines, f"written: {target}"]


def _spec(settings: StampCommand, path: str, version: Version) -> str:
    """How a comparison names the run."""
    parts = {
        "path": path,
        "retrieval": settings.retrieval,
        "version": version.resolved,
        "manifest": settings.manifest,
    }
    return "{" + ", ".join(f"{key}: {value}" for key, value in parts.items() if value) + "}"
