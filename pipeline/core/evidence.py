"""Everything a decision, a report or a log may read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from pipeline.core.comparison import Comparison
from pipeline.core.conventions import Conventions
from pipeline.core.pool import Units
from pipeline.core.problems import Problem
from pipeline.core.scores import MetricInfo, Scores
from pipeline.core.slices import Slices

SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Ledger:
    """How many queries stand behind a model's numbers.

    Attributes:
        asked: queries of the pool.
        judged: of these, with judgments: the topic set.
        returned: of these, answered by the model.
        missing: judged - returned.
        empty: of the returned, those answered with nothing.
        outside: rows for queries outside the pool.
        foreign: returned items outside the pool's vocabulary.
        constant: judged queries whose list the tie rule alone ordered.
        tied: judged queries with a tie across the primary metric's cutoff.
        ineligible: top-k places that hold an item not eligible at the query's time.
    """

    asked: int
    judged: int
    returned: int
    missing: int
    outside: int
    foreign: int
    constant: int
    tied: int
    ineligible: int
    empty: int = 0


@dataclass(frozen=True, slots=True)
class ModelRecord:
    """One model of a comparison.

    Attributes:
        name: key.
        role: ``baseline`` or ``candidate``.
        kind, requested, resolved, registered, version, model_id, source_digest, path: as Origin.
        run_digest: SHA-256 of its lists.
        has_retrieval: whether the first stage's list is known on its own.
        ledger: counts.
    """

    name: str
    role: str
    kind: str
    requested: str
    resolved: str
    registered: str | None
    version: str | None
    model_id: str | None
    source_digest: str
    path: str | None
    run_digest: str
    has_retrieval: bool
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class PoolRecord:
    """The pool as evidence knows it.

    Attributes:
        name, digest, logs_digest: as Pool.
        n_queries, n_items, n_judgments, n_judged_queries, n_clusters: sizes.
        declared: the declared facts, JSON-ready.
    """

    name: str
    digest: str
    logs_digest: str
    n_queries: int
    n_items: int
    n_judgments: int
    n_judged_queries: int
    n_clusters: int
    declared: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """One comparison.

    Attributes:
        schema: version of the layout on disk.
        settings: JSON-ready: digests, seed, versions, plugins, primary metric, and the gate's
            rules as they were fixed before scoring.
        pool, models, metrics, conventions, units, slices: what was compared, how and where.
        scores: one a model, baseline first.
        tops: model, stage, query_id, rank, item_id, score, grade (null if unjudged), eligible.
        comparisons: every claim with its evidence.
        problems: warnings and notes.
    """

    schema: int
    settings: Mapping[str, Any]
    pool: PoolRecord
    models: tuple[ModelRecord, ...]
    metrics: tuple[MetricInfo, ...]
    conventions: Conventions
    units: Units
    slices: Slices
    scores: tuple[Scores, ...]
    tops: pa.Table
    comparisons: tuple[Comparison, ...]
    problems: tuple[Problem, ...]

    @property
    def baseline(self) -> str | None:
        """Name of the model that the others are compared with; None where there is none."""
        return next((model.name for model in self.models if model.role == "baseline"), None)

    @property
    def candidates(self) -> tuple[str, ...]:
        """Names of the other models, in their order."""
        return tuple(model.name for model in self.models if model.role != "baseline")

    @property
    def primary(self) -> str:
        """Label of the metric that the comparison is about."""
        return str(self.settings["primary"])

    @property
    def confidence(self) -> float:
        """Level of two-sided intervals."""
        return float(self.settings["significance"]["confidence"])

    def metric(self, label: str) -> MetricInfo:
        """The metric of a label.

        Raises:
            KeyError: it was not measured.
        """
        return {info.label: info for info in self.metrics}[label]
