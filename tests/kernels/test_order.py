from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.order import descending, members, places, starts, ties, within

LISTS = st.lists(st.lists(st.integers(-3, 3), max_size=9), max_size=6)


def flat(lists):
    ptr = np.cumsum([0, *map(len, lists)])
    return ptr, np.array([float(score) for scores in lists for score in scores])


@given(LISTS)
def test_descending_is_the_stable_sort_of_each_list(lists):
    ptr, score = flat(lists)
    rows = descending(ptr, score)
    expected = [
        start + place
        for start, scores in zip(ptr[:-1], lists, strict=True)
        for place in sorted(range(len(scores)), key=lambda i, s=scores: -s[i])
    ]
    stands = expected == list(range(score.size))
    assert (rows is None) == stands
    assert stands or rows.tolist() == expected


def test_a_score_of_minus_infinity_stands_before_the_padding():
    ptr, score = np.array([0, 2, 5]), np.array([-np.inf, 1.0, 1.0, -np.inf, 2.0])
    assert descending(ptr, score).tolist() == [1, 0, 4, 2, 3]


@given(LISTS)
def test_ties_are_the_runs_of_equal_scores(lists):
    ptr, score = flat([sorted(scores, reverse=True) for scores in lists])
    first, end = ties(ptr, score)
    expected = []
    for start, stop in pairwise(ptr):
        for value in sorted(set(score[start:stop]), reverse=True):
            rows = start + np.flatnonzero(score[start:stop] == value)
            if rows.size > 1:
                expected.append((rows[0], rows[-1] + 1))
    assert list(zip(first.tolist(), end.tolist(), strict=True)) == expected
    rows, group = members(first, end)
    assert rows.tolist() == [row for a, b in expected for row in range(a, b)]
    assert group.tolist() == [place for place, (a, b) in enumerate(expected) for _ in range(a, b)]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(-(2**62), 2**62)), max_size=12))
def test_within_orders_by_key_inside_groups(pairs):
    pairs.sort(key=lambda pair: pair[0])
    group, key = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    order = within(group, key)
    expected = sorted(range(len(pairs)), key=lambda i: pairs[i])
    stands = expected == list(range(len(pairs)))
    assert (order is None) == stands
    assert stands or order.tolist() == expected


def test_within_is_stable():
    assert within(np.array([0, 0, 0]), np.array([1, 0, 1])).tolist() == [1, 0, 2]


def test_places_count_from_one_in_each_query():
    query = np.array([1, 1, 1, 4, 7, 7], dtype=np.int32)
    assert places(query).tolist() == [1, 2, 3, 1, 1, 2]
    assert starts(query).tolist() == [True, False, False, True, True, False]
    assert places(query[:0]).size == 0
    assert starts(query[:0]).size == 0
