"""units.parquet: query_id, cluster, traffic, weight, stratum; a row a query. Producer: pool."""

from pathlib import Path

import numpy as np
import pyarrow as pa

from pipeline.core.evidence import Evidence
from pipeline.core.pool import Units
from pipeline.evidence._files import read_parquet, write_parquet

FILE = "units.parquet"


def write(evidence: Evidence, folder: Path) -> None:
    """Writes the units."""
    units = evidence.units
    columns = {
        "query_id": units.query_id,
        "cluster": units.cluster,
        "traffic": units.traffic,
        "weight": units.weight,
        "stratum": units.stratum,
    }
    write_parquet(folder / FILE, pa.table(columns))


def read(folder: Path) -> Units:
    """Reads them back."""
    table = read_parquet(folder / FILE)
    return Units(
        query_id=table["query_id"].combine_chunks(),
        cluster=table["cluster"].to_numpy().astype(np.int32),
        traffic=table["traffic"].to_numpy().astype(np.float64),
        weight=table["weight"].to_numpy().astype(np.float64),
        stratum=table["stratum"].to_numpy().astype(np.int32),
    )
