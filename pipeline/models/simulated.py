"""A system of a simulated pool: lists of known quality, for trying out everything else."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I32, I64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, collect, fault
from pipeline.core.run import Lists, Origin
from pipeline.core.suggest import did_you_mean
from pipeline.kernels import simulate
from pipeline.kernels.digest import of_file, of_parts
from pipeline.kernels.simulate import Simulation, World, answers
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._identity import fitted

_FIX = "kind simulated answers on pool=synthetic only"


@dataclass(frozen=True, slots=True)
class Simulated(Model):
    """A system of the pool's simulated world; all that is needed stands in the pool's facts.

    Attributes:
        system: its name there.
        depth: candidates that its first stage hands on, the best ones; unset: the world's.
    """

    system: str
    depth: int | None = None

    def __post_init__(self) -> None:
        """Checks the depth."""
        if self.depth is not None and self.depth < 1:
            raise ValueError(f"depth is {self.depth}; it must be 1 or more")

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options, and the simulator's code."""
        own = fitted(self, name, requested, "numpy", "scipy")
        folder = Path(str(simulate.__file__)).parent
        code = {path.name: of_file(str(path)) for path in sorted(folder.glob("*.py"))}
        return replace(own, source_digest=of_parts(code | {"own": own.source_digest}))

    def fits(self, pool: Pool, _origin: Origin, _registry: Registry | None, /) -> Iterable[Problem]:
        """Errors where the pool is not simulated, or has no such system."""
        found: list[Problem] = []
        collect(found, lambda: self._world(pool))
        return found

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Both lists of every query, a block of queries at a time.

        Raises:
            SamepoolError: the pool is not simulated, or has no such system.
        """
        world = Simulation(self._world(pool))
        numbers = _numbers(pool.vocab.queries, "q", world.world.n_queries)
        codes = np.full(world.world.n_items + 1, -1, np.int32)  # the last: of no item
        codes[_numbers(pool.vocab.items, "i", world.world.n_items)] = np.arange(
            len(pool.vocab.items)
        )
        size = world.blocks()[0].stop
        blocks = [slice(at, min(at + size, len(numbers))) for at in range(0, len(numbers), size)]
        parts = []
        for block in tools.progress(blocks, f"system {self.system}"):
            found = answers(world, self.system, world.truth(numbers[block]))
            kept = codes[found.item] >= 0
            if self.depth is not None:
                kept &= _among_best(np.where(kept, found.first, -np.inf), self.depth)
            row, place = np.nonzero(kept)
            item = codes[found.item[row, place]]
            query = (row + block.start).astype(np.int32)
            parts.append((query, item, found.first[row, place], found.final[row, place]))
        query, item, first, final = _joined(parts)
        lists = Lists(query, item, final), Lists(query, item, first)
        return Ranking(*lists, pool.vocab.items[:0], complete=True)

    def _world(self, pool: Pool) -> World:
        facts = pool.declared.facts.get("simulation")
        if facts is None:
            text = f"system {self.system}: the pool {pool.name} is not simulated"
            raise fault("not_simulated", text, _FIX)
        try:
            world = World.of_json(facts)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            text = f"the pool {pool.name} declares a simulation that cannot be: {error}"
            raise fault("not_simulated", text, _FIX) from error
        if self.system not in world.systems:
            text = f"the pool {pool.name} has no system {self.system!r}"
            raise fault("unknown_system", text, did_you_mean(self.system, world.systems))
        return world


def _numbers(ids: pa.Array, letter: str, n: int) -> I64:
    """Numbers of simulated ids: what stands behind their letter.

    Raises:
        SamepoolError: ids of something else.
    """
    wrong = np.asarray(pc.invert(pc.match_substring_regex(ids, f"^{letter}[0-9]{{1,9}}$")))
    if wrong.any():
        raise _strange(ids[int(wrong.argmax())])
    found = np.asarray(pc.cast(pc.utf8_slice_codeunits(ids, 1), pa.int64()), dtype=np.int64)
    if len(found) and found.max() >= n:
        raise _strange(ids[int(found.argmax())])
    return found


def _strange(one: pa.Scalar) -> SamepoolError:
    text = f"`{one}` is no id of the simulation that the pool declares"
    return fault("not_simulated", text, _FIX)


def _among_best(score: F64, n: int) -> np.ndarray:
    """(B, D) whether a score is among the n largest of its row."""
    order = np.argsort(-score, axis=1, kind="stable")
    found = np.zeros(score.shape, np.bool_)
    np.put_along_axis(found, order[:, :n], values=True, axis=1)
    return found & np.isfinite(score)


def _joined(parts: list[tuple[I32, I32, F64, F64]]) -> tuple[I32, I32, F64, F64]:
    query, item, first, final = (np.concatenate(column) for column in zip(*parts, strict=True))
    return query, item, first, final


PLUGIN = Simulated
