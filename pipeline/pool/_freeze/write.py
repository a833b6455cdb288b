"""Writes the tables of a pool: sorted, in one order of columns, the same bytes every time."""

# ruff: noqa: S608 - all names and texts in this SQL went through ident and text

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core.problems import fault
from pipeline.pool._freeze.cut import Raw
from pipeline.pool._freeze.engine import Engine, ident
from pipeline.pool._freeze.engine import path as literal
from pipeline.pool._freeze.merge import first_rows
from pipeline.pool._freeze.plan import Plan
from pipeline.pool._freeze.shapes import EXACT, SHAPES, column
from pipeline.pool._freeze.sources import Source

_ROWS = 1 << 17  # of a row group
_INT = r"-?(0|[1-9]\d*)"
_FLOAT = r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?"


def write_queries(engine: Engine, raw: Raw, folder: Path) -> int:
    """The sampled queries with frequency, stratum, weight and their attributes."""
    engine.run(
        f"CREATE TABLE asked_first AS SELECT sampled.*, own.* EXCLUDE (query_id) FROM sampled JOIN"
        f" ({first_rows(raw)}) AS own USING (query_id)"
    )
    known = ("query_id", "text", "user_id", "issued_at", "first_issued_at", "frequency", "weight")
    return _write(engine, "asked_first", raw.sources["queries"], folder / "queries.parquet",
                  ((*known, "stratum"), ("query_id",)))  # fmt: skip


def write_qrels(engine: Engine, raw: Raw, folder: Path) -> int:
    """The judgments of the sampled queries."""
    engine.run(
        "CREATE VIEW rated AS SELECT * FROM judged WHERE query_id IN (SELECT query_id FROM sampled)"
    )
    known = ("query_id", "item_id", "grade", "source", "judge")
    return _write(engine, "rated", raw.sources["qrels"], folder / "qrels.parquet",
                  (known, ("query_id", "item_id")))  # fmt: skip


def write_items(engine: Engine, raw: Raw, plan: Plan, folder: Path) -> int:
    """The catalogue, or those of its items that are judged or candidates."""
    if "items" not in raw.sources:
        return 0
    needed = "SELECT item_id FROM rated"
    if plan.negatives.per_query:
        needed += (
            f" UNION SELECT item_id FROM read_parquet({literal(folder / 'candidates.parquet')})"
        )
    where = f" WHERE item_id IN ({needed})" if plan.settings.items == "needed" else ""
    engine.run(f"CREATE VIEW shown AS SELECT * FROM catalogue{where}")
    return _write(engine, "shown", raw.sources["items"], folder / "items.parquet",
                  (SHAPES["items"].known(), ("item_id",)))  # fmt: skip


def write_logs(engine: Engine, raw: Raw, plan: Plan, folder: Path) -> int:
    """The log rows that models may learn from, by time."""
    if "logs" not in raw.sources or plan.settings.logs == "none":
        return 0
    whose = [
        f"{name} IN (SELECT {name} FROM sampled)"
        for name in ("query_id", "user_id")
        if raw.has("logs", name) and raw.has("queries", name)
    ]
    where = ""
    if plan.settings.logs == "sampled" and whose:
        where = f" WHERE {' OR '.join(whose)}"
    engine.run(f"CREATE VIEW learned AS SELECT * FROM history{where}")
    logs = raw.sources["logs"]
    order = ("at", *(name for name in logs.names() if name != "at"))
    return _write(engine, "learned", logs, folder / "logs.parquet",
                  (SHAPES["logs"].known(), order))  # fmt: skip


def write_table(table: pa.Table, path: Path) -> int:
    """A table that is in memory already."""
    return _parquet(table.schema, table.to_batches(), path)


def _write(
    engine: Engine,
    table: str,
    source: Source,
    path: Path,
    how: tuple[Iterable[str], Iterable[str]],
) -> int:
    """Known columns first, then the others by name; ``how``: known columns, order of rows."""
    known, order = how
    have = engine.schema(f"SELECT * FROM {table}")
    sql = {name: ident(name) for name in known if name in have}
    own = [name for name in source.names() if name not in SHAPES[source.table].known()]
    sql |= {} if SHAPES[source.table].only else {name: column(source, name) for name in own}
    free = [sql[name] for name in own if name in sql and not name.endswith("_id")]
    casts = {} if source.typed else _types(engine, table, free)
    columns = ", ".join(
        f"CAST({name} AS {casts[name]}) AS {name}" if name in casts else name
        for name in sql.values()
    )
    by = ", ".join(f"{sql[name]} NULLS FIRST" for name in order)
    query = f"SELECT * FROM (SELECT {columns} FROM {table}) ORDER BY {by}"
    schema = engine.table(f"SELECT * FROM ({query}) LIMIT 0").rename_columns([*sql]).schema
    batches = (pa.RecordBatch.from_arrays(b.columns, schema=schema) for b in engine.batches(query))
    return _parquet(schema, batches, path)


def _types(engine: Engine, table: str, names: list[str]) -> dict[str, str]:
    """What CSV columns of one's own become: the type that all their values share, as in a pool."""
    found = {}
    for raw in names:
        number = f"TRY_CAST({raw} AS DOUBLE)"
        lost = f"{number} = 0 AND regexp_matches({raw}, '^[^eE]*[1-9]')"
        kept = f"{number} IS NOT NULL AND abs({number}) < {EXACT} AND NOT ({lost})"
        good = (
            f"regexp_full_match({raw}, '{_INT}') AND TRY_CAST({raw} AS BIGINT) IS NOT NULL",
            f"regexp_full_match({raw}, '{_FLOAT}') AND {kept}",
            f"lower({raw}) IN ('true', 'false')",
        )
        all_good = ", ".join(f"bool_and({one}) FILTER ({raw} IS NOT NULL)" for one in good)
        whole, real, truth, n = engine.row(f"SELECT {all_good}, count({raw}) FROM {table}")
        # Integers past int64 stay text, even where a double holds them.
        if n and (whole or real or truth):
            found[raw] = "BIGINT" if whole else "DOUBLE" if real else "BOOLEAN"
    return found


def _parquet(schema: pa.Schema, batches: Iterable[pa.RecordBatch], path: Path) -> int:
    """Row groups of one size, whatever the size of the batches."""
    rows, waiting, held = 0, [], 0
    try:
        with pq.ParquetWriter(path, schema, compression="zstd", store_schema=False) as writer:
            for batch in batches:
                waiting.append(batch)
                held += batch.num_rows
                while held >= _ROWS:
                    table = pa.Table.from_batches(waiting, schema)
                    writer.write_table(table.slice(0, _ROWS).combine_chunks(), _ROWS)
                    waiting = table.slice(_ROWS).to_batches()
                    rows, held = rows + _ROWS, held - _ROWS
            if held or not rows:
                rest = pa.Table.from_batches(waiting, schema).combine_chunks()
                writer.write_table(rest, _ROWS)
    except OSError as error:
        words = f"cannot be written: {error.strerror or error}"
        raise fault("cannot_write", words, "free some space", file=str(path)) from error
    return rows + held
