"""Who asks what and when, and what is relevant to them."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.arrays import F64, I32, I64, U8, Bool
from pipeline.core.pool import OPEN_END
from pipeline.kernels.eligibility import eligible
from pipeline.kernels.simulate.draws import shuffled, uniform
from pipeline.kernels.simulate.parameters import AS_OF, DEVICES, GRADES, Plant, World

DAY = 86_400_000_000  # microseconds
_OLDEST = 1_000  # days that the catalogue goes back
_CELLS = 2_000_000  # numbers that a block of queries holds at once in one array


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """All items, by number.

    Attributes:
        created, start, end: (I,) microseconds; may be shown from start until before end.
        category: (I,) numbers of categories.
        new: (I,) whether it is new to every query that is asked.
        weight: (I,) how often it is relevant, relative to the others; mean 1.
    """

    created: I64
    start: I64
    end: I64
    category: I32
    new: Bool
    weight: F64


@dataclass(frozen=True, slots=True, eq=False)
class Asks:
    """B queries.

    Attributes:
        query: (B,) numbers.
        user, group, device: (B,) numbers; group and device in the order that the world names them.
        asked: (B,) microseconds.
    """

    query: I64
    user: I64
    group: I32
    device: I32
    asked: I64


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """B queries, at most R relevant items of each, and N that systems take for relevant.

    Attributes:
        asks: the queries.
        item: (B, R) relevant items; -1 past the end.
        grade: (B, R) 1 to 3; 0 past the end.
        near: (B, N) items that are not relevant.
        good: (B, N) which of those count: others repeat one, may not be shown, or are relevant.
    """

    asks: Asks
    item: I32
    grade: U8
    near: I32
    good: Bool


@dataclass(frozen=True, slots=True, eq=False)
class _Shelf:
    """Items in an order in which those of a category stand together, for drawing by weight.

    Attributes:
        order: (I,) item numbers.
        total: (I,) running sum of weights in that order.
        edge: (C+1,) first place of each category.
    """

    order: I64
    total: F64
    edge: I64

    def draw(self, chance: F64, first: I64, past: I64) -> I32:
        """Items at places first..past-1, by weight; the three broadcast."""
        low = np.where(first > 0, self.total[first - 1], 0.0)
        place = np.searchsorted(self.total, low + chance * (self.total[past - 1] - low), "right")
        found: I32 = self.order[np.clip(place, first, past - 1)].astype(np.int32)
        return found


class Simulation:
    """A world with what all of its queries share, worked out once."""

    def __init__(self, world: World) -> None:
        """Draws the items, and how many queries each user has."""
        self.world = world
        self.items = _items(world)
        order = np.argsort(self.items.category, kind="stable")
        edge = np.searchsorted(self.items.category[order], np.arange(world.n_categories + 1))
        weight = self.items.weight
        self._shelf = _Shelf(order, np.cumsum(weight[order]), edge)
        # No cell of the even draw below is narrower than an item: each is drawn about once.
        shown = np.minimum(weight, weight.sum() / self.n_near)
        self._even = _Shelf(order, np.cumsum(shown[order]), edge)
        busy = (np.arange(world.n_users) + 1.0) ** -world.user_zipf
        self._users = np.cumsum(busy / busy.sum())

    @property
    def n_near(self) -> int:
        """Items a query that systems take for relevant, besides those that are."""
        return 2 * self.world.depth + self.world.most_relevant

    def blocks(self) -> list[slice]:
        """All queries, as many at a time as fit in memory."""
        size = max(1, _CELLS // (self.n_near + self.world.most_relevant))
        n = self.world.n_queries
        return [slice(at, min(at + size, n)) for at in range(0, n, size)]

    def frequency(self) -> I64:
        """(Q,) how often each query is asked: (Q / rank)^zipf, rounded; the rarest once."""
        n = self.world.n_queries
        rank = np.empty(n)
        rank[shuffled(self.world.seed, "frequency", n)] = np.arange(1, n + 1)
        return np.rint((n / rank) ** self.world.zipf).astype(np.int64)

    def asks(self, query: I64) -> Asks:
        """Those queries; the same whatever else is asked for. (B,) numbers."""
        world, seed = self.world, self.world.seed
        user = np.searchsorted(self._users, uniform(seed, "user", query))
        user = np.minimum(user, world.n_users - 1)
        span = int(world.query_days * DAY)
        return Asks(
            query=query,
            user=user,
            group=_choice(uniform(seed, "group", user), world.groups.values()),
            device=_choice(uniform(seed, "device", query), DEVICES.values()),
            asked=AS_OF - 1 - (uniform(seed, "asked", query) * (span - 1)).astype(np.int64),
        )

    def truth(self, query: I64) -> Truth:
        """What is relevant to those queries, and what seems to be. (B,) numbers."""
        asks = self.asks(query)
        item, grade = self._relevant(asks)
        near, good = self._near(asks, item)
        return Truth(asks, item, grade, near, good)

    def _relevant(self, asks: Asks) -> tuple[I32, U8]:
        """Draws more items than needed; of those that may be shown, the first few that differ."""
        world, seed, most = self.world, self.world.seed, self.world.most_relevant
        query, rows, draws = asks.query, asks.query[:, None], np.arange(3 * most + 5)
        likes = (uniform(seed, "likes", asks.user) * world.n_categories).astype(np.int64)[:, None]
        own = uniform(seed, "taste", rows, draws) < world.taste
        first = np.where(own, self._shelf.edge[likes], 0)
        past = np.where(own, self._shelf.edge[likes + 1], world.n_items)
        drawn = self._shelf.draw(uniform(seed, "relevant", rows, draws), first, past)
        wanted = 1 + (uniform(seed, "how many", query) * most).astype(np.int64)
        wanted[uniform(seed, "nothing", query) < world.nothing_relevant] = 0
        good = self._shown(asks, drawn) & ~_again(drawn)
        place = np.cumsum(good, axis=1) - 1
        row, column = np.nonzero(good & (place < wanted[:, None]))
        place = place[row, column]
        item = np.full((len(query), most), -1, np.int32)
        item[row, place] = drawn[row, column]
        grade = np.zeros((len(query), most), np.uint8)
        chance = uniform(seed, "grade", query[row], place)
        grade[row, place] = 1 + _choice(chance, GRADES)
        return item, grade

    def _near(self, asks: Asks, relevant: I32) -> tuple[I32, Bool]:
        """Drawn from N cells of equal weight: only neighbours can be the same item."""
        cell = np.arange(self.n_near)
        chance = (cell + uniform(self.world.seed, "near", asks.query[:, None], cell)) / self.n_near
        item = self._even.draw(chance, np.zeros(1, np.int64), np.array([self.world.n_items]))
        good = self._shown(asks, item)
        good[:, 1:] &= item[:, 1:] != item[:, :-1]
        for column in relevant.T:
            good &= item != column[:, None]
        return item, good

    def _shown(self, asks: Asks, item: I32) -> Bool:
        """(B, ·) whether the items may be shown at the query's time."""
        return eligible(asks.asked[:, None], self.items.start[item], self.items.end[item])

    def planted(self, plant: Plant, truth: Truth) -> Bool:
        """(B, R) whether a failure is about the query and its relevant item."""
        world = self.world
        codes: dict[str, tuple[list[Any], NDArray[Any]]] = {
            "group": (list(world.groups), truth.asks.group[:, None]),
            "device": (list(DEVICES), truth.asks.device[:, None]),
            "category": (list(world.categories), self.items.category[truth.item]),
            "new_items": ([False, True], self.items.new[truth.item]),
        }
        found: Bool = truth.item >= 0
        for name, (known, code) in codes.items():
            values = plant.values(name)
            if values is not None:
                found = found & np.isin(code, [known.index(value) for value in values])
        return found


