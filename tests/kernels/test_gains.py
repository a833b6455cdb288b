import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.gains import discounted, gain, ideal, total


def test_gain_exp_of_whole_grades_is_exact():
    grades = np.arange(31.0)
    assert gain(grades, "exp").tolist() == [2**grade - 1 for grade in range(31)]


@pytest.mark.parametrize("kind", ["linear", "identity"])
def test_linear_and_identity_are_the_grade(kind):
    assert gain(np.array([-2.0, 0.0, 0.5, 3.0]), kind).tolist() == [0.0, 0.0, 0.5, 3.0]


@given(st.lists(st.floats(-1e6, 1000), min_size=2))
def test_no_gain_is_negative_and_more_grade_is_never_less_gain(grades):
    for kind in ("exp", "linear"):
        gains = gain(np.sort(np.array(grades)), kind)
        assert (gains >= 0).all()
        assert (np.diff(gains) >= 0).all()


def test_too_large_a_grade_is_infinite_without_a_warning():
    assert gain(np.array([5000.0]), "exp")[0] == np.inf


def test_discount_of_the_first_three_ranks():
    found = discounted(np.ones(3), np.array([1, 2, 3]))
    assert found.tolist() == pytest.approx([1.0, 0.6309297535714575, 0.5], abs=0)


def test_ideal_orders_each_query_alone():
    query = np.array([0, 0, 0, 2, 2], dtype=np.int32)
    grade, place = ideal(query, np.array([1.0, 3.0, 2.0, 0.5, 7.0]))
    assert grade.tolist() == [3.0, 2.0, 1.0, 7.0, 0.5]
    assert place.tolist() == [1, 2, 3, 1, 2]


def test_total_has_a_zero_for_queries_without_rows():
    found = total(np.array([1, 1]), np.array([0.25, 0.5]), 3)
    assert found.tolist() == [0.0, 0.75, 0.0]
    empty = total(np.array([], dtype=np.int32), np.array([]), 2)
    assert empty.tolist() == [0.0, 0.0]
    assert empty.dtype == np.float64
