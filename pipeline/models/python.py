"""A model of one's own: a Python function that takes the pool's tables and returns scores.

The function is trusted code: it runs with all the rights of whoever starts the comparison. ::

    def newest(pool: PoolFrames, boost: float = 1.0) -> pd.DataFrame:
        pairs = pool.queries[["query_id"]].merge(pool.items, how="cross")
        return pairs.assign(score=boost * pairs["year"])[["query_id", "item_id", "score"]]
"""

import importlib
import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import pandas as pd

from pipeline.core.pool import Pool
from pipeline.core.problems import fault, raise_errors
from pipeline.core.run import Origin
from pipeline.core.suggest import did_you_mean, nearest
from pipeline.kernels.digest import of_file, of_json, of_parts
from pipeline.models import Model, Ranking, Registry, Tools, _own_code, _returned
from pipeline.models._encode import encode, flat
from pipeline.models._imports import files_of
from pipeline.models._unlike import all_foreign, renumbered

_IMPORTED: "WeakKeyDictionary[object, str]" = WeakKeyDictionary()  # function -> its files' digest


@dataclass(frozen=True, slots=True, eq=False)
class PoolFrames:
    """What a function is given: the pool without its judgments.

    Attributes:
        queries: one row a query: ``query_id`` and the pool's other columns.
        items: one row an item: ``item_id`` and the pool's other columns.
        candidates: ``query_id``, ``item_id`` and features; None where the pool has none.
        logs: past interactions; None where the pool has none.
        keep_depth: items a query that are worth returning.
        seed: for functions that draw random numbers.
    """

    queries: pd.DataFrame
    items: pd.DataFrame
    candidates: pd.DataFrame | None
    logs: pd.DataFrame | None
    keep_depth: int
    seed: int


@dataclass(frozen=True, slots=True)
class Python(Model):
    """Calls ``function(pool: PoolFrames, **args)``.

    It returns a pandas DataFrame with the columns ``query_id``, ``item_id`` (text) and ``score``
    (finite, larger is better), a row an item of a query's list, in any order of queries; and
    optionally ``rank``. Modules are looked for in the working directory last.

    Attributes:
        call: ``module:function``.
        args: keyword arguments.
    """

    call: str
    args: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks the form of the call."""
        module, _, function = self.call.partition(":")
        if not all(part.isidentifier() for part in (*module.split("."), function)):
            raise ValueError(f"call must be module:function, not {self.call!r}")

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """The code by its bytes, and the arguments.

        The code is the module's file and those of all modules of the user's own that it imports,
        however deep (:mod:`pipeline.models._imports`). What no reading of code can find is not
        part of it: data files, what a C extension was linked with, modules imported by a name made
        up at run time, versions of installed packages. ``engine.reuse=false`` scores anew.

        Raises:
            SamepoolError: there is no such module or function, or the module fails on import.
        """
        module, function = self._load()
        file, code = getattr(module, "__file__", None), self._code(module)
        _imported(function, code)
        parts = {"call": self.call, "args": of_json(self.args), "code": code}
        return Origin(
            name, "python", requested, self.call, source_digest=of_parts(parts), path=file
        )

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """What the function returns for the pool.

        Raises:
            SamepoolError: the function fails, does not return such a DataFrame, or was edited
                meanwhile.
        """
        module, function = self._load()
        frames = PoolFrames(
            pool.queries.to_pandas(),
            pool.items.to_pandas(),
            None if pool.candidates is None else pool.candidates.to_pandas(),
            None if pool.logs is None else pool.logs.to_pandas(),
            tools.keep_depth,
            tools.seed,
        )
        file = module.__file__
        returned = _own_code.call(self.call, lambda: function(frames, **self.args), file)
        _unchanged(self.call, function, self._code(module))
        table = _returned.table(self.call, returned)
        encoded = encode(pool, [table])
        problems = renumbered("query_id", flat(table["query_id"]), pool.vocab.queries, file)
        problems += renumbered("item_id", encoded.foreign, pool.vocab.items, file)
        raise_errors(problems)
        if not len(encoded.lists[0].query):
            text = f"{self.call} returned {table.num_rows:,} rows, none for a query of the pool"
            raise fault("no_query_matches", text, "return the query_id of pool.queries")
        problems = all_foreign(self.call, encoded, pool, file)
        return Ranking(
            encoded.lists[0],
            None,
            encoded.foreign,
            outside=encoded.outside[0],
            problems=tuple(problems),
        )

    def _code(self, module: ModuleType) -> str:
        """Digest of the files as they are now."""
        files = {name: of_file(str(path)) for name, path in files_of(module.__name__).items()}
        return of_parts(files)

    def _load(self) -> tuple[ModuleType, Callable[..., Any]]:
        name, _, function = self.call.partition(":")
        module = _module(self.call, name)
        found = getattr(module, function, None)
        if not callable(found):
            known = [key for key, value in vars(module).items() if callable(value)]
            text = f"module {name} has no function {function!r}"
            fix = did_you_mean(function, [key for key in known if not key.startswith("_")])
            raise fault("no_function", text, fix, file=getattr(module, "__file__", None))
        return module, found


def _module(call: str, name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    importlib.invalidate_caches()
    spec = _own_code.call(f"importing {name}", lambda: _spec(name), None)
    if spec is None:
        files = nearest(name, [path.stem for path in Path(here).glob("*.py")])
        fix = (
            f"did you mean {' or '.join(files)}?" if files else f"looked on sys.path and in {here}"
        )
        raise fault("no_module", f"{call}: there is no module {name}", fix)
    return _own_code.call(f"importing {name}", lambda: importlib.import_module(name), spec.origin)


def _spec(name: str) -> ModuleSpec | None:
    """Where a module is; imports the packages around it."""
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise  # of something that a package around it imports
        return None
    except ValueError:  # a module that was not found as others are, such as __main__
        return None


def _imported(function: object, code: str) -> str:
    """The digest of the function's files when this process first saw it; now, where unknown."""
    try:
        return _IMPORTED.setdefault(function, code)
    except TypeError:  # an object that can be called, and does not let itself be referred to
        return code


def _unchanged(call: str, function: object, code: str) -> None:
    """Refuses the lists of a function whose files were edited after this process imported them.

    What ran is the code that was imported, and lists are kept under the digest of the files.
    """
    if _imported(function, code) != code:
        text = f"the code of {call} was edited after it was imported"
        raise fault("code_changed", text, "start again: its scores would be of neither version")


PLUGIN = Python
