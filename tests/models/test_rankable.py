"""Which items a query may be given, and what is kept of them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pipeline.models import _blocks
from pipeline.models._rankable import rankable
from pipeline.models._top import top
from pipeline.models.popularity import Popularity
from pipeline.models.svd import Svd

EVERY = slice(0, 2)


def test_everything_without_times(make_pool):
    pool = make_pool({"q1": {}, "q2": {}}, {"a": {}, "b": {}})
    assert rankable(pool).mask(EVERY).all()


def test_only_what_is_eligible_at_the_query_s_time(make_pool):
    pool = make_pool(
        {"q1": {"issued_at": 10}, "q2": {"issued_at": 20}},
        {"a": {"eligible_from": 20}, "b": {"eligible_until": 20}, "c": {"eligible_from": 5}},
    )
    assert rankable(pool).mask(EVERY).tolist() == [[False, True, True], [True, False, True]]


LOGS = [
    {"user_id": "u1", "item_id": "a"},
    {"user_id": "u2", "item_id": "b", "reward": 0.0},
    {"query_id": "q2", "item_id": "c"},
    {"user_id": "u9", "item_id": "d"},
    {"user_id": "u1", "item_id": "elsewhere"},
]
QUERIES = {"q1": {"user_id": "u1"}, "q2": {"user_id": "u2"}}
ITEMS = {"a": {}, "b": {}, "c": {}, "d": {}}


def test_seen_items_are_out_where_so_declared(make_pool):
    """By the user or by the query itself, whatever the reward."""
    pool = make_pool(QUERIES, ITEMS, LOGS, seen="removed")
    assert rankable(pool).mask(EVERY).tolist() == [
        [False, True, True, True],
        [True, False, False, True],
    ]


def test_seen_items_stay_where_not_declared(make_pool):
    assert rankable(make_pool(QUERIES, ITEMS, LOGS)).mask(EVERY).all()


def test_candidates_are_exactly_the_pairs_given(make_pool):
    pairs = [("q1", "a"), ("q2", "d")]
    pool = make_pool(QUERIES, ITEMS, LOGS, candidates=pairs, seen="removed")
    assert np.argwhere(rankable(pool).mask(EVERY)).tolist() == [[0, 0], [1, 3]]


def test_no_candidates_is_no_pair(make_pool):
    pool = make_pool(QUERIES, ITEMS, candidates=[])
    assert not rankable(pool).mask(EVERY).any()


def test_ties_at_the_cut_are_kept():
    scores = np.array([[5.0, 3.0, 3.0, 1.0], [1.0, 1.0, 1.0, 1.0], [4.0, 3.0, 2.0, 1.0]])
    rows, columns = top(scores, np.ones_like(scores, dtype=bool), 2)
    assert rows.tolist() == [0, 0, 0, 1, 1, 1, 1, 2, 2]
    assert columns.tolist() == [0, 1, 2, 0, 1, 2, 3, 0, 1]


def test_masked_items_take_no_place():
    mask = np.array([[False, True, True], [False, False, True]])
    rows, columns = top(np.array([[9.0, 1.0, 2.0], [9.0, 8.0, 7.0]]), mask, 1)
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [2, 2])


@given(
    scores=hnp.arrays(np.float64, (4, 9), elements=st.integers(-3, 3).map(float)),
    mask=hnp.arrays(np.bool_, (4, 9)),
    keep=st.integers(1, 12),
)
def test_top_is_the_naive_top(scores, mask, keep):
    rows, columns = top(scores, mask, keep)
    expected = []
    for row in range(4):
        ranked = sorted((scores[row, c] for c in range(9) if mask[row, c]), reverse=True)
        last = ranked[min(keep, len(ranked)) - 1] if ranked else np.inf
        expected += [(row, c) for c in range(9) if mask[row, c] and scores[row, c] >= last]
    assert list(zip(rows, columns, strict=True)) == expected


def test_blocks_cover_every_query_once(world, monkeypatch):
    monkeypatch.setattr(_blocks, "CELLS", 100)
    found = _blocks.blocks(world())
    assert len(found) > 10
    assert [q for block in found for q in range(block.start, block.stop)] == list(range(40))


def test_an_item_of_many_never_makes_an_empty_block(world, monkeypatch):
    monkeypatch.setattr(_blocks, "CELLS", 1)
    assert len(_blocks.blocks(world())) == 40


def test_progress_is_told_of_every_block(world, monkeypatch, tools):
    told = []

    def progress(blocks, label):
        for block in blocks:
            told.append((block.start, label))
            yield block

    monkeypatch.setattr(_blocks, "CELLS", 300)
    Popularity().rank(world(), replace(tools, progress=progress))
    assert told == [(start, "popularity") for start in range(0, 40, 10)]


def test_a_pool_without_queries_has_no_lists(make_pool, tools):
    pool = make_pool({}, {"a": {}}, [{"item_id": "a"}])
    assert len(Popularity().rank(pool, tools).final.query) == 0


def test_keep_depth_holds_for_each_query(world, tools):
    found = Svd(factors=5).rank(world(), replace(tools, keep_depth=4)).final
    per_query = np.bincount(found.query, minlength=40)
    assert per_query.min() == 4


@pytest.mark.parametrize("keep", [1, 3])
def test_an_equal_score_is_never_cut(make_pool, tools, keep):
    items = {"a": {}, "b": {}, "c": {}}
    pool = make_pool({"q": {}}, items, [{"item_id": i} for i in "abc"])
    found = Popularity().rank(pool, replace(tools, keep_depth=keep)).final
    assert found.item.tolist() == [0, 1, 2]
