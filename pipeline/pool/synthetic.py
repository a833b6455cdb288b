"""A simulated pool: everything about it is known, failures can be planted in it."""

from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import pyarrow as pa

from pipeline.core.pool import Declared
from pipeline.core.problems import Problem
from pipeline.core.suggest import did_you_mean
from pipeline.kernels.simulate import Clicks, Sessions, Simulation, World, expected_recall
from pipeline.pool._synthetic import tables as made
from pipeline.pool._synthetic.judge import Judging
from pipeline.pool._synthetic.systems import plants, systems
from pipeline.pool._tables import Tables

_REASON = "the simulator that drew them knows what is relevant"
_MOST_SESSIONS = 100_000_000
_OF_WORLD = (
    "seed", "n_queries", "n_items", "zipf", "user_zipf", "item_zipf", "relevant",
    "nothing_relevant", "groups", "n_categories", "taste", "new_share", "new_days", "windows",
    "depth", "alike",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Synthetic:
    """A world of queries, items and systems of known quality, drawn from a seed.

    Models of kind ``simulated`` answer as its systems do. Facts hold all of its parameters, so
    the pool's digest covers them.

    Attributes:
        seed, n_queries, n_items, zipf, user_zipf, item_zipf, relevant, nothing_relevant, groups,
            n_categories, taste, new_share, new_days, windows, depth, alike: see
            :class:`pipeline.kernels.simulate.World`.
        n_users: people who ask; unset: a quarter as many as queries.
        n_models: number of systems s0, s1, ..., each better than the last; unset: 2, or those of
            ``systems``.
        systems: name -> {retrieval, ranking} or {same_as}.
        plant: failures, {system, stage, where, size, gain}; see
            :class:`pipeline.kernels.simulate.Plant`.
        judged: ``all`` relevant items and what is pooled, or only what is ``pooled``: the first
            places of some systems.
        judged_depth: first places that are pooled.
        pooled_from: the systems that are; unset: all.
        noise: chance that a judged grade is one off.
        sessions: logged; 0: no logs.
        shown: places of a logged session.
        logged_by: the system that was shown; unset: the first.
        shuffled: share of sessions with places in random order.
        eta, click_noise, trust: see :class:`pipeline.kernels.simulate.Clicks`.
        name: what people call the pool.
    """

    seed: int = 0
    n_queries: int = 2_000
    n_items: int = 5_000
    n_users: int | None = None
    n_models: int | None = None
    systems: dict[str, Any] = field(default_factory=dict)
    plant: list[Any] = field(default_factory=list)
    zipf: float = 1.0
    user_zipf: float = 0.5
    item_zipf: float = 0.5
    relevant: int = 5
    nothing_relevant: float = 0.02
    groups: dict[str, float] = field(default_factory=lambda: {"a": 0.5, "b": 0.3, "c": 0.2})
    n_categories: int = 20
    taste: float = 0.5
    new_share: float = 0.15
    new_days: float = 30.0
    windows: float = 0.1
    depth: int = 100
    alike: float = 0.5
    judged: Literal["all", "pooled"] = "all"
    judged_depth: int = 10
    pooled_from: list[str] = field(default_factory=list)
    noise: float = 0.0
    sessions: int = 10_000
    shown: int = 10
    logged_by: str | None = None
    shuffled: float = 0.1
    eta: float = 1.0
    click_noise: float = 0.1
    trust: float = 0.0
    name: str = "synthetic"

    def __post_init__(self) -> None:
        """Refuses worlds, judges and logs that cannot be."""
        world = self._world()
        self._clicks()
        logged_by = [] if self.logged_by is None else [self.logged_by]
        for option, names in {"pooled_from": self.pooled_from, "logged_by": logged_by}.items():
            for name in names:
                if name not in world.systems:
                    hint = did_you_mean(name, world.systems)
                    raise ValueError(f"{option}: there is no system {name!r}; {hint}")
        self._depths()
        for option in ("noise", "shuffled"):
            if not 0 <= getattr(self, option) <= 1:
                raise ValueError(f"{option} is {getattr(self, option):g}; it goes from 0 to 1")

    def tables(self, problems: list[Problem]) -> Tables:  # noqa: ARG002 - nothing can be wrong
        """Draws them."""
        world = Simulation(self._world())
        query_ids, item_ids = made.ids("q", self.n_queries), made.ids("i", self.n_items)
        user_ids = made.ids("u", world.world.n_users)
        return Tables(
            name=self.name or "synthetic",
            queries=made.queries(world, query_ids, user_ids),
            items=made.items(world, item_ids),
            qrels=self._judging(world.world).table(world, (query_ids, item_ids)),
            logs=self._logs(world, query_ids, item_ids, user_ids),
            declared=self._declared(world.world),
        )

    def _world(self) -> World:
        return World(
            **{name: getattr(self, name) for name in _OF_WORLD},
            n_users=max(1, self.n_queries // 4) if self.n_users is None else self.n_users,
            systems=systems(self.systems, self.n_models),
            plants=plants(self.plant),
        )

    def _clicks(self) -> Clicks:
        return Clicks(self.eta, self.click_noise, self.trust)

    def _depths(self) -> None:
        """Lists must be as long as what is judged and shown of them."""
        least = 1 if self.judged == "pooled" else 0
        for option, low in (("judged_depth", least), ("shown", 1)):
            value = getattr(self, option)
            if not low <= value <= self.depth:
                text = f"{option} is {value}; it goes from {low} to the depth, {self.depth}"
                raise ValueError(text)
        if not 0 <= self.sessions <= _MOST_SESSIONS:
            text = f"sessions is {self.sessions:,}; it goes from 0 to {_MOST_SESSIONS:,}"
            raise ValueError(text)

    def _judging(self, world: World) -> Judging:
        names = tuple(self.pooled_from or world.systems)
        return Judging(self.judged == "all", self.judged_depth, names, self.noise)

    def _logs(self, world: Simulation, *ids: pa.Array) -> pa.Table | None:
        if not self.sessions:
            return None
        found = Sessions.draw(
            world, self._clicks(), self._logger(world.world), (self.sessions, self.shown),
            self.shuffled,
        )  # fmt: skip
        return made.logs(found, *ids)

    def _logger(self, world: World) -> str:
        return self.logged_by or next(iter(world.systems))

    def _declared(self, world: World) -> Declared:
        shown = {"system": self._logger(world), "sessions": self.sessions, "shown": self.shown}
        expected = {name: expected_recall(world, name) for name in world.systems}
        return Declared(
            labels="synthetic",
            labels_reason=_REASON,
            as_of="2026-01-01T00:00:00Z",
            catalogue=self.n_items,
            grades=(0.0, 3.0),
            sampling="every query of the simulated world",
            facts={
                "simulation": world.as_json(),
                "judging": asdict(self._judging(world)),
                "clicks": asdict(self._clicks()) | shown | {"shuffled": self.shuffled},
                "expected_recall": {
                    name: {"planted": inside, "elsewhere": outside}
                    for name, (inside, outside) in expected.items()
                },
            },
        )


PLUGIN = Synthetic
