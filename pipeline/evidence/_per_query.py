"""per_query.parquet: query_id, model, metric, item_slice, value, reason. Producer: metrics.

One row for every query of the pool, model and score column; a missing value is null and its reason
says why. Beside it, per_model.parquet: query_id, model, length, judged, constant,
tied.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import F64
from pipeline.core.evidence import Evidence
from pipeline.core.pool import Units
from pipeline.core.scores import Reason, Scores
from pipeline.evidence._files import damaged, read_parquet, write_parquet

FILE = "per_query.parquet"
LENGTHS = "per_model.parquet"


def write(evidence: Evidence, folder: Path) -> None:
    """Writes the values of all models, a block of rows a model and column."""
    ids = evidence.units.query_id
    tables = [_long(scores, ids) for scores in evidence.scores]
    write_parquet(folder / FILE, pa.concat_tables(tables).unify_dictionaries())
    lengths = [_lengths(scores, ids) for scores in evidence.scores]
    write_parquet(folder / LENGTHS, pa.concat_tables(lengths).unify_dictionaries())


def _constant(text: str, n: int) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, np.int32)), pa.array([text]))


def _long(scores: Scores, ids: pa.Array) -> pa.Table:
    n = len(ids)
    blocks = []
    reasons = pa.array([reason.name.lower() for reason in Reason])
    for place, (metric, item_slice) in enumerate(scores.columns):
        values = scores.values[:, place]
        codes = pa.array(scores.reason[:, place].astype(np.int32))
        columns = {
            "query_id": ids,
            "model": _constant(scores.model, n),
            "metric": _constant(metric, n),
            "item_slice": _constant(item_slice, n),
            "value": pa.array(values, mask=np.isnan(values)),
            "reason": pa.DictionaryArray.from_arrays(codes, reasons),
        }
        blocks.append(pa.table(columns))
    return pa.concat_tables(blocks)


def _lengths(scores: Scores, ids: pa.Array) -> pa.Table:
    columns = {
        "query_id": ids,
        "model": _constant(scores.model, len(ids)),
        "length": scores.length,
        "judged": scores.judged,
        "constant": scores.constant,
        "tied": scores.tied,
    }
    return pa.table(columns)


def read(
    folder: Path,
    models: Sequence[str],
    units: Units,
    lists: Mapping[str, Mapping[tuple[str, str], float]],
) -> tuple[Scores, ...]:
    """Reads them back in the order of ``models``.

    Raises:
        SamepoolError: a file is missing, or its rows are not those of the units and models.
    """
    n = len(units.query_id)
    table = read_parquet(folder / FILE)
    per_model = read_parquet(folder / LENGTHS)
    if "judged" not in per_model.column_names:
        raise damaged(folder / LENGTHS, ValueError("it has no column judged"))
    n_columns, rest = divmod(table.num_rows, max(n * len(models), 1))
    if rest or per_model.num_rows != n * len(models):
        raise damaged(folder / FILE, ValueError("it has other queries or models than the rest"))
    found = []
    for place, model in enumerate(models):
        rows = table.slice(place * n * n_columns, n * n_columns)
        about = per_model.slice(place * n, n)
        heads = rows.take(pa.array(np.arange(n_columns) * n)) if n else rows
        if n and set(heads["model"].to_pylist()) != {model}:
            raise damaged(folder / FILE, ValueError(f"it has no rows for {model} where due"))
        columns = zip(heads["metric"].to_pylist(), heads["item_slice"].to_pylist(), strict=True)
        found.append(_scores(model, tuple(columns), (rows, about), lists.get(model, {})))
    return tuple(found)


def _scores(
    model: str,
    columns: tuple[tuple[str, str], ...],
    tables: tuple[pa.Table, pa.Table],
    lists: Mapping[tuple[str, str], float],
) -> Scores:
    rows, about = tables
    codes = {reason.name.lower(): reason.value for reason in Reason}
    values: F64 = rows["value"].to_numpy().astype(np.float64)
    dictionary = rows["reason"].combine_chunks()
    lookup = np.array([codes[name] for name in dictionary.dictionary.to_pylist()], dtype=np.uint8)
    reason = lookup[dictionary.indices.to_numpy()]
    shape = (len(columns), about.num_rows)
    return Scores(
        model=model,
        columns=columns,
        values=np.ascontiguousarray(values.reshape(shape).T),
        reason=np.ascontiguousarray(reason.reshape(shape).T),
        lists=lists,
        **{name: about[name].to_numpy() for name in ("judged", "tied", "constant", "length")},
    )
