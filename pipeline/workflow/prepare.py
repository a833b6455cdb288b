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
from pipeline.models import Registry
from pipeline.pool import load
from pipeline.slices import assign
from pipeline.tracking import open_tracker
from pipeline.workflow import decide
from pipeline.workflow.build import Contender, Experiment, build


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """A comparison that nothing stands in the way of.

    Attributes:
        experiment: what was asked for.
        pool, slices: what it is measured on, and where.
        origins: which model each contender is, by key.
        registry: where models of a registry come from.
        claims: every claim that will be tested.
    """

    experiment: Experiment
    pool: Pool
    slices: Slices
    origins: Mapping[str, Origin]
    registry: Registry
    claims: tuple[Claim, ...]


def prepare(settings: CompareSettings) -> Prepared:
    """Builds the experiment, loads the pool, assigns slices, finds models, checks the rules.

    Raises:
        SamepoolError: everything that would stop the comparison later: of config, pool, slices,
            models and rules alike.
        UnreachableError: a registry does not answer.
    """
    problems: list[Problem] = []
    experiment = collect(problems, lambda: build(settings))
    pool = collect(problems, lambda: load(settings.pool))
    slices = None
    if pool is not None:
        slices = collect(problems, partial(assign, pool, settings.slices.defs))
    registry = open_tracker(settings.tracking)
    origins: dict[str, Origin] = {}
    claims: tuple[Claim, ...] = ()
    if experiment is not None:
        origins = _origins(experiment.contenders, registry, problems)
        if slices is not None:
            claims = collect(problems, partial(_claims, settings, experiment, slices)) or ()
    if experiment is None or pool is None or slices is None or problems:
        raise_errors((*problems, *(pool.problems if pool else ())))
        raise AssertionError("a part is missing, but nothing is wrong with it")
    return Prepared(experiment, pool, slices, origins, registry, claims)


def _origins(
    contenders: Sequence[Contender], registry: Registry, problems: list[Problem]
) -> dict[str, Origin]:
    found = {
        c.name: collect(problems, partial(c.model.origin, c.name, c.requested, registry))
        for c in contenders
    }
    return {name: origin for name, origin in found.items() if origin is not None}


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
