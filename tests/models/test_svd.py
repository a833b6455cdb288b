"""SVD against NumPy's dense decomposition."""

import numpy as np
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.models.svd import Svd


@pytest.mark.parametrize("factors", [1, 5, 12, 30, 100])
def test_rebuilds_what_numpy_rebuilds(world, tools, factors):
    pool = world()
    met = np.zeros((45, 30))
    for row in pool.logs.to_pylist():
        met[int(row["user_id"][1:]), int(row["item_id"][1:])] = 1
    left, values, right = np.linalg.svd(met, full_matrices=False)
    expected = (left[:, :factors] * values[:factors]) @ right[:factors]
    found = Svd(factors).rank(pool, tools).final
    dense = np.full((40, 30), np.nan)
    dense[found.query, found.item] = found.score
    np.testing.assert_allclose(dense, expected[:40], atol=1e-9)


def test_a_person_without_history_gets_zeros(make_pool, tools, as_dict):
    logs = [{"user_id": "u1", "item_id": "a"}, {"user_id": "u2", "item_id": "b"}]
    pool = make_pool({"q1": {"user_id": "u1"}, "q2": {"user_id": "new"}}, {"a": {}, "b": {}}, logs)
    found = as_dict(Svd().rank(pool, tools).final, pool)
    assert found["q1"] == pytest.approx({"a": 1.0, "b": 0.0})
    assert found["q2"] == {"a": 0.0, "b": 0.0}


def test_factors_have_a_range():
    with pytest.raises(SamepoolError, match=r"models.svd: factors must be at least 1, not 0"):
        build("models", {"kind": "svd", "factors": 0}, "models.svd")
