"""Item neighbours against hand-computed cosines and a naive dense computation."""

import numpy as np
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.models import _blocks
from pipeline.models.item_knn import ItemKnn

LOGS = [
    {"user_id": user, "item_id": item}
    for user, items in {"u1": "ab", "u2": "abc", "u3": "bc", "u4": "aad"}.items()
    for item in items
]


@pytest.fixture
def pool(make_pool):
    queries = {"q1": {"user_id": "u4"}, "q2": {"user_id": "new"}, "q3": {"user_id": None}}
    return make_pool(queries, {"a": {}, "b": {}, "c": {}, "d": {}}, LOGS)


def test_sums_cosines_over_the_history(pool, tools, as_dict):
    """People: a 3, b 3, c 2, d 1; together: ab 2, ac 1, bc 2, ad 1. u4 met a (twice) and d."""
    found = as_dict(ItemKnn().rank(pool, tools).final, pool)["q1"]
    ad = 1 / np.sqrt(3)
    assert found == pytest.approx({"a": ad, "b": 2 / 3, "c": 1 / np.sqrt(6), "d": ad})


def test_shrinks_what_few_people_share(pool, tools, as_dict):
    found = as_dict(ItemKnn(shrink=2.0).rank(pool, tools).final, pool)["q1"]
    assert found["b"] == pytest.approx(2 / (3 + 2))
    assert found["d"] == pytest.approx(1 / (np.sqrt(3) + 2))


def test_keeps_each_item_s_nearest(pool, tools, as_dict):
    """The nearest of a is b, of b c, of c b, of d a: only d and b gain from a history of a, d."""
    found = as_dict(ItemKnn(neighbours=1).rank(pool, tools).final, pool)["q1"]
    assert found == pytest.approx({"a": 0.0, "b": 0.0, "c": 0.0, "d": 1 / np.sqrt(3)})


def test_a_person_without_history_gets_zeros(pool, tools, as_dict):
    found = as_dict(ItemKnn().rank(pool, tools).final, pool)
    assert found["q2"] == found["q3"] == dict.fromkeys("abcd", 0.0)


def test_a_query_without_users_has_its_own_history(make_pool, tools, as_dict):
    """Logs of searches: what was clicked for a query, by whomever."""
    logs = [
        {"query_id": q, "user_id": u, "item_id": i}
        for q, u, i in [("q1", "u1", "a"), ("q1", "u2", "b"), ("q2", "u1", "b"), (None, "u1", "b")]
    ]
    pool = make_pool({"q1": {}, "q2": {}}, {"a": {}, "b": {}}, logs)
    found = as_dict(ItemKnn().rank(pool, tools).final, pool)
    assert found["q2"] == pytest.approx({"a": 1 / np.sqrt(3), "b": 0.0})


@pytest.mark.parametrize("neighbours", [3, 10, 50])
@pytest.mark.parametrize("shrink", [0.0, 5.0])
@pytest.mark.parametrize("cells", [70, 2_000_000])
def test_agrees_with_a_dense_computation(
    world, tools, as_dict, monkeypatch, neighbours, shrink, cells
):
    monkeypatch.setattr(_blocks, "CELLS", cells)
    pool = world()
    met = np.zeros((45, 30))
    for row in pool.logs.to_pylist():
        met[int(row["user_id"][1:]), int(row["item_id"][1:])] = 1
    people = met.sum(0)
    near = met.T @ met / (np.sqrt(np.outer(people, people)) + shrink)
    np.fill_diagonal(near, 0)
    last = np.sort(near, axis=1)[:, -min(neighbours, 30)]
    near[near < last[:, None]] = 0
    expected = met[:40] @ near.T
    found = ItemKnn(neighbours, shrink).rank(pool, tools).final
    dense = np.full((40, 30), np.nan)
    dense[found.query, found.item] = found.score
    np.testing.assert_allclose(dense, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("options", "words"),
    [({"neighbours": 0}, "neighbours must be at least 1"), ({"shrink": -1}, "shrink must be at")],
)
def test_options_have_ranges(options, words):
    with pytest.raises(SamepoolError, match=words):
        build("models", {"kind": "item_knn", **options}, "models.knn")
