"""Raw tables as a warehouse has them: requests in parts, items, judgments, clicks; from a seed."""

import gzip
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

QUERIES, ITEMS, REQUESTS, CLICKS = 150, 120, 4_000, 6_000
START = datetime(2026, 1, 1, tzinfo=UTC)


def ready(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    """Makes ``raw/``."""
    raw = folder / "raw"
    (raw / "requests").mkdir(parents=True)
    rng = np.random.default_rng(11)
    ids = np.array([f"{number:04}" for number in range(QUERIES)])
    chance = 1 / np.arange(1, QUERIES + 1)
    chance /= chance.sum()
    asked = rng.choice(QUERIES, REQUESTS, p=chance)
    requests = pa.table(
        {
            "query_id": ids[asked],
            "text": [f"Shoes {w}" if w % 2 else f"shoes  {w} " for w in asked],
            "user_id": [f"u{n}" for n in rng.integers(0, 90, REQUESTS)],
            "issued_at": times(rng, REQUESTS),
            "country": np.array(["NO", "SE"])[asked % 2],
        }
    )
    for part in range(4):
        pq.write_table(requests.slice(part * 1_000, 1_000), raw / "requests" / f"{part}.parquet")
    items = ["item_id,title,created_at"]
    items += [f'd{n},"Shoe, no. {n}",2026-0{1 + n % 6}-15' for n in range(ITEMS)]
    with gzip.open(raw / "items.csv.gz", "wt") as stream:
        stream.write("\n".join(items) + "\n")
    rows = ["qid,doc,grade"]
    for name in ids:
        judged = rng.choice(ITEMS, 8, replace=False)
        rows += [f"{name},d{d},{g}" for d, g in zip(judged, rng.permutation(8) // 2, strict=True)]
    (raw / "judgments.csv").write_text("\n".join(rows) + "\n")
    clicked = rng.choice(ITEMS, CLICKS)
    clicks = pa.table(
        {
            "query_id": ids[rng.choice(QUERIES, CLICKS, p=chance)],
            "item_id": [f"d{d}" for d in clicked],
            "user_id": [f"u{n}" for n in rng.integers(0, 90, CLICKS)],
            "at": times(rng, CLICKS),
            "click": rng.integers(0, 2, CLICKS),
        }
    )
    pq.write_table(clicks, raw / "clicks.parquet")
    yield


def times(rng: np.random.Generator, size: int) -> pa.Array:
    """Moments of January to June."""
    moments = [START + timedelta(minutes=int(m)) for m in rng.integers(0, 170 * 1_440, size)]
    return pa.array(moments, pa.timestamp("us", "UTC"))
