"""Systems and failures as a config writes them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.core.options import parse
from pipeline.core.problems import fault
from pipeline.core.suggest import did_you_mean
from pipeline.kernels.simulate import Plant, System

_WORST, _BEST = System(0.7, 0.7), System(0.85, 0.8)  # of systems that are only counted


@dataclass(frozen=True, slots=True)
class Spec:
    """One system in a config.

    Attributes:
        retrieval, ranking: as in :class:`pipeline.kernels.simulate.System`.
        same_as: another system, whose qualities it has, with luck of its own and none of its
            planted failures.
    """

    retrieval: float | None = None
    ranking: float | None = None
    same_as: str | None = None

    def __post_init__(self) -> None:
        """Either the qualities, or whose they are."""
        own = [self.retrieval, self.ranking]
        if self.same_as is None and None in own:
            raise ValueError("give both retrieval and ranking, or same_as")
        if self.same_as is not None and own != [None, None]:
            raise ValueError("same_as takes both qualities from another system; give no others")


def systems(specs: Mapping[str, Any], n_models: int | None) -> dict[str, System]:
    """Systems by name: those named, else ``n_models`` from s0 up, each better than the last.

    Raises:
        SamepoolError: a system that cannot be, or is the same as one that is not there.
        ValueError: both are given, or too few.
    """
    if specs and n_models is not None:
        raise ValueError("systems and n_models are both set; give one of them")
    if not specs:
        return _counted(2 if n_models is None else n_models)
    read = {str(name): _read(name, spec) for name, spec in specs.items()}
    return {name: _resolve(name, read) for name in read}


def _counted(n: int) -> dict[str, System]:
    if n < 1:
        raise ValueError(f"n_models is {n}; it must be 1 or more")
    steps = np.linspace(0, 1, n)
    return {
        f"s{number}": System(
            round(_WORST.retrieval + step * (_BEST.retrieval - _WORST.retrieval), 4),
            round(_WORST.ranking + step * (_BEST.ranking - _WORST.ranking), 4),
        )
        for number, step in enumerate(steps.tolist())
    }


def _read(name: str, spec: Any) -> Spec | System:
    where = f"pool.systems.{name}"
    if not isinstance(spec, Mapping):
        raise fault(
            "bad_option", f"{where}: {spec!r} is no system", "write {retrieval: .8, ranking: .75}"
        )
    found = parse(Spec, spec, where)
    if found.same_as is not None:
        return found
    return parse(System, {"retrieval": found.retrieval, "ranking": found.ranking}, where)


def _resolve(name: str, read: Mapping[str, Spec | System]) -> System:
    found = read[name]
    if isinstance(found, System):
        return found
    other = read.get(str(found.same_as))
    if isinstance(other, System):
        return other
    known = [key for key, spec in read.items() if isinstance(spec, System)]
    text = f"pool.systems.{name}.same_as: {found.same_as!r} is no system with qualities of its own"
    raise fault("bad_option", text, did_you_mean(str(found.same_as), known))


def plants(specs: Sequence[Any]) -> tuple[Plant, ...]:
    """Failures to plant.

    Raises:
        SamepoolError: one that cannot be.
    """
    return tuple(_plant(spec, f"pool.plant[{place}]") for place, spec in enumerate(specs))


def _plant(spec: Any, where: str) -> Plant:
    if not isinstance(spec, Mapping):
        fix = "write {system: s1, stage: retrieval, where: {group: b}, size: .5}"
        raise fault("bad_option", f"{where}: {spec!r} is no failure to plant", fix)
    return parse(Plant, spec, where)
