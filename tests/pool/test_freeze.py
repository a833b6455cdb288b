"""Frozen pools: a tiny raw set whose every number is worked out here, and what may not matter."""

import gzip
import hashlib
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.problems import SamepoolError
from pipeline.core.settings import (
    FreezeColumns,
    FreezeCommand,
    FreezeNegatives,
    FreezeRepeats,
    FreezeSource,
)
from pipeline.pool import freeze, load
from pipeline.pool._freeze.engine import Engine
from pipeline.pool._freeze.negatives import _draw, _generator
from pipeline.pool._freeze.strata import allocate, stratify
from pipeline.pool._result import Stratum

QUERIES = """\
query_id,text,user_id,issued_at,country,size
q1,Red  Shoes,u1,2026-05-01,NO,0041
q1,red shoes,u1,2026-05-03,NO,0041
q2,red shoes ,u2,2026-05-02T01:00:00+02:00,SE,0042
q1,red shoes,u1,2026-06-02,NO,0041
q3,hat,u3,2026-05-05,NO,0043
q3,hat,u3,2026-05-06,SE,0043
q4,sock,u4,2026-05-07,SE,0044
q5,tie,,2026-05-08,SE,0045
q6,belt,u6,2026-05-09,NO,0046
q7,bag,u7,2026-06-03,NO,0047
q8,"a ""warm""
coat",u8,,NO,0048
q9,cap,u9,2026-05-10,null,0049
"""
ITEMS = """\
item_id,text,created_at,price
d1,one,2026-01-01,1
d2,two,,2
d3,three,2026-06-05,3
d4,four,2026-02-01,4
d5,five,2026-02-01,5
"""
QRELS = """\
query_id,item_id,grade
q1,d1,3
q2,d1,3
q2,d2,1
q3,d3,2
q3,d1,1
q4,d4,1
q5,d4,0
q8,d1,2
q9,d2,2
q7,d1,1
q99,d1,1
"""
LOGS = """\
query_id,item_id,user_id,at
q2,d1,u2,2026-05-02
q3,d2,u3,2026-06-10
q4,d5,u4,2026-05-07
q5,d5,u5,
q3,d1,u3,2026-05-15
"""
UNDATED = FreezeColumns(queries={"issued_at": None})
TABLES = {"queries": QUERIES, "items": ITEMS, "qrels": QRELS, "logs": LOGS}


@pytest.fixture
def raw(tmp_path: Path) -> Path:
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def asked(folder: Path, out: str = "pool", **more) -> FreezeCommand:
    source = more.pop("source", {})
    paths = {name: str(folder / f"{name}.csv") for name in TABLES} | source
    given = {"as_of": "2026-06-01", "seed": 7, "threads": 1, "name": "tiny", "memory": "500MB"}
    return FreezeCommand(source=FreezeSource(**paths), out=str(folder / out), **(given | more))


def drawn_first(seed: int, ids: list[str]) -> list[str]:
    return sorted(ids, key=lambda i: hashlib.sha256(f"{seed}:{i}".encode()).hexdigest())


