"""A model of one's own: a Python function that takes the pool's tables and returns scores.

The function is trusted code: it runs with all the rights of whoever starts the comparison. ::

    def newest(pool: PoolFrames, boost: float = 1.0) -> pd.DataFrame:
        pairs = pool.queries[["query_id"]].merge(pool.items, how="cross")
        return pairs.assign(score=boost * pairs["year"])[["query_id", "item_id", "score"]]
"""

import importlib
import importlib.util
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.pool import Pool
from pipeline.core.problems import SamepoolError, fault, raise_errors
from pipeline.core.run import Origin
from pipeline.core.suggest import did_you_mean, nearest
from pipeline.kernels.digest import of_file, of_json, of_parts
from pipeline.models import Ranking, Registry, Tools
from pipeline.models._encode import encode, flat
from pipeline.models._imports import files_of
from pipeline.models._unlike import all_foreign, renumbered

_COLUMNS = ("query_id", "item_id", "score")


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
class Python:
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
        module, _ = self._load()
        file = getattr(module, "__file__", None)
        files = {name: of_file(str(path)) for name, path in files_of(module.__name__).items()}
        parts = {"call": self.call, "args": of_json(self.args), "code": of_parts(files)}
        return Origin(
            name, "python", requested, self.call, source_digest=of_parts(parts), path=file
        )

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """What the function returns for the pool.

        Raises:
            SamepoolError: the function fails, or does not return such a DataFrame.
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
        try:
            returned = function(frames, **self.args)
        except Exception as error:
            raise _failed(self.call, error, module.__file__) from error
        table = _table(self.call, returned)
        encoded = encode(pool, [table])
        file = module.__file__
        problems = renumbered("query_id", flat(table["query_id"]), pool.vocab.queries, file)
        problems += renumbered("item_id", encoded.foreign, pool.vocab.items, file)
        raise_errors(problems)
        if not len(encoded.lists[0].query):
            text = f"{self.call} returned {len(returned):,} rows, none for a query of the pool"
            raise fault("no_query_matches", text, "return the query_id of pool.queries")
        problems = all_foreign(self.call, encoded, pool, file)
        return Ranking(
            encoded.lists[0],
            None,
            encoded.foreign,
            outside=encoded.outside[0],
            problems=tuple(problems),
        )

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
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # of a parent package
        spec = None
    if spec is None:
        files = nearest(name, [path.stem for path in Path(here).glob("*.py")])
        fix = (
            f"did you mean {' or '.join(files)}?" if files else f"looked on sys.path and in {here}"
        )
        raise fault("no_module", f"{call}: there is no module {name}", fix)
    try:
        return importlib.import_module(name)
    except Exception as error:
        raise _failed(f"importing {name}", error, spec.origin) from error


def _failed(what: str, error: Exception, file: str | None) -> SamepoolError:
    """One problem for an exception in the user's code, with the line of the user's file."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f"line {lines[-1]}" if lines else None
    text = f"{what} raised {type(error).__name__}: {error}"
    return fault("model_failed", text, "mend the function", file=file, where=where)


def _table(call: str, returned: object) -> pa.Table:
    """The returned frame in the columns that lists are read from."""
    if not isinstance(returned, pd.DataFrame):
        text = f"{call} returned {type(returned).__name__}, not a pandas DataFrame"
        raise fault("wrong_return", text, f"return columns {', '.join(_COLUMNS)}")
    missing = [name for name in _COLUMNS if name not in returned.columns]
    if missing:
        text = f"{call} returned no column {', '.join(missing)}"
        shown = ", ".join(map(str, returned.columns)) or "none"
        raise fault("wrong_return", text, f"it has: {shown}; rename or add columns")
    columns = {name: _ids(call, name, returned[name]) for name in _COLUMNS[:2]}
    columns["score"] = _numbers(call, "score", returned["score"])
    if "rank" in returned.columns:
        columns["rank"] = _ranks(call, returned["rank"])
    return pa.table(columns)


def _ids(call: str, name: str, column: "pd.Series[Any]") -> pa.Array:
    try:
        ids = pa.array(column, type=pa.string(), from_pandas=True)
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        first = next(value for value in column if not isinstance(value, str))
        text = f"{call} returned column {name} of {column.dtype}, not text: {first!r}"
        fix = "ids are text: keep those of the pool, as 0012 read as a number becomes 12"
        raise fault("wrong_return", text, fix) from error
    absent = ids.null_count + (pc.sum(pc.equal(ids, "")).as_py() or 0)
    if absent:
        text = f"{call} returned {absent:,} rows without {name}"
        raise fault("wrong_return", text, "every row needs both ids")
    return ids


def _numbers(call: str, name: str, column: "pd.Series[Any]") -> pa.Array:
    if not pd.api.types.is_numeric_dtype(column.dtype):
        text = f"{call} returned column {name} of {column.dtype}, not numbers"
        raise fault("wrong_return", text, f"convert {name} to float")
    return pa.array(column.to_numpy(dtype="float64", na_value=float("nan")))


def _ranks(call: str, column: "pd.Series[Any]") -> pa.Array:
    if not pd.api.types.is_integer_dtype(column.dtype) or column.isna().any():
        text = f"{call} returned column rank of {column.dtype}, not integers"
        raise fault("wrong_return", text, "rank from 1, without gaps in the column")
    return pa.array(column.to_numpy(dtype="int32"))


PLUGIN = Python
