"""samepool check: everything that can be checked before a model runs."""

from functools import partial

import numpy as np

from pipeline.core.problems import Problem, collect, raise_errors
from pipeline.core.settings import CompareSettings
from pipeline.models import Tools, rank
from pipeline.workflow.build import Contender
from pipeline.workflow.evidence import pool_record
from pipeline.workflow.prepare import Prepared, prepare
from pipeline.workflow.voice import report, say


def check(settings: CompareSettings) -> None:
    """Prints what the comparison would stand on, and every warning.

    Raises:
        SamepoolError: every problem found, not only the first.
    """
    ready = prepare(settings, alone=True)
    problems = [*ready.pool.problems, *ready.warnings, *_of_lists(ready), *_of_rules(ready)]
    raise_errors(problems)
    for line in _summary(ready):
        say(line)
    report(problems)
    named = bool(ready.experiment.contenders)
    end = "nothing stands in the way of this comparison" if named else "the pool; no model is named"
    say(f"ok: {end}")


def _of_lists(ready: Prepared) -> list[Problem]:
    """What is wrong with lists that lie in files; other models would have to run."""
    problems: list[Problem] = []
    for contender in ready.experiment.contenders:
        if contender.model.on_disk:
            origin = ready.origins[contender.name]
            tools = Tools(origin=origin, registry=ready.registry)
            read = partial(rank, contender.model, origin, ready.pool, tools)
            run = collect(problems, read)
            problems += run.problems if run else ()
    return problems


def _of_rules(ready: Prepared) -> list[Problem]:
    """What is known already to keep the gate from passing."""
    experiment = ready.experiment
    if experiment.baseline is None or not experiment.rules:
        return []
    found = []
    declared = ready.pool.declared
    if declared.labels != "human" and not declared.labels_reason:
        text = f"labels are {declared.labels}, and nothing says why they may decide"
        fix = "pool.labels=human, or pool.labels_reason='...'; else the gate will be invalid"
        found.append(Problem("labels", "warning", text, fix))
    least = experiment.significance.min_nonzero
    for name in sorted({claim.slice for claim in ready.claims if claim.rule != "report"}):
        n = _size(ready, name)
        if n < least:
            text = f"slice {name} has {n:,} judged queries; a rule on it needs {least} that differ"
            found.append(Problem("small_slice", "warning", text))
    return found


def _size(ready: Prepared, name: str) -> int:
    """Queries of a slice with a judgment in it."""
    slices, pointer = ready.slices, ready.pool.judgments.query_ptr
    query, item = slices.split(name)
    inside = slices.item[:, slices.item_names.index(item)]
    owner = np.repeat(np.arange(len(pointer) - 1), np.diff(pointer))
    judged = np.bincount(owner[inside], minlength=len(pointer) - 1) > 0
    return int((judged & slices.mask(query)).sum())


def _summary(ready: Prepared) -> list[str]:
    record, slices = pool_record(ready.pool), ready.slices
    sizes = f"{record.n_queries:,} queries, {record.n_items:,} items"
    head = f"pool {record.name}@{record.digest[:8]}: {sizes}, {record.n_judgments:,} judgments"
    queries = zip(slices.query_names, slices.query.sum(axis=0), strict=True)
    items = zip(slices.item_names[1:], slices.item.sum(axis=0)[1:], strict=True)
    return [
        head,
        f"pool digest {record.digest}",
        *(f"model {c.name} ({c.role}): {_what(c, ready)}" for c in ready.experiment.contenders),
        *(f"slice {name}: {count:,} queries" for name, count in queries),
        *(f"slice {name}: {count:,} judgments" for name, count in items),
        *(f"slice {name}: {query} x {item}" for name, (query, item) in slices.crossings.items()),
    ]


def _what(contender: Contender, ready: Prepared) -> str:
    """What was asked for, and what that is."""
    asked, resolved = contender.requested, ready.origins[contender.name].resolved
    return asked if asked == resolved else f"{asked} -> {resolved}"
