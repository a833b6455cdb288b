"""Everything that a metric may read of one stage's lists under one item slice.

Shared by all metrics and computed on first use, so that any number of cutoffs costs one pass over
the judged items returned. Items without a judgment are met only where a metric reads the top.
"""

from collections.abc import Callable
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np

from pipeline.core.arrays import F64, I32, I64, U8, Bool
from pipeline.core.conventions import Conventions
from pipeline.core.judged import Judged
from pipeline.core.pool import OPEN_END, UNKNOWN_TIME, Pool
from pipeline.core.problems import fault
from pipeline.core.scores import MetricInfo, Reason
from pipeline.kernels.eligibility import eligible
from pipeline.kernels.gains import Gain, discounted, gain, ideal, total

T = TypeVar("T")

MICROSECONDS_PER_DAY = 86_400e6


class View:
    """One stage's lists, met with the judgments of one item slice.

    Relevant is an item whose grade reaches the threshold and is above 0. What the query could
    have found counts all of its judgments in the slice; what it found counts only eligible items,
    so that an ineligible relevant item is a loss, never a gain. Ranks are those of the whole list.

    Attributes:
        lists: the ordered lists.
        pool: what they are measured on.
        conventions: how they are read.
        sliced: whether an item slice restricts the judgments.
        n: number of queries, Q.
        topics: (Q,) whether the query has judgments (in any slice).
    """

    def __init__(
        self, lists: Judged, pool: Pool, conventions: Conventions, mask: Bool | None = None
    ) -> None:
        """Reads nothing yet.

        Args:
            lists: the ordered lists of one stage.
            pool: the pool that they were judged on.
            conventions: how they are read.
            mask: (J,) judgments of an item slice; None for all.
        """
        self.lists = lists
        self.pool = pool
        self.conventions = conventions
        self.sliced = mask is not None
        self.n = len(pool.judgments.query_ptr) - 1
        self.topics: Bool = np.diff(pool.judgments.query_ptr) > 0
        self._mask = mask
        self._cache: dict[tuple[Any, ...], Any] = {}

    def found(self, rel: float | None) -> tuple[I32, I32]:
        """Query codes and ranks of the relevant eligible items returned, (H',) each, by rank."""
        return self._once(("found", rel), lambda: self._found(rel))

    def n_found(self, rel: float | None, cutoff: int | None) -> I64:
        """(Q,) number of relevant eligible items at ranks up to the cutoff."""
        query, rank = self.found(rel)
        return np.bincount(query if cutoff is None else query[rank <= cutoff], minlength=self.n)

    def n_relevant(self, rel: float | None) -> I64:
        """(Q,) number of relevant judgments, returned or not, eligible or not."""
        return self._once(("n_relevant", rel), lambda: self._n_relevant(rel))

    def dcg(self, kind: Gain, cutoff: int | None) -> F64:
        """(Q,) discounted cumulative gain of the eligible items at ranks up to the cutoff."""
        query, rank, value = self._once(("gains", kind), lambda: self._gains(kind))
        return self._sum(query, rank, value, cutoff)

    def ideal_dcg(self, kind: Gain, cutoff: int | None) -> F64:
        """(Q,) the largest DCG that any list could have, from all judgments of the query.

        Raises:
            SamepoolError: a grade is too large for the gain.
        """
        query, place, value = self._once(("ideal", kind), lambda: self._ideal(kind))
        return self._sum(query, place, value, cutoff)

    def shown(self, cutoff: int) -> I64:
        """(Q,) number of items in the first places: the cutoff, or less where the list ends."""
        return np.minimum(self.lists.length, cutoff).astype(np.int64)

    def top(self, cutoff: int) -> I32:
        """(Q, at most cutoff) item codes of the first places; -1 past a list's end."""
        return self.lists.top[:, :cutoff]

    def eligible(self, cutoff: int) -> Bool:
        """(Q, at most cutoff) whether the place's item may be shown at the query's time.

        True past a list's end, for items outside the pool and for queries without a time: nothing
        is known against them.
        """
        code, times = self._codes(cutoff), self.pool.times
        opens = np.append(times.eligible_from, UNKNOWN_TIME)[code]
        closes = np.append(times.eligible_until, OPEN_END)[code]
        return eligible(times.query[:, None], opens, closes)

    def age(self, cutoff: int) -> F64:
        """(Q, at most cutoff) age in days of the place's item at the query's time.

        NaN past a list's end, where item or query has no date, and where the item was made
        after the query.
        """
        created = np.append(self.pool.times.created, UNKNOWN_TIME)[self._codes(cutoff)]
        time = np.broadcast_to(self.pool.times.query[:, None], created.shape)
        known = (created != UNKNOWN_TIME) & (time != UNKNOWN_TIME) & (created <= time)
        days = np.where(known, time, 0) - np.where(known, created, 0)
        return np.where(known, days / MICROSECONDS_PER_DAY, np.nan)

    def settle(
        self,
        info: MetricInfo,
        values: F64,
        relevant: Bool | None = None,
        nothing: Literal["zero", "skip"] = "skip",
        undefined: Bool | None = None,
    ) -> tuple[F64, U8]:
        """Values and reasons under the conventions: the same reading for every metric.

        A query without judgments has no value. Nothing relevant is decided by the judgments alone,
        hence alike for every model: where it is skipped, an unanswered query is skipped too; where
        it is scored, an unanswered query keeps the worst value. In an item slice it is skipped
        whatever the convention.

        Args:
            info: whose worst and best values to use.
            values: (Q,) values; those of queries without a value are ignored.
            relevant: (Q,) whether anything is relevant; None for a metric that does not look at
                relevance, which does not exist in an item slice.
            nothing: the metric's own reading of queries with nothing relevant.
            undefined: (Q,) where the metric does not exist.

        Returns:
            (Q,) values, NaN where there is none, and (Q,) codes of Reason.

        Raises:
            SamepoolError: queries have nothing relevant and the conventions call that an error.
        """
        reason = np.full(self.n, int(Reason.OK), dtype=np.uint8)
        values = np.asarray(values, dtype=np.float64).copy()
        worst = np.nan if info.worst is None else info.worst
        # An answer of no items is an answer; a share of it does not exist, and is not 0.
        bare = Reason.UNDEFINED if info.worst is None else Reason.OK
        _mark(values, reason, self.lists.length == 0, bare, worst)
        if undefined is not None:
            _mark(values, reason, undefined, Reason.UNDEFINED, np.nan)
        if relevant is None:
            _mark(values, reason, ~self.lists.returned, Reason.MISSING, worst)
            _mark(values, reason, np.full(self.n, self.sliced), Reason.UNDEFINED, np.nan)
        else:
            scored = self._without(~relevant & self.topics, info, nothing)
            if scored is not None:
                _mark(values, reason, ~relevant, Reason.NO_RELEVANT_SCORED, scored)
            _mark(values, reason, ~self.lists.returned, Reason.MISSING, worst)
            if scored is None:
                _mark(values, reason, ~relevant, Reason.NO_RELEVANT, np.nan)
        _mark(values, reason, ~self.topics, Reason.UNJUDGED, np.nan)
        return values, reason

    def _without(
        self, none: Bool, info: MetricInfo, nothing: Literal["zero", "skip"]
    ) -> float | None:
        """What a query with nothing relevant scores; None where it is left out."""
        asked = self.conventions.no_relevant
        rule = nothing if asked == "default" else asked
        if self.sliced:
            return None
        if rule == "error" and none.any():
            codes = np.flatnonzero(none)
            ids = ", ".join(str(self.pool.vocab.queries[int(code)]) for code in codes[:3])
            raise fault(
                "no_relevant",
                f"{info.label}: {codes.size} queries have nothing relevant (e.g. {ids})",
                "judge them, or set metrics.no_relevant to default, zero, skip or one",
            )
        # A metric without a best value, such as DCG, has no value to give for "one".
        return {"zero": 0.0, "one": info.range[1]}.get(rule)

    @cached_property
    def _wanted(self) -> tuple[I32, F64]:
        """Query codes and grades of the slice's judgments above 0, by query."""
        judgments = self.pool.judgments
        keep = judgments.grade > 0
        if self._mask is not None:
            keep &= self._mask
        owner = np.repeat(np.arange(self.n, dtype=np.int32), np.diff(judgments.query_ptr))
        return owner[keep], judgments.grade[keep]

    @cached_property
    def _useful(self) -> tuple[I32, I32, F64]:
        """Query codes, ranks and grades of the returned items of the slice that may gain."""
        judgments, lists = self.pool.judgments, self.lists
        place = lists.hit_judgment
        keep = (judgments.grade[place] > 0) & judgments.eligible[place]
        if self._mask is not None:
            keep &= self._mask[place]
        return lists.hit_query[keep], lists.rank[keep], judgments.grade[place[keep]]

    def _found(self, rel: float | None) -> tuple[I32, I32]:
        query, rank, grade = self._useful
        keep = grade >= self._threshold(rel)
        return query[keep], rank[keep]

    def _n_relevant(self, rel: float | None) -> I64:
        query, grade = self._wanted
        return np.bincount(query[grade >= self._threshold(rel)], minlength=self.n)

    def _threshold(self, rel: float | None) -> float:
        return self.conventions.relevant_from if rel is None else rel

    def _gains(self, kind: Gain) -> tuple[I32, I32, F64]:
        query, rank, grade = self._useful
        return query, rank, discounted(gain(grade, kind), rank)

    def _ideal(self, kind: Gain) -> tuple[I32, I64, F64]:
        query = self._wanted[0]
        grade, place = self._once(("order",), lambda: ideal(*self._wanted))
        gains = gain(grade, kind)
        if not np.isfinite(gains.sum()):
            raise fault(
                "grade_too_large",
                f"gain={kind}: a grade of {grade.max():g} is worth more than a number can hold",
                "use gain=linear, or rescale the grades",
            )
        return query, place, discounted(gains, place)

    def _sum(self, query: I32, rank: I32 | I64, value: F64, cutoff: int | None) -> F64:
        if cutoff is None:
            return total(query, value, self.n)
        keep = rank <= cutoff
        return total(query[keep], value[keep], self.n)

    def _codes(self, cutoff: int) -> I32:
        """Item codes of the first places; the pool's item count for all that it does not know."""
        top, items = self.top(cutoff), len(self.pool.times.created)
        return np.where((top >= 0) & (top < items), top, np.int32(items))

    def _once(self, key: tuple[Any, ...], compute: Callable[[], T]) -> T:
        """The value under a key, computed on first use."""
        if key not in self._cache:
            self._cache[key] = compute()
        found: T = self._cache[key]
        return found


def _mark(values: F64, reason: U8, where: Bool, why: Reason, value: float) -> None:
    """Gives some queries a value and its reason; what is marked last stands."""
    values[where] = value
    reason[where] = why
