"""What stands around the numbers: metrics, conventions, pool, slices, models, settings."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from pipeline.core.comparison import Comparison
from pipeline.core.evidence import Evidence, ModelRecord, PoolRecord
from pipeline.core.redact import redact_uris, redact_values
from pipeline.core.scores import MetricInfo
from pipeline.core.slices import ALL
from pipeline.report import _format as fmt
from pipeline.report._means import Mean, Place
from pipeline.report._words import FAMILIES

CONVENTIONS = {
    "profile": "named set of conventions",
    "ties": "order of items with equal scores",
    "precision": "what scores are compared in",
    "topics": "queries measured: those of the pool with judgments",
    "relevant_from": "smallest grade that binary metrics count as relevant",
    "missing": "an unanswered query scores the metric's worst value",
    "no_relevant": "queries with nothing relevant; default: each metric's own reading",
    "unjudged": "an unjudged item gains nothing and holds its rank",
    "digest": "SHA-256 of the above",
}


@dataclass(frozen=True, slots=True)
class MetricView:
    """A metric in words; ``range``, ``worst`` and ``coverage`` are ready to print."""

    label: str
    direction: str
    range: str
    worst: str
    per: str
    stage: str
    formula: str
    words: str
    coverage: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A name, its value and what it means."""

    name: str
    value: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class SliceView:
    """A slice in words."""

    name: str
    kind: str
    definition: str
    n: str
    undated: str


def text(value: object) -> str:
    """A value from outside, cleaned, without the user names and passwords of its addresses."""
    return redact_uris(fmt.clean(value))


def metric(info: MetricInfo, evidence: Evidence, means: Mapping[Place, Mean]) -> MetricView:
    """One metric in words."""
    low, high = info.range
    found = [means.get((model.name, info.label, ALL)) for model in evidence.models]
    return MetricView(
        fmt.clean(info.label),
        f"{info.direction} is better",
        f"{_number(low, 'unbounded')} to {_number(high, 'unbounded')}",
        _number(info.worst, "none: such pairs are dropped"),
        "mean over queries" if info.per == "query" else "one value a set of lists",
        info.stage,
        fmt.clean(info.formula),
        fmt.clean(info.words),
        _coverage([mean for mean in found if mean is not None]),
    )


def _number(value: float | None, absent: str) -> str:
    return absent if value is None else f"{value:g}"


def _coverage(found: list[Mean]) -> str:
    if not found:
        return "not measured on all"
    least, most = min(found, key=lambda mean: mean.n), max(found, key=lambda mean: mean.n)
    n = fmt.count(most.n) if least.n == most.n else f"{least.n:,} to {most.n:,}"
    parts = [f"n {n}"]
    if least.left_out:
        parts.append(f"left out: {least.why}")
    if most.scored:
        parts.append(f"{most.scored:,} with nothing relevant score by convention")
    return "; ".join(parts)


def conventions(evidence: Evidence) -> tuple[Fact, ...]:
    """How lists were read."""
    found = evidence.conventions
    return tuple(
        Fact(f.name, text(getattr(found, f.name)), CONVENTIONS.get(f.name, ""))
        for f in fields(found)
    )


def pool(record: PoolRecord) -> tuple[Fact, ...]:
    """The pool and what its owner declares."""
    facts = [
        Fact("name", text(record.name)),
        Fact("digest", text(record.digest), "every number here belongs to this pool only"),
        Fact("logs digest", text(record.logs_digest or "no logs")),
        Fact("queries", fmt.count(record.n_queries)),
        Fact("judged queries", fmt.count(record.n_judged_queries)),
        Fact("clusters", fmt.count(record.n_clusters), "queries of one user are one cluster"),
        Fact("items", fmt.count(record.n_items)),
        Fact("judgments", fmt.count(record.n_judgments)),
    ]
    declared = [
        Fact(f"declared: {key}", value) for key, value in _flat("", redact_values(record.declared))
    ]
    return (*facts, *declared)


def slices(evidence: Evidence) -> tuple[SliceView, ...]:
    """Every slice in words, with its size."""
    found = evidence.slices
    sizes = np.count_nonzero(found.query, axis=0)
    by_name = dict(zip(found.query_names, (int(size) for size in sizes), strict=True))
    return tuple(
        SliceView(
            fmt.clean(name),
            _slice_kind(evidence, name),
            text(found.definitions.get(name, "")),
            fmt.count(by_name[found.split(name)[0]]),
            fmt.count(found.undated[name]) if name in found.undated else "",
        )
        for name in found.names
    )


def _slice_kind(evidence: Evidence, name: str) -> str:
    if name in evidence.slices.crossings:
        return "crossing"
    return "queries" if name in evidence.slices.query_names else "items"


def origin(record: ModelRecord) -> tuple[Fact, ...]:
    """Which model exactly this was."""
    version = f"{record.registered} version {record.version}" if record.registered else None
    given = (
        ("role", record.role),
        ("kind", record.kind),
        ("requested", record.requested),
        ("resolved to", record.resolved),
        ("registered as", version),
        ("logged model", record.model_id),
        ("path", record.path),
        ("source digest", record.source_digest),
        ("run digest", record.run_digest),
        ("first stage", "known" if record.has_retrieval else "not known on its own"),
    )
    return tuple(Fact(name, text(value)) for name, value in given if value)


def settings(evidence: Evidence) -> tuple[Fact, ...]:
    """Everything the comparison was set to, flattened; values of secrets are left out."""
    return tuple(Fact(name, value) for name, value in _flat("", redact_values(evidence.settings)))


def _flat(prefix: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from _flat(f"{prefix}.{key}" if prefix else str(key), inner)
    elif prefix and value is not None:
        plain = value if isinstance(value, str) else json.dumps(value, default=str)
        yield text(prefix), text(plain)


def methods(comparisons: Iterable[Comparison]) -> tuple[Fact, ...]:
    """Which tests were run, how often, in which family, with which seeds."""
    counts: Counter[tuple[str, str]] = Counter()
    seeds: dict[tuple[str, str], dict[int, None]] = {}
    for comparison in comparisons:
        key = comparison.claim.family, comparison.method or "no test"
        counts[key] += 1
        seeds.setdefault(key, {})[comparison.seed] = None
    return tuple(
        Fact(
            text(method),
            f"{fmt.counted(number, 'claim')}, {_seeds(list(seeds[family, method]))}",
            FAMILIES.get(family, family),
        )
        for (family, method), number in sorted(counts.items())
    )


def _seeds(found: list[int]) -> str:
    if len(found) > 3:
        return f"{len(found):,} seeds"
    return f"seed {', '.join(map(str, found))}"
