"""From settings to an experiment: everything that determines numbers, validated."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from pipeline.core.conventions import Conventions
from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.core.registry import build as plugin
from pipeline.core.registry import versions
from pipeline.core.scores import MetricInfo
from pipeline.core.settings import Comparison, MetricSettings, SignificanceSettings
from pipeline.gate import Rule
from pipeline.gate import build as build_rules
from pipeline.kernels.digest import of_json
from pipeline.metrics import Metric, parse
from pipeline.models import Model
from pipeline.workflow import references

_NAME = re.compile(r"\w[\w.+@-]*")
STAGES = ("pool", "models", "metrics", "slices", "significance", "gate", "report", "tracking")


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
        metrics: parsed, in the order given; no label twice.
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


def build(settings: Comparison) -> Experiment:
    """Validates the settings and builds the plugins they name; reads no data.

    Raises:
        SamepoolError: everything that is wrong with them, not only the first.
    """
    problems: list[Problem] = []
    contenders = _collect(problems, lambda: _contenders(settings), ())
    metrics = _collect(problems, lambda: _metrics(settings.metrics), ())
    rules: Mapping[str, Rule] = _collect(problems, lambda: build_rules(settings.gate.rules), {})
    _collect(problems, lambda: _levels(settings), None)
    if problems:
        raise SamepoolError(problems)
    del rules  # built to be checked; decide builds them again from evidence or config alike
    return Experiment(
        pool=settings.pool,
        contenders=contenders,
        metrics=metrics,
        primary=parse(settings.metrics.primary).label
        if settings.metrics.primary
        else metrics[0].label,
        conventions=_conventions(settings.metrics),
        slices=settings.slices.defs,
        significance=settings.significance,
        rules=settings.gate.rules,
        alpha=settings.gate.alpha,
        seed=settings.seed,
        plugins={stage: found for stage in STAGES if (found := versions(stage))},
    )


def _collect(problems: list[Problem], make: Any, default: Any) -> Any:
    try:
        return make()
    except SamepoolError as error:
        problems.extend(error.problems)
        return default


def _contenders(settings: Comparison) -> tuple[Contender, ...]:
    models, problems = settings.models, list[Problem]()
    baseline = _collect(problems, lambda: _baseline(settings), None)
    asked = _candidates(settings, baseline)
    found = [
        _collect(problems, lambda v=v: references.read(v, models, "candidates"), None)
        for v in asked
    ]
    if problems:
        raise SamepoolError(problems)
    named = _distinct([*([baseline] if baseline else []), *found])
    if not named:
        fix = "models=[popular,svd], baseline=bm25.trec candidates=ce.trec, or experiment=movielens"
        raise fault("no_models", "no model to measure", fix)
    contenders = []
    for place, reference in enumerate(named):
        role = "baseline" if baseline and place == 0 else "candidate"
        model = _collect(problems, lambda r=reference: plugin("models", r.spec, r.where), None)
        kind = str(reference.spec.get("kind"))
        contenders.append(Contender(reference.name, role, reference.requested, kind, model))
    if problems:
        raise SamepoolError(problems)
    return tuple(contenders)


def _baseline(settings: Comparison) -> references.Reference | None:
    if settings.baseline is None:
        return None
    if isinstance(settings.baseline, list):
        text = f"baseline is a list of {len(settings.baseline)}"
        raise fault("bad_baseline", text, "one model is the baseline; the others are candidates")
    return references.read(settings.baseline, settings.models, "baseline")


def _candidates(settings: Comparison, baseline: references.Reference | None) -> list[Any]:
    asked = settings.candidates
    if asked is None:
        own = baseline.name if baseline else None
        return [name for name in settings.models if name != own]
    return list(asked) if isinstance(asked, list | tuple) else [asked]


def _distinct(named: list[references.Reference]) -> list[references.Reference]:
    """Refuses the same model twice; tells two files of one name apart by their folders."""
    problems = []
    seen: dict[str, references.Reference] = {}
    for reference in named:
        if not _NAME.fullmatch(reference.name):
            text = f"{reference.name!r} cannot name a model"
            fix = "use letters, digits, and . _ + - @ after the first"
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
    if problems:
        raise SamepoolError(problems)
    return named


def _metrics(settings: MetricSettings) -> tuple[Metric, ...]:
    problems: list[Problem] = []
    names = [*settings.names]
    if settings.primary:
        names.append(settings.primary)
    if not names:
        raise fault("no_metrics", "no metric to measure", "metrics.names=[nDCG@10,RR@10]")
    found = [_collect(problems, lambda n=n: parse(n), None) for n in names]
    if problems:
        raise SamepoolError(problems)
    return tuple({metric.label: metric for metric in found}.values())


def _conventions(settings: MetricSettings) -> Conventions:
    plain = Conventions(
        profile=settings.profile,
        ties=settings.ties,
        precision=settings.precision,
        relevant_from=settings.relevant_from,
        no_relevant=settings.no_relevant,
    )
    return replace(plain, digest=of_json(asdict(plain)))


def _levels(settings: Comparison) -> None:
    """Ranges of the numbers that no plugin validates."""
    choices = {
        "metrics.profile": (settings.metrics.profile, ("samepool",)),
        "metrics.ties": (settings.metrics.ties, ("id_desc", "id_asc", "given")),
        "metrics.precision": (settings.metrics.precision, ("float64", "float32")),
        "metrics.no_relevant": (
            settings.metrics.no_relevant, ("default", "zero", "skip", "one", "error"),
        ),
        "report.text": (settings.report.text, ("show", "drop")),
        "report.users": (settings.report.users, ("show", "hash", "drop")),
    }  # fmt: skip
    problems = [
        Problem("bad_option", "error", f"{key}={value}", f"one of {', '.join(allowed)}")
        for key, (value, allowed) in choices.items()
        if value not in allowed
    ]
    sig = settings.significance
    ranges = {
        "gate.alpha": (settings.gate.alpha, 0 < settings.gate.alpha < 0.5, "between 0 and .5"),
        "significance.confidence": (sig.confidence, 0.5 < sig.confidence < 1, "between .5 and 1"),
        "significance.flips": (sig.flips, sig.flips >= 99, "at least 99"),
        "significance.gate_flips": (sig.gate_flips, sig.gate_flips >= 99, "at least 99"),
        "significance.exact_up_to": (sig.exact_up_to, 0 <= sig.exact_up_to <= 20, "0 to 20"),
        "significance.min_nonzero": (sig.min_nonzero, sig.min_nonzero >= 0, "0 or more"),
        "report.top": (settings.report.top, 1 <= settings.report.top <= 1000, "1 to 1000"),
        "engine.keep_depth": (
            settings.engine.keep_depth,
            settings.engine.keep_depth > 0,
            "1 or more",
        ),
        "seed": (settings.seed, settings.seed >= 0, "0 or more"),
    }
    problems += [
        Problem("bad_option", "error", f"{key}={value}", f"give a number {words}")
        for key, (value, good, words) in ranges.items()
        if not good
    ]
    if problems:
        raise SamepoolError(problems)
