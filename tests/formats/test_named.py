"""Formats with named columns: CSV, TSV, JSONL, Parquet."""

import csv
import io
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.formats import place, read_qrels, read_run, read_table

AWKWARD = [
    "0012",
    "NO",
    "null",
    "NA",
    "1e5",
    "nan",
    "true",
    "2020-01-01",
    "\U0001f600",
    "a,b",
    "12",
]


def write(path, columns, fmt):
    """Writes string and number columns in one of the four formats; None stays null."""
    rows = list(zip(*columns.values(), strict=True))
    if fmt == "parquet":
        pq.write_table(pa.table(columns), path)
    elif fmt == "jsonl":
        lines = [
            json.dumps(dict(zip(columns, row, strict=True)), ensure_ascii=False) for row in rows
        ]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    elif fmt == "csv":
        out = io.StringIO(newline="")
        csv.writer(out).writerows([list(columns), *rows])
        path.write_bytes(out.getvalue().encode())
    else:
        text = [
            "\t".join("" if v is None else str(v) for v in row) for row in [tuple(columns), *rows]
        ]
        path.write_bytes("".join(line + "\n" for line in text).encode())


@pytest.mark.parametrize("fmt", ["csv", "tsv", "jsonl", "parquet"])
def test_ids_and_text_stay_as_written(tmp_path, fmt):
    n = len(AWKWARD)
    columns = {
        "query_id": AWKWARD, "text": [str(i) for i in range(n)], "session_id": AWKWARD[::-1],
        "frequency": list(range(n)), "share": [0.5] * n, "word": ["w"] * n,
    }  # fmt: skip
    path = tmp_path / f"t.{fmt}"
    write(path, columns, fmt)
    problems = []
    table = read_table(str(path), problems)
    assert problems == []
    assert table.to_pydict() == columns
    assert table["query_id"].type == pa.string()
    assert table["frequency"].type == pa.int64()
    assert table["share"].type == pa.float64()


CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff")
IDS = st.lists(st.text(CHARACTERS, min_size=1, max_size=8), min_size=1, max_size=6)


@settings(max_examples=40, deadline=None)
@pytest.mark.parametrize("fmt", ["csv", "tsv", "jsonl", "parquet"])
@given(ids=IDS)
def test_any_id_survives_any_format(tmp_path_factory, fmt, ids):
    if fmt == "tsv":
        ids = [i.translate({9: "t"}) for i in ids]
    if fmt in {"csv", "tsv"}:
        ids = [i.translate({10: "n", 13: "r"}) for i in ids]
    path = tmp_path_factory.getbasetemp() / f"property.{fmt}"
    write(path, {"query_id": ids, "item_id": ids[::-1], "score": [0.5] * len(ids)}, fmt)
    problems = []
    table = read_run(str(path), problems)
    assert problems == [] or {p.code for p in problems} == {"quoted_tsv"}
    assert table["query_id"].to_pylist() == ids
    assert table["item_id"].to_pylist() == ids[::-1]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["1", "2", ""], [1, 2, None]),
        (["1", "2.5", ""], [1.0, 2.5, None]),
        (["01", "2", ""], ["01", "2", None]),
        (["1", "NA", ""], ["1", "NA", None]),
        (["nan", "2", ""], ["nan", "2", None]),
        (["True", "false", ""], [True, False, None]),
        (["NO", "US", ""], ["NO", "US", None]),
        (["1", "9999999999999999999999", ""], ["1", "9999999999999999999999", None]),
        (["1", "9223372036854775807", ""], [1, 2**63 - 1, None]),
        (["2020-01-01", "2020-01-02", ""], ["2020-01-01", "2020-01-02", None]),
    ],
)
def test_one_type_a_column(put, values, expected):
    text = "item_id,x\n" + "".join(f"i{n},{v}\n" for n, v in enumerate(values))
    problems = []
    table = read_table(put("t.csv", text), problems)
    assert problems == []
    assert table["x"].to_pylist() == expected


def test_a_late_value_sets_the_type_of_the_whole_column(put):
    text = "item_id,x\n" + "".join(f"i{n},{n}\n" for n in range(300_000)) + "last,word\n"
    table = read_table(put("t.csv.gz", text), [])
    assert table["x"].type == pa.string()
    assert table["x"][0].as_py() == "0"


