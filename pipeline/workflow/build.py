"""From settings to an experiment: everything that determines numbers, validated."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

from pipeline.core.conventions import Conventions
from pipeline.core.problems import Problem, SamepoolError, collect, fault, raise_errors
from pipeline.core.registry import versions
from pipeline.core.scores import MetricInfo
from pipeline.core.settings import CompareSettings, MetricSettings, SignificanceSettings
from pipeline.gate import build as build_rules
from pipeline.kernels.digest import of_json
from pipeline.metrics import Metric, check_conventions, parse
from pipeline.models import Model
from pipeline.models import build as build_model
from pipeline.significance import check as check_significance
from pipeline.workflow import references

_NAME = re.compile(r"\w[\w.+@-]{0,99}")
# Where other distributions may have put plugins of theirs.
STAGES = (
    "formats", "pool", "models", "metrics", "slices", "significance", "gate", "report", "tracking",
    "engine",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contender:
    """One model of the comparison: its reference and its plugin."""

    name: str
    role: str
    requested: str
    kind: str
    model: Model


@dataclass(frozen=True, slots=True)
class Experiment:
    """A comparison to be made.

    Attributes:
        pool: kind and options of the pool.
        contenders: models, the baseline first if there is one.
        metrics: parsed; the primary one first, then in the order given; no label twice.
        primary: label of the primary metric.
        conventions: how lists are read.
        slices: name -> kind and options.
        significance: how differences are tested.
        rules: gate rules by name, as configured.
        alpha: the gate's one-sided level.
        seed: of every resampling.
        plugins: distributions of foreign plugins.
    """

    pool: Mapping[str, Any]
    contenders: tuple[Contender, ...]
    metrics: tuple[Metric, ...]
    primary: str
    conventions: Conventions
    slices: Mapping[str, Any]
    significance: SignificanceSettings
    rules: Mapping[str, Any]
    alpha: float
    seed: int
    plugins: Mapping[str, Mapping[str, str]]

    @property
    def baseline(self) -> str | None:
        """Key of the baseline; None where one model is measured alone."""
        return next((c.name for c in self.contenders if c.role == "baseline"), None)

    @property
    def infos(self) -> tuple[MetricInfo, ...]:
        """What the metrics are."""
        return tuple(metric.info() for metric in self.metrics)


def build(settings: CompareSettings) -> Experiment:
    """Validates the settings and builds the plugins they name; reads no data.

    Raises:
        SamepoolError: everything that is wrong with them, not only the first.
    """
    problems: list[Problem] = []
    contenders = collect(problems, lambda: _contenders(settings))
    metrics = collect(problems, lambda: _metrics(settings.metrics))
    collect(problems, lambda: build_rules(settings.gate.rules))
    conventions = collect(problems, lambda: _conventions(settings.metrics))
    collect(problems, lambda: _levels(settings))
    collect(problems, lambda: check_significance(settings.significance, settings.gate.alpha))
    alpha = settings.gate.alpha
    if contenders is None or metrics is None or conventions is None or alpha is None or problems:
        raise SamepoolError(problems)
    return Experiment(
        pool=settings.pool,
        contenders=contenders,
        metrics=metrics,
        primary=metrics[0].label,
        conventions=conventions,
        slices=settings.slices.defs,
        significance=settings.significance,
        rules=settings.gate.rules,
        alpha=alpha,
        seed=settings.seed,
        plugins={stage: found for stage in STAGES if (found := versions(stage))},
    )


def _contenders(settings: CompareSettings) -> tuple[Contender, ...]:
    problems: list[Problem] = []
    baseline = collect(problems, lambda: _baseline(settings))
    read = partial(references.read, models=settings.models, where="candidates")
    asked = _candidates(settings, baseline)
    found = [collect(problems, partial(read, value)) for value in asked]
    raise_errors(problems)
    named = [reference for reference in (baseline, *found) if reference is not None]
    _distinct(named)
    built = [collect(problems, partial(_contender, reference, baseline)) for reference in named]
    raise_errors(problems)
    return tuple(contender for contender in built if contender is not None)


def _contender(reference: references.Reference, baseline: references.Reference | None) -> Contender:
    model = build_model(reference.spec, reference.where)
    role = "baseline" if reference is baseline else "candidate"
    kind = str(reference.spec["kind"])
    return Contender(reference.name, role, reference.requested, kind, model)


def _baseline(settings: CompareSettings) -> references.Reference | None:
    if settings.baseline is None:
        return None
    if isinstance(settings.baseline, list):
        text = f"baseline is a list of {len(settings.baseline)}"
        raise fault("bad_baseline", text, "one model is the baseline; the others are candidates")
    return references.read(settings.baseline, settings.models, "baseline")


def _candidates(settings: CompareSettings, baseline: references.Reference | None) -> list[Any]:
    asked = settings.candidates
    if asked is None:
        own = baseline.where if baseline else None  # a file may have the name of a model
        return [name for name in settings.models if f"models.{name}" != own]
    return list(asked) if isinstance(asked, list | tuple) else [asked]


def _distinct(named: list[references.Reference]) -> None:
    """Refuses the same model twice; tells two files of one name apart by their folders."""
    problems = []
    seen: dict[str, references.Reference] = {}
    for reference in named:
        if not _NAME.fullmatch(reference.name):
            text = f"{reference.name!r} cannot name a model"
            fix = "use at most 100 letters, digits, and . _ + - @ after the first"
            problems.append(Problem("bad_name", "error", text, fix))
        other = seen.get(reference.name)
        if other is not None and other.spec == reference.spec:
            text = f"{reference.requested} is compared with itself"
            problems.append(Problem("same_model", "error", text, "name another model"))
        elif other is not None:
            text = f"{other.requested} and {reference.requested} are both called {reference.name}"
            fix = "write {path: FILE, name: OTHER} for one of them"
            problems.append(Problem("same_name", "error", text, fix))
        seen[reference.name] = reference
    raise_errors(problems)


def _metrics(settings: MetricSettings) -> tuple[Metric, ...]:
    problems: list[Problem] = []
    names = [*([settings.primary] if settings.primary else []), *settings.names]
    if not names:
        raise fault("no_metrics", "no metric to measure", "metrics.names=[nDCG@10,RR@10]")
    found = [collect(problems, partial(parse, name)) for name in names]
    raise_errors(problems)
    return tuple({metric.label: metric for metric in found if metric is not None}.values())


def _conventions(settings: MetricSettings) -> Conventions:
    plain = Conventions(
        profile=settings.profile,
        ties=settings.ties,
        precision=settings.precision,
        relevant_from=settings.relevant_from,
        no_relevant=settings.no_relevant,
    )
    check_conventions(plain)
    return replace(plain, digest=of_json(asdict(plain)))


def _levels(settings: CompareSettings) -> None:
    """Ranges of the numbers that no plugin validates."""
    alpha, depth = settings.gate.alpha or 0.0, settings.engine.keep_depth
    ranges = {
        "gate.alpha": (settings.gate.alpha, 0 < alpha < 0.5, "between 0 and .5"),
        "report.top": (settings.report.top, 1 <= settings.report.top <= 1000, "1 to 1000"),
        "engine.keep_depth": (depth, depth > 0, "1 or more"),
        "seed": (settings.seed, settings.seed >= 0, "0 or more"),
    }
    raise_errors(
        Problem("bad_option", "error", f"{key}={value}", f"give a number {words}")
        for key, (value, good, words) in ranges.items()
        if not good
    )
