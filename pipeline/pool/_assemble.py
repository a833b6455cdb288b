"""Builds the pool out of checked, encoded tables."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.arrays import F64, I32, I64
from pipeline.core.pool import OPEN_END, UNKNOWN_TIME, Judgments, Pool, Times, Units
from pipeline.core.problems import Problem
from pipeline.kernels.digest import of_arrays, of_json, of_parts
from pipeline.kernels.eligibility import eligible
from pipeline.pool._digest import of_table
from pipeline.pool._encode import Encoded, Pairs
from pipeline.pool._relations import query_times, repeated
from pipeline.pool._times import micros


def assemble(encoded: Encoded, problems: list[Problem]) -> Pool:
    """The pool, in vocabulary order, with its digests. Duplicate judgments collapse to one."""
    tables, vocab = encoded.tables, encoded.vocab
    queries = _in_order(tables.queries, encoded.query_code, "query_id", vocab.queries)
    items = _in_order(tables.items, encoded.item_code, "item_id", vocab.items)
    pairs = _once(tables.qrels, encoded.judged)
    times = _times(encoded, items)
    judgments = _judgments(tables.qrels, pairs, times)
    _note_windows(times, judgments, problems)
    candidates = _candidates(encoded)
    parts = {
        "queries": of_table(queries),
        "items": of_table(items),
        "qrels": _qrels_digest(tables.qrels, pairs, judgments),
        "candidates": _candidates_digest(encoded, candidates),
        "declared": of_json(asdict(tables.declared)),
    }
    return Pool(
        name=tables.name,
        queries=queries,
        items=items,
        candidates=candidates,
        logs=None if tables.logs is None else tables.logs.replace_schema_metadata(None),
        judgments=judgments,
        units=_units(queries, tables.declared.unit),
        times=times,
        vocab=vocab,
        declared=tables.declared,
        problems=tuple(problems),
        digest=of_parts(parts),
        logs_digest="" if tables.logs is None else of_table(tables.logs),
    )


def _in_order(table: pa.Table | None, codes: I32, key: str, ids: pa.Array) -> pa.Table:
    """The table's rows in vocabulary order; a row of nulls for ids that it lacks."""
    if table is None:
        return pa.table({key: ids})
    row = np.full(len(ids), -1, np.int64)
    row[codes] = np.arange(len(codes))
    found = table.replace_schema_metadata(None).take(pa.array(row, mask=row < 0))
    others = {name: found[name] for name in found.column_names if name != key}
    return pa.table({key: ids, **others})


def _once(qrels: pa.Table, pairs: Pairs) -> Pairs:
    """Each judged pair once: of equal ones, the first by source and judge, not by row."""
    extra = [name for name in ("judge", "source") if name in qrels.column_names]
    if extra and repeated(pairs).any():
        notes = qrels.select(extra).take(pa.array(pairs.row))
        keys = [_groups(notes, name, apart=False) for name in extra]
        order = np.lexsort((*keys, pairs.item, pairs.query))
        pairs = Pairs(pairs.row[order], pairs.query[order], pairs.item[order])
    first = ~repeated(pairs)
    return Pairs(pairs.row[first], pairs.query[first], pairs.item[first])


def _times(encoded: Encoded, items: pa.Table) -> Times:
    size = len(encoded.vocab.items)

    def column(name: str, missing: int) -> I64:
        if name not in items.column_names:
            return np.full(size, missing, np.int64)
        return micros(items[name], missing)

    return Times(
        query=query_times(encoded),
        created=column("created_at", UNKNOWN_TIME),
        eligible_from=column("eligible_from", UNKNOWN_TIME),
        eligible_until=column("eligible_until", OPEN_END),
    )