def test_lines_and_rows(put):
    plain = read_table(put("a.csv", "item_id,x\na,1\nb,2\n"), [])
    assert place(plain, 1) == (put("a.csv", "item_id,x\na,1\nb,2\n"), "line 3")
    quoted = read_table(put("e.csv", 'item_id,x\n"a",1\n"b",2\n'), [])
    assert place(quoted, 1)[1] == "line 3"
    folded = read_table(put("b.csv", 'item_id,text\na,"1\n"\nb,2\n'), [])
    assert place(folded, 1)[1] == "row 2"
    blank = read_table(put("c.csv", "item_id,x\na,1\n\nb,2\n"), [])
    assert place(blank, 1)[1] == "row 2"
    lines = read_table(put("d.jsonl", '{"item_id": "a"}\n\n{"item_id": "b"}\n'), [])
    assert place(lines, 1)[1] == "line 3"
    assert place(pa.table({"x": [1]}), 0) == (None, "row 1")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "query,docid,rating\nq,d,1\n", "missing columns query_id, item_id, grade"),
        ("a.csv", "query,docid,rating\nq,d,1\n", "rename docid to item_id"),
        ("a.csv", "query_id,item_id,grad\nq,d,1\n", "rename grad to grade"),
        ("a.tsv", "q1\t0\td1\t1\n", "the first line must name the columns"),
        ("a.csv", "query_id,item_id,grade\nq,d,Exact\nq,e,1\n", "line 2: grade 'Exact'"),
        ("a.csv", "query_id,item_id,grade\nq,d,\n", "line 2: grade (empty) is not a number"),
        ("a.csv", "query_id,item_id,grade\nq,d,1\nq,d\n", "line 3: expected 3 fields"),
        ("a.csv", "query_id,item_id,grade,grade\nq,d,1,2\n", "column 'grade' occurs 2 times"),
        ("a.csv", "query_id,,grade\nq,d,1\n", "a column has no name"),
        ("a.csv", 'query_id,item_id,grade\nq,"d,1\nr,e,1\n', "line 2: a double quote is not"),
        ("a.csv", b"query_id,item_id,grade\nq,\xff,1\n", "line 2: b'\\xff' is not UTF-8"),
        ("a.csv", "", "the first line must name the columns"),
        ("a.csv", "query_id,item_id,grade\n", "has no judgments"),
        ("a.jsonl", "\n", "has no judgments"),
        ("a.jsonl", '{"query_id": "q"}\nnonsense\n', "line 2: not a JSON object"),
        ("a.jsonl", '{"query_id": 1.5, "item_id": "d", "grade": 1}\n', "line 1: query_id is 1.5"),
        ("a.jsonl", '{"query_id": "a", "query_id": "b"}\n', "line 1: not a JSON object: a key"),
        ("a.jsonl", '{"query_id": "q", "item_id": "d", "grade": 1}\n[1]\n', "line 2: not a JSON"),
        ("a.parquet", "PAR1 no", "is not a sound Parquet file"),
        ("a.blob", "one two\n", "the format is told neither by the name nor by"),
    ],
)
def test_bad_qrels(put, name, text, message):
    problems = []
    read_qrels(put(name, text), problems)
    assert any(message in str(p) and p.severity == "error" for p in problems), problems


def test_a_table_is_never_taken_for_trec(put):
    problems = []
    read_table(put("items", "d1 a b c\n"), problems)
    assert "the format is told neither by the name nor by the content" in str(problems[0])
    assert "there are: csv, jsonl, parquet, trec, tsv" in problems[0].fix


@pytest.mark.parametrize(
    ("grade", "message"),
    [
        (pa.array([[1]]), "column grade is of type list<"),
        (pa.nulls(1), "row 1: grade (empty) is not a number"),
        (pa.array([None], pa.float64()), "row 1: grade (empty) is not a number"),
    ],
)
def test_parquet_grades_that_are_no_numbers(tmp_path, grade, message):
    path = tmp_path / "q.parquet"
    pq.write_table(pa.table({"query_id": ["q"], "item_id": ["d"], "grade": grade}), path)
    problems = []
    read_qrels(str(path), problems)
    assert message in str(problems[0])


