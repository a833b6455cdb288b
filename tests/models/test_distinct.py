"""First rows of equal strings, against a dictionary."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.models import _distinct
from pipeline.models._distinct import first_rows


def naive(ids):
    first = {}
    return [first.setdefault(text, row) for row, text in enumerate(ids)]


@given(st.lists(st.text("ab\0\u00e9", max_size=10), max_size=40))
def test_agrees_with_a_dictionary(ids):
    assert first_rows(pa.array(ids, pa.string())).tolist() == naive(ids)
    assert first_rows(pa.array(ids, pa.large_string())).tolist() == naive(ids)


@pytest.mark.parametrize("length", [7, 8, 9, 16, 17, 128, 129, 300])
def test_every_byte_counts(length):
    """Strings that differ in one place each, and in length only."""
    ids = ["a" * place + "b" + "a" * (length - place - 1) for place in range(length)]
    ids += ["a" * length, "a" * (length - 1), "a" * length + "\0", ids[0], ids[-1]]
    assert first_rows(pa.array(ids)).tolist() == naive(ids)


def test_a_sliced_column_is_read_from_its_start():
    ids = ["zz", "a", "b", "a", "yy", "b"]
    column = pa.array(ids)
    assert first_rows(column[1:5]).tolist() == naive(ids[1:5])


def test_many_strings():
    ids = [f"doc{n}" for n in np.random.default_rng(0).integers(0, 60_000, 150_000)]
    assert first_rows(pa.array(ids)).tolist() == naive(ids)


def test_a_hash_that_collides_changes_nothing(monkeypatch):
    monkeypatch.setattr(
        _distinct, "_hashed", lambda column: np.zeros(len(column.ends) - 1, np.uint64)
    )
    assert first_rows(pa.array(["a", "b", "a"])).tolist() == [0, 1, 0]
