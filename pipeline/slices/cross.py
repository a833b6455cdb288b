"""Slices made of two others."""

from dataclasses import dataclass

from pipeline.core.pool import Pool
from pipeline.slices import Crossing, Part


@dataclass(frozen=True, slots=True)
class Cross:
    """Two query slices at once, or the queries of one on the items of another.

    Attributes:
        of: two names: query slices, or one of them an item slice.
    """

    of: list[str]

    def __post_init__(self) -> None:
        """Checks what only shows together."""
        if len(set(self.of)) != 2 or len(self.of) != 2:
            raise ValueError(f"of: {self.of} are not two different slices")

    def parts(self, name: str, pool: Pool) -> tuple[Part, ...]:  # noqa: ARG002 - the protocol's
        """One crossing."""
        return (Crossing(name, (self.of[0], self.of[1])),)


PLUGIN = Cross
