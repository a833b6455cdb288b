"""Parquet: named, typed columns."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pipeline.formats._columns import as_qrels, as_run, is_text, unique_names
from pipeline.formats._places import stamp
from pipeline.formats._source import Source, one_line


@dataclass(frozen=True)
class Parquet:
    """Parquet files."""

    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def table(self, source: Source) -> pa.Table:
        """All columns of an attribute table; integers in id columns become their digits."""
        return _read(source, None)

    def qrels(self, source: Source) -> pa.Table:
        """Judgments of columns query_id, item_id, grade."""
        return as_qrels(source, _read(source, ["query_id", "item_id", "grade", "source", "judge"]))

    def run(self, source: Source) -> pa.Table:
        """Scored lists of columns query_id, item_id, score, rank."""
        return as_run(source, _read(source, ["query_id", "item_id", "score", "rank"]))


PLUGIN = Parquet

_PANDAS_INDEX = "__index_level_"


def _read(source: Source, wanted: list[str] | None) -> pa.Table:
    try:
        with pq.ParquetFile(source.path) as opened:
            names = opened.schema_arrow.names
            unique_names(source, names)
            names = [name for name in names if not name.startswith(_PANDAS_INDEX)]
            here = [name for name in names if wanted is None or name in wanted]
            # Where a wanted column is missing, all are read for the sake of the message.
            short = wanted is not None and not {*wanted[:3]} <= {*here}
            table = opened.read(names if short else here)
    except (pa.ArrowException, OSError) as error:
        text = f"is not a sound Parquet file ({one_line(error)})"
        raise source.fault("bad_parquet", text, "write it again") from error
    columns = {name: _column(source, name, table[name]) for name in table.column_names}
    return stamp(pa.table(columns), source.path, "row", 1)


def _column(source: Source, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
    kind = column.type
    if not is_text(name):
        return pc.cast(column, pa.string()) if _is_string(kind) else column
    if _is_string(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind):
        return pc.cast(column, pa.string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _decoded(source, name, column)
    text = f"column {name} is of type {kind}; ids and text must be strings"
    raise source.fault("id_not_text", text, f"store {name} as a string column")


def _is_string(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def _decoded(source: Source, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return pc.cast(column, pa.string())
    except pa.ArrowInvalid as error:
        text = f"column {name} holds bytes that are not UTF-8"
        raise source.fault("not_utf8", text, f"store {name} as a string column") from error