def _items(world: World) -> Items:
    n, seed, number = world.n_items, world.seed, np.arange(world.n_items)
    new = uniform(seed, "new", number) < world.new_share
    asking, young = world.query_days * DAY, world.new_days * DAY
    # New ones are there before the first query and new at the last; old ones old at the first.
    age = np.where(new, asking, asking + young + 1)
    age += uniform(seed, "age", number) * np.where(new, young - asking, _OLDEST * DAY)
    created = AS_OF - age.astype(np.int64)
    life = DAY + uniform(seed, "life", number) * 1.5 * age
    limited = uniform(seed, "window", number) < world.windows
    rank = np.empty(n)
    rank[shuffled(seed, "popularity", n)] = np.arange(1, n + 1)
    weight = rank**-world.item_zipf
    category = np.empty(n, np.int32)
    category[shuffled(seed, "category", n)] = np.arange(n) % world.n_categories
    return Items(
        created=created,
        start=created,
        end=np.where(limited, created + life.astype(np.int64), OPEN_END),
        category=category,
        new=new,
        weight=weight / weight.mean(),
    )


def _choice(chance: F64, shares: Iterable[float]) -> I32:
    """Numbers of parts that have those shares, for chances in (0, 1)."""
    parts = np.array(list(shares), np.float64)
    edges = np.cumsum(parts / parts.sum())[:-1]
    return np.searchsorted(edges, chance, "right").astype(np.int32)


def _again(item: I32) -> Bool:
    """(B, A) whether an item stands in its row before."""
    order = np.argsort(item, axis=1, kind="stable")
    ordered = np.take_along_axis(item, order, axis=1)
    same = np.zeros(item.shape, np.bool_)
    same[:, 1:] = ordered[:, 1:] == ordered[:, :-1]
    found = np.empty_like(same)
    np.put_along_axis(found, order, same, axis=1)
    return found
