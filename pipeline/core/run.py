"""A model's answer to the pool: scores and lists, never order."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import F64, I32
from pipeline.core.problems import Problem

NO_CODES: I32 = np.empty(0, np.int32)


@dataclass(frozen=True, slots=True)
class Origin:
    """Which model exactly this was.

    Attributes:
        name: key in the comparison.
        kind: model kind, e.g. ``run_file``.
        requested: what the user wrote, e.g. ``models:/ranker@champion`` or a path.
        resolved: what that meant at the time, e.g. ``models:/ranker/12``.
        registered: registered model name, if any.
        version: registered version, if any.
        model_id: MLflow logged-model id, if any.
        source_digest: SHA-256 of what determines the scores: file bytes, or options and code.
        path: file or folder, if any.
        live: whether the same question may be answered otherwise tomorrow (an endpoint whose index
            nobody named); such lists are never reused.
        parts: the models that it is made of, each as it was resolved: retriever, then ranker.
    """

    name: str
    kind: str
    requested: str
    resolved: str
    registered: str | None = None
    version: str | None = None
    model_id: str | None = None
    source_digest: str = ""
    path: str | None = None
    live: bool = False
    parts: tuple["Origin", ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Lists:
    """Scored items, grouped by ascending query code; within a query in the order given.

    Attributes:
        query: (N,) query codes, ascending.
        item: (N,) item codes: below the pool's item count, a place in its vocabulary; at or above
            it, that much into the run's ``foreign`` ids.
        score: (N,) finite scores, larger is better.
        given_rank: (N,) ranks as stated by the source, or None.
    """

    query: I32
    item: I32
    score: F64
    given_rank: I32 | None = None


def joined(parts: Iterable[Lists] = ()) -> Lists:
    """One list after the other, without given ranks; of no part, lists without a row.

    Args:
        parts: their queries ascend from part to part.
    """
    parts = (Lists(NO_CODES, NO_CODES, np.empty(0)), *parts)
    return Lists(
        query=np.concatenate([part.query for part in parts]),
        item=np.concatenate([part.item for part in parts]),
        score=np.concatenate([part.score for part in parts]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """Scored lists of one model.

    Attributes:
        origin: which model.
        final: the list that a user would see.
        retrieval: the candidates before ranking; None where the final list is its own.
        foreign: string array (F,) of ids outside the pool's vocabulary, in order of first use.
        cost: per-query cost columns (Q,) that the model supplied, e.g. ``latency_ms``.
        outside: rows for queries outside the pool, counted and dropped.
        digest: SHA-256 of the lists.
        problems: warnings met while reading or checking the lists.
        empty: codes, ascending, of queries that the model answered with nothing: no match is an
            answer, and no missing one. Files cannot say so; there it is missing.
    """

    origin: Origin
    final: Lists
    retrieval: Lists | None
    foreign: pa.Array
    cost: Mapping[str, F64]
    outside: int
    digest: str
    problems: tuple[Problem, ...] = ()
    empty: I32 = field(default_factory=lambda: NO_CODES)
