"""membership.parquet: query_id and a Boolean column a query slice. Producer: slices.

What the slices are, and the names of item slices and crossings, stand in the schema's metadata.
"""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa

from pipeline.core.evidence import Evidence
from pipeline.core.slices import Slices
from pipeline.evidence._files import plain, read_parquet, write_parquet

FILE = "membership.parquet"
KEY = b"samepool.slices"


def write(evidence: Evidence, folder: Path) -> None:
    """Writes memberships and definitions; masks over judgments are not kept."""
    slices = evidence.slices
    columns = {"query_id": evidence.units.query_id}
    masks = {name: slices.mask(name) for name in slices.query_names}
    about = {
        "query_names": plain(slices.query_names),
        "item_names": plain(slices.item_names),
        "crossings": plain(slices.crossings),
        "definitions": plain(slices.definitions),
        "undated": plain(slices.undated),
        "digest": slices.digest,
    }
    metadata = {KEY: json.dumps(about, sort_keys=True).encode()}
    arrays = [columns["query_id"], *masks.values()]
    table = pa.table([pa.array(a) for a in arrays], names=["query_id", *masks])
    write_parquet(folder / FILE, table.replace_schema_metadata(metadata))


def read(folder: Path) -> Slices:
    """Reads them back; ``item`` has no rows."""
    table = read_parquet(folder / FILE)
    about = json.loads((table.schema.metadata or {})[KEY])
    names = tuple(about["query_names"])
    masks = [table[name].to_numpy(zero_copy_only=False) for name in names]
    return Slices(
        query_names=names,
        query=np.column_stack(masks).astype(bool),
        item_names=tuple(about["item_names"]),
        item=np.zeros((0, len(about["item_names"])), dtype=bool),
        crossings={name: (query, item) for name, (query, item) in about["crossings"].items()},
        definitions=about["definitions"],
        undated=about["undated"],
        digest=about["digest"],
    )
