"""The macro mean, by hand and by its properties."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.kernels.means import macro

VALUES = np.array([0.2, np.nan, 0.6, 1.0, np.nan])


@pytest.mark.parametrize(
    ("mask", "mean", "n"),
    [
        ([True, True, True, True, True], 0.6, 3),
        ([True, True, False, True, False], 0.6, 2),
        ([False, True, False, False, True], None, 0),
        ([False] * 5, None, 0),
    ],
)
def test_by_hand(mask, mean, n) -> None:
    found = macro(VALUES, np.array(mask))
    assert found == (pytest.approx(mean) if mean is not None else None, n)


def test_infinite_values_count() -> None:
    assert macro(np.array([np.inf, 1.0]), np.ones(2, bool)) == (np.inf, 2)


@settings(max_examples=50)
@given(
    st.lists(
        st.tuples(st.one_of(st.just(math.nan), st.floats(-1e6, 1e6)), st.booleans()), max_size=40
    )
)
def test_what_is_left_out_changes_no_bit(rows) -> None:
    values = np.array([value for value, _ in rows], dtype=np.float64)
    mask = np.array([inside for _, inside in rows], dtype=bool)
    kept = mask & ~np.isnan(values)
    wide = np.column_stack([values, values])[:, 1]  # a column of a table: strided in memory
    assert macro(wide, mask) == macro(values[kept], np.ones(kept.sum(), bool))
