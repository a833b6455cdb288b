"""samepool freeze: makes a pool from raw tables, and says what became of them."""

import shlex
from collections.abc import Mapping

from pipeline.core.settings import FreezeCommand
from pipeline.pool import FreezeResult
from pipeline.pool import freeze as make
from pipeline.workflow.voice import report, say

_WORDS = {
    "rows": "rows",
    "after_as_of": "later than as_of: cut",
    "after_as_of_kept": "later than as_of: kept",
    "after_train_until": "later than train_until: cut",
    "before_evaluate_from": "earlier than evaluate_from: left out",
    "undated": "without a time",
    "ids": "ids",
    "distinct": "distinct queries",
    "of_several_users": "of several users: no user_id",
    "of_queries_cut": "of queries cut or not there: cut",
    "of_items_after_as_of": "of items later than as_of: cut",
    "pairs": "judged pairs",
    "below_min_judged": "below min_judged: left out",
    "below_min_relevant": "below min_relevant: left out",
    "population": "to sample from",
    "queries_short": "queries with fewer negatives than asked",
}


def freeze(settings: FreezeCommand) -> FreezeResult:
    """Freezes, and prints every count.

    Raises:
        SamepoolError: everything that is wrong with settings or tables.
    """
    made = make(settings)
    for line in _lines(made, settings):
        say(line)
    report(made.problems)
    for line in _next(made):
        say(line)
    return made


def _lines(made: FreezeResult, settings: FreezeCommand) -> list[str]:
    counts = made.record.counts
    lines = [
        f"{table:<10} {_counted(counts[table])}"
        for table in ("queries", "items", "qrels", "logs", "population", "negatives")
        if counts.get(table)
    ]
    for one in made.strata:
        asked = "" if not one.queries else f", asked {_range(one.low, one.high)}"
        lines.append(
            f"{one.name:<10} {one.queries:,} queries{asked}, {100 * one.traffic:.1f} % of the"
            f" traffic: {one.taken:,} sampled, weight {one.weight:.6g}"
        )
    sampled = sum(one.taken for one in made.strata)
    if settings.n is not None and isinstance(settings.allocation, str) and sampled < settings.n:
        lines.append(f"n={settings.n:,} is more than there are: all {sampled:,} are taken")
    return lines


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{n:,} {_WORDS.get(name, name)}"
        for name, n in counts.items()
        if n or name in {"rows", "population", "distinct", "pairs"}
    )


def _range(low: float, high: float) -> str:
    return f"{low:g} times" if low == high else f"{low:g} to {high:g} times"


def _next(made: FreezeResult) -> list[str]:
    pool, files = made.pool, made.record.files
    sizes = ", ".join(f"{files[name]['rows']:,} {name.partition('.')[0]}" for name in files)
    written = "written" if made.fresh else "already there, the very same"
    use = f"pool=frozen {shlex.quote(f'pool.path={made.folder}')}"
    return [
        f"pool {pool.name}@{pool.digest[:8]}: {sizes}",
        f"pool digest {pool.digest}",
        f"{written}: {made.folder}",
        f"next: samepool check {use}",
        f"      samepool compare {use} baseline=RUN 'candidates=[RUN,MODEL]'",
    ]
