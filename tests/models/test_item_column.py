"""A column of items as the score."""

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.models.item_column import ItemColumn

DAY = 86_400_000_000


@pytest.fixture
def pool(make_pool):
    items = {
        "a": {"sales": 3, "name": "x", "created_at": 2, "empty": None, "hot": True},
        "b": {"sales": None, "name": "y", "created_at": 1, "empty": None, "hot": False},
        "c": {"sales": 7, "name": "z", "created_at": None, "empty": None, "hot": None},
    }
    return make_pool({"q1": {}, "q2": {}}, items)


@pytest.mark.parametrize(
    ("column", "descending", "expected"),
    [
        ("sales", True, {"a": 3.0, "c": 7.0}),
        ("sales", False, {"a": -3.0, "c": -7.0}),
        ("created_at", True, {"a": 2.0 * DAY, "b": 1.0 * DAY}),
        ("hot", True, {"a": 1.0, "b": 0.0}),
    ],
)
def test_items_with_a_value_get_it(pool, tools, as_dict, column, descending, expected):
    found = as_dict(ItemColumn(column, descending).rank(pool, tools).final, pool)
    assert found == {"q1": expected, "q2": expected}


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ("sale", "items have no column 'sale' -> did you mean sales?"),
        ("name", "column 'name' of items holds string, not numbers"),
        ("empty", "column 'empty' of items holds "),
    ],
)
def test_other_columns_are_named(pool, tools, column, words):
    with pytest.raises(SamepoolError) as caught:
        ItemColumn(column).rank(pool, tools)
    assert words in str(caught.value)
