import numpy as np

from pipeline.core.pool import OPEN_END, UNKNOWN_TIME
from pipeline.kernels import eligibility
from pipeline.kernels.eligibility import eligible


def test_unknown_means_the_same_here_as_in_a_pool():
    assert eligibility.UNKNOWN_TIME == UNKNOWN_TIME


def test_the_window_is_closed_below_and_open_above():
    times = np.array([9, 10, 19, 20])
    assert eligible(times, np.array(10), np.array(20)).tolist() == [False, True, True, False]


def test_open_ends_and_unknown_times():
    times = np.array([UNKNOWN_TIME, -(10**17), 0, 10**17])
    assert eligible(times, np.array(UNKNOWN_TIME), np.array(OPEN_END)).all()
    assert eligible(times, np.array(5), np.array(6)).tolist() == [True, False, False, False]


def test_it_broadcasts_queries_against_items():
    found = eligible(np.array([[1], [5]]), np.array([0, 3]), np.array([2, 9]))
    assert found.tolist() == [[True, False], [False, True]]
    assert found.dtype == np.bool_


def test_an_empty_window_admits_nothing():
    assert not eligible(np.array([3]), np.array([3]), np.array([3])).any()
