"""Scores of blocks: what is not finite is told, never dropped by the cut."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from pipeline.core.problems import SamepoolError
from pipeline.models import Tools, _pairwise
from pipeline.models._blocks import ByPair, _whole, rank_blocks
from pipeline.models._pairwise import paired


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_score_that_is_not_finite_names_query_and_item(make_pool, wrong):
    pool = make_pool(queries={"q1": {}, "q2": {}}, items={"a": {}, "b": {}, "c": {}})
    scores = np.array([[3.0, 2.0, 1.0], [3.0, wrong, 1.0]])
    with pytest.raises(SamepoolError, match="odd scored NaN or infinity for 1 pairs, first q2/b"):
        rank_blocks(pool, Tools(keep_depth=1), "odd", lambda block, _mask: scores[block])


def test_scores_that_do_not_count_may_be_anything(make_pool):
    pool = make_pool(queries={"q1": {}}, items={"a": {}, "b": {}, "c": {}})
    scores = np.array([[3.0, np.nan, 1.0]])
    counts = np.array([True, False, True])
    found = rank_blocks(pool, Tools(), "odd", lambda block, _mask: scores[block], counts)
    assert found.final.item.tolist() == [0, 2]


def test_candidates_of_a_large_catalogue_are_scored_alone(make_pool, as_dict):
    """No score is asked for but those of the pairs, and each with its whole list."""
    pool = make_pool(
        {q: {} for q in ("q1", "q2", "q3")},
        {i: {} for i in "abcdef"},
        candidates=[("q1", "a"), ("q1", "f"), ("q3", "b"), ("q3", "c"), ("q3", "d")],
    )
    asked = []

    def pairs(query, item):
        asked.append((query.tolist(), item.tolist()))
        return item.astype(float)

    found = rank_blocks(pool, Tools(keep_depth=2), "odd", None, pairs=ByPair(pairs))
    assert asked == [([0, 0, 2, 2, 2], [0, 5, 1, 2, 3])]
    assert as_dict(found.final, pool) == {"q1": {"a": 0.0, "f": 5.0}, "q3": {"c": 2.0, "d": 3.0}}
    some = ByPair(pairs, matched=lambda query, scores: (query == 2) & (scores < 3))
    scored = np.array([True, False, True, True, True, True])
    found = rank_blocks(pool, Tools(), "odd", None, scored, some)
    assert as_dict(found.final, pool) == {"q3": {"c": 2.0}}


@pytest.mark.parametrize("most", [1, 2, 3, 4, 99])
def test_no_query_is_parted(most):
    query = np.array([0, 0, 0, 2, 3, 3], np.int32)
    parts = _whole(query, most)
    assert [row for part in parts for row in range(part.start, part.stop)] == list(range(6))
    edges = {part.start for part in parts}
    assert edges <= {0, 3, 4}
    assert (len(parts) == 3) == (most == 1)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_a_pair_s_score_that_is_not_finite_is_named(make_pool, wrong):
    pool = make_pool({"q1": {}, "q2": {}}, {"a": {}, "b": {}}, candidates=[("q2", "b")])
    odd = ByPair(lambda query, _item: np.full(len(query), wrong))
    with pytest.raises(SamepoolError, match="odd scored NaN or infinity for 1 pairs, first q2/b"):
        rank_blocks(pool, Tools(), "odd", None, pairs=odd)


@given(seed=st.integers(0, 2**32 - 1), most=st.sampled_from([1, 7, 10_000]))
def test_products_of_pairs_are_those_of_matrices_to_the_bit(seed, most):
    rng = np.random.default_rng(seed)
    left, right = (sparse.random_array((n, 30), density=0.5, rng=rng, format="csr") for n in (6, 5))
    left.sort_indices()
    right.sort_indices()
    row, column = (np.arange(6).repeat(5).astype(np.int32), np.tile(np.arange(5), 6))
    to_right = right.T.tocsr()
    to_right.sort_indices()
    whole = (left @ to_right).toarray()[row, column]
    with mock.patch.object(_pairwise, "ENTRIES", most):
        assert paired(left, right, row, column.astype(np.int32)).tobytes() == whole.tobytes()
