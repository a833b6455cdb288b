"""Metric keys: readable, accepted by MLflow, distinct."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.tracking import _keys


@pytest.mark.parametrize(
    ("slice_name", "label", "expected"),
    [
        ("all", "nDCG(gain=exp)@10", "all/nDCG.exp_at_10"),
        ("all", "nDCG(gain=linear)@10", "all/nDCG.linear_at_10"),
        ("new_items", "R(stage=retrieval)@100", "new_items/R.retrieval_at_100"),
        ("all", "P(rel=2)@5", "all/P.rel-2_at_5"),
        ("all", "nDCG(gain=exp,stage=retrieval)@10", "all/nDCG.exp.retrieval_at_10"),
        ("lang=de", "AP", "lang_de/AP"),
        ("..", "RBP(p=0.8)", "_/RBP.p-0.8"),
        ("größe", "RR@10", "größe/RR_at_10"),
    ],
)
def test_keys_by_hand(slice_name, label, expected):
    assert _keys.key(slice_name, label) == expected


def test_colliding_keys_are_told_apart_whatever_the_order():
    pairs = [("a b", "RR@10"), ("a_b", "RR@10"), ("A_B", "RR@10"), ("all", "RR@10")]
    names = _keys.keys(pairs)
    assert len({name.casefold() for name in names.values()}) == 4
    assert names["all", "RR@10"] == "all/RR_at_10"
    assert _keys.keys(reversed(pairs)) == names


_TEXT = st.text(min_size=1, max_size=300)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(_TEXT, _TEXT), max_size=6))
def test_every_key_is_one_that_mlflow_takes(pairs):
    names = _keys.keys(pairs)
    assert len(set(names.values())) == len(set(pairs))
    for name in names.values():
        assert re.fullmatch(r"[/\w.\-]+", name)
        assert len(name) <= 250
        assert all(part.strip(".") for part in name.split("/"))
