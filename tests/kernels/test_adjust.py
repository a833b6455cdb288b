import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from pipeline.kernels.adjust import holm

CASES = Path(__file__).parents[3] / "shared" / "cases" / "statistics" / "cases.json"


def test_by_hand():
    assert holm([0.01, 0.02, 0.5]) == [0.03, 0.04, 0.5]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_what_was_not_tested_does_not_count():
    assert holm([0.01, None, float("nan")]) == [0.01, None, None]
    assert holm([None]) == [None]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_agrees_with_statsmodels(p):
    oracle = multipletests(p, method="holm")[1]
    assert np.allclose(holm(p), oracle, rtol=1e-12, atol=0)


@pytest.mark.skipif(not CASES.exists(), reason="acceptance cases are not in this checkout")
def test_acceptance_case():
    case = next(c for c in json.loads(CASES.read_text()) if c["kind"] == "adjust")
    found = holm(case["input"]["p"])
    for value, expected in zip(found, case["expected"]["holm"], strict=True):
        assert value == (expected if expected is None else pytest.approx(expected, rel=1e-12))
