"""The only place that orders: scored lists under the tie rule, met with the judgments."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from pipeline.core.arrays import F64, I32, I64, Bool
from pipeline.core.conventions import Conventions
from pipeline.core.judged import Judged
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.run import Lists, Run
from pipeline.kernels.order import descending, members, ties, within
from pipeline.metrics._conventions import check


def judge(run: Run, pool: Pool, conventions: Conventions, depth: int) -> tuple[Judged, Judged]:
    """Orders a model's lists and meets them with the judgments.

    Scores are compared descending in the precision asked for; equal ones stand by item id, by its
    UTF-8 bytes, descending (``id_desc``, as trec_eval) or ascending (``id_asc``), or as given
    (``given``: by the rank stated, else in the order given). A list that stands in order already
    is not sorted again.

    Args:
        run: scored lists.
        pool: what they answer.
        conventions: tie rule and precision.
        depth: places of each list to keep; at least the largest cutoff to be measured. One more
            is kept, so that a tie across the last one shows; fewer where no list is as long.

    Returns:
        The final lists and those of retrieval, which are the same where the run knows only one
        stage.

    Raises:
        SamepoolError: a score is not finite, a judged item is twice in a list, or a convention is
            unknown.
    """
    check(conventions)
    final = _judge(run, run.final, "final", _Rules(pool, conventions, run.foreign, depth))
    if run.retrieval is None:
        return final, replace(final, stage="retrieval")
    rules = _Rules(pool, conventions, run.foreign, depth)
    return final, _judge(run, run.retrieval, "retrieval", rules)


@dataclass(frozen=True, slots=True, eq=False)
class _Rules:
    """What ordering needs besides the list."""

    pool: Pool
    conventions: Conventions
    foreign: pa.Array
    depth: int


@dataclass(frozen=True, slots=True, eq=False)
class _Ordered:
    """Lists in order; ``first`` and ``end`` bound the groups of equal scores."""

    ptr: I64
    query: I32
    item: I32
    score: F64
    first: I64
    end: I64


def _judge(run: Run, lists: Lists, stage: str, rules: _Rules) -> Judged:
    _refuse_not_finite(run, lists, rules)
    ordered = _order(lists, rules)
    ptr, length = ordered.ptr, np.diff(ordered.ptr)
    rows, judgment = _hits(ordered, rules.pool)
    _refuse_twice(run, ordered, rows, judgment, rules)
    query = ordered.query[rows]
    first, last = _extent(ordered, rows)
    top, top_score = _top(ordered, min(rules.depth, int(length.max(initial=0))) + 1)
    returned = length > 0
    returned[run.empty] = True
    return Judged(
        stage=stage,
        returned=returned,
        length=length.astype(np.int32),
        constant=_constant(ordered),
        hit_query=query,
        hit_judgment=judgment,
        rank=(rows - ptr[query] + 1).astype(np.int32),
        tie_first=(first - ptr[query] + 1).astype(np.int32),
        tie_last=(last - ptr[query] + 1).astype(np.int32),
        top=top,
        top_score=top_score,
        foreign=run.foreign,
    )


def _order(lists: Lists, rules: _Rules) -> _Ordered:
    n_queries = len(rules.pool.judgments.query_ptr) - 1
    ptr = np.searchsorted(lists.query, np.arange(n_queries + 1)).astype(np.int64)
    compared = in_precision(lists.score, rules.conventions)
    item, score, given = lists.item, lists.score, lists.given_rank
    rows = descending(ptr, compared)
    if rows is not None:
        compared, item, score = compared[rows], item[rows], score[rows]
        given = None if given is None else given[rows]
    first, end = ties(ptr, compared)
    if first.size:
        tied, group = members(first, end)
        moved = within(group, _tie_key(item[tied], None if given is None else given[tied], rules))
        if moved is not None:
            item = _rearranged(item, tied, moved)
            score = _rearranged(score, tied, moved)  # under float32 the doubles may differ
    return _Ordered(ptr, lists.query, item, score, first, end)


def in_precision(score: F64, conventions: Conventions) -> NDArray[np.floating[Any]]:
    """Scores as they are compared; beyond the range of a float32 they are infinite."""
    if conventions.precision == "float64":
        return score
    with np.errstate(over="ignore"):
        return score.astype(np.float32)


def _tie_key(item: I32, given: I32 | None, rules: _Rules) -> I64:
    """(T,) what ties are ordered by, ascending."""
    rule = rules.conventions.ties
    if rule == "given":
        return np.zeros(item.size, dtype=np.int64) if given is None else given.astype(np.int64)
    key = item.astype(np.int64)
    n_items = len(rules.pool.vocab.items)
    if key.size and key.max() >= n_items:
        key = _by_bytes(key, rules.pool.vocab.items, rules.foreign)
    return -key if rule == "id_desc" else key


def _by_bytes(item: I64, known: pa.Array, foreign: pa.Array) -> I64:
    """(T,) the place of each id in the byte order of those given, ours and foreign together."""
    codes, inverse = np.unique(item, return_inverse=True)
    n_foreign = int((codes >= len(known)).sum())
    split = codes.size - n_foreign
    ids = pa.concat_arrays(
        [
            known.take(pa.array(codes[:split])),
            foreign.take(pa.array(codes[split:] - len(known))).cast(known.type),
        ]
    )
    order = pc.sort_indices(ids).to_numpy()
    place = np.empty(codes.size, dtype=np.int64)
    place[order] = np.arange(codes.size)
    return place[inverse]


def _rearranged(values: NDArray[Any], rows: I64, moved: I64) -> NDArray[Any]:
    """A copy in which some rows stand in another order."""
    copy = values.copy()
    copy[rows] = values[rows[moved]]
    return copy


def _hits(ordered: _Ordered, pool: Pool) -> tuple[I64, I64]:
    """Rows of judged items, ascending, and their places in the judgments."""
    judgments, n_items = pool.judgments, len(pool.vocab.items)
    known = np.zeros(n_items + 1, dtype=bool)  # the last one stands for all foreign items
    known[judgments.item] = True
    rows = np.flatnonzero(known[np.minimum(ordered.item, n_items)])
    if not rows.size:
        return rows, rows
    owner = np.repeat(np.arange(len(judgments.query_ptr) - 1), np.diff(judgments.query_ptr))
    wanted = ordered.query[rows].astype(np.int64) * n_items + ordered.item[rows]
    keys = owner * n_items + judgments.item
    place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
    hit = keys[place] == wanted
    return rows[hit], place[hit]


def _extent(ordered: _Ordered, rows: I64) -> tuple[I64, I64]:
    """First and last row of the equal scores that each row is among."""
    if not ordered.first.size:
        return rows, rows
    group = np.searchsorted(ordered.first, rows, side="right") - 1
    tied = (group >= 0) & (rows < ordered.end[group])
    return np.where(tied, ordered.first[group], rows), np.where(tied, ordered.end[group] - 1, rows)


def _top(ordered: _Ordered, width: int) -> tuple[I32, F64]:
    """Item codes and scores of the first places; -1 and NaN past a list's end."""
    row = ordered.ptr[:-1, None] + np.arange(width)
    inside = row < ordered.ptr[1:, None]
    item = np.full(row.shape, -1, dtype=np.int32)
    score = np.full(row.shape, np.nan)
    item[inside], score[inside] = ordered.item[row[inside]], ordered.score[row[inside]]
    return item, score


