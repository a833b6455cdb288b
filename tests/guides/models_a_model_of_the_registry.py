"""Candidates with a feature, items with a price, and a training table; nothing of a registry."""

import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np


def _write(path: Path, names: str, rows: list[tuple[object, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([names.split(), *rows])


def ready(folder: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Files alone: the section sets up its registry itself."""
    rng = np.random.default_rng(11)
    run = [line.split() for line in (folder / "bm25.trec").read_text().splitlines()]
    _write(folder / "candidates.csv", "query_id item_id bm25", [(r[0], r[2], r[4]) for r in run])
    _write(folder / "items.csv", "item_id price", [(f"d{i}", i + 0.5) for i in range(10)])
    price, bm25 = rng.uniform(1, 10, size=400), rng.normal(size=400)
    clicked = (bm25 - 0.2 * price + rng.normal(size=400) > -1).astype(int)
    _write(
        folder / "clicks.csv", "bm25 price clicked", list(zip(bm25, price, clicked, strict=True))
    )
    yield {}
