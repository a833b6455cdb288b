"""Pool: the queries, items, judgments, candidates and logs that every model is measured on."""

from collections.abc import Mapping
from typing import Any, Protocol

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, raise_errors
from pipeline.core.registry import build
from pipeline.pool._assemble import assemble
from pipeline.pool._clean import clean
from pipeline.pool._encode import encode
from pipeline.pool._relations import check
from pipeline.pool._tables import Tables

__all__ = ["Source", "Tables", "load"]


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
    cleaned = clean(source.tables(problems), problems)
    raise_errors(problems)
    encoded = encode(cleaned, problems)
    raise_errors(problems)
    check(encoded, problems)
    raise_errors(problems)
    return assemble(encoded, problems)
