"""metrics.json: what was measured, and under which conventions. Producer: metrics."""

from pathlib import Path
from typing import NamedTuple

from pipeline.core.conventions import Conventions
from pipeline.core.evidence import Evidence
from pipeline.core.scores import MetricInfo
from pipeline.evidence._files import plain, read_json, write_json

FILE = "metrics.json"


class Measured(NamedTuple):
    """Metric definitions and conventions."""

    infos: tuple[MetricInfo, ...]
    conventions: Conventions


def write(evidence: Evidence, folder: Path) -> None:
    """Writes definitions and conventions."""
    value = {"metrics": plain(evidence.metrics), "conventions": plain(evidence.conventions)}
    write_json(folder / FILE, value)


def read(folder: Path) -> Measured:
    """Reads them back, in order."""
    value = read_json(folder / FILE)
    infos = (MetricInfo(**{**info, "range": tuple(info["range"])}) for info in value["metrics"])
    return Measured(tuple(infos), Conventions(**value["conventions"]))
