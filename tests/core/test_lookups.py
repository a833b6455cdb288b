"""Looking things up in core values."""

from typing import get_args

import numpy as np
import pytest

from pipeline.core.decision import BEST_FIRST, WORST_FIRST, DecisionStatus, Status
from pipeline.core.scores import Scores
from pipeline.core.slices import Slices


def test_a_mask_is_the_column_of_its_name() -> None:
    query = np.array([[True, False], [True, True]])
    slices = Slices(("all", "few"), query, ("all", "new"), np.zeros((0, 2), bool), {}, {}, {}, "")
    assert slices.mask("few").tolist() == [False, True]
    with pytest.raises(KeyError, match="new"):
        slices.mask("new")  # an item slice has no mask over queries


def test_a_column_is_found_by_metric_and_item_slice() -> None:
    none = np.zeros(2, bool)
    values, reason = np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[0, 1], [2, 3]], np.uint8)
    columns = (("P@1", "all"), ("P@1", "new"))
    scores = Scores("a", columns, values, reason, {}, ~none, none, none, none.astype(np.int32))
    found = scores.column("P@1", "new")
    assert found is not None
    assert (found[0].tolist(), found[1].tolist()) == ([2.0, 4.0], [1, 3])
    assert scores.column("P@2", "all") is None


def test_every_status_has_its_place() -> None:
    assert sorted(WORST_FIRST) == sorted(get_args(Status))
    assert sorted(BEST_FIRST) == sorted(get_args(DecisionStatus))
    assert (WORST_FIRST[0], BEST_FIRST[0], BEST_FIRST[-1]) == ("invalid", "pass", "no_criteria")
