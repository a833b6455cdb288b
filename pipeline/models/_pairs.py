"""The inputs of a scoring model: a row a pair of query and item, from the pool's columns."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa

from pipeline.core.arrays import I64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.core.suggest import did_you_mean


@dataclass(frozen=True, slots=True)
class Source:
    """Where an input column comes from: ``candidates``, ``queries`` or ``items``, and its name."""

    table: str
    column: str


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


def sources(pool: Pool, inputs: tuple[str, ...] | None, who: str) -> dict[str, Source]:
    """The columns that a model asks for; every unambiguous one where it does not say.

    Raises:
        SamepoolError: inputs that the pool lacks, or that two tables have; all of them together.
    """
    known = columns(pool)
    if inputs is None:
        return {name: source for name, source in known.items() if source is not None}
    problems = []
    for name in inputs:
        if name not in known:
            text = f"{who} needs the column {name!r}, which the pool lacks"
            problems.append(Problem("missing_input", "error", text, did_you_mean(name, known)))
        elif known[name] is None:
            text = f"{who} needs the column {name!r}, which queries and items both have"
            fix = f"rename it in the model's signature to query_{name} or item_{name}"
            problems.append(Problem("ambiguous_input", "error", text, fix))
    raise_errors(problems)
    return {name: source for name in inputs if (source := known[name]) is not None}


def frame(
    pool: Pool, wanted: dict[str, Source], query: I64, item: I64, candidates: pa.Table | None
) -> pd.DataFrame:
    """The inputs of N pairs.

    Args:
        pool: whose columns.
        wanted: input name -> where it comes from.
        query: (N,) codes.
        item: (N,) codes.
        candidates: N rows of the pool's candidates in the same order; None where it has none.

    Raises:
        SamepoolError: a candidate feature is wanted where there are no candidates.
    """
    tables = {
        "queries": pool.queries.take(pa.array(query)),
        "items": pool.items.take(pa.array(item)),
        "candidates": candidates,
    }
    found = {}
    for name, source in wanted.items():
        table = tables[source.table]
        if table is None or table.num_rows != len(np.asarray(query)):
            raise fault("no_candidates", f"{name} is a feature of candidates, which are not there")
        found[name] = table[source.column].to_pandas()
    return pd.DataFrame(found)
