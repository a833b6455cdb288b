import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.problems import SamepoolError
from pipeline.slices import assign
from pipeline.slices._columns import Column
from pipeline.slices._evaluate import Evaluator


def one(pool, where, **more):
    slices = assign(pool, {"s": {"where": where, **more}})
    if more.get("over") == "items":
        return slices.item[:, 1].astype(int).tolist()
    return slices.query[:, 1].astype(int).tolist()


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("length >= 6", [0, 1, 1, 0]),
        ('length >= 6 and gender == "M"', [0, 1, 0, 0]),
        ("3 <= length < 7", [1, 0, 1, 0]),
        ("gender in ['F', 'NO']", [1, 0, 0, 1]),
        ("gender not in ['F']", [0, 1, 0, 1]),
        ("gender != 'F'", [0, 1, 0, 1]),
        ("not gender == 'F'", [0, 1, 1, 1]),
        ("gender is None", [0, 0, 1, 0]),
        ("gender is not None or length == 6", [1, 1, 1, 1]),
        ("vip", [1, 0, 0, 1]),
        ("not vip", [0, 1, 1, 0]),
        ("vip == True and frequency > 5", [1, 0, 0, 0]),
        ("frequency * 2 + 1 == 9", [0, 0, 0, 1]),
        ("-frequency < -3", [1, 0, 0, 1]),
        ("length // 2 == 3 or length % 2 == 1", [1, 1, 1, 0]),
        ("length / (frequency - 1) < 100", [1, 0, 0, 0]),
        ("length in [-1, 3]", [1, 0, 0, 0]),
        ("issued_at >= '1970-01-11'", [0, 1, 1, 0]),
        ("'1970-01-05' < issued_at < '1970-01-15T00:00:00'", [0, 1, 0, 0]),
        ("(length > 3) == vip", [0, 0, 0, 0]),
        ("kind == 'x'", [1, 0, 1, 0]),
        ("1 < 2", [1, 1, 1, 1]),
        ("empty == 'x'", [0, 0, 0, 0]),
        ("  length > 3 ", [0, 1, 1, 0]),
    ],
)
def test_conditions(pool, where, expected):
    assert one(pool, where) == expected


def test_over_items(pool):
    assert one(pool, "genre == 'war'", over="items") == [0, 1, 0, 1, 1, 0]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("freq > 3", "column 'freq' is not in the pool's queries -> did you mean frequency?"),
        ("zzz > 3", "-> there are: big, empty"),
        ("__import__('os').system('true')", "is not allowed in a condition"),
        ("gender.upper() == 'F'", "is not allowed in a condition"),
        ("[x for x in gender]", "is not allowed in a condition"),
        ("(lambda: 1)() == 1", "is not allowed in a condition"),
        ("gender[0] == 'F'", "is not allowed in a condition"),
        ("f'{gender}' == 'F'", "is not allowed in a condition"),
        ("length ** 9 > 1", "is not allowed in a condition"),
        ("length == None", "is not allowed in a condition"),
        ("gender is 'F'", "is not allowed in a condition"),
        ("length in [frequency]", "is not allowed in a condition"),
        ("length in frequency", "after in is not a list of values"),
        ("length := 3", "cannot be read"),
        ("length >", "cannot be read: invalid syntax"),
        ("", "cannot be read"),
        ("length; vip", "cannot be read"),
        ("length", "'length' is a number, not a condition"),
        ("gender and vip", "'gender' is text, not a condition"),
        ("length > '6'", "length is a number and '6' is text; they cannot be compared"),
        ("gender == False", "quote the value: YAML reads NO"),
        ("gender in ['F', 3]", "they cannot be compared"),
        ("gender > 'A'", "gender is text, which has no order"),
        ("vip > False", "which has no order"),
        ("gender + 1 > 2", "gender is text; arithmetic needs numbers"),
        ("issued_at + 1 > 2", "issued_at is a time; arithmetic needs numbers"),
        ("issued_at > 'soon'", "'soon' is not a date or time"),
        ("big > 3", "integers beyond 2^53"),
        ("length > 1" + "0" * 400, "cannot be read"),
        ("vip or " * 400 + "vip", "is longer than 2,000 characters"),
    ],
)
def test_complaints(pool, where, message):
    with pytest.raises(SamepoolError) as caught:
        one(pool, where)
    assert message in str(caught.value)
    assert "slices.defs.s" in str(caught.value)


def test_deep_nesting_is_refused_not_crashed(pool):
    with pytest.raises(SamepoolError, match=r"nested too deeply|cannot be read"):
        one(pool, "(" * 900 + "vip" + ")" * 900)


numbers = st.one_of(st.none(), st.integers(-3, 3).map(float))


@settings(max_examples=60, deadline=None)
@given(
    a=st.lists(numbers, min_size=4, max_size=4),
    b=st.lists(numbers, min_size=4, max_size=4),
    op=st.sampled_from(["<", "<=", "==", "!=", ">", ">="]),
    sign=st.sampled_from(["+", "-", "*"]),
    joint=st.sampled_from(["and", "or"]),
)
def test_vectorised_values_agree_with_python(a, b, op, sign, joint):
    def column(name):
        values = pa.array({"a": a, "b": b}[name], pa.float64())
        data = np.asarray(values.fill_null(math.nan))
        return Column(name, "number", data, np.isnan(data))

    where = f"a {sign} b {op} 1 {joint} not a {op} b"
    found = Evaluator(column, 4, "w").mask(where)
    for row in range(4):
        x, y = a[row], b[row]
        known = x is not None and y is not None
        first = known and eval(f"{x} {sign} ({y}) {op} 1")
        second = not (known and eval(f"{x} {op} ({y})"))
        assert bool(found[row]) == ((first and second) if joint == "and" else (first or second))