def test_every_number_by_hand(raw):
    made = freeze(asked(raw, n=4, train_until="2026-05-10"))
    # q1 three times, of which one is q2: the texts differ in case and white space only.
    assert made.record.counts["queries"] == {
        "rows": 12, "after_as_of": 2, "undated": 1, "ids": 8, "distinct": 7, "of_several_users": 1,
    }  # fmt: skip
    assert made.record.counts["items"] == {"rows": 5, "after_as_of": 1, "undated": 1}
    # Cut: q7 and q99; q3 with d3. United: q1 and q2 with d1.
    assert made.record.counts["qrels"] == {
        "rows": 11, "of_queries_cut": 2, "of_items_after_as_of": 1, "pairs": 7,
    }  # fmt: skip
    assert made.record.counts["logs"] == {
        "rows": 5, "after_as_of": 1, "after_train_until": 1, "undated": 1,
    }  # fmt: skip
    # q6 has no judgment. Judged are d1 to d4; d3 is created late, d2 first seen late.
    assert made.record.counts["population"]["below_min_judged"] == 1
    leaks = made.record.counts["leaks"]
    assert (leaks["judged_items"], leaks["first_after_as_of"], leaks["not_in_logs"]) == (4, 2, 3)
    assert (leaks["pairs_in_logs"], leaks["queries_in_logs"]) == (1, 1)  # q2 with d1, as q1
    # Traffic 3 + 2 + 4 x 1 = 9. Half of it is reached with q3; singles lie across the last edge.
    head, torso, tail = made.strata
    assert (head.queries, head.low, head.high, head.traffic) == (2, 2, 3, 5 / 9)
    assert (torso.queries, torso.taken, torso.weight) == (0, 0, 0)
    assert (tail.queries, tail.low, tail.high, tail.traffic) == (4, 1, 1, 4 / 9)
    assert [(s.taken, s.weight) for s in (head, tail)] == [(2, 1.0), (2, 2.0)]
    chosen = {"q1", "q3", *drawn_first(7, ["q4", "q5", "q8", "q9"])[:2]}
    rows = {row["query_id"]: row for row in made.pool.queries.to_pylist()}
    assert set(rows) == chosen
    assert (rows["q1"]["frequency"], rows["q1"]["weight"], rows["q1"]["stratum"]) == (3, 1, "head")
    assert rows["q1"]["user_id"] is None
    assert rows["q3"]["user_id"] == "u3"
    assert rows["q3"]["country"] == "NO"  # of the earlier request
    assert f"{rows['q1']['issued_at']:%m-%d}" == "05-03"
    assert f"{rows['q1']['first_issued_at']:%m-%d}" == "05-01"
    assert rows["q1"]["size"] == "0041"
    assert made.pool.units.weight.sum() == 6
    facts = made.pool.declared.facts
    assert facts["design"]["population"] == 6
    assert facts["design"]["strata"]["tail"]["sampled"] == 2
    assert "4 of 6 queries" in made.pool.declared.sampling
    assert "tail 2 of 4" in made.pool.declared.sampling
    assert made.pool.declared.catalogue == 4
    logs = pq.read_table(raw / "pool" / "logs.parquet").to_pylist()
    assert [(row["query_id"], row["item_id"]) for row in logs] == [("q1", "d1"), ("q4", "d5")]
    assert pq.read_table(raw / "pool" / "items.parquet")["item_id"].to_pylist() == [
        "d1", "d2", "d4", "d5",
    ]  # fmt: skip


def test_the_folder_tells_where_the_pool_came_from_and_loads(raw):
    made = freeze(asked(raw, n=4))
    record = json.loads((raw / "pool" / "pool.json").read_text())
    assert record["digest"] == made.pool.digest
    data = QUERIES.encode()
    assert record["sources"]["queries"] == {
        "path": str(raw / "queries.csv"), "rows": 12,
        "files": [{"file": str(raw / "queries.csv"), "bytes": len(data),
                   "sha256": hashlib.sha256(data).hexdigest()}],
    }  # fmt: skip
    assert record["settings"]["seed"] == 7
    assert sorted(p.name for p in raw.glob(".*")) == []
    loaded = load({"kind": "frozen", "path": str(raw / "pool")})
    assert loaded.digest == made.pool.digest
    assert loaded.logs.num_rows == 3
    assert not freeze(asked(raw, n=4)).fresh
    again = freeze(asked(raw, "elsewhere/pool", n=4))  # says the same but for when and where
    other = json.loads((again.folder / "pool.json").read_text())
    for one in (record, other):
        del one["created"], one["settings"]["out"]
    assert list(other.items()) == list(record.items())