def test_parquet_ids_that_are_no_text(tmp_path):
    path = tmp_path / "q.parquet"
    pq.write_table(pa.table({"item_id": pa.array([b"\xff"])}), path)
    problems = []
    read_table(str(path), problems)
    assert "column item_id holds bytes that are not UTF-8" in str(problems[0])


def test_json_integers_past_64_bits_are_numbers_still(put):
    table = read_table(put("a.jsonl", '{"x": 1}\n{"x": 100000000000000000000}\n{}\n'), [])
    assert table["x"].to_pylist() == [1.0, 1e20, None]


def test_odd_quotes_that_are_sound(put):
    text = 'item_id,text\na,5" disk\nb,"x"\n'
    table = read_table(put("a.csv", text), [])
    assert table["text"].to_pylist() == ['5" disk', "x"]


def test_a_run_in_csv(put):
    problems = []
    text = "query_id,item_id,score,rank\nq,d,1.5,1\nq,e,nan,2\n"
    table = read_run(put("r.csv", text), problems)
    assert table["rank"].to_pylist() == [1, 2]
    assert "line 3: the score of query 'q', item 'e' is NaN" in str(problems[0])


def test_source_and_judge_are_kept(put):
    table = read_qrels(put("q.csv", "grade,judge,item_id,query_id,note\n1,7,d,q,x\n"), [])
    assert table.column_names == ["query_id", "item_id", "grade", "judge"]
    assert table["judge"].to_pylist() == ["7"]


def test_parquet_types(tmp_path):
    path = tmp_path / "t.parquet"
    words = pa.array(["a", "b"]).dictionary_encode()
    pq.write_table(pa.table({"item_id": [1, 2], "c": words, "b_id": pa.array([b"x", b"y"])}), path)
    problems = []
    table = read_table(str(path), problems)
    assert problems == []
    assert table.to_pydict() == {"item_id": ["1", "2"], "c": ["a", "b"], "b_id": ["x", "y"]}
    pq.write_table(pa.table({"item_id": [1.0, 2.0]}), path)
    read_table(str(path), problems)
    assert "column item_id is of type double" in str(problems[0])


def test_json_numbers_as_ids_and_mixed_kinds(put):
    problems = []
    table = read_table(
        put("a.jsonl", '{"item_id": 12, "x": 1}\n{"item_id": "012", "x": 2.5}\n'), problems
    )
    assert problems == []
    assert table.to_pydict() == {"item_id": ["12", "012"], "x": [1, 2.5]}
    read_table(put("b.jsonl", '{"item_id": "a", "x": 1}\n{"item_id": "b", "x": "w"}\n'), problems)
    assert "the values of x are of mixed kinds (int, str)" in str(problems[0])


def test_quotes_in_tsv_are_warned_of(put):
    problems = []
    table = read_table(put("a.tsv", 'query_id\ttext\nq1\t"a"\nq2\t"b"\n'), problems)
    assert table["text"].to_pylist() == ['"a"', '"b"']
    assert [p.severity for p in problems] == ["warning"]
    assert "double quotes" in str(problems[0])


def test_finding_files_and_formats(put, tmp_path):
    put("qrels.trec", "q 0 d 1\n")
    problems = []
    read_qrels(str(tmp_path / "qrel.trec"), problems)
    assert "did you mean" in str(problems[0])
    assert "qrels.trec" in problems[0].fix
    read_qrels(str(tmp_path), problems)
    assert "is a folder" in str(problems[1])
    read_qrels(str(tmp_path / "qrels.trec"), problems, format="trek")
    assert "unknown format 'trek' -> did you mean trec?" in str(problems[2])
    problems = []
    table = read_qrels(put("x.csv", "q 0 d 1\n"), problems, format="trec")
    assert problems == []
    assert table.num_rows == 1
    parquet = tmp_path / "noname"
    pq.write_table(pa.table({"query_id": ["q"], "item_id": ["d"], "grade": [1]}), parquet)
    assert read_qrels(str(parquet), problems)["grade"].to_pylist() == [1.0]
    assert problems == []


def errors(problems):
    return [str(p).split(" -> ")[0].rpartition("/")[2] for p in problems if p.severity == "error"]


