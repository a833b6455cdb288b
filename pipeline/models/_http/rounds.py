"""From requests to answers: what is kept is reused, the rest asked, some asked again at the end."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.core.problems import Problem, SamepoolError, Severity, UnreachableError, fault
from pipeline.models._http.crew import Crew, Failure, Plan
from pipeline.models._http.request import Asks
from pipeline.models._http.store import Answer, Store
from pipeline.models._http.troubles import AwayError, MistakeError

Progress = Callable[[Sequence[slice], str], Iterator[slice]]
GIVE_UP = 50  # queries in a row that fail after all their retries
_SHOWN = 3
_STEPS = 200


@dataclass(eq=False)
class Rounds:
    """Asks one endpoint about one pool.

    Attributes:
        name: of the model, for messages.
        asks: a request a query.
        crew: who asks.
        store: where answers are kept.
        plan: how hard to try.
        scrub: takes secrets out of a message.
        progress: shows how far asking has come.
        problems: notes and warnings met on the way.
    """

    name: str
    asks: Asks
    crew: Crew
    store: Store
    plan: Plan
    scrub: Callable[[str], str]
    progress: Progress
    problems: list[Problem] = field(default_factory=list)

    def answers(self) -> list[Answer]:
        """One answer a query, in their order.

        Raises:
            SamepoolError: the endpoint says that a question is wrong, or cannot be understood.
            UnreachableError: queries without an answer after all retries.
        """
        kept = self.store.read()
        found = {place: kept[one] for place, one in enumerate(self.asks.ids) if one in kept}
        self._reused(found)
        todo = [place for place in range(len(self.asks)) if place not in found]
        failed: dict[int, Failure] = {}
        try:
            if todo:
                self._opening(todo[0], found, failed)
            self._rest(todo, found, failed)
        finally:
            self.store.close()
        if self.store.trouble is not None:
            text = f"model {self.name}: answers of this attempt were not kept: {self.store.trouble}"
            self.problems.append(Problem("not_kept", "warning", self.scrub(text)))
        if failed:
            raise self._short(found, failed)
        return [found[place] for place in range(len(self.asks))]

    def probe(self, answers: list[Answer], count: int, *, strict: bool) -> list[Problem]:
        """Asks some queries again, and says how many answers changed.

        Args:
            answers: what was answered.
            count: queries to ask again; drawn from the plan's seed.
            strict: whether a change is an error.
        """
        n = min(count, len(answers))
        if not n:
            return []
        rng = np.random.default_rng(self.plan.seed)
        places = sorted(map(int, rng.choice(len(answers), n, replace=False)))
        outcomes = dict(self.crew.keeping(Store(None).keep).ask(self.asks, places))
        again = {place: one for place, one in outcomes.items() if isinstance(one, Answer)}
        moved = [place for place, one in again.items() if order(one) != order(answers[place])]
        scored = [place for place, one in again.items() if not _same(one, answers[place])]
        found = []
        if scored:
            found.append(self._unstable(sorted(moved), sorted(scored), len(again), strict=strict))
        if len(again) < n:
            text = f"model {self.name}: {n - len(again)} of {n} probes were not answered"
            fix = "whether its answers change is not known for these"
            severity: Severity = "error" if strict else "warning"
            found.append(Problem("probes_failed", severity, text, fix))
        self.problems += found
        return found

    def _unstable(self, moved: list[int], scored: list[int], n: int, *, strict: bool) -> Problem:
        changed = f"{len(moved)} of {n} probes changed order"
        if not moved:
            changed = f"{len(scored)} of {n} probes changed scores, none its order"
        elif len(scored) > len(moved):
            changed += f", {len(scored) - len(moved)} more their scores alone"
        text = f"model {self.name}: {changed}"
        fix = (
            "the same comparison may come out otherwise; ask one copy of the index:"
            " set preference=_local in the url (Elasticsearch), or name one replica"
        )
        shown = tuple(f"query `{self.asks.ids[p]}`" for p in (moved or scored)[:_SHOWN])
        severity: Severity = "error" if strict else "warning"
        return Problem("unstable", severity, text, fix, examples=shown)

    def _opening(self, place: int, found: dict[int, Answer], failed: dict[int, Failure]) -> None:
        """The first query alone: what is wrong with all of them is told after one."""
        for _, outcome in self.crew.ask(self.asks, [place], opening=True):
            if isinstance(outcome, Answer):
                found[place] = outcome
                return
            error = outcome.error
            if not isinstance(error, AwayError):
                raise self._mistake(place, error)
            if found and not error.unreached:  # others were answered: this one may be at fault
                failed[place] = outcome
                return
            where = f"{self._who(place)}: {error}"
            if not error.unreached and outcome.attempts > 1:
                where += f", after {self._retries()}"
            rest = f"{len(self.asks) - len(found):,} of {len(self.asks):,} queries are not answered"
            fix = error.fix or "start again when it answers"
            raise UnreachableError([self._problem("endpoint_away", f"{where}; {rest}", fix)])

    def _rest(self, todo: list[int], found: dict[int, Answer], failed: dict[int, Failure]) -> None:
        places, in_a_row = todo[1:], 0
        if not places:
            return
        outcomes = self.crew.ask(self.asks, places)
        try:
            for step in self.progress(_steps(len(places)), self.name):
                for _ in range(step.start, step.stop):
                    place, outcome = next(outcomes)
                    in_a_row = self._count(place, outcome, (found, failed), in_a_row)
                    if in_a_row >= GIVE_UP:
                        return
        finally:
            outcomes.close()

    def _count(
        self,
        place: int,
        outcome: Answer | Failure,
        books: tuple[dict[int, Answer], dict[int, Failure]],
        in_a_row: int,
    ) -> int:
        """Books an outcome; returns how many failed in a row."""
        if isinstance(outcome, Answer):
            books[0][place] = outcome
            return 0
        if isinstance(outcome.error, MistakeError):
            raise self._mistake(place, outcome.error)
        books[1][place] = outcome
        return in_a_row + 1

    def _reused(self, found: dict[int, Answer]) -> None:
        if not found:
            return
        ages = [time.time() - answer.at for answer in found.values()]
        text = (
            f"model {self.name}: {len(found):,} of {len(self.asks):,} answers are those of an"
            f" attempt that was cut off, asked up to {_age(max(ages))} ago"
        )
        old = max(ages) > 24 * 3600
        fix = "engine.reuse=false asks all of them anew" if old else ""
        self.problems.append(Problem("answers_reused", "warning" if old else "note", text, fix))

    def _mistake(self, place: int, error: Exception) -> SamepoolError:
        fix = getattr(error, "fix", "")
        return fault("endpoint_refuses", self.scrub(f"{self._who(place)}: {error}"), fix)

    def _who(self, place: int) -> str:
        url = self.asks.template.url.partition("?")[0]
        return f"model {self.name}: {url}, query `{self.asks.ids[place]}`"

    def _retries(self) -> str:
        n = self.plan.retries
        return "1 retry" if n == 1 else f"{n} retries"

    def _problem(self, code: str, text: str, fix: str, **more: object) -> Problem:
        return Problem(code, "error", self.scrub(text), fix, **more)  # type: ignore[arg-type]

    def _short(self, found: dict[int, Answer], failed: dict[int, Failure]) -> UnreachableError:
        """The error of lists that would be short of some queries."""
        ids, n = self.asks.ids, len(self.asks)
        rows = [(ids[p], f.attempts, self.scrub(str(f.error))) for p, f in sorted(failed.items())]
        path = self.store.failed(rows)
        gone = n - len(found) - len(failed)
        text = (
            f"model {self.name}: {len(failed):,} of {n:,} queries failed after"
            f" {self._retries()}; not scored"
        )
        if gone:
            text += f" ({GIVE_UP} failed in a row, so {gone:,} were not asked)"
        fix = "start again"
        if path is not None:
            fix += f": {len(found):,} answers are kept, only the rest is asked"
            fix += f"; all that failed: {path}"
        shown = tuple(f"`{query}`: {why}" for query, _, why in rows[:_SHOWN])
        problem = self._problem("queries_failed", text, fix, examples=shown, count=len(failed))
        return UnreachableError([problem])


def order(answer: Answer) -> list[str]:
    """Ids by score; equal scores by id, as nobody can tell an order from them."""
    ids, scores = answer.items.to_pylist(), answer.scores.tolist()
    pairs = sorted(zip(scores, ids, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return [one for _, one in pairs]


def _same(one: Answer, other: Answer) -> bool:
    """Whether two answers have the same items with the same scores, equal ones in any order."""
    if order(one) != order(other):
        return False
    return sorted(one.scores.tolist()) == sorted(other.scores.tolist())


def _steps(n: int) -> list[slice]:
    """At most so many steps of about the same length."""
    length = -(-n // _STEPS)
    return [slice(start, min(start + length, n)) for start in range(0, n, length)]


def _age(seconds: float) -> str:
    """Words for a time span.

    >>> _age(90), _age(5 * 3600), _age(3 * 86400)
    ('2 minutes', '5 hours', '3 days')
    """
    for length, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= length:
            n = round(seconds / length)
            return f"{n} {word}{'s' if n > 1 else ''}"
    return f"{round(seconds)} seconds"