def test_threads_formats_packing_parts_and_the_order_of_rows_do_not_matter(tmp_path):
    rng = np.random.default_rng(5)
    tables = random_tables(rng)
    for name, table in tables.items():
        shuffled = table.take(pa.array(rng.permutation(table.num_rows)))
        pq.write_table(table, tmp_path / f"{name}.parquet")
        (tmp_path / name).mkdir()
        half = shuffled.num_rows // 2
        pq.write_table(shuffled.slice(0, half), tmp_path / name / "b.parquet")
        names = shuffled.column_names[::-1]
        pq.write_table(shuffled.slice(half).select(names), tmp_path / name / "a.parquet")
        pacsv.write_csv(shuffled, tmp_path / f"{name}.csv")
        packed = gzip.compress((tmp_path / f"{name}.csv").read_bytes())
        (tmp_path / f"{name}.csv.gz").write_bytes(packed)
    variants = [("{}.parquet", 1), ("{}", 2), ("{}.csv", 2), ("{}.csv.gz", 1), ("{}/*.par*", 1)]
    found = []
    for number, (form, threads) in enumerate(variants):
        source = {name: str(tmp_path / form.format(name)) for name in tables}
        made = freeze(
            asked(tmp_path, f"pool{number}", source=source, threads=threads, n=30, labels="human",
                  negatives=FreezeNegatives(per_query=5))
        )  # fmt: skip
        sums = {name: file["sha256"] for name, file in made.record.files.items()}
        found.append((made.pool.digest, sums))
    assert set(found[0][1]) == {
        "queries.parquet", "items.parquet", "qrels.parquet", "logs.parquet", "candidates.parquet",
    }  # fmt: skip
    assert all(one == found[0] for one in found)
    other = freeze(asked(tmp_path, "other", source=source, n=30, seed=8, labels="human"))
    assert other.pool.digest != found[0][0]


def random_tables(rng) -> dict[str, pa.Table]:
    which = rng.integers(0, 60, 500) * rng.integers(0, 2, 500)
    seconds = rng.integers(0, 170 * 86_400, 500).astype("timedelta64[s]")
    times = np.datetime64("2026-01-01") + seconds
    queries = {
        "query_id": [f"{w:03}" for w in which],
        "text": [f"Word {w}" + " " * int(w % 2) for w in which],
        "issued_at": pa.array(times.astype("datetime64[us]"), pa.timestamp("us", "UTC")),
        "frequency": rng.integers(1, 5, 500) / 10,  # sums of these depend on their order
        "length": which % 7,
        "price": which + 0.25,
        "big": [bool(w % 2) for w in which],
    }
    items = {"item_id": [f"d{i}" for i in range(40)], "price": np.arange(40) + 0.5}
    pairs = [(q, i) for q in range(60) for i in rng.choice(40, 4, replace=False)]
    qrels = {
        "query_id": [f"{q:03}" for q, _ in pairs],
        "item_id": [f"d{i}" for _, i in pairs],
        "grade": rng.integers(0, 4, len(pairs)),
    }
    logs = {
        "query_id": [f"{w:03}" for w in which],
        "item_id": [f"d{i}" for i in rng.integers(0, 40, 500)],
        "at": queries["issued_at"],
        "click": rng.integers(0, 2, 500),
    }
    made = {"queries": queries, "items": items, "qrels": qrels, "logs": logs}
    return {name: pa.table(columns) for name, columns in made.items()}


@pytest.mark.parametrize(
    ("repeats", "expected"),
    [
        ({"by": "loose"}, {"q1": 3, "q3": 1}),  # a A and "a "
        ({"by": "exact"}, {"q1": 1, "q2": 1, "q4": 1, "q3": 1}),
        ({"by": "none"}, {"q1": 1, "q2": 1, "q4": 1, "q3": 1}),
        ({"by": "loose", "per_user": True}, {"q1": 2, "q4": 1, "q3": 1}),
    ],
)
def test_which_rows_are_one_query(raw, repeats, expected):
    (raw / "queries.csv").write_text("query_id,text,user_id\nq2,a,u1\nq1,A,u1\nq4,a ,u2\nq3,b,u2\n")
    rows = [f"{q},d1,1" for q in ("q1", "q2", "q3", "q4")]
    (raw / "qrels.csv").write_text("query_id,item_id,grade\n" + "\n".join(rows) + "\n")
    made = freeze(asked(raw, repeats=FreezeRepeats(**repeats), columns=UNDATED))
    rows = made.pool.queries.to_pylist()
    assert {row["query_id"]: row["frequency"] for row in rows} == expected


def test_a_conflict_takes_the_larger_grade_where_that_is_asked(raw):
    with (raw / "qrels.csv").open("a") as stream:
        stream.write("q1,d2,2\n")
    with pytest.raises(SamepoolError, match=r"q1 \(merged: q1, q2\), item d2 is judged 1 and 2"):
        freeze(asked(raw))
    made = freeze(asked(raw, repeats=FreezeRepeats(conflicts="max")))
    pool = made.pool
    first = slice(*pool.judgments.query_ptr[:2])
    assert pool.judgments.grade[first].tolist() == [3, 2]


