"""Both popularities against hand counts."""

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.models.popularity import Popularity
from pipeline.models.recent_popularity import RecentPopularity

ITEMS = {"a": {}, "b": {}, "c": {}}
LOGS = [
    {"user_id": "u1", "item_id": "a", "at": 1, "reward": 5.0},
    {"user_id": "u2", "item_id": "a", "at": 5, "reward": 1.0},
    {"user_id": "u1", "item_id": "b", "at": 8, "reward": 4.0},
    {"user_id": "u1", "item_id": "c", "at": 8, "reward": 0.0},
    {"user_id": "u3", "item_id": "b", "at": None, "reward": 2.0},
    {"user_id": "u3", "item_id": "b", "at": 9, "reward": None},
    {"user_id": "u3", "item_id": "elsewhere", "at": 9, "reward": 1.0},
]
QUERIES = {"q1": {"user_id": "u1", "issued_at": 8}, "q2": {"user_id": "u8", "issued_at": 10}}


def test_counts_rows_with_a_reward(make_pool, tools, as_dict):
    pool = make_pool(QUERIES, ITEMS, LOGS)
    counts = {"a": 2.0, "b": 2.0, "c": 0.0}
    assert as_dict(Popularity().rank(pool, tools).final, pool) == {"q1": counts, "q2": counts}


def test_counts_every_row_without_a_reward_column(make_pool, tools, as_dict):
    logs = [{key: row[key] for key in ("user_id", "item_id")} for row in LOGS]
    pool = make_pool({"q1": {}}, ITEMS, logs)
    found = as_dict(Popularity().rank(pool, tools).final, pool)
    assert found == {"q1": {"a": 2.0, "b": 3.0, "c": 1.0}}


def test_counts_clicks_where_there_is_no_reward(make_pool, tools, as_dict):
    logs = [{"item_id": "a", "click": True}, {"item_id": "b", "click": False}]
    pool = make_pool({"q1": {}}, ITEMS, logs)
    found = as_dict(Popularity().rank(pool, tools).final, pool)
    assert found == {"q1": {"a": 1.0, "b": 0.0, "c": 0.0}}


@pytest.mark.parametrize(
    ("days", "q1", "q2"),
    [
        (3, {"a": 1.0, "b": 0.0, "c": 0.0}, {"a": 0.0, "b": 1.0, "c": 0.0}),
        (2.5, {"a": 0.0, "b": 0.0, "c": 0.0}, {"a": 0.0, "b": 1.0, "c": 0.0}),
        (100, {"a": 2.0, "b": 0.0, "c": 0.0}, {"a": 2.0, "b": 1.0, "c": 0.0}),
    ],
)
def test_counts_up_to_but_not_at_the_query_s_time(make_pool, tools, as_dict, days, q1, q2):
    pool = make_pool(QUERIES, ITEMS, LOGS)
    found = as_dict(RecentPopularity(window_days=days).rank(pool, tools).final, pool)
    assert found == {"q1": q1, "q2": q2}


@pytest.mark.parametrize("kind", ["popularity", "recent_popularity", "item_knn", "svd"])
def test_logs_are_needed(make_pool, tools, kind):
    model = build("models", {"kind": kind}, "models.mine")
    with pytest.raises(SamepoolError, match=f"a {kind} model learns from logs, and pool tiny has"):
        model.rank(make_pool(QUERIES, ITEMS), tools)
    with pytest.raises(SamepoolError, match="hold no interaction -> rows need an item of the pool"):
        model.rank(make_pool(QUERIES, ITEMS, [{"item_id": "elsewhere"}]), tools)


def test_dates_and_times_are_needed(make_pool, tools):
    undated = [{"item_id": "a", "user_id": "u1"}]
    with pytest.raises(SamepoolError, match=r"needs dated logs.*add the column `at`"):
        RecentPopularity().rank(make_pool(QUERIES, ITEMS, undated), tools)
    some = {"q1": {"issued_at": 8}, "q2": {"issued_at": None}}
    with pytest.raises(SamepoolError, match=r"time of every query; 1 of 2 have none, e.g. `q2`"):
        RecentPopularity().rank(make_pool(some, ITEMS, LOGS), tools)


def test_a_window_has_a_length():
    with pytest.raises(SamepoolError, match=r"models.recent: window_days must be above 0, not 0"):
        build("models", {"kind": "recent_popularity", "window_days": 0}, "models.recent")
