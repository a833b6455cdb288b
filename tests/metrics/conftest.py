"""Builds pools and runs from dictionaries, and measures them."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from pipeline.core.conventions import Conventions
from pipeline.core.pool import Pool
from pipeline.core.scores import Reason, Scores
from pipeline.core.slices import ALL, Slices
from pipeline.metrics import judge, measure, parse_all
from pipeline.metrics._evaluate import everything, pool_of, run_of

DAY = 86_400_000_000


@dataclass(frozen=True)
class Case:
    """One model on one pool; every field but the first two may be left out.

    Attributes:
        qrels: query id -> item id -> grade.
        run: query id -> item id -> score.
        retrieval: the candidates before ranking.
        items: ids besides the judged ones.
        conventions: fields of Conventions.
        ineligible: pairs of query id and item id whose judgment is not eligible.
        asked: query id -> day it is asked on.
        created, opens, closes: item id -> day.
        catalogue: declared size.
        query_slices: name -> query ids.
        item_slices: name -> pairs of query id and item id.
        crossings: name -> (query slice, item slice).
    """

    qrels: Mapping[str, Mapping[str, float]]
    run: Mapping[str, Mapping[str, float]]
    retrieval: Mapping[str, Mapping[str, float]] | None = None
    items: tuple[str, ...] = ()
    conventions: Mapping[str, Any] = field(default_factory=dict)
    ineligible: frozenset[tuple[str, str]] = frozenset()
    asked: Mapping[str, float] = field(default_factory=dict)
    created: Mapping[str, float] = field(default_factory=dict)
    opens: Mapping[str, float] = field(default_factory=dict)
    closes: Mapping[str, float] = field(default_factory=dict)
    catalogue: int | None = None
    query_slices: Mapping[str, set[str]] = field(default_factory=dict)
    item_slices: Mapping[str, set[tuple[str, str]]] = field(default_factory=dict)
    crossings: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def pool(self) -> Pool:
        """The pool with its dates and eligibility."""
        plain = pool_of(self.qrels, self.items)
        judgments = plain.judgments
        eligible = np.array([pair not in self.ineligible for pair in self.pairs(plain)], dtype=bool)
        days = {"created": self.created, "eligible_from": self.opens, "eligible_until": self.closes}
        times = replace(
            plain.times, query=_days(plain.times.query, plain.vocab.queries, self.asked)
        )
        for name, given in days.items():
            filled = _days(getattr(times, name), plain.vocab.items, given)
            times = replace(times, **{name: filled})
        return replace(
            plain,
            judgments=replace(judgments, eligible=eligible),
            times=times,
            declared=replace(plain.declared, catalogue=self.catalogue),
        )

    def pairs(self, pool: Pool) -> list[tuple[str, str]]:
        """Query id and item id of each judgment."""
        owner = np.repeat(np.arange(len(pool.vocab.queries)), np.diff(pool.judgments.query_ptr))
        queries, items = pool.vocab.queries.to_pylist(), pool.vocab.items.to_pylist()
        return [(queries[q], items[i]) for q, i in zip(owner, pool.judgments.item, strict=True)]

    def slices(self, pool: Pool) -> Slices:
        """The slices asked for, after ``all``."""
        queries, pairs = pool.vocab.queries.to_pylist(), self.pairs(pool)
        members = [[True] * len(queries)]
        members += [[q in chosen for q in queries] for chosen in self.query_slices.values()]
        judged = [[True] * len(pairs)]
        judged += [[pair in chosen for pair in pairs] for chosen in self.item_slices.values()]
        return replace(
            everything(pool),
            query_names=(ALL, *self.query_slices),
            query=np.array(members, dtype=bool).reshape(len(members), len(queries)).T,
            item_names=(ALL, *self.item_slices),
            item=np.array(judged, dtype=bool).reshape(len(judged), len(pairs)).T,
            crossings=self.crossings,
        )

    def judged(self, depth: int = 10):
        """Both stages' lists."""
        pool = self.pool
        run = run_of(self.run, pool, self.retrieval)
        return judge(run, pool, Conventions(**self.conventions), depth)

    def scores(self, *names: str) -> Scores:
        """All that is measured."""
        pool, metrics = self.pool, parse_all(names)
        depth = max((metric.cutoff or 0 for metric in metrics), default=0)
        conventions = Conventions(**self.conventions)
        lists = judge(run_of(self.run, pool, self.retrieval), pool, conventions, depth)
        return measure("model", lists, metrics, self.slices(pool), pool, conventions)

    def column(self, name: str, item_slice: str = ALL) -> dict[str, tuple[float, Reason]]:
        """One per-query metric: query id -> value, reason."""
        scores = self.scores(name)
        place = [item for _, item in scores.columns].index(item_slice)
        found = zip(scores.values[:, place], scores.reason[:, place], strict=True)
        rows = [(float(value), Reason(reason)) for value, reason in found]
        return dict(zip(self.pool.vocab.queries.to_pylist(), rows, strict=True))

    def value(self, name: str, query: str = "q", item_slice: str = ALL) -> float:
        """One value."""
        return self.column(name, item_slice)[query][0]


def _days(plain, ids, given):
    """Microseconds, those given replaced."""
    found = [given.get(name) for name in ids.to_pylist()]
    return np.array(
        [old if day is None else int(day * DAY) for old, day in zip(plain, found, strict=True)],
        dtype=np.int64,
    )


@pytest.fixture(scope="session")
def case():
    """Makes a Case; a session fixture, so that hypothesis may use it."""
    return Case


@pytest.fixture(scope="session")
def ranked():
    """Makes a run of one query from ids in order."""
    return lambda *ids: {"q": {item: float(len(ids) - place) for place, item in enumerate(ids)}}
