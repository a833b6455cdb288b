"""lists.csv: model, slice, metric, value; metrics of whole sets of lists. Producer: metrics."""

import math
from pathlib import Path

from pipeline.core.evidence import Evidence
from pipeline.evidence._csv import number, read_csv, write_csv

FILE = "lists.csv"
COLUMNS = ("model", "slice", "metric", "value")


def write(evidence: Evidence, folder: Path) -> None:
    """Writes the values; an undefined one is empty."""
    rows = [
        (scores.model, slice_, metric, None if math.isnan(value) else value)
        for scores in evidence.scores
        for (slice_, metric), value in scores.lists.items()
    ]
    write_csv(folder / FILE, COLUMNS, rows)


def read(folder: Path) -> dict[str, dict[tuple[str, str], float]]:
    """Reads them back: model -> (slice, metric) -> value."""
    found: dict[str, dict[tuple[str, str], float]] = {}
    for row in read_csv(folder / FILE, COLUMNS):
        value = number(row["value"])
        key = row["slice"], row["metric"]
        found.setdefault(row["model"], {})[key] = math.nan if value is None else value
    return found