def _constant(ordered: _Ordered) -> Bool:
    """Whether one group of equal scores, of two or more, is the whole list."""
    length = np.diff(ordered.ptr)
    constant = np.zeros(length.size, dtype=bool)
    query = ordered.query[ordered.first]
    whole = (ordered.end - ordered.first) == length[query]
    constant[query[whole]] = True
    return constant


def _refuse_not_finite(run: Run, lists: Lists, rules: _Rules) -> None:
    if np.isfinite(lists.score).all():
        return
    row = int(np.argmin(np.isfinite(lists.score)))
    query = rules.pool.vocab.queries[int(lists.query[row])]
    item = _name(int(lists.item[row]), rules)
    text = f"{run.origin.name}: the score of item {item} for query {query} is {lists.score[row]}"
    raise fault("bad_score", text, "scores must be finite numbers")


def _refuse_twice(run: Run, ordered: _Ordered, rows: I64, judgment: I64, rules: _Rules) -> None:
    """A judged item counted twice would make wrong numbers without a word."""
    seen = np.zeros(len(rules.pool.judgments.item), dtype=bool)
    seen[judgment] = True
    if int(seen.sum()) == judgment.size:
        return
    _, first = np.unique(judgment, return_index=True)
    row = int(np.delete(rows, first)[0])
    query = rules.pool.vocab.queries[int(ordered.query[row])]
    item = _name(int(ordered.item[row]), rules)
    text = f"{run.origin.name}: item {item} is twice in the list of query {query}"
    raise fault("duplicate_item", text, "give each item once a query")


def _name(item: int, rules: _Rules) -> str:
    known = rules.pool.vocab.items
    return str(known[item] if item < len(known) else rules.foreign[item - len(known)])