def test_what_queries_need_is_asked_before_the_draw(raw):
    made = freeze(asked(raw, min_relevant=1, relevant_from=2))
    # Grade 2 or more: q1 (3), q8, q9; q3 lost d3 with the cut.
    assert made.pool.vocab.queries.to_pylist() == ["q1", "q8", "q9"]
    counts = made.record.counts["population"]
    assert (counts["below_min_judged"], counts["below_min_relevant"]) == (1, 3)
    assert made.pool.declared.facts["left_out"]["below_min_relevant"] == 3


def test_only_what_is_needed(raw):
    made = freeze(asked(raw, n=3, items="needed", logs="sampled"))
    judged = set(pq.read_table(raw / "pool" / "qrels.parquet")["item_id"].to_pylist())
    assert set(made.pool.items["item_id"].to_pylist()) == judged
    assert made.pool.declared.catalogue == 4
    logs = pq.read_table(raw / "pool" / "logs.parquet").to_pylist()
    assert logs
    assert {row["query_id"] for row in logs} <= set(made.pool.vocab.queries.to_pylist())
    freeze(asked(raw, "bare", logs="none"))
    assert not (raw / "bare" / "logs.parquet").exists()


def test_sampled_negatives_are_declared_and_warned_of(raw):
    made = freeze(asked(raw, n=4, negatives=FreezeNegatives(per_query=1)))
    found = pq.read_table(raw / "pool" / "candidates.parquet").to_pylist()
    judged = {(r["query_id"], r["item_id"]) for r in
              pq.read_table(raw / "pool" / "qrels.parquet").to_pylist()}  # fmt: skip
    pairs = {(row["query_id"], row["item_id"]) for row in found}
    assert judged <= pairs
    assert len(pairs) == len(found) == len(judged) + 4
    expected = {"per_query": 1, "how": "uniform", "seed": 7}
    assert made.pool.declared.facts["sampled_candidates"] == expected
    loaded = load({"kind": "frozen", "path": str(raw / "pool")})
    assert "sampled_candidates" in {problem.code for problem in loaded.problems}
    assert loaded.candidates.num_rows == len(found)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_popular_items_are_drawn_in_proportion(n):
    """Against the exact chances of drawing one after the other, of four items and a judged one."""
    chances = np.array([1.0, 2.0, 3.0, 0.0, 10.0, 4.0])
    draws = [_draw(_generator(1, str(i)), chances, np.array([4]), n) for i in range(3_000)]
    assert all(len(set(d.tolist())) == len(d) == min(n, 4) for d in draws)
    seen = np.bincount(np.concatenate(draws), minlength=6) / len(draws)
    assert seen[3] == seen[4] == 0
    if n == 1:
        np.testing.assert_allclose(seen[[0, 1, 2, 5]], np.array([1, 2, 3, 4]) / 10, atol=0.03)
    if n == 3:  # left out is the one that would have come last
        share = np.array([1, 2, 3, 4]) / 10
        last = [
            sum(
                share[a] * share[b] / (1 - share[a]) * share[c] / (1 - share[a] - share[b])
                for a in range(4) for b in range(4) for c in range(4)
                if len({a, b, c, d}) == 4
            )
            for d in range(4)
        ]  # fmt: skip
        np.testing.assert_allclose(seen[[0, 1, 2, 5]], 1 - np.array(last), atol=0.03)


SHARES = {"head": Fraction("0.5"), "torso": Fraction("0.4"), "tail": Fraction("0.1")}


def test_an_edge_that_is_met_exactly_is_an_edge():
    found = stratify([(5, 1), (2, 2), (1, 1)], SHARES)  # 5 of 10, then 4, then 1
    assert [(s.name, s.queries, s.low, s.high) for s in found] == [
        ("head", 1, 5, 5), ("torso", 2, 2, 2), ("tail", 1, 1, 1),
    ]  # fmt: skip
    assert [s.queries for s in stratify([(1, 8)], SHARES)] == [8, 0, 0]
    assert [s.queries for s in stratify([(0, 8)], SHARES)] == [8, 0, 0]


