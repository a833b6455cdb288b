"""Slices: named groups of queries, and of judged items, that are measured on their own."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from pipeline.core import registry
from pipeline.core.arrays import Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.core.slices import ALL, Slices
from pipeline.core.suggest import did_you_mean
from pipeline.kernels import digest

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_RULE = "letters, digits, _ and - only, not starting with -"


@dataclass(frozen=True, slots=True, eq=False)
class QuerySlice:
    """A group of queries.

    Attributes:
        name: plain name.
        mask: (Q,) membership.
        words: what it is.
    """

    name: str
    mask: Bool
    words: str


@dataclass(frozen=True, slots=True, eq=False)
class ItemSlice:
    """A group of judgments: the relevant set is restricted to them, positions stay.

    Attributes:
        name: plain name.
        mask: (J,) membership.
        words: what it is.
        undated: judgments left out because a date is not known.
    """

    name: str
    mask: Bool
    words: str
    undated: int = 0


@dataclass(frozen=True, slots=True)
class Crossing:
    """Two slices at once, by name; resolved when the others are known.

    Attributes:
        name: plain name.
        of: names of two query slices, or of a query slice and an item slice.
        words: what it is; empty for words made from the two.
    """

    name: str
    of: tuple[str, str]
    words: str = ""


Part: TypeAlias = QuerySlice | ItemSlice | Crossing


class Slicer(Protocol):
    """One definition of conf/slices; a plugin is a dataclass of its options."""

    def parts(self, name: str, pool: Pool) -> tuple[Part, ...]:
        """The slices that the definition ``name`` makes of a pool.

        Raises:
            SamepoolError: the pool lacks a column, or a value does not fit its type.
        """
        ...


def assign(pool: Pool, specs: Mapping[str, Mapping[str, Any] | None]) -> Slices:
    """All slices of a comparison; ``all`` comes first among queries and among judgments.

    Args:
        pool: where queries, items and judgments come from.
        specs: name -> kind and its options; a spec without kind but with ``where`` is an
            expression; a null takes a definition of a preset away.

    Returns:
        Masks, crossings, words, and a digest of the definitions (not of the masks: those follow
        from the definitions and the pool, which has its own digest).

    Raises:
        SamepoolError: all problems of all definitions.
    """
    problems: list[Problem] = []
    parts: list[Part] = []
    identity: dict[str, Any] = {}
    for name, spec in specs.items():
        if spec is None:
            continue
        try:
            slicer = _slicer(name, spec)
            identity[name] = [type(slicer).__module__, asdict(cast("Any", slicer))]
            parts.extend(slicer.parts(name, pool))
        except SamepoolError as error:
            problems.extend(error.problems)
    problems.extend(_twice(parts))
    if problems:
        raise SamepoolError(problems)
    return _collect(pool, parts, digest.of_json(identity))


def _slicer(name: Any, spec: Any) -> Slicer:
    where = f"slices.defs.{name}"
    if not isinstance(name, str):
        text = f"slices.defs: the name {name!r} is not text but {type(name).__name__}"
        raise fault("bad_slice_name", text, "quote it: YAML reads NO, on and 12 as values")
    if name == ALL:
        raise fault("bad_slice_name", f"{where}: {ALL!r} is always there", "choose another name")
    if not _PLAIN.fullmatch(name):
        raise fault("bad_slice_name", f"{where}: {name!r} is not a plain name", _RULE)
    if not isinstance(spec, Mapping):
        text = f"{where} is {spec!r}, not a definition"
        raise fault("bad_slice", text, f"write {where}={{where: 'length >= 6'}} or give a kind")
    if spec.get("kind") is None and "where" in spec:
        spec = {**spec, "kind": "expression"}
    slicer: Slicer = registry.build("slices", spec, where)
    return slicer


def _twice(parts: Iterable[Part]) -> list[Problem]:
    seen: set[str] = {ALL}
    problems = []
    for part in parts:
        if part.name in seen:
            text = f"two slices are called {part.name!r}"
            fix = "rename a definition; one slice per value is called <name>_<value>"
            problems.append(Problem("slice_twice", "error", text, fix))
        seen.add(part.name)
    return problems


def _collect(pool: Pool, parts: Iterable[Part], sha: str) -> Slices:
    queries = {ALL: np.ones(pool.queries.num_rows, dtype=np.bool_)}
    items = {ALL: np.ones(len(pool.judgments.item), dtype=np.bool_)}
    words = {ALL: "all queries"}
    undated: dict[str, int] = {}
    pending: list[Crossing] = []
    for part in parts:
        match part:
            case QuerySlice():
                queries[part.name] = part.mask
            case ItemSlice():
                items[part.name] = part.mask
                undated[part.name] = part.undated
            case Crossing():
                pending.append(part)
                continue
        words[part.name] = part.words
    crossings = _cross(pending, queries, items, words)
    return Slices(
        query_names=tuple(queries),
        query=np.column_stack(list(queries.values())),
        item_names=tuple(items),
        item=np.column_stack(list(items.values())),
        crossings=crossings,
        definitions=words,
        undated=undated,
        digest=sha,
    )


def _cross(
    pending: Iterable[Crossing],
    queries: dict[str, Bool],
    items: Mapping[str, Bool],
    words: dict[str, str],
) -> dict[str, tuple[str, str]]:
    """Resolves crossings in the order given; adds those of two query slices to ``queries``."""
    crossings: dict[str, tuple[str, str]] = {}
    problems: list[Problem] = []
    for part in pending:
        bad = _bad_halves(part, queries, items, crossings)
        if bad:
            problems.extend(bad)
            continue
        by_items = [name for name in part.of if name not in queries]
        if by_items:
            (query,) = (name for name in part.of if name in queries)
            crossings[part.name] = (query, by_items[0])
        else:
            queries[part.name] = queries[part.of[0]] & queries[part.of[1]]
        words[part.name] = part.words or " and ".join(f"{n} ({words[n]})" for n in part.of)
    if problems:
        raise SamepoolError(problems)
    return crossings


def _bad_halves(
    part: Crossing,
    queries: Mapping[str, Bool],
    items: Mapping[str, Bool],
    crossings: Mapping[str, tuple[str, str]],
) -> list[Problem]:
    where = f"slices.defs.{part.name}.of"
    known = [name for name in (*queries, *items) if name != ALL]
    problems = []
    for name in part.of:
        if name in crossings:
            text = f"{where}: {name!r} is itself a crossing with an item slice"
            fix = "cross two query slices first, then that with the item slice"
            problems.append(Problem("bad_crossing", "error", text, fix))
        elif name not in known:
            text = f"{where}: there is no slice {name!r} before this one"
            problems.append(Problem("unknown_slice", "error", text, did_you_mean(name, known)))
    if not problems and not any(name in queries for name in part.of):
        text = f"{where}: {' and '.join(part.of)} are both item slices"
        fix = "make one item slice with a condition that covers both"
        problems.append(Problem("bad_crossing", "error", text, fix))
    return problems
