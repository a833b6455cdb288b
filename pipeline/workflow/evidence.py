"""What a comparison found, as evidence."""

import platform
from collections.abc import Sequence
from dataclasses import asdict, replace
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline import __version__
from pipeline.core.evidence import SCHEMA, Evidence, ModelRecord, PoolRecord
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem
from pipeline.core.redact import redact_values
from pipeline.core.settings import CompareSettings
from pipeline.gate import build as build_rules
from pipeline.gate import rules_digest
from pipeline.kernels.digest import of_json
from pipeline.workflow.measure import Measured
from pipeline.workflow.prepare import Prepared

LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "mlflow", "hydra-core")


def describe(settings: CompareSettings, ready: Prepared) -> dict[str, Any]:
    """The JSON-ready settings of the evidence: what determines the numbers, with digests."""
    experiment = ready.experiment
    found = {
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
    described: dict[str, Any] = redact_values(found)
    return described


def gather(ready: Prepared, described: dict[str, Any], measured: Sequence[Measured]) -> Evidence:
    """The evidence before any claim is tested."""
    slices = ready.slices
    return Evidence(
        schema=SCHEMA,
        settings=described,
        pool=pool_record(ready.pool),
        models=tuple(one.record for one in measured),
        metrics=ready.experiment.infos,
        conventions=ready.experiment.conventions,
        units=ready.pool.units,
        slices=replace(slices, item=np.zeros((0, len(slices.item_names)), dtype=bool)),
        scores=tuple(one.scores for one in measured),
        tops=pa.concat_tables(one.tops for one in measured),
        comparisons=(),
        problems=(
            *ready.pool.problems,
            *ready.warnings,
            *(problem for one in measured for problem in one.problems),
            *_notes(ready),
            *_alike([one.record for one in measured]),
        ),
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


def _notes(ready: Prepared) -> list[Problem]:
    found = []
    if ready.experiment.baseline is None and len(ready.experiment.contenders) > 1:
        text = "no baseline: models are measured side by side, nothing is tested or decided"
        found.append(Problem("no_baseline", "note", text, "baseline=NAME"))
    if len(np.unique(ready.pool.units.weight)) > 1:
        text = "sampling weights are kept but not used: every average counts each query once"
        found.append(Problem("weights_unused", "warning", text))
    return found


def _alike(records: Sequence[ModelRecord]) -> list[Problem]:
    """Warnings for models whose lists are the same to the bit: often one file under two names."""
    first: dict[str, str] = {}
    found = []
    for record in records:
        other = first.setdefault(record.run_digest, record.name)
        if other != record.name:
            text = f"{other} and {record.name} return the very same lists: every delta is 0"
            fix = "if that is not meant, look at what was given for each"
            found.append(Problem("same_lists", "warning", text, fix))
    return found
