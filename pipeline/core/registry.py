"""The one registry: a kind is the name of a module in its stage's folder.

A stage's module holds one plugin, named in ``PLUGIN``: a dataclass whose fields are its options.
Only the chosen kind is imported. Third parties add kinds by entry points in the group
``samepool.<stage>``, whose value is the plugin class; a name that is already taken is an error.
"""

import importlib
import pkgutil
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pipeline.core.options import parse
from pipeline.core.problems import fault
from pipeline.core.suggest import did_you_mean


def modules(stage: str) -> tuple[str, ...]:
    """Names of the plugin modules in a stage's folder; a leading underscore marks helpers."""
    package = importlib.import_module(f"pipeline.{stage}")
    found = [m.name for m in pkgutil.iter_modules(package.__path__) if not m.ispkg]
    return tuple(sorted(name for name in found if not name.startswith("_")))


def foreign(stage: str) -> dict[str, EntryPoint]:
    """Kinds of a stage that other distributions provide.

    Raises:
        SamepoolError: two providers, or a provider and a module of ours, share a name.
    """
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=f"samepool.{stage}"):
        if point.name in found or point.name in modules(stage):
            raise fault(
                "kind_clash", f"two plugins provide {stage} kind {point.name!r}", "remove one"
            )
        found[point.name] = point
    return found


def kinds(stage: str) -> tuple[str, ...]:
    """All kinds of a stage, ours and foreign."""
    return tuple(sorted({*modules(stage), *foreign(stage)}))


def plugin(stage: str, kind: str, where: str) -> type[Any]:
    """The plugin class of one kind, imported now.

    Raises:
        SamepoolError: there is no such kind.
    """
    if kind in modules(stage):
        found: type[Any] = importlib.import_module(f"pipeline.{stage}.{kind}").PLUGIN
        return found
    others = foreign(stage)
    if kind in others:
        loaded: type[Any] = others[kind].load()
        return loaded
    text = f"{where}: unknown kind {kind!r}"
    raise fault("unknown_kind", text, did_you_mean(str(kind), kinds(stage)))


def build(stage: str, spec: Mapping[str, Any], where: str) -> Any:
    """The plugin that ``spec`` describes: its ``kind``, and the options of that kind.

    Raises:
        SamepoolError: no or unknown kind; unknown, missing or ill-typed options.
    """
    kind = spec.get("kind")
    if not isinstance(kind, str):
        raise fault(
            "no_kind",
            f"{where} has no kind",
            f"set {where}.kind to one of {', '.join(kinds(stage))}",
        )
    return parse(plugin(stage, kind, where), spec, where)


def versions(stage: str) -> dict[str, str]:
    """Distribution name and version of every foreign kind, for the evidence."""
    found = foreign(stage).items()
    return {name: f"{p.dist.name} {p.dist.version}" if p.dist else "?" for name, p in found}
