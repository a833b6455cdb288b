"""top.parquet: model, stage, query_id, rank, item_id, score, grade, eligible. Producer: metrics."""

from pathlib import Path

import pyarrow as pa

from pipeline.core.evidence import Evidence
from pipeline.evidence._files import read_parquet, write_parquet

FILE = "top.parquet"
SCHEMA = pa.schema(
    [
        ("model", pa.string()),
        ("stage", pa.string()),
        ("query_id", pa.string()),
        ("rank", pa.int32()),
        ("item_id", pa.string()),
        ("score", pa.float64()),
        ("grade", pa.float64()),
        ("eligible", pa.bool_()),
    ]
)


def write(evidence: Evidence, folder: Path) -> None:
    """Writes the top of every list."""
    write_parquet(folder / FILE, evidence.tops.cast(SCHEMA))


def read(folder: Path) -> pa.Table:
    """Reads it back."""
    return read_parquet(folder / FILE).cast(SCHEMA).replace_schema_metadata(None)
