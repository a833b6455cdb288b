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
from pipeline.kernels.means import macro

FILE = "by_slice.csv"
COLUMNS = ("model", "metric", "slice", "average", "n", "mean", "ci_low", "ci_high")


def write(evidence: Evidence, folder: Path) -> None:
    """Writes the mean of every model, metric and slice, with its two-sided interval."""
    write_csv(folder / FILE, COLUMNS, _rows(evidence))


def _rows(evidence: Evidence) -> Iterator[list[Any]]:
    slices, confidence = evidence.slices, evidence.confidence
    for scores in evidence.scores:
        for info in evidence.metrics:
            for name in slices.names:
                query_slice, item_slice = slices.split(name)
                mask = slices.mask(query_slice)
                found = scores.column(info.label, item_slice)
                if found is not None:
                    cells = _of_queries(found[0], mask, evidence.units.cluster, confidence)
                elif (name, info.label) in scores.lists:
                    cells = _of_lists(scores, (name, info.label), mask)
                else:
                    continue
                yield [scores.model, info.label, name, "macro", *cells]


def _of_lists(scores: Scores, key: tuple[str, str], mask: Bool) -> list[Any]:
    """One value for all lists of the slice; no interval, as it is no mean over queries."""
    value = scores.lists[key]
    return [int((mask & scores.judged).sum()), None if np.isnan(value) else value, None, None]


def _of_queries(values: F64, mask: Bool, clusters: I32, confidence: float) -> list[Any]:
    mean, n = macro(values, mask)
    if mean is None:
        return [0, None, None, None]
    kept = mask & ~np.isnan(values)
    _, codes = np.unique(clusters[kept], return_inverse=True)
    sums: F64 = np.bincount(codes, weights=values[kept]).astype(np.float64)
    spread = cluster_mean(sums, np.bincount(codes).astype(np.float64))
    low, high = spread.interval(confidence) or (None, None)
    return [n, mean, low, high]
