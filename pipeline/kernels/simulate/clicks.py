"""Clicks of a position-based model: seen by place, clicked by relevance."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.arrays import F64, I32, I64, U8, Bool
from pipeline.kernels.simulate.draws import uniform
from pipeline.kernels.simulate.parameters import AS_OF
from pipeline.kernels.simulate.systems import Answers, answers
from pipeline.kernels.simulate.truth import DAY, Simulation

_GAIN = 7.0  # 2^3 - 1, of the highest grade


@dataclass(frozen=True, slots=True)
class Clicks:
    """A position-based click model.

    A place k is looked at with chance (1/k)^eta, whatever stands there. What is looked at is
    clicked with chance e + (1 - e) (2^grade - 1) / 7, where e = noise + trust / k.

    Attributes:
        eta: how fast people stop looking; 0: they see everything.
        noise: chance that an item that is not relevant is clicked once seen.
        trust: what is added to that at the first place.
    """

    eta: float = 1.0
    noise: float = 0.1
    trust: float = 0.0

    def __post_init__(self) -> None:
        """Refuses what is no chance."""
        if not 0 <= self.eta <= 5:
            raise ValueError(f"eta is {self.eta:g}; it goes from 0 to 5")
        if min(self.noise, self.trust) < 0 or self.noise + self.trust > 1:
            raise ValueError(
                f"click_noise is {self.noise:g} and trust {self.trust:g}; both are 0 or more,"
                " together at most 1"
            )

    def examined(self, position: I64) -> F64:
        """Chance that a place (1-based) is looked at."""
        return (1.0 / position) ** self.eta

    def attracted(self, grade: U8, position: I64) -> F64:
        """Chance of a click on what is looked at."""
        noise = self.noise + self.trust / position
        found: F64 = noise + (1 - noise) * (2.0**grade - 1) / _GAIN
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Sessions:
    """N shown items, in the order of sessions and places.

    Attributes:
        session, query, user: (N,) numbers.
        item: (N,) item numbers.
        position: (N,) 1-based.
        click: (N,) whether it was clicked.
        propensity: (N,) chance that its place is looked at.
        shuffled: (N,) whether the session's places were in random order.
        at: (N,) microseconds, before the query of the pool is asked.
    """

    session: I64
    query: I64
    user: I64
    item: I32
    position: I64
    click: Bool
    propensity: F64
    shuffled: Bool
    at: I64

    @classmethod
    def draw(
        cls, world: Simulation, model: Clicks, system: str, sizes: tuple[int, int], mixed: float
    ) -> "Sessions":
        """Sessions in which a system's first places are shown.

        Args:
            world: who asks.
            model: who clicks.
            system: whose final list is shown.
            sizes: number of sessions, and of places shown.
            mixed: share of sessions whose places are shuffled.
        """
        n, shown = sizes
        seed, number = world.world.seed, np.arange(n)
        traffic = np.cumsum(world.frequency())
        asks = np.searchsorted(traffic, uniform(seed, "session", number) * traffic[-1], "right")
        query, which = np.unique(asks, return_inverse=True)
        item, grade, user, asked = _shown(world, system, query, shown)
        random = uniform(seed, "shuffled", number) < mixed
        order = np.argsort(uniform(seed, "shuffle", number[:, None], np.arange(shown)), axis=1)
        order = np.where(random[:, None], order, np.arange(shown))
        item, grade = item[which[:, None], order], grade[which[:, None], order]
        position = np.broadcast_to(np.arange(1, shown + 1), item.shape)
        seen = uniform(seed, "seen", number[:, None], position) < model.examined(position)
        liked = uniform(seed, "clicked", number[:, None], position)
        click = seen & (liked < model.attracted(grade, position))
        begin = AS_OF - int(world.world.query_days * DAY)
        wait = uniform(seed, "session at", number) * (asked[which] - begin)
        at = asked[which] - 1 - wait.astype(np.int64)
        row, place = np.nonzero(item >= 0)
        return cls(
            session=row,
            query=query[which[row]],
            user=user[which[row]],
            item=item[row, place],
            position=position[row, place],
            click=click[row, place],
            propensity=model.examined(position[row, place]),
            shuffled=random[row],
            at=at[row],
        )


def first_places(found: Answers, n: int) -> tuple[I32, U8]:
    """(B, n) items of the final lists in order, and their grades; -1 where there are fewer."""
    score = np.where(found.item >= 0, found.final, -np.inf)
    order = np.argsort(-score, axis=1, kind="stable")[:, :n]
    return np.take_along_axis(found.item, order, 1), np.take_along_axis(found.grade, order, 1)


def _shown(world: Simulation, system: str, query: I64, n: int) -> tuple[I32, U8, I64, I64]:
    """First places and their grades (U, n), users and times (U,) of some queries."""
    size = world.blocks()[0].stop
    parts = []
    for at in range(0, len(query), size):
        truth = world.truth(query[at : at + size])
        items, grades = first_places(answers(world, system, truth), n)
        parts.append((items, grades, truth.asks.user, truth.asks.asked))
    items, grades, user, asked = (np.concatenate(column) for column in zip(*parts, strict=True))
    return items, grades, user, asked
