"""A small comparison: three models, seven slices, six metrics, every status.

Means, deltas and counts follow from the scores; intervals and p-values are made up.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from pipeline.core.comparison import Claim, Comparison
from pipeline.core.conventions import Conventions
from pipeline.core.decision import Decision, Verdict
from pipeline.core.evidence import Evidence, Ledger, ModelRecord, PoolRecord
from pipeline.core.pool import Units
from pipeline.core.problems import Problem
from pipeline.core.scores import MetricInfo, Reason, Scores
from pipeline.core.slices import Slices

QUERIES = 120
NDCG, RECALL, DEEP = "nDCG(gain=exp)@10", "R@10", "R(stage=retrieval)@100"
JUDGED, LATENCY, COVERAGE = "Judged@10", "latency_ms", "ItemCoverage@10"
SLICES = ("all", "head", "tail", "tiny", "empty", "new_items", "tail_new")


def metric(label: str, **changes: Any) -> MetricInfo:
    plain = MetricInfo(
        label=label,
        direction="higher",
        range=(0.0, 1.0),
        worst=0.0,
        per="query",
        stage="final",
        formula=f"formula of {label}",
        words=f"What {label} tells.",
    )
    return replace(plain, **changes)


METRICS = (
    metric(NDCG),
    metric(RECALL),
    metric(DEEP, stage="retrieval"),
    metric(JUDGED),
    metric(LATENCY, direction="lower", range=(0.0, None), worst=None),
    metric(COVERAGE, per="list"),
)


AT = np.arange(QUERIES)
GAINS = {
    "bm25": np.zeros(QUERIES),
    "ce": np.where(AT < 40, 0.06 * (AT % 3), -0.02 * (AT % 2)),
    "splade": np.where(AT < 40, 0.0, 0.004 * (AT % 3 - 0.5)),
}


def scores(model: str, shift: float) -> Scores:
    at = AT
    base = ((at * 7) % 11) / 10
    names = [info.label for info in METRICS if info.per == "query"]
    columns = [(name, "all") for name in names] + [(NDCG, "new_items"), (RECALL, "new_items")]
    values = np.stack([np.clip(base - 0.1 * place, 0, 1) for place in range(len(columns))], axis=1)
    values[:, 0] = np.clip(0.1 + 0.8 * values[:, 0] + GAINS[model], 0, 1)
    values[:, 2] = np.clip(values[:, 1] + 0.3, 0, 1)
    values[:, 5] += 0.00002 * (model == "ce")
    values[:, 4] = 12.5 + shift * 100 + at % 5
    reason = np.zeros(values.shape, np.uint8)
    for column in (0, 1, 2):
        reason[at % 40 == 1, column] = Reason.NO_RELEVANT
    for column in (5, 6):
        reason[at % 2 == 1, column] = Reason.NO_RELEVANT
    reason[119] = Reason.UNJUDGED
    missing = at % 60 == 5
    if model == "ce":
        reason[missing, :4] = Reason.MISSING
        values[missing, :4] = 0.0
        reason[missing, 4] = Reason.UNDEFINED
    values[(reason != Reason.OK) & (reason != Reason.MISSING)] = np.nan
    constant = (at % 30 == 3) & (model == "ce")
    lists = {(name, COVERAGE): 0.25 + shift for name in ("all", "head", "tail")}
    lists["tiny", COVERAGE] = float("nan")
    return Scores(
        model,
        tuple(columns),
        values,
        reason,
        lists,
        judged=at != 119,
        tied=at % 50 == 0,
        constant=constant,
        length=np.full(QUERIES, 100, np.int32),
    )


def slices() -> Slices:
    masks = np.stack([AT >= 0, AT < 40, AT >= 40, AT < 3, AT < 0], axis=1)
    return Slices(
        query_names=SLICES[:5],
        query=masks,
        item_names=("all", "new_items"),
        item=np.zeros((0, 2), bool),
        crossings={"tail_new": ("tail", "new_items")},
        definitions={
            "all": "every query",
            "head": "the most asked 33 %",
            "tail": "frequency < 5",
            "tiny": "length >= 9 and market == 'NO'",
            "empty": "market == 'XX'",
            "new_items": "items at most 30 days old when asked",
            "tail_new": "tail, on new_items",
        },
        undated={"new_items": 17},
        digest="51ce5" * 12,
    )


def claim(model: str, label: str = NDCG, on: str = "all", **changes: Any) -> Claim:
    rule = changes.get("rule", "report")
    plain = Claim(
        id=f"{rule}/{model}/{label}/{on}",
        rule="report",
        model=model,
        baseline="bm25",
        metric=label,
        slice=on,
        average="macro",
        kind="difference",
        margin=0.0,
        side="two-sided",
        alpha=0.05,
        family="F3",
    )
    return replace(plain, **changes)


MODELS = {
    "bm25": scores("bm25", 0.0),
    "ce": scores("ce", 0.1),
    "splade": scores("splade", 0.02),
}


def measured(of: Claim) -> dict[str, Any]:
    """What follows from the scores."""
    query_slice, item_slice = slices().split(of.slice)
    inside = slices().query[:, SLICES.index(query_slice)]
    base, mine = MODELS[of.baseline], MODELS[of.model]
    column = base.columns.index((of.metric, item_slice))
    pair = np.stack([base.values[:, column], mine.values[:, column]])
    used = inside & ~np.isnan(pair).any(axis=0)
    before, after = pair[:, used]
    n, lower = len(before), of.metric == LATENCY
    judged = inside & (base.reason[:, column] != Reason.UNJUDGED)
    return {
        "n": n,
        "n_clusters": n,
        "n_nonzero": int(np.count_nonzero(before != after)),
        "n_dropped": int(np.count_nonzero(judged & ~used)),
        "n_constant": int(np.count_nonzero(used & (base.constant | mine.constant))),
        "baseline_mean": float(before.mean()) if n else None,
        "mean": float(after.mean()) if n else None,
        "delta": float(after.mean() - before.mean()) if n else None,
        "wins": int(np.count_nonzero(after < before if lower else after > before)),
        "ties": int(np.count_nonzero(after == before)),
        "losses": int(np.count_nonzero(after > before if lower else after < before)),
    }


def comparison(of: Claim, half: float | None, **changes: Any) -> Comparison:
    found = measured(of)
    delta = found["delta"]
    plain = Comparison(
        claim=of,
        **found,
        ci=None if half is None else (delta - half, delta + half),
        bound=None if half is None or of.side == "two-sided" else delta - half,
        joint_ci=None,
        p=0.0004,
        p_adjusted=0.0009 if of.family == "F3" else None,
        mde=None,
        n_needed=None,
        status="ok",
        method="cluster sign-flip, 9,999 flips",
        seed=20240229,
    )
    return replace(plain, **changes)


def _guard(model: str, on: str, margin: float) -> Claim:
    return claim(
        model,
        NDCG,
        on,
        rule=f"{on}_guard",
        kind="noninferior",
        margin=margin,
        side="greater",
        alpha=0.025,
        family="F1",
    )


GAIN = claim("ce", rule="gain", kind="superior", side="greater", alpha=0.025, family="F1")
TAIL, HEAD = _guard("ce", "tail", 0.005), _guard("ce", "head", 0.02)


SPLADE_GAIN = replace(GAIN, model="splade", id="gain/splade")


def comparisons() -> tuple[Comparison, ...]:
    untested: dict[str, Any] = {"p": None, "p_adjusted": None}
    few: dict[str, Any] = {"p": 0.5, "p_adjusted": None, "status": "too_few"}
    zero: dict[str, Any] = {"p": 1.0, "p_adjusted": None, "status": "all_zero"}
    return (
        comparison(claim("ce"), 0.0052, joint_ci=(0.001, 0.018)),
        comparison(claim("ce", on="head"), 0.012, p_adjusted=0.041),
        comparison(claim("ce", on="tail"), 0.0021),
        comparison(claim("ce", on="tiny"), None, **few),
        comparison(claim("ce", on="empty"), None, **untested, status="no_data"),
        comparison(claim("ce", on="new_items"), 0.031, p=0.9, p_adjusted=0.9999, mde=0.0443),
        comparison(claim("splade"), 0.0024, p=0.31, p_adjusted=0.51),
        comparison(claim("splade", on="head"), None, **zero),
        comparison(claim("splade", on="tail"), 0.0011, p=0.02, p_adjusted=0.08, mde=0.0016),
        comparison(claim("splade", on="empty"), None, **untested, status="no_data"),
        comparison(claim("ce", LATENCY), 2.0),
        comparison(GAIN, 0.0052),
        comparison(HEAD, 0.012, p=0.0002),
        comparison(TAIL, 0.0021, p=0.98),
        comparison(SPLADE_GAIN, 0.0024, p=0.155),
    )


def verdict(of: Claim | None, status: str, **changes: Any) -> Verdict:
    found = next((c for c in comparisons() if of and c.claim.id == of.id), None)
    plain = Verdict(
        rule=of.rule if of else "judged",
        claim=of,
        status=status,  # type: ignore[arg-type]
        value=found.delta if found else None,
        limit=-of.margin if of else 0.2,
        ci=found.ci if found else None,
        p=found.p if found else None,
        n=found.n if found else 0,
        n_needed=None,
        metric=of.metric if of else JUDGED,
        slice=of.slice if of else "all",
        reason="the lower bound is above the limit",
    )
    return replace(plain, **changes)


def _decision(model: str, status: str, *found: Verdict, p: float | None = None) -> Decision:
    return Decision(
        model,
        status,  # type: ignore[arg-type]
        p,
        p if p is None else min(1.0, 2 * p),
        found,
        "ab12" * 16,
        "cd34" * 16,
    )


def decisions() -> tuple[Decision, ...]:
    return (
        _decision(
            "ce",
            "fail",
            verdict(GAIN, "pass"),
            verdict(HEAD, "pass"),
            verdict(TAIL, "fail", reason="the drop is beyond the limit"),
            verdict(None, "pass", value=0.2529, p=0.0, n=119, reason="enough judged"),
            p=0.98,
        ),
        _decision(
            "splade",
            "invalid",
            verdict(
                SPLADE_GAIN, "inconclusive", n_needed=3100, reason="the interval holds the limit"
            ),
            verdict(None, "invalid", reason="no value on slice empty", slice="empty"),
        ),
    )


def record(name: str, role: str, **changes: Any) -> ModelRecord:
    ledger = Ledger(120, 119, 119, 0, 0, 0, 0, 3, 0)
    plain = ModelRecord(
        name=name,
        role=role,
        kind="run_file",
        requested=f"{name}.trec",
        resolved=f"{name}.trec",
        registered=None,
        version=None,
        model_id=None,
        source_digest="5e" * 32,
        path=f"{name}.trec",
        run_digest="f0" * 32,
        has_retrieval=True,
        ledger=ledger,
    )
    return replace(plain, **changes)


def evidence() -> Evidence:
    pool = PoolRecord(
        name="shop",
        digest="9f3a1c0d" * 8,
        logs_digest="",
        n_queries=QUERIES,
        n_items=181701,
        n_judgments=12345,
        n_judged_queries=119,
        n_clusters=119,
        declared={
            "labels": "rating",
            "labels_reason": "stars are what the shop optimises",
            "as_of": "2026-06-01",
            "catalogue": 200000,
            "grades": [0, 3],
            "unit": "query",
            "facts": {"market": "NO"},
        },
    )
    models = (
        record("bm25", "baseline", has_retrieval=False),
        record(
            "ce",
            "candidate",
            kind="mlflow",
            requested="models:/ranker@challenger",
            resolved="models:/ranker/13",
            registered="ranker",
            version="13",
            model_id="m-0123",
            path=None,
            ledger=Ledger(120, 119, 117, 2, 5, 1, 4, 3, 0),
        ),
        record("splade", "candidate"),
    )
    problems = (
        Problem(
            "missing_queries",
            "warning",
            "ce did not answer 2 judged queries",
            "they score the worst value",
            "ce.trec",
            "line 12",
            ("q5", "q65"),
            2,
        ),
        Problem("only_positives", "note", "no grade 0 in the qrels; unjudged items gain nothing"),
    )
    zeros = np.zeros(QUERIES)
    units = Units(
        pa.array([f"q{place}" for place in range(QUERIES)]),
        np.arange(QUERIES, dtype=np.int32),
        zeros + 1,
        zeros + 1,
        zeros.astype(np.int32),
    )
    return Evidence(
        schema=1,
        settings={
            "primary": NDCG,
            "seed": 20240229,
            "significance": {"kind": "cluster_signflip", "confidence": 0.95},
            "tracking": {"api_token": "do-not-print"},
            "versions": {"numpy": "2.4.6"},
        },
        pool=pool,
        models=models,
        metrics=METRICS,
        conventions=Conventions(digest="c0" * 32),
        units=units,
        slices=slices(),
        scores=tuple(MODELS.values()),
        tops=pa.table({"query_id": pa.array([], pa.string())}),
        comparisons=comparisons(),
        problems=problems,
    )


def alone() -> Evidence:
    full = evidence()
    return replace(full, models=full.models[:1], scores=full.scores[:1], comparisons=())


@pytest.fixture(name="evidence")
def evidence_fixture() -> Evidence:
    return evidence()


@pytest.fixture(name="decisions")
def decisions_fixture() -> tuple[Decision, ...]:
    return decisions()


@pytest.fixture(name="alone")
def alone_fixture() -> Evidence:
    return alone()


def several() -> tuple[Evidence, tuple[Decision, ...]]:
    """Four candidates: the two, and each once more under another name."""
    full, found = evidence(), decisions()
    names = {"ce": "ce_distilled", "splade": "splade_v3"}

    def again(old: Comparison) -> Comparison:
        new = names[old.claim.model]
        return replace(old, claim=replace(old.claim, id=f"{old.claim.id}/{new}", model=new))

    compared = (*full.comparisons, *(again(old) for old in full.comparisons))
    doubled = replace(
        full,
        models=(*full.models, *(replace(m, name=names[m.name]) for m in full.models[1:])),
        scores=(*full.scores, *(replace(s, model=names[s.model]) for s in full.scores[1:])),
        comparisons=compared,
    )
    return doubled, (*found, *(replace(d, model=names[d.model]) for d in found))


@pytest.fixture(name="several")
def several_fixture() -> tuple[Evidence, tuple[Decision, ...]]:
    return several()


@pytest.fixture
def decided() -> Callable[..., tuple[Decision, ...]]:
    """Decisions on ce alone: a status and its verdicts."""

    def make(status: str, *found: Verdict) -> tuple[Decision, ...]:
        return (_decision("ce", status, *found),)

    return make


@pytest.fixture
def named() -> Callable[[str], tuple[Evidence, Sequence[Decision]]]:
    """The comparison with one hostile name in the place of every name and text."""

    def make(name: str) -> tuple[Evidence, Sequence[Decision]]:
        return _renamed(name)

    return make


def _renamed(name: str) -> tuple[Evidence, Sequence[Decision]]:
    full = evidence()
    base, ce = f"{name}-base", f"{name}-ce"
    new_label, new_slice = f"{name}-metric", f"{name}-slice"
    names = {"bm25": base, "ce": ce, NDCG: new_label, "tail": new_slice}

    def new(old: str) -> str:
        return names.get(old, old)

    def claimed(old: Claim) -> Claim:
        return replace(
            old,
            model=new(old.model),
            baseline=base,
            metric=new(old.metric),
            slice=new(old.slice),
            rule=f"{name}-rule" if old.rule != "report" else old.rule,
        )

    infos = tuple(replace(i, label=new(i.label), formula=name, words=name) for i in full.metrics)
    models = tuple(
        replace(m, name=new(m.name), requested=name, resolved=name, path=name) for m in full.models
    )
    found = tuple(
        replace(
            s,
            model=new(s.model),
            columns=tuple((new(metric_), on) for metric_, on in s.columns),
            lists={(new(on), metric_): value for (on, metric_), value in s.lists.items()},
        )
        for s in full.scores
    )
    masks = replace(
        full.slices,
        query_names=tuple(new(n) for n in full.slices.query_names),
        crossings={"tail_new": (new_slice, "new_items")},
        definitions=dict.fromkeys(full.slices.names, name),
    )
    changed = replace(
        full,
        settings={**full.settings, "primary": new_label, name: name},
        pool=replace(full.pool, name=name, declared={"labels": name, "as_of": name, name: name}),
        models=models,
        metrics=infos,
        slices=masks,
        scores=found,
        comparisons=tuple(
            replace(c, claim=claimed(c.claim), method=name) for c in full.comparisons
        ),
        problems=(Problem("hostile", "warning", name, name, name, name, (name,)),),
    )
    decided_ = tuple(
        replace(
            d,
            model=new(d.model),
            verdicts=tuple(
                replace(
                    v,
                    claim=claimed(v.claim) if v.claim else None,
                    rule=f"{name}-rule",
                    metric=new(v.metric),
                    slice=new(v.slice),
                    reason=name,
                )
                for v in d.verdicts
            ),
        )
        for d in decisions()
    )
    return changed, decided_
