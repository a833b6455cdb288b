"""samepool check: everything that can be checked before a model runs."""

from collections.abc import Callable
from functools import partial
from typing import Any

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, raise_errors
from pipeline.core.settings import Comparison
from pipeline.core.slices import Slices
from pipeline.pool import load
from pipeline.slices import assign
from pipeline.tracking import open_tracker
from pipeline.workflow import decide
from pipeline.workflow.build import Experiment, build
from pipeline.workflow.compare import origin, pool_record
from pipeline.workflow.voice import complain, say


def check(settings: Comparison) -> None:
    """Prints what the comparison would stand on, and every warning.

    Raises:
        SamepoolError: every problem found, of config, pool, slices, models and rules alike.
    """
    problems: list[Problem] = []
    experiment: Experiment | None = _collect(problems, lambda: build(settings))
    pool: Pool | None = _collect(problems, lambda: load(settings.pool))
    slices: Slices | None = None
    if pool:
        slices = _collect(problems, lambda: assign(pool, settings.slices.defs))
    tracker = open_tracker(settings.tracking)
    for contender in experiment.contenders if experiment else ():
        _collect(problems, partial(origin, contender, tracker))
    if experiment and slices:
        models = [(c.name, c.role) for c in experiment.contenders]
        names, level = slices.names, experiment.alpha
        about = decide.axes(models, experiment.infos, names, experiment.primary, level)
        _collect(
            problems, lambda: decide.all_claims(about, experiment.rules, experiment.significance)
        )
    if pool:
        problems += pool.problems
    raise_errors(problems)
    assert pool is not None
    assert slices is not None
    for line in _summary(pool, slices):
        say(line)
    for problem in problems:
        complain(f"samepool: {problem.severity}: {problem}")
    say("ok: nothing stands in the way of this comparison")


def _summary(pool: Pool, slices: Slices) -> list[str]:
    record = pool_record(pool)
    sizes = f"{record.n_queries:,} queries, {record.n_items:,} items"
    head = f"pool {record.name}@{record.digest[:8]}: {sizes}, {record.n_judgments:,} judgments"
    queries = zip(slices.query_names, slices.query.sum(axis=0), strict=True)
    items = zip(slices.item_names[1:], slices.item.sum(axis=0)[1:], strict=True)
    return [
        head,
        *(f"slice {name}: {count:,} queries" for name, count in queries),
        *(f"slice {name}: {count:,} judgments" for name, count in items),
        *(f"slice {name}: {query} x {item}" for name, (query, item) in slices.crossings.items()),
    ]


def _collect(problems: list[Problem], make: Callable[[], Any]) -> Any:
    try:
        return make()
    except SamepoolError as error:
        problems.extend(error.problems)
        return None
