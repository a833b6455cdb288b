"""The inputs of a scoring model: a row a pair of query and item, from the pool's columns."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from pipeline.core.arrays import I32
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault
from pipeline.core.signature import Column, Signature
from pipeline.core.suggest import did_you_mean
from pipeline.models._casts import MisfitError, cast
from pipeline.models._encode import codes_of, flat


@dataclass(frozen=True, slots=True)
class Source:
    """Where an input column comes from.

    Attributes:
        table: ``candidates``, ``queries`` or ``items``.
        column: its name there.
        kind: type that the model wants, as in :class:`pipeline.core.signature.Column`; ``any``
            where it does not say.
    """

    table: str
    column: str
    kind: str = "any"


def columns(pool: Pool) -> dict[str, Source | None]:
    """Every input name that the pool offers; None where two tables have it.

    A candidate feature goes by its own name; a column of queries or items by its name, and by
    ``query_`` or ``item_`` before it, which tells apart what both have.
    """
    found: dict[str, Source | None] = {}
    for table, prefix in ((pool.queries, "query_"), (pool.items, "item_")):
        origin = "queries" if prefix == "query_" else "items"
        for name in table.column_names:
            found[name] = None if name in found else Source(origin, name)
            found.setdefault(prefix + name, Source(origin, name))
    if pool.candidates is not None:
        for name in pool.candidates.column_names:
            if name not in {"query_id", "item_id"}:
                found[name] = Source("candidates", name)
    return found


def sources(
    pool: Pool, signature: Signature, who: str
) -> tuple[dict[str, Source], tuple[Problem, ...]]:
    """The columns that a model asks for, and what is wrong with them, all of it.

    A model without a signature is given every unambiguous column. Columns that its signature calls
    optional may be absent.

    Args:
        pool: whose columns.
        signature: of the model.
        who: the model's name in messages.
    """
    known = columns(pool)
    if signature.unnamed:
        text = f"{who} has a signature whose inputs have no names, so columns cannot be matched"
        fix = "log it with a table as input_example, or with a signature of named columns"
        return {}, (Problem("unnamed_inputs", "error", text, fix),)
    if signature.columns is None:
        return {name: source for name, source in known.items() if source is not None}, ()
    found: dict[str, Source] = {}
    problems: list[Problem] = []
    for column in signature.columns:
        source = known.get(column.name)
        if source is not None:
            found[column.name] = Source(source.table, source.column, column.kind)
        elif column.required or column.name in known:
            problems.append(_unmatched(column, known, who))
    return found, (*problems, *_misfits(pool, found, who))


def _unmatched(column: Column, known: Mapping[str, Source | None], who: str) -> Problem:
    name = column.name
    if name in known:
        text = f"{who} needs the column {name!r}, which queries and items both have"
        fix = f"rename it in the model's signature to query_{name} or item_{name}"
        return Problem("ambiguous_input", "error", text, fix)
    text = f"{who} needs the column {name!r}, which the pool lacks"
    return Problem("missing_input", "error", text, did_you_mean(name, known))


def _misfits(pool: Pool, wanted: Mapping[str, Source], who: str) -> list[Problem]:
    """Columns whose values the model cannot be given; only of rows that can be asked for."""
    tables = {
        "queries": _listed(pool, pool.queries, "query_id", pool.vocab.queries),
        "items": _listed(pool, pool.items, "item_id", pool.vocab.items),
        "candidates": pool.candidates,
    }
    problems = []
    for name, source in wanted.items():
        try:
            cast(tables[source.table][source.column], source.kind)
        except MisfitError as error:
            text = f"{who} wants {name!r} as {source.kind}; {source.table}.{source.column} {error}"
            fix = "mend the table, or log the model with a signature of that type"
            problems.append(Problem("misfit_input", "error", text, fix))
    return problems


def _listed(pool: Pool, table: pa.Table, key: str, vocab: pa.Array) -> pa.Table:
    """The rows of queries or items that are asked for: those of candidates, where there are any."""
    if pool.candidates is None:
        return table
    codes = codes_of(flat(pool.candidates[key]), vocab)
    return table.take(pa.array(np.unique(codes[codes >= 0])))


def frame(
    pool: Pool, wanted: Mapping[str, Source], query: I32, item: I32, candidates: pa.Table | None
) -> pd.DataFrame:
    """The inputs of N pairs, in the order of ``wanted`` and in the types that it names.

    Args:
        pool: whose columns.
        wanted: input name -> where it comes from.
        query: (N,) codes.
        item: (N,) codes.
        candidates: N rows of the pool's candidates in the same order; None where it has none.

    Raises:
        SamepoolError: a candidate feature is wanted where there are no candidates; values that do
            not fit.
    """
    tables = {"queries": (pool.queries, pa.array(query)), "items": (pool.items, pa.array(item))}
    found = {}
    for name, source in wanted.items():
        if source.table in tables:
            table, rows = tables[source.table]
            column = table[source.column].take(rows)
        elif candidates is not None:
            column = candidates[source.column]
        else:
            raise fault("no_candidates", f"{name} is a feature of candidates, which are not there")
        try:
            found[name] = cast(column, source.kind)
        except MisfitError as error:
            text = f"{name!r} is wanted as {source.kind}; {source.table}.{source.column} {error}"
            raise fault("misfit_input", text, "mend the table") from error
    return pd.DataFrame(found, index=pd.RangeIndex(len(query)))
