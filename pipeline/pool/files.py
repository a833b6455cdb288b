"""Tables in files: the pool as its owner has it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from pipeline.core.pool import Declared
from pipeline.core.problems import Problem, fault
from pipeline.core.suggest import did_you_mean, nearest
from pipeline.formats import read_qrels, read_table
from pipeline.pool._tables import Tables

_LABELS = ("human", "llm", "click", "purchase", "rating", "synthetic", "unknown")
_TABLES = ("queries", "items", "qrels", "candidates", "logs")


@dataclass(frozen=True, slots=True)
class Files:
    """A pool read from files.

    Attributes:
        qrels: judgments; the one table that is needed.
        queries, items, candidates, logs: the other tables, where there are any.
        name: what people call the pool; unset, the name of the qrels file without its suffix.
        formats: table -> name of its format, where it cannot be recognised.
        grade_map: text of a grade -> number, e.g. {Exact: 3, Partial: 1}.
        labels, labels_reason, as_of, catalogue, grades, sampling, unit, seen, facts: declared
            facts; see :class:`pipeline.core.pool.Declared`.
    """

    qrels: str | None = None
    queries: str | None = None
    items: str | None = None
    candidates: str | None = None
    logs: str | None = None
    name: str | None = None
    formats: dict[str, str] = field(default_factory=dict)
    grade_map: dict[Any, float] = field(default_factory=dict)
    labels: str = "unknown"
    labels_reason: str | None = None
    as_of: str | None = None
    catalogue: int | None = None
    grades: tuple[float, float] | None = None
    sampling: str | None = None
    unit: Literal["query", "request"] = "query"
    seen: Literal["kept", "removed"] = "kept"
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuses options that contradict themselves."""
        unknown = [name for name in self.formats if name not in _TABLES]
        if unknown:
            hint = did_you_mean(unknown[0], _TABLES)
            raise ValueError(f"formats names no table {unknown[0]!r}; {hint}")
        if self.grades and self.grades[0] > self.grades[1]:
            raise ValueError(f"grades {list(self.grades)} must be [smallest, largest]")
        if self.catalogue is not None and self.catalogue < 1:
            raise ValueError(f"catalogue is {self.catalogue}; it must be 1 or more")
        try:
            json.dumps(self.facts, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(f"facts must be plain words and numbers: {error}") from error

    def tables(self, problems: list[Problem]) -> Tables:
        """Reads the files; everything that is wrong in any of them goes to ``problems``.

        Raises:
            SamepoolError: no qrels are named.
        """
        if not self.qrels:
            text = "there are no judgments to measure against: pool.qrels is not set"
            fix = "set pool.qrels=qrels.trec, or choose a ready pool, e.g. experiment=movielens"
            raise fault("no_qrels", text, fix)
        problems += _odd_labels(self.labels)
        grade_map = {_key(text): number for text, number in self.grade_map.items()}
        qrels = read_qrels(
            self.qrels, problems, format=self.formats.get("qrels"), grade_map=grade_map
        )
        others = {name: self._read(name, problems) for name in _TABLES if name != "qrels"}
        return Tables(
            name=self.name or _stem(self.qrels), qrels=qrels, declared=self._declared(), **others
        )

    def _read(self, name: str, problems: list[Problem]) -> pa.Table | None:
        path: str | None = getattr(self, name)
        return read_table(path, problems, format=self.formats.get(name)) if path else None

    def _declared(self) -> Declared:
        facts: Mapping[str, Any] = self.facts
        if self.grade_map:
            facts = {**facts, "grade_map": {_key(k): v for k, v in self.grade_map.items()}}
        return Declared(
            labels=self.labels,
            labels_reason=self.labels_reason,
            as_of=self.as_of,
            catalogue=self.catalogue,
            grades=self.grades,
            sampling=self.sampling,
            unit=self.unit,
            seen=self.seen,
            facts=facts,
        )


def _odd_labels(labels: str) -> list[Problem]:
    """A warning where the source of the labels is nearly a usual one: the gate goes by it."""
    near = () if labels in _LABELS else nearest(labels, _LABELS, 1)
    if not near:
        return []
    text = f"labels {labels}: not one of the usual {', '.join(_LABELS)}"
    return [Problem("odd_labels", "warning", text, f"did you mean {near[0]}?", "pool.labels")]


def _key(grade: Any) -> str:
    """Text of a grade as a config has it: YAML turns 3 into a number, and no into False."""
    if isinstance(grade, bool):
        raise fault(
            "bad_option", f"pool.grade_map: the key {grade} was yes, no, on or off in YAML",
            "quote it",
        )  # fmt: skip
    return str(grade)


def _stem(path: str) -> str:
    name = Path(path).name.removesuffix(".gz")
    return name.rsplit(".", 1)[0] or name


PLUGIN = Files