HEAD = "query_id,item_id,score\n"
SWALLOWED = "".join(
    f'{q},"{d},1\n' if (q, d) in {("q2", "a"), ("q4", "a")} else f"{q},{d},1\n"
    for q in ("q1", "q2", "q3", "q4", "q5")
    for d in "ab"
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + SWALLOWED, "line 4: a double quote is not closed or not doubled"),
        # closed at the border of a field, so that only the line ends tell
        (HEAD + 'q1,a,1\nq2,"a,1\nq3,b\n",1\n', "line 3: a field of column item_id has a line end"),
        (HEAD + '"q1\r",a,1\n', "line 2: a field of column query_id has a line end"),
        (HEAD + 'q1,a,"1\nq2,b,2"\n', "line 2: a field of column score has a line end"),
        ("note," + HEAD + '"x\ny",q,d,1\n', "line 2: a field of column note has a line end"),
    ],
)
def test_open_quotes_swallow_no_rows(put, text, message):
    problems = []
    read_run(put("r.csv", text), problems)
    assert message in errors(problems)[0]
    problems = []
    read_qrels(put("r.csv", text.replace("score", "grade")), problems)
    assert message.replace("score", "grade") in errors(problems)[0]
    problems = []
    if "note" not in text:
        read_table(put("r.csv", text), problems)
        assert message in errors(problems)[0]


def test_prose_may_have_line_ends_and_quotes(put):
    problems = []
    long = "x" * 200_000  # past the limit of the standard library
    text = f'item_id,text\na,"one\ntwo ""q"" "\nb,5" disk, "\n"c",{long}\n'
    table = read_table(put("t.csv", text.replace('disk, "', 'disk "')), problems)
    assert problems == []
    assert table["text"].to_pylist() == ['one\ntwo "q" ', '5" disk "', long]


BIG = 2**53 + 1


@pytest.mark.parametrize(
    ("score", "message"),
    [
        (pa.array([1, BIG - 1, BIG]), f"row 3: score {BIG} is not exact"),
        (pa.array([1, BIG - 1, 2**64 - 1], pa.uint64()), f"row 3: score {2**64 - 1} is not exact"),
        (pa.array([0, 1, BIG], pa.decimal128(38, 2)), f"row 3: score {BIG}.00 is not exact"),
        (pa.array(["0", "1e-400", "1"]), "row 2: score 1e-400 is not exact"),
        (pa.array([0, 2**60, -(2**62)]), None),
        (pa.array(["0.1", "0e5", "1e300"]), None),
    ],
)
def test_parquet_scores_that_would_become_ties(tmp_path, score, message):
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"query_id": ["q"] * 3, "item_id": list("abc"), "score": score}), path)
    problems = []
    table = read_run(str(path), problems)
    if message is None:
        assert problems == []
        assert table["score"].to_pylist() == [float(v) for v in score.to_pylist()]
    else:
        assert message in errors(problems)[0]
        assert len(problems) == 1


@pytest.mark.parametrize(
    ("number", "message"),
    [
        (str(BIG), f"line 2: score {BIG} is not exact"),
        ("12345678901234567890", "line 2: score 12345678901234567890 is not exact"),
        ("1" * 400, f"line 2: score {'1' * 40}... (400 characters) is not exact"),
        ("1e-400", "line 2: not a JSON object: the number 1e-400 is too small"),
        ("100000000000000000000", None),
        ("-0.0e-400", None),
    ],
)
def test_json_numbers_past_float64(put, number, message):
    line = '{"query_id": "q", "item_id": "%s", "score": %s}\n'
    problems = []
    table = read_run(put("r.jsonl", line % ("a", "0.5") + line % ("b", number)), problems)
    if message is None:
        assert problems == []
        assert table["score"].to_pylist() == [0.5, float(number)]
    else:
        assert len(problems) == 1
        assert message in str(problems[0])


def test_numbers_of_attributes_stay_what_they_are(put):
    table = read_table(put("t.csv", f"item_id,x\na,{BIG}\nb,0.5\n"), [])
    assert table["x"].to_pylist() == [str(BIG), "0.5"]