def _judgments(qrels: pa.Table, pairs: Pairs, times: Times) -> Judgments:
    size = len(times.query)
    ptr = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(pairs.query, minlength=size), out=ptr[1:])
    grade = np.asarray(qrels["grade"], dtype=np.float64)[pairs.row]
    shown = eligible(
        times.query[pairs.query], times.eligible_from[pairs.item], times.eligible_until[pairs.item]
    )
    return Judgments(query_ptr=ptr, item=pairs.item, grade=grade, eligible=shown)


def _note_windows(times: Times, judgments: Judgments, problems: list[Problem]) -> None:
    out = int((~judgments.eligible).sum())
    if out:
        of = f"{out:,} of {len(judgments.item):,} judgments"
        text = f"{of} are of items not eligible at the query's time"
        problems.append(Problem("judged_ineligible", "note", text, "", "qrels", None, (), out))
    windowed = (times.eligible_from != UNKNOWN_TIME) | (times.eligible_until != OPEN_END)
    timeless = int((times.query == UNKNOWN_TIME).sum())
    if not windowed.any() or not timeless:
        return
    who = (
        "no query has a time"
        if timeless == len(times.query)
        else f"{timeless:,} queries have no time"
    )
    text = f"items have windows of eligibility but {who}: there, every item counts as eligible"
    fix = "add issued_at to the queries, or declare pool.as_of"
    problems.append(Problem("no_query_time", "warning", text, fix, "queries", None, (), timeless))


def _candidates(encoded: Encoded) -> pa.Table | None:
    pairs, table = encoded.candidates, encoded.tables.candidates
    if pairs is None or table is None:
        return None
    sorted_already = len(pairs.row) == len(table) and (np.diff(pairs.row) == 1).all()
    found = table if sorted_already else table.take(pa.array(pairs.row))
    return found.replace_schema_metadata(None)


def _qrels_digest(qrels: pa.Table, pairs: Pairs, judgments: Judgments) -> str:
    extra = [name for name in ("source", "judge") if name in qrels.column_names]
    arrays: dict[str, np.ndarray[Any, Any]] = {
        "ptr": judgments.query_ptr,
        "item": judgments.item,
        "grade": judgments.grade,
    }
    notes = qrels.select(extra).take(pa.array(pairs.row))
    return of_parts({"judgments": of_arrays(arrays), "notes": of_table(notes)})


def _candidates_digest(encoded: Encoded, candidates: pa.Table | None) -> str:
    pairs = encoded.candidates
    if pairs is None or candidates is None:
        return ""
    features = candidates.drop_columns(["query_id", "item_id"])
    arrays = {"query": pairs.query, "item": pairs.item}
    return of_parts({"pairs": of_arrays(arrays), "features": of_table(features)})


def _units(queries: pa.Table, unit: str) -> Units:
    size = len(queries)
    traffic = _numbers(queries, "frequency") if unit == "query" else np.ones(size)
    return Units(
        query_id=queries["query_id"].combine_chunks(),
        cluster=_groups(queries, "user_id", apart=True),
        traffic=traffic,
        weight=_numbers(queries, "weight"),
        stratum=_groups(queries, "stratum", apart=False),
    )


def _numbers(queries: pa.Table, name: str) -> F64:
    if name not in queries.column_names or queries[name].null_count == len(queries):
        return np.ones(len(queries))
    return np.asarray(queries[name], dtype=np.float64)


def _groups(queries: pa.Table, name: str, *, apart: bool) -> I32:
    """Codes of groups in byte order of their names; nulls each alone, or all together, last."""
    size = len(queries)
    if name not in queries.column_names:
        return np.arange(size, dtype=np.int32) if apart else np.zeros(size, np.int32)
    distinct = pc.drop_null(queries[name].unique())
    known = distinct.take(pc.sort_indices(distinct))
    places = pc.fill_null(pc.index_in(queries[name], value_set=known), -1)
    codes: I32 = np.asarray(places).astype(np.int32)  # a copy: what Arrow shares is read-only
    alone = codes < 0
    codes[alone] = len(known) + (np.arange(alone.sum()) if apart else 0)
    return codes
