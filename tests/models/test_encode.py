"""Codes of candidates are in order, whatever that of the table; which keys are known."""

from dataclasses import replace

import numpy as np
import pyarrow as pa

from pipeline.models._encode import candidates, within


def test_candidates_are_in_order_with_their_rows(make_pool):
    pairs = [("q1", "a"), ("q1", "c"), ("q2", "a"), ("q2", "b")]
    pool = make_pool({"q1": {}, "q2": {}}, {"a": {}, "b": {}, "c": {}}, candidates=pairs)
    ordered = pool.candidates.append_column("age", pa.array([1, 2, 3, 4]))
    for order in ([0, 1, 2, 3], [2, 0, 3, 1], [1, 0, 2, 3], [2, 3, 0, 1]):
        listed = candidates(replace(pool, candidates=ordered.take(order)))
        assert listed.query.tolist() == [0, 0, 1, 1]
        assert listed.item.tolist() == [0, 2, 0, 1]
        assert listed.table.to_pylist() == ordered.to_pylist()


def test_within_is_membership():
    random = np.random.default_rng(0)
    for size in (0, 1, 50):
        known = np.sort(random.integers(0, 60, size))
        keys = random.integers(-5, 70, 200)
        assert np.array_equal(within(keys, known), np.isin(keys, known))
