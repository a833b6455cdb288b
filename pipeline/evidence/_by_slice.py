"""by_slice.csv: model, metric, slice, average, n, mean, ci_low, ci_high. Producer: metrics.

For people and spreadsheets; nothing reads it back.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.core.arrays import F64, I32, Bool
from pipeline.core.evidence import Evidence
from pipeline.core.scores import Scores
from pipeline.evidence._csv import write_csv
from pipeline.kernels.intervals import cluster_mean

FILE = "by_slice.csv"
COLUMNS = ("model", "metric", "slice", "average", "n", "mean", "ci_low", "ci_high")


def write(evidence: Evidence, folder: Path) -> None:
    """Writes the mean of every model, metric and slice, with its two-sided interval."""
    write_csv(folder / FILE, COLUMNS, _rows(evidence))


def _rows(evidence: Evidence) -> Iterator[list[Any]]:
    slices = evidence.slices
    masks = {name: slices.query[:, i] for i, name in enumerate(slices.query_names)}
    confidence = evidence.settings["significance"]["confidence"]
    for scores in evidence.scores:
        for info in evidence.metrics:
            for name in slices.names:
                if info.per == "list":
                    cells = _of_lists(scores, (name, info.label), masks[slices.split(name)[0]])
                else:
                    query, item = slices.split(name)
                    values = scores.values[:, scores.columns.index((info.label, item))]
                    cells = _of_queries(
                        values[masks[query]], evidence.units.cluster[masks[query]], confidence
                    )
                if cells:
                    yield [scores.model, info.label, name, "macro", *cells]


def _of_lists(scores: Scores, key: tuple[str, str], mask: Bool) -> list[Any]:
    """One value for all lists of the slice; no interval, as it is no mean over queries."""
    if key not in scores.lists:
        return []
    value = scores.lists[key]
    return [int(mask.sum()), None if np.isnan(value) else value, None, None]


def _of_queries(values: F64, clusters: I32, confidence: float) -> list[Any]:
    kept = ~np.isnan(values)
    n = int(kept.sum())
    if not n:
        return [0, None, None, None]
    _, codes = np.unique(clusters[kept], return_inverse=True)
    sums: F64 = np.bincount(codes, weights=values[kept]).astype(np.float64)
    found = cluster_mean(sums, np.bincount(codes).astype(np.float64))
    low, high = found.interval(confidence) or (None, None)
    return [n, found.mean, low, high]
