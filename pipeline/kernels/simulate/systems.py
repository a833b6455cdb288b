"""What a system of two stages answers: luck of its own, luck that all share, planted failures."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from pipeline.core.arrays import F64, I32, U8, Bool
from pipeline.kernels.simulate.draws import normal, uniform
from pipeline.kernels.simulate.parameters import Plant
from pipeline.kernels.simulate.truth import Simulation, Truth

_FIRST = 0.7  # the retriever's own order: its area under the ROC curve
_LAST = 20.0  # standard deviations by which a planted failure of ranking pushes items down


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Lists of B queries, D items long.

    Attributes:
        item: (B, D) item numbers, in no order; -1 where there are fewer.
        grade: (B, D) of the items; 0: not relevant.
        first: (B, D) the retriever's scores.
        final: (B, D) the ranker's scores.
    """

    item: I32
    grade: U8
    first: F64
    final: F64


def answers(world: Simulation, system: str, truth: Truth) -> Answers:
    """The lists of one system; a query's own are the same whatever else is asked.

    A relevant item is retrieved if a standard normal number (its luck) falls below the quantile
    of the system's chance. The list is filled with items taken for relevant. Each stage scores an
    item by its signal and a standard normal number; a signal of sqrt(2) times the quantile of c
    puts an item of grade 1 above one that is not relevant with chance c (two normals' difference
    has variance 2); grades 2 and 3 have one and a half times and twice that signal.

    Raises:
        KeyError: there is no such system.
    """
    luck = _Luck(world, system, truth)
    lost, pushed, signal = _quality(world, system, truth, luck)
    # One row a query: relevant items first, then the others; what cannot be shown comes last.
    key = np.hstack(
        [
            np.where(lost, np.inf, -1.0),
            np.where(truth.good, luck.uniform("retrieved", truth.near), np.inf),
        ]
    )
    item = np.hstack([truth.item, truth.near])
    place = np.sort(np.argpartition(key, world.world.depth - 1)[:, : world.world.depth], axis=1)
    most = truth.item.shape[1]
    relevant = place < most
    at = np.where(relevant, place, 0)
    found = np.take_along_axis(item, place, axis=1)
    found[np.isinf(np.take_along_axis(key, place, axis=1))] = -1
    grade = np.where(relevant & (found >= 0), np.take_along_axis(truth.grade, at, axis=1), 0)
    strength = np.where(grade > 0, (1 + grade) / 2, 0.0)
    down = relevant & np.take_along_axis(pushed, at, axis=1)
    final = strength * np.take_along_axis(signal, at, axis=1) + luck.normal("ranked", found)
    return Answers(
        item=found,
        grade=grade.astype(np.uint8),
        first=strength * _signal(_FIRST) + luck.normal("ordered", found),
        final=final - _LAST * down,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Luck:
    """Random numbers of pairs of query and item, partly the system's own."""

    world: Simulation
    system: str
    truth: Truth

    def normal(self, what: str, item: I32) -> F64:
        """Standard normal; those of two systems correlate by ``alike``."""
        alike, seed, query = (
            self.world.world.alike,
            self.world.world.seed,
            self.truth.asks.query[:, None],
        )
        shared = normal(seed, what, query, item + 1)
        own = normal(seed, f"{what} by {self.system}", query, item + 1)
        found: F64 = np.sqrt(alike) * shared + np.sqrt(1 - alike) * own
        return found

    def uniform(self, what: str, item: I32) -> F64:
        """For choosing the smallest: a mix of numbers in (0, 1), cheaper than normal ones."""
        alike, seed, query = (
            self.world.world.alike,
            self.world.world.seed,
            self.truth.asks.query[:, None],
        )
        shared = uniform(seed, what, query, item)
        own = uniform(seed, f"{what} by {self.system}", query, item)
        return alike * shared + (1 - alike) * own

    def struck(self, plant: Plant) -> Bool:
        """(B, R) relevant items that a planted failure strikes, if it is about them."""
        name = f"{plant.stage} of {self.system} fails"
        query, item = self.truth.asks.query[:, None], self.truth.item + 1
        return uniform(self.world.world.seed, name, query, item) < plant.size


def _quality(world: Simulation, system: str, truth: Truth, luck: _Luck) -> tuple[Bool, Bool, F64]:
    """(B, R) each: relevant items not retrieved, put last by the ranker, and its signal."""
    quality, shape = world.world.systems[system], truth.item.shape
    chance, ranking = np.full(shape, quality.retrieval), np.full(shape, quality.ranking)
    struck = {"retrieval": np.zeros(shape, np.bool_), "ranking": np.zeros(shape, np.bool_)}
    for plant in world.world.plants:
        if plant.system == system:
            inside = world.planted(plant, truth)
            struck[plant.stage] = inside & luck.struck(plant)
            of = chance if plant.stage == "retrieval" else ranking
            of += np.where(inside, 0.0, plant.gain)
    found = luck.normal("found", truth.item) < ndtri(np.minimum(chance, 1.0))
    lost = (truth.item < 0) | ~found | struck["retrieval"]
    return lost, struck["ranking"], _signal(np.minimum(ranking, 0.999))


def _signal(chance: F64 | float) -> F64:
    found: F64 = np.sqrt(2) * ndtri(chance)
    return found
