"""Everything that can be known before a model runs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from pipeline.core.comparison import Claim
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, collect, fault, raise_errors
from pipeline.core.run import Origin
from pipeline.core.settings import CompareSettings
from pipeline.core.slices import Slices
from pipeline.models import Registry, fits
from pipeline.pool import load
from pipeline.slices import assign
from pipeline.tracking import open_tracker
from pipeline.workflow import decide
from pipeline.workflow.build import Contender, Experiment, build

_NO_MODEL = Problem(
    "no_models",
    "error",
    "no model to measure",
    "models=[popular,svd], baseline=bm25.trec candidates=ce.trec, or experiment=movielens",
)


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A comparison that nothing stands in the way of.

    Attributes:
        experiment: what was asked for.
        pool, slices: what it is measured on, and where.
        origins: which model each contender is, by key.
        registry: where models of a registry come from.
        claims: every claim that will be tested.
        warnings: what is odd about a model and the pool, and stops nothing.
    """

    experiment: Experiment
    pool: Pool
    slices: Slices
    origins: Mapping[str, Origin]
    registry: Registry
    claims: tuple[Claim, ...]
    warnings: tuple[Problem, ...]


def prepare(settings: CompareSettings, *, alone: bool = False) -> Prepared:
    """Builds the experiment, loads the pool, assigns slices, finds models, checks the rules.

    Args:
        settings: what is to be compared.
        alone: whether the pool may be looked at without a model.

    Raises:
        SamepoolError: everything that would stop the comparison later: of config, pool, slices,
            models and rules alike.
        UnreachableError: a registry does not answer.
    """
    problems: list[Problem] = []
    experiment = collect(problems, lambda: build(settings))
    if experiment is not None and not (experiment.contenders or alone):
        problems.append(_NO_MODEL)
    pool = collect(problems, lambda: load(settings.pool))
    slices = None
    if pool is not None:
        slices = collect(problems, partial(assign, pool, settings.slices.defs))
    registry = open_tracker(settings.tracking)
    origins: dict[str, Origin] = {}
    claims: tuple[Claim, ...] = ()
    warnings: tuple[Problem, ...] = ()
    if experiment is not None:
        origins = _origins(experiment.contenders, registry, problems)
        problems += _same(experiment.contenders, origins)
        problems += _too_short(experiment)
        if pool is not None:
            warnings = _fits(experiment.contenders, origins, pool, registry, problems)
        if slices is not None and experiment.contenders:
            claims = collect(problems, partial(_claims, settings, experiment, slices)) or ()
    if experiment is None or pool is None or slices is None or problems:
        raise_errors((*problems, *(pool.problems if pool else ())))
        raise AssertionError("a part is missing, but nothing is wrong with it")
    return Prepared(experiment, pool, slices, origins, registry, claims, warnings)


def _origins(
    contenders: Sequence[Contender], registry: Registry, problems: list[Problem]
) -> dict[str, Origin]:
    found = {
        c.name: collect(problems, partial(c.model.origin, c.name, c.requested, registry))
        for c in contenders
    }
    return {name: origin for name, origin in found.items() if origin is not None}


def _same(contenders: Sequence[Contender], origins: Mapping[str, Origin]) -> list[Problem]:
    """Refuses to compare a version with itself, under whatever names it was asked for."""
    problems: list[Problem] = []
    seen: dict[tuple[str, ...], Contender] = {}
    for contender in contenders:
        origin = origins.get(contender.name)
        if origin is None:
            continue
        for key in _versions(origin):
            other = seen.setdefault(key, contender)
            if other is not contender and not _otherwise(origin, origins[other.name]):
                text = f"{other.requested} and {contender.requested} are both {' '.join(key)}"
                problems.append(Problem("same_model", "error", text, "name another model"))
                break
    return problems


def _otherwise(one: Origin, other: Origin) -> bool:
    """Whether one version is asked in two ways: elsewhere, or for another output."""
    both = one.kind == other.kind == "mlflow"
    return both and one.source_digest != other.source_digest


def _too_short(experiment: Experiment) -> list[Problem]:
    """Models that return fewer items a query than a metric looks at."""
    deepest = max(experiment.metrics, key=lambda metric: metric.cutoff or 0)
    needed = deepest.cutoff or 0
    problems = []
    for contender in experiment.contenders:
        most = contender.model.at_most
        if most is not None and most < needed:
            text = f"model {contender.name} returns at most {most:,} items a query"
            text += f", and {deepest.label} looks at {needed:,}"
            fix = f"let it return {needed} (size, of an endpoint), or measure at a smaller cutoff"
            problems.append(Problem("list_too_short", "error", text, fix))
    return problems


def _versions(origin: Origin) -> list[tuple[str, ...]]:
    """What tells one trained model from another, where anything does."""
    found: list[tuple[str, ...]] = []
    if origin.parts:  # the version is the ranker's, and other retrievers differ
        return [("two stages", origin.source_digest)]
    if origin.registered and origin.version:
        found.append((origin.registered, f"version {origin.version}"))
    if origin.model_id:
        found.append(("logged model", origin.model_id))
    return found


def _fits(
    contenders: Sequence[Contender],
    origins: Mapping[str, Origin],
    pool: Pool,
    registry: Registry,
    problems: list[Problem],
) -> tuple[Problem, ...]:
    """Warnings of models that are odd for this pool; errors go to ``problems``."""
    found = [
        problem
        for c in contenders
        if c.name in origins
        for problem in fits(c.model, origins[c.name], pool, registry)
    ]
    problems += [problem for problem in found if problem.severity == "error"]
    return tuple(problem for problem in found if problem.severity != "error")


def _claims(settings: CompareSettings, experiment: Experiment, slices: Slices) -> tuple[Claim, ...]:
    """All claims; refuses rules and a candidate that speak of what is not compared."""
    models = [(c.name, c.role) for c in experiment.contenders]
    infos, primary = experiment.infos, experiment.primary
    about = decide.axes(models, infos, slices.names, primary, experiment.alpha)
    claims = decide.all_claims(about, experiment.rules, experiment.significance)
    if settings.candidate is not None and settings.candidate not in about.candidates:
        text = f"candidate={settings.candidate} is not compared"
        raise fault("unknown_candidate", text, f"there are: {', '.join(about.candidates)}")
    return claims
