"""What determines a simulated world."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from pipeline.core.suggest import did_you_mean

AS_OF = 1_767_225_600_000_000  # 2026-01-01 in microseconds since 1970 UTC
GRADES = (0.5, 0.3, 0.2)  # of the relevant items: shares with grade 1, 2, 3
_MOST = 100_000_000  # of anything that is counted
DEVICES: Mapping[str, float] = {"phone": 0.6, "desktop": 0.4}


@dataclass(frozen=True, slots=True)
class System:
    """A system of two stages.

    Attributes:
        retrieval: chance that a relevant item is among its candidates: its expected recall at the
            world's depth. 0 to 1.
        ranking: chance that it scores a candidate of grade 1 above one that is not relevant (the
            area under the ROC curve): .5 is blind; below 1.
    """

    retrieval: float
    ranking: float

    def __post_init__(self) -> None:
        """Refuses qualities off their scales."""
        if not 0 <= self.retrieval <= 1:
            raise ValueError(f"retrieval is {self.retrieval:g}; it is a chance, from 0 to 1")
        if not 0.5 <= self.ranking <= 0.999:
            raise ValueError(f"ranking is {self.ranking:g}; it goes from .5 (blind) to .999")


@dataclass(frozen=True, slots=True)
class Plant:
    """A failure that is planted in one system.

    Attributes:
        system: whose failure.
        stage: ``retrieval``: items are lost before ranking; ``ranking``: they are put last.
        where: attribute -> value or list of values, all of which must hold: ``group`` and
            ``device`` of the query, ``category`` and ``new_items`` (true or false) of the item.
            Empty: everywhere.
        size: share of the relevant items there that the stage fails. 0 to 1.
        gain: added to the stage's quality for all other relevant items.
    """

    system: str
    stage: Literal["retrieval", "ranking"]
    size: float
    where: dict[str, Any] = field(default_factory=dict)
    gain: float = 0.0

    def __post_init__(self) -> None:
        """Refuses what is off its scale."""
        if not 0 <= self.size <= 1:
            raise ValueError(f"size is {self.size:g}; it is a share, from 0 to 1")
        if not 0 <= self.gain <= 1:
            raise ValueError(f"gain is {self.gain:g}; it goes from 0 to 1")

    def values(self, attribute: str) -> list[Any] | None:
        """What the attribute may be; None where any value will do."""
        if attribute not in self.where:
            return None
        found = self.where[attribute]
        return list(found) if isinstance(found, list | tuple) else [found]


@dataclass(frozen=True, slots=True)
class World:
    """A simulated world; with the seed, all there is to know about it.

    Attributes:
        seed: of every draw.
        n_queries, n_items, n_users: sizes.
        zipf: exponent of query frequencies: the k-th most frequent is asked ~ k^-zipf times.
        user_zipf: likewise, of queries a user; 0: users are alike.
        item_zipf: likewise, of how often an item is relevant.
        relevant: mean number of relevant items of a query that has any; 1 to 2 relevant - 1.
        nothing_relevant: share of queries without a relevant item.
        groups: name of a group of users -> share.
        n_categories: of items.
        taste: share of a user's relevant items that come from the one category they like best.
        new_share: share of items that are new.
        new_days: age in days up to which an item is new when a query is asked.
        windows: share of items that may be shown for a limited time only.
        depth: candidates that every system retrieves.
        alike: correlation of the systems' luck with the same item, 0 to 1.
        systems: name -> quality.
        plants: failures; at most one a system and stage.
    """

    seed: int
    n_queries: int
    n_items: int
    n_users: int
    zipf: float
    user_zipf: float
    item_zipf: float
    relevant: int
    nothing_relevant: float
    groups: Mapping[str, float]
    n_categories: int
    taste: float
    new_share: float
    new_days: float
    windows: float
    depth: int
    alike: float
    systems: Mapping[str, System]
    plants: tuple[Plant, ...] = ()

    def __post_init__(self) -> None:
        """Refuses worlds that cannot be; sorts the groups, whose order must not matter.

        Raises:
            ValueError: what is wrong, and what would be right.
        """
        object.__setattr__(self, "groups", dict(sorted(self.groups.items())))
        self._sizes()
        self._shares()
        for place, plant in enumerate(self.plants):
            self._plant(plant, f"plant[{place}]")

    def _sizes(self) -> None:
        for name in ("n_queries", "n_items", "n_users", "relevant", "n_categories", "depth"):
            if not 1 <= getattr(self, name) <= _MOST:
                text = f"{name} is {getattr(self, name):,}; it goes from 1 to {_MOST:,}"
                raise ValueError(text)
        if not self.systems:
            raise ValueError("there are no systems; give systems or n_models")
        if self.seed < 0:
            raise ValueError(f"seed is {self.seed}; it must be 0 or more")
        if self.most_relevant > self.depth:
            text = f"relevant is {self.relevant}, so that a query may have {self.most_relevant}"
            raise ValueError(f"{text}; depth is {self.depth} and must hold them")
        if self.n_items < 4 * self.depth:
            text = f"n_items is {self.n_items:,}; with depth {self.depth:,}"
            raise ValueError(f"{text} it must be {4 * self.depth:,} or more, four times the depth")
        if self.n_categories > self.n_items:
            raise ValueError(f"n_categories is {self.n_categories}; there are fewer items")

    def _shares(self) -> None:
        for name in ("nothing_relevant", "taste", "new_share", "windows", "alike"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} is {getattr(self, name):g}; it goes from 0 to 1")
        for name in ("zipf", "user_zipf", "item_zipf"):
            if not 0 <= getattr(self, name) <= 3:
                raise ValueError(f"{name} is {getattr(self, name):g}; it goes from 0 to 3")
        if not 0 < self.new_days <= 3650:
            raise ValueError(f"new_days is {self.new_days:g}; give more than 0, at most 3650")
        if self.nothing_relevant == 1:
            raise ValueError("nothing_relevant is 1: some query must have a relevant item")
        if not self.groups or min(self.groups.values()) <= 0:
            raise ValueError(f"groups {dict(self.groups)}: give each group a share above 0")

    def _plant(self, plant: Plant, where: str) -> None:
        if plant.system not in self.systems:
            hint = did_you_mean(plant.system, self.systems)
            raise ValueError(f"{where}.system: there is no system {plant.system!r}; {hint}")
        same = [p for p in self.plants if (p.system, p.stage) == (plant.system, plant.stage)]
        if len(same) > 1:
            text = f"{where}: {plant.system} has two failures in its {plant.stage} stage"
            raise ValueError(f"{text}; plant one a system and stage")
        known: dict[str, list[Any]] = {
            "group": list(self.groups), "device": list(DEVICES),
            "category": list(self.categories), "new_items": [True, False],
        }  # fmt: skip
        for attribute in plant.where:
            if attribute not in known:
                hint = did_you_mean(str(attribute), known)
                raise ValueError(f"{where}.where: there is no attribute {attribute!r}; {hint}")
            for value in plant.values(attribute) or []:
                if value not in known[attribute]:
                    hint = did_you_mean(str(value), known[attribute])
                    raise ValueError(f"{where}.where.{attribute}: no {value!r}; {hint}")

    @property
    def most_relevant(self) -> int:
        """Relevant items that a query has at most."""
        return 2 * self.relevant - 1

    @property
    def query_days(self) -> float:
        """Days before the snapshot in which all queries are asked."""
        return min(7.0, self.new_days / 2)

    @property
    def categories(self) -> tuple[str, ...]:
        """Their names, of one length."""
        width = len(str(self.n_categories - 1))
        return tuple(f"c{number:0{width}}" for number in range(self.n_categories))

    def as_json(self) -> dict[str, Any]:
        """Plain words and numbers, for the facts that a pool declares."""
        return asdict(self) | {"plants": [asdict(plant) for plant in self.plants]}

    @classmethod
    def of_json(cls, stated: Mapping[str, Any]) -> "World":
        """The world that such facts are about.

        Raises:
            ValueError, TypeError, KeyError: they are no facts of a world.
        """
        systems = {name: System(**quality) for name, quality in stated["systems"].items()}
        plants = tuple(Plant(**plant) for plant in stated["plants"])
        return cls(**{**stated, "systems": systems, "plants": plants})
