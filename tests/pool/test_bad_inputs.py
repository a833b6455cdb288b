"""What stops a pool: each with its file, its line, and the way out."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.core.pool import Declared
from pipeline.core.problems import SamepoolError
from pipeline.pool import load
from pipeline.pool._clean import clean
from pipeline.pool._tables import Tables

HEAD = "query_id,item_id,grade\n"


@pytest.mark.parametrize(
    ("table", "text", "message"),
    [
        ("qrels", HEAD, "qrels.csv: has no judgments"),
        ("qrels", HEAD + "q1,d1,1\nq1,d1,3\n",
         "qrels.csv:line 3: query q1, item d1 is judged 1 and 3 (line 2, line 3) -> keep one"),
        ("qrels", HEAD + "q1,d1,-2\nq1,d2,0\n", "no relevant judgment: none of 2 grades"),
        ("qrels", HEAD + "q1,d1,1\nq1,d2,nan\n", "line 3: the grade is not a finite number"),
        ("qrels", HEAD + "q1,d1,Exact\nq1,d2,0\n", "line 2: grade 'Exact' is not a number"),
        ("qrels", HEAD + "q1,d1,1\n,d2,0\n", "line 3: query_id is empty"),
        ("qrels", HEAD + 'q1,d1,1\nq1," d2",0\n', "line 3: item_id ' d2' has white space around"),
        ("qrels", HEAD + "q1,d1,1\nq1,d2,7\n", "line 3: grade 7 is outside the declared scale 0"),
        ("queries", "query_id,text\nq1,a\nq2,b\nq1,c\n",
         "queries.csv:line 4: query_id 'q1' has two texts, 'a' and 'c' (line 2, line 4)"),
        ("queries", "query_id,text\nq1,a\nq1,a\nq2,b\n", "query_id 'q1' has two rows (line 2, "),
        ("queries", "qid,text\nq1,a\n", "queries lack the column query_id; there are: qid, text"),
        ("queries", "query_id,frequency\nq1,-1\nq2,1\n", "line 2: frequency -1 must be 0 or more"),
        ("queries", "query_id,frequency\nq1,\nq2,1\n", "line 2: frequency is missing"),
        ("queries", "query_id,frequency\nq1,many\nq2,1\n", "line 2: frequency 'many' is not a num"),
        ("queries", "query_id,weight\nq1,1\nq2,0\n", "line 3: weight 0 must be above 0"),
        ("queries", "query_id,issued_at\nq1,yesterday\nq2,2024-01-01\n",
         "queries.csv:line 2: issued_at 'yesterday' is not a time -> write ISO 8601"),
        ("queries", "query_id,issued_at\nq1,2024-02-31\nq2,2024-01-01\n",
         "line 2: issued_at '2024-02-31' is not a time"),
        ("queries", "query_id,issued_at\nq1,893286638\nq2,893286639\n",
         "of type int64, not a time (e.g. 893286638, as seconds 1998-04-22T23:10:38Z)"),
        ("queries", "query_id\na\nb\n", "0 of 2 query ids match: qrels have `q1`, queries"),
        ("items", "item_id\nx\n", "0 of 2 item ids match: qrels have `d1`, items have `x`"),
        ("items", "item_id,eligible_from,eligible_until\nd1,2024-01-02,2024-01-01\n",
         "items.csv:line 2: eligible_from is after eligible_until"),
        ("items", "item_id,text\nd1,a\nd1,b\n", "item_id 'd1' has two texts, 'a' and 'b'"),
        ("candidates", "query_id,item_id\nq1,d1\nq1,d1\n",
         "candidates.csv:line 3: query q1 lists item d1 twice (line 2, line 3)"),
        ("logs", "item_id,click\nd1,1\n", "logs need the column query_id or user_id"),
        ("logs", "query_id,click\nq1,1\n", "logs lack the column item_id"),
        ("logs", "query_id,item_id,reward\nq1,d1,good\n", "line 2: reward 'good' is not a number"),
    ],
)  # fmt: skip
def test_message(fails, table, text, message):
    found = fails({"grades": [-5, 5]}, **{table: text})
    assert any(message.replace("scale 0", "scale -5") in problem for problem in found), found


def test_everything_wrong_is_told_at_once(fails):
    found = fails(
        {"as_of": None},
        qrels=HEAD + "q1,d1,x\n",
        queries="query_id,frequency,weight\nq1,-1,-1\n",
        items="item_id,created_at\nd1,soon\n,\n",
    )
    assert len(found) == 5


def test_relations_are_told_at_once(fails):
    found = fails(
        qrels=HEAD + "q1,d1,1\nq1,d1,2\n",
        queries="query_id\nq1\nq1\n",
        items="item_id,eligible_from,eligible_until\nd1,2024-01-02,2024-01-01\n",
    )
    assert len(found) == 3


def test_missing_files_of_all_tables(tmp_path):
    spec = {"kind": "files"} | {n: str(tmp_path / n) for n in ("qrels", "queries", "items", "logs")}
    with pytest.raises(SamepoolError) as caught:
        load(spec)
    assert [p.text for p in caught.value.problems] == ["no such file"] * 4


def test_nothing_given():
    with pytest.raises(SamepoolError, match=r"pool.qrels=qrels.trec.*experiment=movielens"):
        load({"kind": "files"})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"as_of": "soon"}, "as_of 'soon' is not a time"),
        ({"grades": [3, 0]}, "must be [smallest, largest]"),
        ({"catalogue": 0}, "catalogue is 0; it must be 1 or more"),
        ({"formats": {"qrel": "trec"}}, "formats names no table 'qrel'; did you mean qrels?"),
        ({"unit": "session"}, "pool.unit: 'session'"),
        ({"qurels": "x"}, "unknown option pool.qurels -> did you mean"),
        ({"facts": {"x": float("inf")}}, "facts must be plain words and numbers"),
        ({"grade_map": {False: 1}}, "the key False was yes, no, on or off in YAML -> quote it"),
    ],
)
def test_options(fails, options, message):
    assert any(message in problem for problem in fails(options)), fails(options)


def test_frequency_of_requests_is_refused(fails):
    found = fails({"unit": "request"}, queries="query_id,frequency\nq1,1\nq2,1\n")
    assert "weighting by frequency would count twice" in found[0]


def test_lost_leading_zeros_are_named(fails):
    found = fails(qrels=HEAD + "0012,d,1\n0013,d,0\n", queries="query_id\n12\n13\n")
    assert "leading zeros were lost (`0012` against `12`)" in found[0]


def test_a_collapse_of_overlap_is_a_warning_of_its_own(pool):
    judged = "".join(f"{n:04d},d,1\n" for n in range(100))
    queries = "query_id\n0007\n" + "".join(f"{n}\n" for n in range(1, 100))
    made = pool(qrels=HEAD + judged, queries=queries)
    text = str(made.problems[0])
    assert "only 1 of 100 query ids are in the queries" in text
    assert "leading zeros were lost" in text


def test_many_bad_rows_make_one_problem(fails):
    rows = "".join(f"q{n},-1\n" for n in range(5000))
    found = fails(queries="query_id,frequency\n" + rows)
    assert len(found) == 1
    assert "queries.csv:line 2: frequency -1 must be 0 or more (e.g. also line 3" in found[0]


def test_types_that_are_no_numbers(tmp_path):
    pq.write_table(
        pa.table({"query_id": ["q1"], "frequency": [["a"]], "issued_at": [True]}),
        tmp_path / "q.parquet",
    )
    (tmp_path / "r.trec").write_text("q1 0 d 1\n")
    with pytest.raises(SamepoolError) as caught:
        load(
            {
                "kind": "files",
                "qrels": str(tmp_path / "r.trec"),
                "queries": str(tmp_path / "q.parquet"),
            }
        )
    text = str(caught.value)
    assert "frequency is of type list" in text
    assert "issued_at is of type bool, not a time" in text


def test_tables_of_other_sources_are_checked_too():
    qrels = pa.table({"query_id": ["q"], "item_id": ["d"]})
    problems = []
    clean(Tables("x", qrels, Declared(as_of="soon")), problems)
    assert [str(p).split(" -> ")[0] for p in problems] == [
        "qrels: qrels lack the column grade", "as_of 'soon' is not a time",
    ]  # fmt: skip


@pytest.mark.parametrize(("case", "message"), [("all_negative", "no relevant")])
def test_edge_cases(shared, case, message):
    with pytest.raises(SamepoolError, match=message):
        load({"kind": "files", "qrels": str(shared / "edge" / case / "qrels")})


def load_parquet(tmp_path, **tables):
    """Loads a pool of one judgment and Parquet tables; its errors, or none."""
    qrels = {"query_id": ["q1"], "item_id": ["d1"], "grade": [1]}
    spec = {"kind": "files"}
    for name, columns in ({"qrels": qrels} | tables).items():
        path = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table(columns), path)
        spec[name] = str(path)
    try:
        load(spec)
    except SamepoolError as error:
        return [str(p).rpartition("/")[2] for p in error.problems if p.severity == "error"]
    return []


@pytest.mark.parametrize(
    ("column", "bad"),
    [
        (pa.array([0, 2**62], pa.timestamp("ms")), True),
        (pa.array([0, -(2**62)], pa.timestamp("ms", "UTC")), True),
        (pa.array([0, 2**30], pa.date32()), True),
        (pa.array([0, -(2**63)], pa.timestamp("us")), True),  # would mean: no time
        (pa.array([0, 2**62], pa.timestamp("us")), False),
        (pa.array([0, 2**62], pa.timestamp("ns")), False),
        (pa.array([None, 10**5], pa.date32()), False),
    ],
)
@pytest.mark.parametrize("name", ["created_at", "made_up"])
def test_times_that_would_wrap(tmp_path, column, bad, name):
    found = load_parquet(tmp_path, items={"item_id": ["d1", "d2"], name: column})
    expected = [f"items.parquet:row 2: {name} is beyond the times of int64 -> mend the value, or"]
    assert [problem.removesuffix(" its unit") for problem in found] == expected * bad


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        ("candidates", {"query_id": ["q1", None], "item_id": ["d1", "d2"]}, "query_id is empty"),
        ("candidates", {"query_id": ["q1", "q1"], "item_id": ["d1", ""]}, "item_id is empty"),
        ("logs", {"query_id": ["q1", "q1"], "item_id": ["d1", None]}, "item_id is empty"),
        ("logs", {"query_id": ["q1", None], "item_id": ["d1", "d1"]}, "query_id is empty"),
        ("logs", {"user_id": ["q1", ""], "item_id": ["d1", "d1"]}, "user_id is empty"),
        ("logs", {"user_id": ["u", ""], "query_id": ["q1", None], "item_id": ["d1", "d1"]},
         "query_id and user_id are empty"),
        ("logs", {"user_id": ["u", None], "query_id": [None, "q1"], "item_id": ["d1", "d1"]}, None),
    ],
)  # fmt: skip
def test_empty_ids(tmp_path, table, columns, message):
    found = [problem.partition(" -> ")[0] for problem in load_parquet(tmp_path, **{table: columns})]
    assert found == ([f"{table}.parquet:row 2: {message}"] if message else [])


@pytest.mark.parametrize(
    ("name", "column"),
    [
        ("popularity", pa.array([1, 2**53 + 1])),
        ("made_up", pa.array([1, 2**64 - 1], pa.uint64())),
        ("made_up", pa.array([1, 2**53 + 1], pa.decimal128(30, 1))),
    ],
)
def test_numbers_that_would_become_others(tmp_path, name, column):
    (found,) = load_parquet(tmp_path, items={"item_id": ["d1", "d2"], name: column})
    assert f"items.parquet:row 2: {name} {column[1].as_py()} is not exact as a float64" in found


def test_what_could_not_be_read_is_not_missing_too(fails, tmp_path):
    found = fails(queries="query_id,frequency\nq1,many\nq2,1\n")
    assert [problem.rpartition("/")[2] for problem in found] == [
        "queries.csv:line 2: frequency 'many' is not a number"
    ]
    path = tmp_path / "queries.jsonl"
    path.write_text('{"query_id": 1.5}\n')
    found = fails({"queries": str(path)})
    assert [problem.rpartition("/")[2] for problem in found] == [
        "queries.jsonl:line 1: query_id is 1.5, not a string -> quote it"
    ]


@pytest.mark.parametrize(
    ("labels", "near"),
    [("humann", "human"), ("Human", "human"), ("clicks", "click"), ("LLM", "llm")],
)
def test_labels_that_are_nearly_usual_ones(pool, labels, near):
    (problem,) = [p for p in pool({"labels": labels}).problems if p.code == "odd_labels"]
    assert problem.severity == "warning"
    assert f"labels {labels}: not one of the usual human, llm" in problem.text
    assert problem.fix == f"did you mean {near}?"


@pytest.mark.parametrize("labels", ["human", "rating", "editors"])
def test_labels_of_their_own_kind_are_fine(pool, labels):
    assert "odd_labels" not in {p.code for p in pool({"labels": labels}).problems}


def test_columns_of_other_names_in_tables(fails):
    (found,) = fails(candidates="qid,document_id,user_id\nq1,d1,u\n")
    assert found.endswith("-> rename qid to query_id; rename document_id to item_id")
