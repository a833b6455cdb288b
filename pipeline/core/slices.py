"""Slices: masks over queries and over judgments."""

from collections.abc import Mapping
from dataclasses import dataclass

from pipeline.core.arrays import Bool

ALL = "all"


@dataclass(frozen=True, slots=True, eq=False)
class Slices:
    """Which queries and which judgments belong to which slice.

    Attributes:
        query_names: S names; the first is ``all``.
        query: (Q, S) membership.
        item_names: T names; the first is ``all``.
        item: (J, T) membership of judgments; shape (0, T) once read back from evidence.
        crossings: name -> (query slice, item slice); a query mask on that item slice's columns.
        definitions: name -> what the slice is, in words.
        undated: name -> judgments left out for want of a date.
        digest: SHA-256 of the definitions.
    """

    query_names: tuple[str, ...]
    query: Bool
    item_names: tuple[str, ...]
    item: Bool
    crossings: Mapping[str, tuple[str, str]]
    definitions: Mapping[str, str]
    undated: Mapping[str, int]
    digest: str

    @property
    def names(self) -> tuple[str, ...]:
        """All slice names: query slices, item slices, crossings; ``all`` first and once."""
        return (*self.query_names, *self.item_names[1:], *self.crossings)

    def mask(self, name: str) -> Bool:
        """(Q,) members of a query slice.

        Raises:
            KeyError: there is no such query slice.
        """
        if name not in self.query_names:
            raise KeyError(name)
        return self.query[:, self.query_names.index(name)]

    def split(self, name: str) -> tuple[str, str]:
        """The query slice and the item slice that a slice name stands for.

        Raises:
            KeyError: there is no such slice.
        """
        if name in self.crossings:
            return self.crossings[name]
        if name in self.query_names:
            return name, ALL
        if name in self.item_names:
            return ALL, name
        raise KeyError(name)