@pytest.mark.parametrize("name", ["query_id", "item_id"])
@pytest.mark.parametrize("value", [None, ""])
def test_empty_ids_of_runs(tmp_path, put, name, value):
    columns = {"query_id": ["q", "q"], "item_id": ["a", "b"], "score": [1.0, 2.0]}
    columns[name] = [value, "x"]
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table(columns), path)
    problems = []
    read_run(str(path), problems)
    assert errors(problems) == [f"r.parquet:row 1: {name} is empty"]
    row = {key: values[0] for key, values in columns.items()}
    problems = []
    read_run(put("r.jsonl", json.dumps(row) + "\n"), problems)
    assert errors(problems) == [f"r.jsonl:line 1: {name} is empty"]


@pytest.mark.parametrize(
    ("text", "reader", "message", "fix"),
    [
        ("query_id,item_id,grade\n", read_run, "looks like judgments, not a run", "which file"),
        ("qid,pid,rel\n", read_run, "looks like judgments, not a run", "which file"),
        (HEAD, read_qrels, "looks like a run, not judgments", "which file"),
        ("qid,pid,relevance\n", read_qrels, "missing columns",
         "rename qid to query_id; rename pid to item_id; rename relevance to grade"),
        ("topic,document_id,rating\n", read_qrels, "missing columns",
         "rename topic to query_id; rename document_id to item_id; rename rating to grade"),
        ("user,doc_id,label\n", read_qrels, "missing columns",
         "rename user to query_id; rename doc_id to item_id; rename label to grade"),
        ("query_id,docid,judgment\n", read_qrels, "missing columns",
         "rename docid to item_id; rename judgment to grade"),
        ("query_id,user_id,grade\n", read_qrels, "missing column item_id", "first line must name"),
        ("q1 Q0 d1 1 2.5 t\n", read_run, "missing columns", "name the file .trec"),
        ("query_id;item_id;score\n", read_run, "missing columns", "separated by semicolons"),
        ("query_id\titem_id\tscore\n", read_run, "missing columns", "name the file .tsv"),
    ],
)  # fmt: skip
def test_columns_by_other_names(put, text, reader, message, fix):
    problems = []
    reader(put("a.csv", text + "x,y,1\n" * ("," in text)), problems)
    assert message in problems[0].text
    assert fix in problems[0].fix
    assert len(problems) == 1


def test_every_problem_is_one_line(tmp_path):
    path = tmp_path / "r.parquet"
    columns = {"query_id": ["q"] * 999, "item_id": [f"d{n}" for n in range(999)]}
    pq.write_table(pa.table(columns | {"score": [float(n) for n in range(999)]}), path)
    raw = bytearray(path.read_bytes())
    for start in range(4, len(raw) - 400, 50):
        path.write_bytes(raw[:start] + b"\xff" * 30 + raw[start + 30 :])
        problems = []
        read_run(str(path), problems)
        assert all(len(str(p).splitlines()) == 1 for p in problems)


def test_paths_that_are_no_files(tmp_path, monkeypatch):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "locked").write_text("q 0 d 1\n")
    monkeypatch.setattr(os, "access", lambda path, _mode: path.name != "locked")
    found = {}
    for path in ("/dev/null", *(tmp_path / n for n in ("pipe", "loop", "dangling", "locked"))):
        problems = []
        read_qrels(str(path), problems)
        found[str(path).rpartition("/")[2]] = str(problems[0]).partition(": ")[2]
        assert len(problems) == 1
    assert found == {
        "null": "is a device, not a file -> write the data to a file",
        "pipe": "is a pipe, not a file -> write the data to a file",
        "loop": "is a symbolic link that leads back to itself -> name the file itself",
        "dangling": "no such file -> it is a link to nowhere, which does not exist",
        "locked": "cannot be read: permission denied -> allow reading it, e.g. chmod u+r",
    }
    problems = []
    for name in ("x" * 300, "locked/below", "a\0b"):
        read_qrels(str(tmp_path / name), problems)
    assert [p.code for p in problems] == ["not_a_file", "no_such_file", "not_a_file"]
    assert "is too long for the name of a file" in problems[0].text


def test_a_rank_column_of_no_integers_at_all(tmp_path):
    path = tmp_path / "r.parquet"
    pq.write_table(
        pa.table({"query_id": ["q"], "item_id": ["d"], "score": [1.0], "rank": [[1]]}), path
    )
    problems = []
    assert read_run(str(path), problems).column_names == ["query_id", "item_id", "score"]
    assert "column rank is of type list" in str(problems[0])
