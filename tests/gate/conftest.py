from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from pipeline import gate
from pipeline.core.comparison import Comparison
from pipeline.core.conventions import Conventions
from pipeline.core.evidence import Evidence, PoolRecord
from pipeline.core.pool import Units
from pipeline.core.problems import fault
from pipeline.core.scores import MetricInfo, Reason, Scores
from pipeline.core.slices import Slices

Q = 2_000


def info(label, direction="higher", span=(0.0, 1.0), per="query"):
    return MetricInfo(label, direction, span, 0.0, per, "final", "", "")


METRICS = (
    info("nDCG(gain=exp)@10"),
    info("R@10"),
    info("Latency", "lower", (0.0, None)),
    info("ItemCoverage@10", per="list"),
)


def canonical(text):
    if "@" not in text and text != "Latency":
        raise fault("unknown_metric", f"no metric {text!r}")
    return text.replace("nDCG@", "nDCG(gain=exp)@")


def axes(**changes):
    found = gate.Axes(
        baseline="old",
        candidates=("new",),
        metrics=METRICS,
        slices=("all", "head", "tail", "new_items", "tail_new"),
        primary="nDCG(gain=exp)@10",
        alpha=0.025,
        canonical=canonical,
    )
    return replace(found, **changes)


def evidence(comparisons=(), *, declared=None, values=0.5, missing=0, lists=None, unjudged=0):
    tail = np.arange(Q) < 200
    query = np.column_stack([np.ones(Q, np.bool_), ~tail, tail])
    slices = Slices(
        ("all", "head", "tail"), query, ("all", "new_items"), np.ones((0, 2), np.bool_),
        {"tail_new": ("tail", "new_items")}, {}, {}, "",
    )  # fmt: skip
    columns = tuple((m.label, i) for m in METRICS[:3] for i in ("all", "new_items"))
    table = np.full((Q, len(columns)), values) if np.isscalar(values) else values
    none, judged = np.zeros(Q, np.bool_), np.arange(Q) >= unjudged

    def scores(model, silent):
        reason = np.full((Q, len(columns)), Reason.OK, np.uint8)
        reason[:silent] = Reason.MISSING
        return Scores(
            model, columns, table, reason, lists or {}, judged, none, none, none.astype(np.int32)
        )

    ones = np.ones(Q)
    ids = pa.array([str(i) for i in range(Q)])
    facts = {"labels": "human", "labels_reason": None} if declared is None else declared
    return Evidence(
        schema=1,
        settings={},
        pool=PoolRecord("toy", "d", "", Q, 1, 1, Q, Q, facts),
        models=(),
        metrics=METRICS,
        conventions=Conventions(),
        units=Units(ids, np.arange(Q, dtype=np.int32), ones, ones, np.zeros(Q, np.int32)),
        slices=slices,
        scores=(scores("old", missing), scores("new", 0)),
        tops=pa.table({}),
        comparisons=tuple(comparisons),
        problems=(),
    )


def comparison(claim, delta=0.05, half=0.01, p=0.001, status="ok", **changes):
    """What a test would say of a claim; ``half`` is half the width of the interval."""
    side = -1.0 if claim.side == "greater" else 1.0
    found = Comparison(
        claim=claim, n=1_000, n_nonzero=400, n_clusters=1_000, n_dropped=0, n_constant=0,
        baseline_mean=0.5, mean=0.5 + delta, delta=delta,
        ci=(delta - half, delta + half) if status in {"ok", "too_few"} else None,
        bound=delta + side * half if status in {"ok", "too_few"} else None,
        joint_ci=None, p=p, p_adjusted=None, wins=300, ties=600, losses=100,
        mde=None, n_needed=None, status=status, method="", seed=1,
    )  # fmt: skip
    return replace(found, **changes)


def decide(rules, tests=None, around=None, **more):
    """Decisions where every claim got the same comparison, or one by model."""
    around = around or axes()
    built = gate.build(rules)
    claims = gate.claims(built, around)
    made = [
        comparison(c, **((tests or {}).get(c.model) or (tests or {}).get("*", {}))) for c in claims
    ]
    return gate.decide(built, around, evidence(made, **more), "sha")


@pytest.fixture(scope="session")
def kit():
    tools = (info, axes, evidence, comparison, decide)
    return SimpleNamespace(**{tool.__name__: tool for tool in tools}, metrics=METRICS)
