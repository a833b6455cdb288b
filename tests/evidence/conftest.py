"""A small comparison as evidence, with every kind of odd value in it."""

from dataclasses import asdict

import numpy as np
import pyarrow as pa
import pytest

from pipeline.core.comparison import Claim, Comparison
from pipeline.core.conventions import Conventions
from pipeline.core.evidence import SCHEMA, Evidence, Ledger, ModelRecord, PoolRecord
from pipeline.core.pool import Units
from pipeline.core.problems import Problem
from pipeline.core.scores import MetricInfo, Reason, Scores
from pipeline.core.settings import SignificanceSettings
from pipeline.core.slices import Slices

IDS = ["0012", "NO", "null", '\U0001f600, "q"\nx']
COLUMNS = (
    ("nDCG(gain=exp)@10", "all"),
    ("nDCG(gain=exp)@10", "new"),
    ("Freshness@10", "all"),
    ("Freshness@10", "new"),
)


def scores(model: str, shift: float) -> Scores:
    values = np.array(
        [
            [0.1 + shift, np.nan, 3.0, 3.0],
            [1 / 3, 0.5, np.nan, 1.0],
            [0.0, np.nan, 1e-9, np.nan],
            [1.0, 0.25, 7.0, -0.0],
        ]
    )
    reason = np.where(np.isnan(values), Reason.NO_RELEVANT, Reason.OK).astype(np.uint8)
    reason[1, 2] = Reason.UNDEFINED
    reason[2, 0] = Reason.MISSING
    return Scores(
        model=model,
        columns=COLUMNS,
        values=values,
        reason=reason,
        lists={("all", "ItemCoverage@10"): 0.25, ("few", "ItemCoverage@10"): float("nan")},
        judged=np.array([True, True, False, True]),
        tied=np.array([False, True, False, False]),
        constant=np.array([False, False, False, True]),
        length=np.array([10, 3, 0, 10], dtype=np.int32),
    )


def record(name: str, role: str) -> ModelRecord:
    return ModelRecord(
        name=name,
        role=role,
        kind="run_file",
        requested=f"{name}.trec",
        resolved=f"{name}.trec",
        registered=None,
        version=None,
        model_id=None,
        source_digest="ab",
        path=f"{name}.trec",
        run_digest="cd",
        has_retrieval=False,
        ledger=Ledger(4, 4, 3, 1, 0, 2, 1, 1, 0),
    )


def comparison(slice_: str, status: str) -> Comparison:
    claim = Claim(
        id=f"report/new/nDCG(gain=exp)@10/{slice_}",
        rule="report",
        model="new",
        baseline="old",
        metric="nDCG(gain=exp)@10",
        slice=slice_,
        average="macro",
        kind="difference",
        margin=0.0,
        side="two-sided",
        alpha=1 - 0.95,
        family="F3",
    )
    known = status == "ok"
    return Comparison(
        claim=claim,
        n=4 if known else 0,
        n_nonzero=1,
        n_clusters=3,
        n_dropped=0,
        n_constant=1,
        baseline_mean=1 / 3 if known else None,
        mean=0.1 if known else None,
        delta=0.1 - 1 / 3 if known else None,
        ci=(-0.1, 0.3) if known else None,
        bound=None,
        joint_ci=None,
        p=0.05 if known else None,
        p_adjusted=None,
        wins=1,
        ties=2,
        losses=1,
        mde=None,
        n_needed=7 if known else None,
        status=status,
        method="cluster sign-flip, exact",
        seed=3,
    )


@pytest.fixture
def evidence() -> Evidence:
    info = MetricInfo(
        COLUMNS[0][0], "higher", (0.0, 1.0), 0.0, "query", "final", "DCG / ideal", "words"
    )
    age = MetricInfo("Freshness@10", "lower", (0.0, None), None, "query", "final", "days", "words")
    coverage = MetricInfo("ItemCoverage@10", "higher", (0.0, 1.0), 0.0, "list", "final", "x", "w")
    return Evidence(
        schema=SCHEMA,
        settings={
            "seed": 3,
            "primary": info.label,
            "alpha": 0.025,
            "rules": {"better": {"kind": "superiority"}},
            "significance": asdict(SignificanceSettings()),
            "tracking_experiment": "shop",
        },
        pool=PoolRecord("toy", "d1", "", 4, 9, 12, 4, 3, {"labels": "human", "grades": [0, 3]}),
        models=(record("old", "baseline"), record("new", "candidate")),
        metrics=(info, age, coverage),
        conventions=Conventions(digest="ef"),
        units=Units(
            query_id=pa.array(IDS),
            cluster=np.array([0, 0, 1, 2], dtype=np.int32),
            traffic=np.array([1.0, 2.5, 0.0, 4.0]),
            weight=np.ones(4),
            stratum=np.zeros(4, dtype=np.int32),
        ),
        slices=Slices(
            query_names=("all", "few"),
            query=np.array([[1, 0], [1, 0], [1, 1], [1, 0]], dtype=bool),
            item_names=("all", "new"),
            item=np.zeros((0, 2), dtype=bool),
            crossings={"few_new": ("few", "new")},
            definitions={"all": "every query", "few": "length < 2", "new": "age", "few_new": "x"},
            undated={"new": 2},
            digest="01",
        ),
        scores=(scores("old", 0.0), scores("new", 0.2)),
        tops=pa.table(
            {
                "model": ["old", "new"],
                "stage": ["final", "final"],
                "query_id": ["0012", "NO"],
                "rank": pa.array([1, 2], pa.int32()),
                "item_id": ["1e5", "NA"],
                "score": [1.5, -2.0],
                "grade": pa.array([1.0, None], pa.float64()),
                "eligible": [True, False],
            }
        ),
        comparisons=(comparison("all", "ok"), comparison("few", "no_data")),
        problems=(Problem("x", "warning", "odd", "mend", "f", "line 1", ("a", "b"), 2),),
    )
