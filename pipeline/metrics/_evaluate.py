"""Metrics of a dictionary of scores: for trying out, teaching and tests."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from pipeline.core.conventions import Conventions
from pipeline.core.pool import (
    OPEN_END,
    UNKNOWN_TIME,
    Declared,
    Judgments,
    Pool,
    Times,
    Units,
    Vocab,
)
from pipeline.core.run import Lists, Origin, Run
from pipeline.core.slices import ALL, Slices
from pipeline.kernels.means import macro
from pipeline.metrics._judge import judge
from pipeline.metrics._measure import measure
from pipeline.metrics._parse import parse_all

Table = Mapping[str, Mapping[str, float]]


def evaluate(
    qrels: Table, run: Table, names: Sequence[str], conventions: Conventions | None = None
) -> dict[str, float]:
    """The mean of each metric over the judged queries that have a value.

    Args:
        qrels: query id -> item id -> grade.
        run: query id -> item id -> score, larger is better.
        names: metrics in their notation.
        conventions: how lists are read; the defaults where unset.

    Returns:
        Canonical label -> mean; NaN where no query has a value.

    Raises:
        SamepoolError: unknown metric, score that is not finite.

    >>> qrels = {"q": {"a": 3, "b": 0, "c": 2}}
    >>> run = {"q": {"a": 30.0, "b": 20.0, "c": 10.0}}
    >>> found = evaluate(qrels, run, ["DCG@3", "nDCG@3", "nDCG(gain=linear)@3", "P@3"])
    >>> {label: round(value, 3) for label, value in found.items()}
    {'DCG(gain=exp)@3': 8.5, 'nDCG(gain=exp)@3': 0.956, 'nDCG(gain=linear)@3': 0.939, 'P@3': 0.667}

    The ideal DCG is 7 + 3 / log2(3) = 8.893. Gains given directly give the same nDCG:

    >>> gains = {"q": {"a": 7, "b": 0, "c": 3}}
    >>> round(evaluate(gains, run, ["nDCG(gain=identity)@3"])["nDCG(gain=identity)@3"], 3)
    0.956

    Ten relevant items, seven of them returned; three of the first five relevant:

    >>> ten = {"q": {f"d{i}": 1 for i in range(10)}}
    >>> found = evaluate(ten, {"q": {f"d{i}": 10.0 - i for i in range(7)}}, ["R@10"])
    >>> found
    {'R@10': 0.7}
    >>> order = {"d0": 5.0, "x": 4.0, "d1": 3.0, "y": 2.0, "d2": 1.0}
    >>> evaluate(ten, {"q": order}, ["P@5"])
    {'P@5': 0.6}
    """
    conventions = conventions or Conventions()
    metrics = parse_all(names)
    pool = pool_of(qrels)
    depth = max((metric.cutoff or 0 for metric in metrics), default=0)
    judged = judge(run_of(run, pool), pool, conventions, depth)
    scores = measure("run", judged, metrics, everything(pool), pool, conventions)
    found = {label: value for (_, label), value in scores.lists.items()}
    for (label, _), column in zip(scores.columns, scores.values.T, strict=True):
        mean, _n = macro(column, scores.judged)
        found[label] = np.nan if mean is None else mean
    return {metric.label: found[metric.label] for metric in metrics}


def pool_of(qrels: Table, items: Iterable[str] = ()) -> Pool:
    """A pool of judgments alone: no dates, everything eligible, a query its own cluster.

    Args:
        qrels: query id -> item id -> grade.
        items: ids of items besides the judged ones.
    """
    queries = _sorted(qrels)
    ids = _sorted({*items, *(item for grades in qrels.values() for item in grades)})
    code = {item: place for place, item in enumerate(ids)}
    rows = [
        (q, code[item], grade)
        for q, query in enumerate(queries)
        for item, grade in sorted(qrels[query].items(), key=lambda pair: code[pair[0]])
    ]
    owner = np.array([row[0] for row in rows], dtype=np.int64)
    n_queries, n_items = len(queries), len(ids)
    vocab = Vocab(pa.array(queries, pa.string()), pa.array(ids, pa.string()))
    return Pool(
        name="pool",
        queries=pa.table({"query_id": vocab.queries}),
        items=pa.table({"item_id": vocab.items}),
        candidates=None,
        logs=None,
        judgments=Judgments(
            query_ptr=np.searchsorted(owner, np.arange(n_queries + 1)).astype(np.int64),
            item=np.array([row[1] for row in rows], dtype=np.int32),
            grade=np.array([row[2] for row in rows], dtype=np.float64),
            eligible=np.ones(len(rows), dtype=bool),
        ),
        units=Units(
            query_id=vocab.queries,
            cluster=np.arange(n_queries, dtype=np.int32),
            traffic=np.ones(n_queries),
            weight=np.ones(n_queries),
            stratum=np.zeros(n_queries, dtype=np.int32),
        ),
        times=Times(
            query=np.full(n_queries, UNKNOWN_TIME),
            created=np.full(n_items, UNKNOWN_TIME),
            eligible_from=np.full(n_items, UNKNOWN_TIME),
            eligible_until=np.full(n_items, OPEN_END),
        ),
        vocab=vocab,
        declared=Declared(),
        problems=(),
        digest="",
    )


def lists_of(run: Table, pool: Pool, foreign: dict[str, int]) -> Lists:
    """Lists of a dictionary, in its order; queries outside the pool are left out.

    Args:
        run: query id -> item id -> score.
        pool: whose codes to use.
        foreign: ids outside the pool and their codes; new ones are added.
    """
    code = {item: place for place, item in enumerate(pool.vocab.items.to_pylist())}
    rows = [
        (q, code[item] if item in code else foreign.setdefault(item, len(code) + len(foreign)), s)
        for q, query in enumerate(pool.vocab.queries.to_pylist())
        for item, s in run.get(query, {}).items()
    ]
    return Lists(
        query=np.array([row[0] for row in rows], dtype=np.int32),
        item=np.array([row[1] for row in rows], dtype=np.int32),
        score=np.array([row[2] for row in rows], dtype=np.float64),
    )


def run_of(run: Table, pool: Pool, retrieval: Table | None = None) -> Run:
    """A run of dictionaries, in their order; an empty one is an answer with nothing."""
    foreign: dict[str, int] = {}
    final = lists_of(run, pool, foreign)
    first = None if retrieval is None else lists_of(retrieval, pool, foreign)
    outside = sum(len(rows) for query, rows in run.items() if query not in _ids(pool))
    asked = pool.vocab.queries.to_pylist()
    empty = [code for code, query in enumerate(asked) if query in run and not run[query]]
    return Run(
        origin=Origin("run", "dict", "dict", "dict"),
        final=final,
        retrieval=first,
        foreign=pa.array(foreign, pa.string()),
        cost={},
        outside=outside,
        digest="",
        empty=np.array(empty, np.int32),
    )


def everything(pool: Pool) -> Slices:
    """The slice ``all`` alone."""
    n_queries, n_judgments = len(pool.vocab.queries), len(pool.judgments.item)
    return Slices(
        query_names=(ALL,),
        query=np.ones((n_queries, 1), dtype=bool),
        item_names=(ALL,),
        item=np.ones((n_judgments, 1), dtype=bool),
        crossings={},
        definitions={ALL: "all judged queries"},
        undated={},
        digest="",
    )


def _sorted(ids: Iterable[str]) -> list[str]:
    return sorted(ids, key=str.encode)


def _ids(pool: Pool) -> frozenset[str]:
    return frozenset(pool.vocab.queries.to_pylist())
