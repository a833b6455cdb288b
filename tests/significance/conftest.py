from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from pipeline import significance
from pipeline.core.comparison import Claim
from pipeline.core.pool import Units
from pipeline.core.scores import MetricInfo, Reason, Scores
from pipeline.core.settings import SignificanceSettings
from pipeline.core.slices import Slices

QUIET = {"flips": 999, "gate_flips": 1_999, "min_nonzero": 2}


def claim(kind="difference", side="two-sided", **more):
    found = {
        "rule": "report", "model": "new", "baseline": "old", "metric": "m", "slice": "all",
        "average": "macro", "margin": 0.0, "alpha": 0.025, "family": "F3", **more,
    }  # fmt: skip
    name = ":".join(str(part) for part in (kind, side, *found.values()))
    return Claim(id=name, kind=kind, side=side, **found)


def metric(label="m", direction="higher", worst=0.0):
    return MetricInfo(label, direction, (0.0, 1.0), worst, "query", "final", "", "")


def scores(model, values, reason=None, constant=None, columns=(("m", "all"),)):
    values = np.asarray(values, dtype=np.float64).reshape(len(values), len(columns))
    reason = (
        np.where(np.isnan(values), Reason.NO_RELEVANT, Reason.OK).astype(np.uint8)
        if reason is None
        else np.asarray(reason, np.uint8).reshape(values.shape)
    )
    judged = (reason != Reason.UNJUDGED).any(axis=1)
    flags = np.zeros(len(values), np.bool_)
    constant = flags if constant is None else np.asarray(constant, np.bool_)
    length = flags.astype(np.int32)
    return Scores(model, tuple(columns), values, reason, {}, judged, flags, constant, length)


def slices_of(n, more=(), item_names=("all",), crossings=None):
    masks = {"all": np.ones(n, np.bool_), **dict(more)}
    items = np.ones((0, len(item_names)), np.bool_)
    return Slices(
        tuple(masks), np.column_stack(list(masks.values())), tuple(item_names), items,
        crossings or {}, {}, {}, "",
    )  # fmt: skip


def run(deltas, claims, *, cluster=None, metrics=None, seed=1, slices=None, **options):
    """Comparisons of a model whose values are the deltas, against a baseline of zeros."""
    deltas = np.asarray(deltas, dtype=np.float64)
    n = len(deltas)
    cluster = np.arange(n) if cluster is None else np.asarray(cluster)
    ones = np.ones(n)
    ids = pa.array([f"q{i}" for i in range(n)], pa.string())
    return significance.test(
        {"old": scores("old", np.zeros(n)), "new": scores("new", deltas)},
        metrics or [metric()],
        slices or slices_of(n),
        Units(ids, cluster.astype(np.int32), ones, ones, np.zeros(n, np.int32)),
        claims,
        SignificanceSettings(**{**QUIET, **options}),
        seed,
    )


@pytest.fixture(scope="session")
def kit():
    tools = (claim, metric, scores, slices_of, run)
    return SimpleNamespace(**{tool.__name__: tool for tool in tools})
