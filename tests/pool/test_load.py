"""Pools that load: every value by hand."""

from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from pipeline.core.pool import OPEN_END, UNKNOWN_TIME
from pipeline.core.registry import build, kinds, plugin
from pipeline.pool import load

CONF = Path(__file__).parents[2] / "conf" / "pool"

QUERIES = """\
query_id,text,user_id,issued_at,frequency,weight,stratum,country
q2,two,u1,2024-01-02,5,2,b,NO
q1,one,u1,2024-01-01T12:00:00+01:00,3,1.5,a,null
q10,ten,,,0,1,a,
"""
ITEMS = """\
item_id,text,created_at,eligible_from,eligible_until,price
d9,nine,2023-12-01,,,1
d1,first,2023-01-01,2024-01-02,,2.5
d2,second,,,2024-01-01T11:00:00Z,
"""


def by_code(pool, name):
    return pool.queries[name].to_pylist()


def test_a_full_pool(pool):
    made = pool(
        {"as_of": "2024-02-01", "labels": "human", "grades": [0, 3], "name": "shop"},
        queries=QUERIES, items=ITEMS,
        candidates="item_id,query_id,f\nd9,q2,1\nd1,q2,\nd2,q1,3\n",
        logs="session_id,query_id,item_id,click,at,user_id\ns,q1,d1,1,2023-06-01,u1\n",
    )  # fmt: skip
    assert made.name == "shop"
    assert made.vocab.queries.to_pylist() == ["q1", "q10", "q2"]
    assert made.vocab.items.to_pylist() == ["d1", "d2", "d9"]
    assert by_code(made, "query_id") == ["q1", "q10", "q2"]
    assert by_code(made, "country") == ["null", None, "NO"]
    assert made.items["price"].to_pylist() == [2.5, None, 1]
    assert made.judgments.query_ptr.tolist() == [0, 2, 2, 3]
    assert made.judgments.item.tolist() == [0, 1, 0]
    assert made.judgments.grade.tolist() == [2, 0, 1]
    # q1 at 2024-01-01 11:00 UTC: d1 is too early, d2 is over; q2 on 2024-01-02: d1 begins
    assert made.judgments.eligible.tolist() == [False, False, True]
    day = 86_400 * 10**6
    noon = 19_723 * day + 11 * 3_600 * 10**6
    assert made.times.query.tolist() == [noon, 19_754 * day, 19_724 * day]
    assert made.times.eligible_from.tolist() == [19_724 * day, UNKNOWN_TIME, UNKNOWN_TIME]
    assert made.times.eligible_until.tolist() == [OPEN_END, noon, OPEN_END]
    assert made.times.created[1] == UNKNOWN_TIME
    assert made.units.cluster.tolist() == [0, 1, 0]
    assert made.units.traffic.tolist() == [3, 0, 5]
    assert made.units.weight.tolist() == [1.5, 1, 2]
    assert made.units.stratum.tolist() == [0, 0, 1]
    assert made.candidates.to_pydict() == {
        "item_id": ["d2", "d1", "d9"], "query_id": ["q1", "q2", "q2"], "f": [3, None, 1],
    }  # fmt: skip
    assert made.logs["at"].type == pa.timestamp("us", "UTC")
    assert len(made.digest) == len(made.logs_digest) == 64
    codes = [p.code for p in made.problems]
    assert codes == ["unjudged_queries", "judged_ineligible"]


def test_qrels_alone(pool):
    made = pool()
    assert made.name == "qrels"
    assert made.queries.to_pydict() == {"query_id": ["q1", "q2"]}
    assert made.items.to_pydict() == {"item_id": ["d1", "d2"]}
    assert made.candidates is None
    assert made.logs is None
    assert made.logs_digest == ""
    assert made.units.cluster.tolist() == [0, 1]
    assert made.units.traffic.tolist() == made.units.weight.tolist() == [1, 1]
    assert made.units.stratum.tolist() == [0, 0]
    assert made.judgments.eligible.all()
    assert made.times.query.tolist() == [UNKNOWN_TIME] * 2
    assert made.problems == ()


def test_ids_sort_by_bytes_and_stay_as_they_are(pool):
    ids = ["0012", "NO", "null", "NA", "1e5", "\U0001f600", "\uffff", "é", "z", "Z"]
    made = pool(qrels="query_id,item_id,grade\n" + "".join(f"{i},{i},1\n" for i in ids))
    assert made.vocab.queries.to_pylist() == sorted(ids, key=str.encode)
    assert made.vocab.items.to_pylist() == sorted(ids, key=str.encode)


def test_requests_count_once_each(pool):
    made = pool({"unit": "request"}, queries="query_id,user_id\nq1,a\nq2,\n")
    assert made.units.traffic.tolist() == [1, 1]
    assert made.units.cluster.tolist() == [0, 1]


def test_each_query_without_a_user_is_its_own_cluster(pool):
    made = pool(queries="query_id,user_id\nq1,\nq2,\nq3,b\nq4,a\nq5,b\n")
    assert made.units.cluster.tolist() == [2, 3, 1, 0, 1]


