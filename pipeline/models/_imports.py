"""The files of the user's own that a module is made of: itself, and all that it imports.

Imports are read from the code, not observed, so that those inside functions and conditions count;
nothing is run to find them. Left out are the standard library and installed packages, other than
the module's own.
"""

import ast
import sys
import sysconfig
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path

_INSTALLED = {"site-packages", "dist-packages"}
_BY_NAME = {"import_module", "__import__"}


def files_of(module: str) -> dict[str, Path]:
    """Name and file of a module, of the packages around it, and of what they import, transitively.

    Args:
        module: dotted name of a module that can be imported.

    Returns:
        Sorted by name. Compiled extensions are among them; what those were linked with is not.
    """
    own = module.partition(".")[0]
    found: dict[str, Path] = {}
    wanted, specs = list(_parents(module)), _Specs()
    seen = set(wanted)
    while wanted:
        name = wanted.pop()
        spec = specs.find(name)
        path = _file(spec)
        if spec is None or path is None or not (name.partition(".")[0] == own or _is_users(path)):
            continue
        found[name] = path
        new = {part for other in _imported(path, spec) for part in _parents(other)} - seen
        seen |= new
        wanted += new
    return dict(sorted(found.items()))


class _Specs:
    """Finds modules as an import would, without importing the packages around them."""

    def __init__(self) -> None:
        self._known: dict[str, ModuleSpec | None] = {}

    def find(self, name: str) -> ModuleSpec | None:
        if name not in self._known:
            self._known[name] = self._look(name)
        return self._known[name]

    def _look(self, name: str) -> ModuleSpec | None:
        package = name.rpartition(".")[0]
        path = None
        if package:
            parent = self.find(package)
            if parent is None or parent.submodule_search_locations is None:
                return None
            path = list(parent.submodule_search_locations)
        try:
            found = (finder.find_spec(name, path) for finder in sys.meta_path)
            return next((spec for spec in found if spec is not None), None)
        except (ImportError, AttributeError, ValueError):  # a finder of somebody's that refuses
            return None


def _parents(name: str) -> Iterator[str]:
    """``a.b.c`` runs ``a`` and ``a.b`` first."""
    parts = name.split(".")
    return (".".join(parts[:n]) for n in range(1, len(parts) + 1))


def _file(spec: ModuleSpec | None) -> Path | None:
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    path = Path(spec.origin)
    return path if path.is_file() else None


def _is_users(path: Path) -> bool:
    return not _INSTALLED & set(path.parts) and not path.resolve().is_relative_to(_standard())


@cache
def _standard() -> Path:
    return Path(sysconfig.get_paths()["stdlib"]).resolve()


def _imported(path: Path, spec: ModuleSpec) -> Iterator[str]:
    """Names that a file may import; ``from a import b`` may mean a module ``a.b``."""
    if path.suffix != ".py":
        return
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):  # told where it is imported
        return
    package = spec.name if spec.submodule_search_locations is not None else spec.parent or ""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, package)
            yield from (f"{base}.{alias.name}".strip(".") for alias in node.names if base)
        elif isinstance(node, ast.Call):
            yield from _by_name(node)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    """The module that ``from .x import y`` speaks of, in full."""
    if not node.level:
        return node.module or ""
    parts = package.split(".")
    return ".".join([*parts[: len(parts) - node.level + 1], *filter(None, [node.module])])


def _by_name(call: ast.Call) -> Iterator[str]:
    """``import_module("name")``, where the name stands there as it is."""
    name = getattr(call.func, "attr", getattr(call.func, "id", None))
    if name in _BY_NAME and call.args and isinstance(call.args[0], ast.Constant):
        value = call.args[0].value
        if isinstance(value, str) and value and not value.startswith("."):
            yield value
