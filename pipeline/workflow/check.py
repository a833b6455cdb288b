"""samepool check: everything that can be checked before a model runs."""

from pipeline.core.settings import CompareSettings
from pipeline.workflow.evidence import pool_record
from pipeline.workflow.prepare import Prepared, prepare
from pipeline.workflow.voice import report, say


def check(settings: CompareSettings) -> None:
    """Prints what the comparison would stand on, and every warning.

    Raises:
        SamepoolError: every problem found, not only the first.
    """
    ready = prepare(settings)
    for line in _summary(ready):
        say(line)
    report(ready.pool.problems)
    say("ok: nothing stands in the way of this comparison")


def _summary(ready: Prepared) -> list[str]:
    record, slices = pool_record(ready.pool), ready.slices
    sizes = f"{record.n_queries:,} queries, {record.n_items:,} items"
    head = f"pool {record.name}@{record.digest[:8]}: {sizes}, {record.n_judgments:,} judgments"
    queries = zip(slices.query_names, slices.query.sum(axis=0), strict=True)
    items = zip(slices.item_names[1:], slices.item.sum(axis=0)[1:], strict=True)
    return [
        head,
        *(f"model {c.name} ({c.role}): {c.requested}" for c in ready.experiment.contenders),
        *(f"slice {name}: {count:,} queries" for name, count in queries),
        *(f"slice {name}: {count:,} judgments" for name, count in items),
        *(f"slice {name}: {query} x {item}" for name, (query, item) in slices.crossings.items()),
    ]