@pytest.mark.parametrize(
    ("sizes", "n", "how", "expected"),
    [
        ((10, 100, 1000), 60, "equal", [10, 25, 25]),
        ((10, 100, 1000), 2000, "equal", [10, 100, 1000]),
        ((10, 100, 1000), 111, "proportional", [1, 10, 100]),
        ((1, 1, 998), 10, "proportional", [1, 1, 8]),
        ((10, 100, 1000), 5, {"a": 20, "b": 5, "c": 7}, [10, 5, 7]),
        ((0, 4, 4), 3, "equal", [0, 1, 2]),
        ((0, 4, 4), None, "equal", [0, 4, 4]),
    ],
)
def test_allocations_by_hand(sizes, n, how, expected):
    strata = [Stratum(name, size) for name, size in zip("abc", sizes, strict=True)]
    assert [s.taken for s in allocate(strata, n, how)] == expected


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(1, 40)), min_size=1, max_size=12,
             unique_by=lambda g: g[0]),
    st.integers(3, 200),
    st.sampled_from(["equal", "proportional"]),
)  # fmt: skip
@settings(max_examples=200, deadline=None)
def test_weights_add_up_to_the_population(groups, n, how):
    groups = sorted(groups, reverse=True)
    strata = allocate(stratify(groups, SHARES), n, how)
    total = sum(count for _, count in groups)
    assert sum(s.queries for s in strata) == total
    assert sum(s.taken for s in strata) == min(n, total)
    assert sum(Fraction(s.queries, s.taken) * s.taken for s in strata if s.taken) == total
    for one in strata:  # no frequency is in two strata
        assert sum(c for f, c in groups if one.queries and one.low <= f <= one.high) == one.queries


def test_csv_columns_get_the_types_of_a_pool(raw):
    """As reading the same table through pool=files would."""
    lines = [
        "query_id,whole,real,code,flag,mixed,tiny,brand_id",
        "q1,1,1.5,007,true,1,1e-400,12",
        "q3,-2,,010,FALSE,x,2,13",
    ]
    (raw / "queries.csv").write_text("\n".join(lines) + "\n")
    made = freeze(asked(raw, columns=UNDATED)).pool.queries
    plain = load({"kind": "files", "qrels": str(raw / "qrels.csv"),
                  "queries": str(raw / "queries.csv")}).queries  # fmt: skip
    for name in plain.column_names:
        assert made[name].type == plain[name].type, name
        assert made[name].to_pylist() == plain[name].to_pylist(), name


def test_other_names_of_columns(raw):
    text = QRELS.replace("query_id,item_id,grade", "qid,doc,rel")
    (raw / "qrels.csv").write_text(text)
    mapping = {"query_id": "qid", "item_id": "doc", "grade": "rel"}
    made = freeze(asked(raw, columns=FreezeColumns(qrels=mapping)))
    assert made.record.counts["qrels"]["pairs"] == 7


def test_an_edited_folder_is_refused(raw):
    freeze(asked(raw))
    folder, record = raw / "pool", raw / "pool" / "pool.json"
    spec = {"kind": "frozen", "path": str(folder)}
    before = record.read_text()
    record.write_text(before.replace('"labels": "unknown"', '"labels": "human"', 1))
    with pytest.raises(SamepoolError, match="the digest"):
        load(spec)
    record.write_text(before)
    table = pq.read_table(folder / "qrels.parquet")
    pq.write_table(table.slice(1), folder / "qrels.parquet")
    with pytest.raises(SamepoolError, match=r"qrels\.parquet: was edited"):
        load(spec)


def test_an_engine_short_of_memory_says_so(tmp_path):
    engine = Engine(tmp_path, "20MB", 1)
    try:
        with pytest.raises(SamepoolError, match="20MB of memory are not enough"):
            engine.rows("SELECT list(i ORDER BY hash(i)) FROM range(20000000) t(i)")
    finally:
        engine.close()


def test_nothing_is_left_behind_by_a_failure(raw):
    with pytest.raises(SamepoolError):
        freeze(replace(asked(raw), as_of="2020-01-01"))
    assert {path.name for path in raw.iterdir()} == {f"{name}.csv" for name in TABLES}
