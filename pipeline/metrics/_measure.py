"""All values of one model."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from pipeline.core.arrays import F64, U8, Bool
from pipeline.core.conventions import Conventions
from pipeline.core.judged import Judged
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.scores import Scores
from pipeline.core.slices import ALL, Slices
from pipeline.metrics._conventions import check
from pipeline.metrics._judge import in_precision
from pipeline.metrics._protocol import ListMetric, Metric, QueryMetric
from pipeline.metrics._view import View

Views = dict[tuple[str, str], View]


def measure(
    model: str,
    judged: tuple[Judged, Judged],
    metrics: Sequence[Metric],
    slices: Slices,
    pool: Pool,
    conventions: Conventions,
) -> Scores:
    """Every metric on every query, under every item slice.

    Columns go metric by metric and, within, item slice by item slice; metrics of a set of lists
    have a value for every slice name, NaN where an item slice is involved, which they do not know.

    Args:
        model: key of the model.
        judged: its lists as judge gives them, at least as deep as the largest cutoff.
        metrics: what to measure; no label twice.
        slices: which queries, and which judgments.
        pool: what was judged.
        conventions: how lists are read; those that the lists were judged under.

    Raises:
        SamepoolError: a label stands twice; queries have nothing relevant and that is an error.
        ValueError: the lists were judged less deep than a metric reads.
    """
    check(conventions)
    _refuse_twice(metrics)
    _refuse_shallow(judged, metrics)
    views: Views = {
        (lists.stage, name): View(
            lists, pool, conventions, None if name == ALL else slices.item[:, place]
        )
        for lists in judged
        for place, name in enumerate(slices.item_names)
    }
    infos = [metric.info() for metric in metrics]
    per_query = [(m, i) for m, i in zip(metrics, infos, strict=True) if i.per == "query"]
    columns = tuple((info.label, name) for _, info in per_query for name in slices.item_names)
    found = [
        cast("QueryMetric", metric).measure(views[info.stage, name])
        for metric, info in per_query
        for name in slices.item_names
    ]
    values, reason = _stacked(found, len(pool.judgments.query_ptr) - 1)
    final = judged[0]
    return Scores(
        model=model,
        columns=columns,
        values=values,
        reason=reason,
        lists={
            (name, info.label): _of_lists(cast("ListMetric", metric), views, slices, name)
            for metric, info in zip(metrics, infos, strict=True)
            if info.per == "list"
            for name in slices.names
        },
        judged=views["final", ALL].topics,
        tied=_tied(final, metrics, conventions),
        constant=final.constant,
        length=final.length,
    )


def _stacked(found: Sequence[tuple[F64, U8]], n: int) -> tuple[F64, U8]:
    """(Q, C) values and reasons."""
    if not found:
        return np.empty((n, 0)), np.empty((n, 0), dtype=np.uint8)
    values, reasons = zip(*found, strict=True)
    return np.column_stack(values), np.column_stack(reasons)


def _of_lists(metric: ListMetric, views: Views, slices: Slices, name: str) -> float:
    """A list metric's value on the judged queries of a slice."""
    query_slice, item_slice = slices.split(name)
    view = views[metric.info().stage, ALL]
    queries: Bool = view.topics & slices.mask(query_slice)
    if item_slice != ALL or not queries.any():
        return float("nan")
    return metric.measure(view, queries)


def _tied(lists: Judged, metrics: Sequence[Metric], conventions: Conventions) -> Bool:
    """(Q,) whether the items on both sides of the cutoff of the first final metric are tied.

    The primary metric comes first; where it has no cutoff, the next one that has.
    """
    cutoffs = (m.cutoff for m in metrics if m.info().stage == "final" and m.cutoff)
    cutoff = next(cutoffs, 0)
    if not 0 < cutoff < lists.top_score.shape[1]:
        return np.zeros(lists.length.size, dtype=bool)
    last, after = lists.top_score[:, cutoff - 1], lists.top_score[:, cutoff]
    tied: Bool = in_precision(last, conventions) == in_precision(after, conventions)
    return tied


def _refuse_twice(metrics: Sequence[Metric]) -> None:
    labels = [metric.label for metric in metrics]
    for label in labels:
        if labels.count(label) > 1:
            raise fault("same_metric", f"{label} is named twice", "name it once")


def _refuse_shallow(judged: tuple[Judged, Judged], metrics: Sequence[Metric]) -> None:
    cutoff = max((metric.cutoff or 0 for metric in metrics), default=0)
    for lists in judged:
        needed = min(cutoff, int(lists.length.max(initial=0))) + 1
        if lists.top.shape[1] < needed:
            raise ValueError(f"judge with depth={cutoff} or more to measure @{cutoff}")