def test_items_known_only_from_judgments_have_nulls(pool):
    made = pool(items="item_id,price\nd1,3\n")
    assert made.items.to_pydict() == {"item_id": ["d1", "d2"], "price": [3, None]}
    assert "1 of 2 item ids are not in the items; they have no attributes" in str(made.problems[0])


def test_judgments_of_other_queries_are_counted_and_left_out(pool):
    made = pool(queries="query_id\nq2\n")
    assert made.vocab.queries.to_pylist() == ["q2"]
    assert made.vocab.items.to_pylist() == ["d1"]
    assert made.judgments.grade.tolist() == [1]
    assert made.problems[0].severity == "warning"
    assert "1 of 2 query ids are not in the queries; their rows are not used (e.g. q1)" in str(
        made.problems[0]
    )


def test_a_judgment_given_twice_counts_once(pool):
    made = pool(qrels="query_id,item_id,grade\nq1,d1,1\nq1,d2,0\nq1,d1,1\n")
    assert made.judgments.grade.tolist() == [1, 0]
    text = "query q1, item d1 is judged 1 twice (line 2, line 4)"
    assert [(p.severity, text in p.text) for p in made.problems] == [("warning", True)]


@pytest.mark.parametrize(
    ("texts", "options", "message"),
    [
        ({"qrels": "query_id,item_id,grade\nq1,d1,1\n"}, {}, "only relevant items are judged"),
        (
            {"qrels": "query_id,item_id,grade\nq1,d1,1\nq2,d1,0\n"}, {},
            "1 of 2 queries have nothing judged relevant (e.g. q2)",
        ),
        ({"queries": "query_id\nq1\nq2\nq3\n"}, {}, "1 of 3 queries are asked but not judged"),
        (
            {"items": "item_id,eligible_from\nd1,2024-01-01\nd2,\n"}, {},
            "no query has a time: there, every item counts as eligible",
        ),
        (
            {"logs": "query_id,item_id,at\nq1,d1,2024-01-03\nq1,d1,2024-01-01\n",
             "queries": "query_id,issued_at\nq1,2024-01-02\nq2,2024-01-02\n"}, {},
            "logs.csv:line 2: 1 log rows postdate their query",
        ),
        (
            {"logs": "user_id,item_id,at\nu,d1,2024-01-03\nu,d2,2024-01-01\n"},
            {"as_of": "2024-01-02T00:00:00Z"}, "1 log rows postdate their query",
        ),
    ],
)  # fmt: skip
def test_what_is_odd_is_said(pool, texts, options, message):
    made = pool(options, **texts)
    assert all(p.severity != "error" for p in made.problems)
    assert any(message in str(p) for p in made.problems), made.problems


def test_text_grades_by_a_map(pool):
    qrels = "query_id,item_id,grade\nq1,d1,Exact\nq1,d2,Irrelevant\nq1,d3,2\n"
    made = pool({"grade_map": {"Exact": 3, "Irrelevant": 0, 2: 1}}, qrels=qrels)
    assert made.judgments.grade.tolist() == [3, 0, 1]
    assert made.declared.facts["grade_map"] == {"Exact": 3, "Irrelevant": 0, "2": 1}


def test_format_can_be_named(tmp_path):
    path = tmp_path / "judgments.csv"
    path.write_text("1 0 a 1\n1 0 b 0\n")
    made = load({"kind": "files", "qrels": str(path), "formats": {"qrels": "trec"}})
    assert made.judgments.grade.tolist() == [1, 0]


@pytest.mark.parametrize("kind", sorted(kinds("pool")))
def test_conf_lists_every_option_with_its_default(kind):
    given = yaml.safe_load((CONF / f"{kind}.yaml").read_text(encoding="utf-8"))
    built = build("pool", given, "pool")
    default = plugin("pool", kind, "pool")()
    assert {*given} - {"kind"} == {field.name for field in fields(built)}
    assert built == default


def test_a_real_collection(shared):
    made = load({"kind": "files", "qrels": str(shared / "dl_hard_passage/dl_hard-passage.qrels")})
    assert made.name == "dl_hard-passage"
    assert len(made.vocab.queries) == 50
    assert len(made.judgments.item) == 4256
    assert np.unique(made.judgments.grade).tolist() == [0, 1, 2, 3]


def test_a_large_pool_of_candidates(pool):
    rng = np.random.default_rng(7)
    query = rng.permutation(np.repeat(np.arange(200), 50))
    item = np.empty(len(query), int)
    item[np.argsort(query, kind="stable")] = np.tile(np.arange(50), 200)
    lines = [f"q{q},d{i},{q * 50 + i}\n" for q, i in zip(query, item, strict=True)]
    qrels = "query_id,item_id,grade\n" + "".join(f"q{q},d{q % 50},1\n" for q in range(200))
    made = pool(qrels=qrels, candidates="query_id,item_id,f\n" + "".join(lines))
    ids = list(
        zip(
            made.candidates["query_id"].to_pylist(),
            made.candidates["item_id"].to_pylist(),
            strict=True,
        )
    )
    assert ids == sorted(ids)
    assert [f"q{int(f) // 50}" for f in made.candidates["f"].to_pylist()] == [q for q, _ in ids]
