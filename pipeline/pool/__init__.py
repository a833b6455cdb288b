"""Pool: the queries, items, judgments, candidates and logs that every model is measured on."""

from collections.abc import Mapping
from typing import Any, Protocol

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem
from pipeline.core.registry import build
from pipeline.core.settings import FreezeCommand
from pipeline.pool._load import pool_of
from pipeline.pool._result import FreezeResult
from pipeline.pool._tables import Tables

__all__ = ["FreezeResult", "Source", "Tables", "freeze", "load"]


class Source(Protocol):
    """Where a pool comes from: a plugin of this stage."""

    def tables(self, problems: list[Problem]) -> Tables:
        """Its raw tables; what is wrong with them is appended to ``problems``."""
        ...


def load(spec: Mapping[str, Any]) -> Pool:
    """Loads and checks a pool.

    Checks come in two steps, each of which collects all that it finds: what each table is in
    itself, then, once all of them are sound, how they fit together.

    Args:
        spec: ``kind`` and the options of that kind.

    Returns:
        The pool; warnings and notes are in ``problems``.

    Raises:
        SamepoolError: everything that is wrong with the options or the tables.
        UnreachableError: data that must be fetched and cannot be.
    """
    source: Source = build("pool", spec, "pool")
    problems: list[Problem] = []
    return pool_of(source.tables(problems), problems)


def freeze(settings: FreezeCommand) -> FreezeResult:
    """Makes a pool from raw tables larger than memory, and writes it as a folder.

    Args:
        settings: of conf/freeze.yaml.

    Returns:
        The pool, and what was cut, merged and drawn on the way.

    Raises:
        SamepoolError: everything that is wrong with settings or tables; nothing is written then.
    """
    from pipeline.pool._freeze import freeze as make  # noqa: PLC0415 - only freezing needs DuckDB

    return make(settings)
