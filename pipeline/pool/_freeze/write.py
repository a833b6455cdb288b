"""Writes the tables of a pool: sorted, in one order of columns, the same bytes every time."""

# ruff: noqa: S608 - all names and texts in this SQL went through ident and text

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pipeline.core.problems import fault
from pipeline.pool._freeze.cut import Raw
from pipeline.pool._freeze.engine import Engine, ident, text
from pipeline.pool._freeze.merge import first_rows
from pipeline.pool._freeze.plan import Plan
from pipeline.pool._freeze.shapes import SHAPES

_ROWS = 1 << 17  # of a row group
_INT = r"-?(0|[1-9]\d*)"
_FLOAT = r"-?((0|[1-9]\d*)(\.\d*)?|\.\d+)([eE][+-]?\d+)?"
_EXACT = "9007199254740992"


def write_queries(engine: Engine, raw: Raw, folder: Path) -> int:
    """The sampled queries with frequency, stratum, weight and their attributes."""
    engine.run(
        f"CREATE TABLE asked_first AS SELECT sampled.*, own.* EXCLUDE (query_id) FROM sampled JOIN"
        f" ({first_rows(raw)}) AS own USING (query_id)"
    )
    known = ("query_id", "text", "user_id", "issued_at", "first_issued_at", "frequency", "weight")
    return _write(engine, "asked_first", (*known, "stratum"), folder / "queries.parquet",
                  (raw.sources["queries"].typed, ("query_id",), ("users",)))  # fmt: skip


def write_qrels(engine: Engine, folder: Path) -> int:
    """The judgments of the sampled queries."""
    engine.run(
        "CREATE VIEW rated AS SELECT * FROM judged WHERE query_id IN (SELECT query_id FROM sampled)"
    )
    known = ("query_id", "item_id", "grade", "source", "judge")
    return _write(engine, "rated", known, folder / "qrels.parquet",
                  (True, ("query_id", "item_id"), ()))  # fmt: skip


def write_items(engine: Engine, raw: Raw, plan: Plan, folder: Path) -> int:
    """The catalogue, or those of its items that are judged or candidates."""
    if "items" not in raw.sources:
        return 0
    needed = "SELECT item_id FROM rated"
    if plan.negatives.per_query:
        needed += f" UNION SELECT item_id FROM read_parquet({text(folder / 'candidates.parquet')})"
    where = f" WHERE item_id IN ({needed})" if plan.settings.items == "needed" else ""
    engine.run(f"CREATE VIEW shown AS SELECT * FROM catalogue{where}")
    return _write(engine, "shown", SHAPES["items"].known(), folder / "items.parquet",
                  (raw.sources["items"].typed, ("item_id",), ()))  # fmt: skip


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
    names = SHAPES["logs"].known()
    order = ("at", *(name for name in raw.sources["logs"].names() if name != "at"))
    return _write(engine, "learned", names, folder / "logs.parquet",
                  (raw.sources["logs"].typed, order, ()))  # fmt: skip


def write_table(table: pa.Table, path: Path) -> int:
    """A table that is in memory already."""
    return _parquet(table.schema, table.to_batches(), path)


def _write(
    engine: Engine,
    table: str,
    known: Iterable[str],
    path: Path,
    how: tuple[bool, tuple[str, ...], tuple[str, ...]],
) -> int:
    """Known columns first, then the others by name; ``how``: typed, order, columns left out."""
    typed, order, without = how
    have = engine.schema(f"SELECT * FROM {table}")
    first = [name for name in known if name in have]
    others = sorted(name for name in have if name not in {*first, *without})
    casts = {} if typed else _types(engine, table, [n for n in others if not n.endswith("_id")])
    columns = ", ".join(
        f"CAST({ident(name)} AS {casts[name]}) AS {ident(name)}" if name in casts else ident(name)
        for name in (*first, *others)
    )
    by = ", ".join(f"{ident(name)} NULLS FIRST" for name in order)
    query = f"SELECT * FROM (SELECT {columns} FROM {table}) ORDER BY {by}"
    batches = engine.batches(query)
    schema = engine.table(f"SELECT * FROM ({query}) LIMIT 0").schema
    return _parquet(schema, batches, path)


def _types(engine: Engine, table: str, names: list[str]) -> dict[str, str]:
    """What CSV columns of one's own become: the type that all their values share, as in a pool."""
    found = {}
    for name in names:
        raw = ident(name)
        number = f"TRY_CAST({raw} AS DOUBLE)"
        lost = f"{number} = 0 AND regexp_matches({raw}, '^[^eE]*[1-9]')"
        kept = f"{number} IS NOT NULL AND abs({number}) < {_EXACT} AND NOT ({lost})"
        good = (
            f"regexp_full_match({raw}, '{_INT}') AND TRY_CAST({raw} AS BIGINT) IS NOT NULL",
            f"regexp_full_match({raw}, '{_FLOAT}') AND {kept}",
            f"lower({raw}) IN ('true', 'false')",
        )
        all_good = ", ".join(f"bool_and({one}) FILTER ({raw} IS NOT NULL)" for one in good)
        whole, real, truth, n = engine.row(f"SELECT {all_good}, count({raw}) FROM {table}")
        # Integers past int64 stay text, even where a double holds them.
        if n and (whole or real or truth):
            found[name] = "BIGINT" if whole else "DOUBLE" if real else "BOOLEAN"
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
