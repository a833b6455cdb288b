"""Scores of blocks: what is not finite is told, never dropped by the cut."""

import numpy as np
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.models import Tools
from pipeline.models._blocks import rank_blocks


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
