"""The digest covers what a pool says, and nothing of how it is stored."""

import copy
import csv
import io
import json
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.pool import load
from pipeline.pool._digest import of_table

BASE = {
    "queries": {
        "query_id": ["q1", "q2", "q3"], "text": ["a", "b", None], "user_id": ["u", None, "v"],
        "frequency": [1, 2, 3], "issued_at": ["2024-01-01T00:00:00Z"] * 3,
        "big": [2**62 + 1, 5, None], "share": [0.1, None, 2.0], "mobile": [True, False, None],
        "country": ["NO", "null", "x,\"y\""],
    },
    "items": {
        "item_id": ["d1", "d2", "d3", "d4"], "text": ["i", "j", "k", "l"],
        "created_at": ["2023-01-01", None, "2023-01-02", "2023-05-05T10:00:00.5Z"],
        "popularity": [1.5, 2.0, None, 4.0],
    },
    "qrels": {
        "query_id": ["q1", "q1", "q2", "q3"], "item_id": ["d1", "d2", "d1", "d3"],
        "grade": [2, 0, 1, 1], "judge": ["a", "b", "a", None],
    },
    "candidates": {
        "query_id": ["q1", "q1", "q2"], "item_id": ["d1", "d4", "d2"], "f": [1, 2, None],
        "g": ["x", None, "z"],
    },
}  # fmt: skip


def write(folder, name, columns, fmt):
    path = folder / f"{name}.{fmt}"
    rows = list(zip(*columns.values(), strict=True))
    if fmt == "csv":
        out = io.StringIO(newline="")
        csv.writer(out).writerows([list(columns), *rows])
        path.write_bytes(out.getvalue().encode())
    elif fmt == "jsonl":
        lines = [
            json.dumps({k: v for k, v in zip(columns, row, strict=True) if v is not None})
            for row in rows
        ]
        path.write_text("\n".join(lines))
    else:
        typed = {k: stored(k, v) for k, v in columns.items()}
        pq.write_table(pa.table(typed), path, row_group_size=2)
    return str(path)


def stored(name, values):
    """A column as a warehouse would have it: dictionaries, timestamps, small integers."""
    if name in {"issued_at", "created_at"}:
        times = [None if v is None else datetime.fromisoformat(v) for v in values]
        return pa.array(
            [t and t.replace(tzinfo=t.tzinfo or UTC) for t in times], pa.timestamp("ns", "UTC")
        )
    if name in {"country", "user_id"}:
        return pa.array(values).dictionary_encode()
    if name in {"frequency", "grade"}:
        return pa.array(values, pa.int8())
    if name == "text":
        return pa.array(values, pa.large_string())
    return pa.array(values)


def digest(folder, tables, fmt="csv", **options):
    folder.mkdir(exist_ok=True)
    spec = {"kind": "files", **options}
    for name, columns in tables.items():
        spec[name] = write(folder, name, columns, fmt)
    return load(spec).digest


def shuffled(columns, seed):
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(next(iter(columns.values()))))
    names = rng.permutation(list(columns))
    return {str(n): [columns[n][i] for i in order] for n in names}


@pytest.fixture
def base(tmp_path):
    return digest(tmp_path / "base", BASE)


@pytest.mark.parametrize("fmt", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("seed", range(4))
def test_rows_columns_and_formats_do_not_count(tmp_path, base, fmt, seed):
    tables = {name: shuffled(columns, seed) for name, columns in BASE.items()}
    assert digest(tmp_path / "other", tables, fmt) == base


def test_the_name_does_not_count_but_declared_facts_do(tmp_path, base):
    assert digest(tmp_path, BASE, name="other") == base
    assert digest(tmp_path, BASE, labels="click") != base
    assert digest(tmp_path, BASE, as_of="2025-01-01") != base


def test_logs_have_a_digest_of_their_own(tmp_path, base):
    logs = {"query_id": ["q1"], "item_id": ["d1"], "at": ["2020-01-01"]}
    assert digest(tmp_path, BASE | {"logs": logs}) == base


@pytest.mark.parametrize(
    ("table", "column", "row"),
    [
        (t, c, r) for t, columns in BASE.items() for c, values in columns.items()
        for r in range(len(values)) if not c.endswith("_id")
    ],
)  # fmt: skip
def test_any_value_counts(tmp_path, base, table, column, row):
    tables = copy.deepcopy(BASE)
    old = tables[table][column][row]
    tables[table][column][row] = _changed(column, old)
    assert digest(tmp_path / "other", tables) != base


def _changed(column, old):
    if column in {"issued_at", "created_at"}:
        return "2023-12-31T23:59:59.999999Z"
    if isinstance(old, bool):
        return not old
    if old is None:
        known = {"text": "t", "g": "t", "judge": "t", "mobile": True}
        return known.get(column, 7)
    return old + 1 if isinstance(old, int | float) else old + "x"


def test_ids_count(tmp_path, base):
    tables = copy.deepcopy(BASE)
    tables["items"]["item_id"][3] = tables["candidates"]["item_id"][1] = "d5"
    assert digest(tmp_path / "other", tables) != base
    tables = copy.deepcopy(BASE)
    tables["candidates"]["item_id"][2] = "d3"
    assert digest(tmp_path / "third", tables) != base


def test_equal_judgments_of_two_judges_collapse_alike_in_any_order(tmp_path):
    qrels = {"query_id": ["q", "q"], "item_id": ["d", "d"], "grade": [1, 1], "judge": ["a", "b"]}
    other = {name: values[::-1] for name, values in qrels.items()}
    assert digest(tmp_path, {"qrels": qrels}) == digest(tmp_path, {"qrels": other})


VALUES = st.one_of(
    st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=5),
    st.lists(st.none() | st.floats(allow_nan=False), min_size=1, max_size=5),
    st.lists(st.none() | st.booleans(), min_size=1, max_size=5),
    st.lists(st.none() | st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=5),
    st.lists(st.none() | st.lists(st.integers(0, 3), max_size=2), min_size=1, max_size=4),
)


@settings(max_examples=100, deadline=None)
@given(VALUES, VALUES, st.integers(0, 5))
def test_tables_are_equal_where_their_digests_are(one, other, cut):
    whole = pa.array(one)
    chunks = pa.chunked_array([whole.slice(0, cut), whole.slice(cut)], whole.type)
    assert of_table(pa.table({"x": chunks})) == of_table(pa.table({"x": whole}))
    same = len(one) == len(other) and all(_same(a, b) for a, b in zip(one, other, strict=True))
    assert (of_table(pa.table({"x": whole})) == of_table(pa.table({"x": pa.array(other)}))) == same


def _same(one, other):
    if isinstance(one, bool) != isinstance(other, bool):
        return False
    return one == other


def test_whole_floats_equal_integers_and_huge_ones_do_not_collide():
    ints, floats = pa.array([1, 2, None]), pa.array([1.0, 2.0, None])
    assert of_table(pa.table({"x": ints})) == of_table(pa.table({"x": floats}))
    near = [2**53, 2**53 + 1, 2**63 - 1, 2**63 - 2]
    assert len({of_table(pa.table({"x": pa.array([n])})) for n in near}) == 4


def test_shifting_text_between_rows_counts():
    assert of_table(pa.table({"x": ["ab", "c"]})) != of_table(pa.table({"x": ["a", "bc"]}))
    assert of_table(pa.table({"x": ["", "a"]})) != of_table(pa.table({"x": [None, "a"]}))
    assert of_table(pa.table({"x": ["1"]})) != of_table(pa.table({"x": [1]}))
