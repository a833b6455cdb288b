"""Unjudged items drawn into a candidates table, declared as such."""

import hashlib
from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I64, Bool
from pipeline.core.problems import Problem, fault
from pipeline.pool._freeze.cut import Raw
from pipeline.pool._freeze.engine import Engine
from pipeline.pool._freeze.plan import Plan

_MANY = 0.5  # share of what may be drawn from which a whole order is cheaper than drawing


def candidates(engine: Engine, raw: Raw, plan: Plan) -> tuple[pa.Table, dict[str, int]]:
    """Judged items of each sampled query and ``per_query`` others, sorted by both ids.

    Each query draws by a generator of its own, seeded by seed and id: no query depends on
    another. By popularity means one after the other, each with probability in proportion to the
    popularity of what is left; an item without any is never drawn.

    Returns:
        query_id, item_id; how many queries got fewer than asked.
    """
    weights = _weights(engine, raw, plan)
    judged = engine.table(
        "SELECT query_id, item_id FROM judged WHERE query_id IN (SELECT query_id FROM sampled)"
        " ORDER BY query_id, item_id"
    )
    items = engine.table(
        "SELECT item_id FROM catalogue UNION SELECT item_id FROM judged ORDER BY item_id"
    )["item_id"].combine_chunks()
    chances = np.zeros(len(items))
    chances[np.asarray(pc.index_in(weights["item_id"], value_set=items))] = weights["chance"]
    seed = plan.settings.seed if plan.negatives.seed is None else plan.negatives.seed
    wanted, short = plan.negatives.per_query, 0
    queries: list[str] = []
    rows: list[I64] = []
    for query, found in _by_query(judged, items):
        drawn = _draw(_generator(seed, query), chances, found, wanted)
        short += len(drawn) < wanted
        rows.append(np.sort(np.concatenate([found, drawn])))
        queries += [query] * len(rows[-1])
    chosen = items.take(pa.array(np.concatenate(rows)))
    table = pa.table({"query_id": pa.array(queries, pa.string()), "item_id": chosen})
    return table, {"rows": table.num_rows, "queries_short": short}


def notes(counts: Mapping[str, Mapping[str, int]], plan: Plan) -> list[Problem]:
    """A warning of queries that got fewer negatives than asked."""
    short = counts.get("negatives", {}).get("queries_short")
    if not short:
        return []
    asked = plan.negatives.per_query
    text = f"{short:,} queries got fewer than negatives.per_query={asked:,}: no more items are free"
    fix = "lower negatives.per_query"
    if plan.negatives.how == "popularity":
        fix += ", or negatives.how=uniform: items without any popularity are never drawn"
    return [Problem("few_negatives", "warning", text, fix)]


def _weights(engine: Engine, raw: Raw, plan: Plan) -> pa.Table:
    """item_id, chance: of every item of the catalogue."""
    if plan.negatives.how == "uniform":
        return engine.table("SELECT item_id, 1.0::DOUBLE AS chance FROM catalogue ORDER BY item_id")
    if raw.has("items", "popularity"):
        return engine.table(
            "SELECT item_id, greatest(coalesce(popularity, 0), 0) AS chance FROM catalogue"
            " ORDER BY item_id"
        )
    if "logs" not in raw.sources:
        text = "negatives.how=popularity, but nothing tells how popular items are"
        fix = "give the items a column popularity, or source.logs to count"
        raise fault("no_popularity", text, fix)
    return engine.table(
        "SELECT item_id, coalesce(n, 0)::DOUBLE AS chance FROM catalogue LEFT JOIN (SELECT item_id,"
        " count(*) AS n FROM history GROUP BY item_id) USING (item_id) ORDER BY item_id"
    )


def _by_query(judged: pa.Table, items: pa.Array) -> Iterator[tuple[str, I64]]:
    """Each query with the codes of its judged items."""
    query = judged["query_id"].combine_chunks()
    codes = np.asarray(pc.index_in(judged["item_id"], value_set=items)).astype(np.int64)
    runs = query.dictionary_encode()
    ends = np.flatnonzero(np.diff(np.asarray(runs.indices), append=-1)) + 1
    start = 0
    for end in ends.tolist():
        yield query[start].as_py(), codes[start:end]
        start = end


def _generator(seed: int, query: str) -> np.random.Generator:
    digest = hashlib.sha256(f"{seed}:negatives:{query}".encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest[:16], "big")))


def _draw(rng: np.random.Generator, chances: F64, judged: I64, n: int) -> I64:
    """(<= n,) codes of distinct items outside ``judged``, drawn one after the other."""
    free: Bool = chances > 0
    free[judged] = False
    left = np.flatnonzero(free)
    if len(left) <= n:
        return left
    if n > _MANY * len(left):
        # The smallest n of exponential times, at rates in proportion to the chances.
        times = rng.standard_exponential(len(left)) / chances[left]
        return left[np.argsort(times, kind="stable")[:n]]
    edges = np.cumsum(chances[left])
    found = np.zeros(0, np.int64)
    while len(found) < n:
        more = np.searchsorted(edges, rng.random(2 * n) * edges[-1], side="right")
        both = np.concatenate([found, np.minimum(more, len(left) - 1)])
        found = both[np.sort(np.unique(both, return_index=True)[1])]
    return left[found[:n]]
