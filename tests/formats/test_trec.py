"""TREC text: every way it can be regular, irregular, and wrong."""

import gzip
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.formats import place, read_qrels, read_run, read_table, trec

RUN = "q1 Q0 d1 1 2.5 r\nq1 Q0 d2 2 1.5 r\nq2 Q0 d1 1 -3e-1 r\n"


def run(path, **options):
    problems = []
    return read_run(path, problems, **options), problems


def qrels(path, **options):
    problems = []
    return read_qrels(path, problems, **options), problems


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN.replace(" ", "\t"),
        RUN.replace("\n", "\r\n"),
        RUN.replace(" ", "  \t"),
        "\n" + RUN.replace("\n", "\n\n"),
        RUN.replace("\n", " \n"),
        " " + RUN,
        RUN.rstrip("\n"),
        "\ufeff" + RUN,
        RUN.replace("2.5 r", "2.5 r extra fields"),
        RUN.replace("q1 Q0", "q1\vQ0", 1),
    ],
)
@pytest.mark.parametrize("name", ["a.run", "a.trec.gz", "a.txt", "strange.name", "noname"])
def test_run_in_any_white_space(put, text, name):
    table, problems = run(put(name, text))
    assert problems == []
    assert table.to_pydict() == {
        "query_id": ["q1", "q1", "q2"],
        "item_id": ["d1", "d2", "d1"],
        "score": [2.5, 1.5, -0.3],
        "rank": [1, 2, 1],
    }


def test_the_rows_after_a_header_keep_their_lines(put):
    table, problems = run(put("a.run", "\nqid q0 docno rank sim tag\n\n" + RUN))
    assert "line 2 looks like a header (qid, docno, sim, rank)" in str(problems[0])
    assert [place(table, row)[1] for row in range(3)] == ["line 4", "line 5", "line 6"]


def test_qrels(put):
    table, problems = qrels(put("a.qrels", "01 0 007 1\n1 0 1e5 -2\nNO 0 null 0.5\n"))
    assert problems == []
    assert table["query_id"].to_pylist() == ["01", "1", "NO"]
    assert table["item_id"].to_pylist() == ["007", "1e5", "null"]
    assert table["grade"].to_pylist() == [1, -2, 0.5]


def test_no_break_space_and_hash_and_quote_are_part_of_an_id(put):
    table, problems = qrels(put("a.qrels", '#1 0 a\u00a0b 1\n"q" 0 "d 1\n'))
    assert problems == []
    assert table["query_id"].to_pylist() == ["#1", '"q"']
    assert table["item_id"].to_pylist() == ["a\u00a0b", '"d']


def test_lines_are_told_past_blank_ones(put):
    table, _ = run(put("a.run", "\n" + RUN.replace("\n", "\n\n\n")))
    assert [place(table, row)[1] for row in range(3)] == ["line 2", "line 5", "line 8"]
    table, _ = run(put("b.run", RUN))
    assert [place(table, row)[1] for row in range(3)] == ["line 1", "line 2", "line 3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 Q0 a 1 3\n", "line 1: expected 6 TREC run fields, got 5"),
        (
            RUN + "1 0 a 3\n",
            "line 4: expected 6 TREC run fields, got 4; this looks like judgments, not",
        ),
        # one field short, yet as many separators as in a sound line
        ("1  Q0 184 1 3.0\n", "line 1: expected 6 TREC run fields, got 5"),
        ("1 Q0 184 1 3.0 \n", "line 1: expected 6 TREC run fields, got 5"),
        (
            "query_id Q0 docid rank score tag\n" + RUN,
            "line 1 looks like a header (query_id, docid, score, rank)",
        ),
        (RUN + "q3 Q0 d1 1 high r\n", "line 4: score 'high' is not a number"),
        (RUN + "q3 Q0 d9 1 nan r\n", "line 4: the score of query 'q3', item 'd9' is NaN"),
        (RUN + "q3 Q0 d9 1 -inf r\n", "line 4: the score of query 'q3', item 'd9' is -inf"),
        (RUN + "q3  Q0 d9 1 1e999 r\n", "line 4: the score of query 'q3', item 'd9' is inf"),
        ("", "the run is empty"),
        ("\n\n", "the run is empty"),
        (b"q1 Q0 \xff 1 1 r\n", "line 1: b'\\xff' is not UTF-8"),
    ],
)
def test_bad_runs_are_named_by_line(put, text, message):
    _, problems = run(put("a.run", text))
    assert [p.severity for p in problems] == ["error"]
    assert f"a.run:{message}" in str(problems[0]) or f"a.run: {message}" in str(problems[0])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "q1 Q0 d1 1 2 r\n",
            "line 1: expected 4 TREC qrels fields, got 6; this looks like a run, not judgments",
        ),
        ("q1 0 d1 1\nq1 0 d2 Exact\n", "line 2: grade 'Exact' is not a number"),
        ("query_id iter docid grade\nq1 0 d1 1\n", "line 1 looks like a header"),
        ("", "has no judgments"),
    ],
)
def test_bad_qrels_are_named_by_line(put, text, message):
    _, problems = qrels(put("a.qrels", text))
    assert [p.severity for p in problems] == ["error"]
    assert message in str(problems[0])


def test_many_bad_lines_make_one_problem(put):
    _, problems = qrels(put("a.qrels", "q1 0 d1 1\n" + "q1 0 d2\n" * 5000 + "q1 0 d3 x\n" * 70))
    assert [(p.code, p.count) for p in problems] == [
        ("wrong_field_count", 5000),
        ("grade_not_a_number", 70),
    ]
    assert problems[0].where == "line 2"
    assert len(problems[0].examples) == 3
    assert problems[1].where == "line 5002"


def test_text_grades_by_a_map(put):
    path = put("a.qrels", "q1 0 d1 Exact\nq1 0 d2 2\nq1 0 d3 Partial\n")
    table, problems = qrels(path, grade_map={"Exact": 3.0, "Partial": 1.0})
    assert problems == []
    assert table["grade"].to_pylist() == [3, 2, 1]
    _, problems = qrels(path, grade_map={"Exact": 3.0})
    assert "line 3: grade 'Partial' is not a number -> add it to grade_map" in str(problems[0])


def test_a_rank_that_is_no_integer_is_not_used(put):
    table, problems = run(put("a.run", "q1 Q0 d1 1 2.5 r\nq1 Q0 d2 - 1.5 r\n"))
    assert table.column_names == ["query_id", "item_id", "score"]
    assert "line 2: rank '-' is not an integer" in str(problems[0])
    assert problems[0].severity == "warning"


def test_trec_is_no_table(put):
    problems = []
    read_table(put("items.trec", RUN), problems)
    assert "cannot be a table of attributes" in str(problems[0])


def test_gzip_members_and_corrupt_gzip(put, tmp_path):
    path = tmp_path / "two.run.gz"
    path.write_bytes(gzip.compress(RUN.encode()) + gzip.compress(RUN.encode()))
    assert run(str(path))[0].num_rows == 6
    path.write_bytes(gzip.compress(RUN.encode() * 100)[:-20])
    _, problems = run(str(path))
    assert "two.run.gz: the gzip file is corrupt or cut short" in str(problems[0])
    path.write_bytes(gzip.compress(RUN.encode()) + b"junk")
    _, problems = run(str(path))
    assert "other bytes follow the packed data" in str(problems[0])
    path = tmp_path / "no_suffix"
    path.write_bytes(b"\x1f\x8bjunk of no meaning")
    _, problems = run(str(path))
    assert "no_suffix: the gzip file is corrupt or cut short" in str(problems[0])


def test_a_short_line_in_a_file_of_no_known_name(put):
    _, problems = run(put("run", "1 Q0 a 1 3\n"))
    assert "run:line 1: expected 6 TREC run fields, got 5" in str(problems[0])


IDS = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\v\f\r "), min_size=1
).filter(lambda s: not s.startswith("\ufeff"))
ROWS = st.lists(
    st.tuples(IDS, IDS, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=6
)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from([" ", "\t", "  ", " \t"]), st.sampled_from(["\n", "\r\n", "\n\n"]))
def test_both_paths_keep_every_byte(tmp_path_factory, rows, gap, end):
    path = tmp_path_factory.getbasetemp() / "property.run"
    lines = [gap.join([q, "Q0", i, str(n), repr(s), "t"]) for n, (q, i, s) in enumerate(rows, 1)]
    path.write_bytes(end.join(lines).encode())
    table, problems = run(str(path))
    known = trec._HEADER_WORDS
    assert problems == [] or rows[0][0].casefold() in known
    assert table["query_id"].to_pylist() == [q for q, _, _ in rows]
    assert table["item_id"].to_pylist() == [i for _, i, _ in rows]
    assert all(
        math.copysign(1, a) == math.copysign(1, b) and a == b
        for a, b in zip(table["score"].to_pylist(), [s for _, _, s in rows], strict=True)
    )


def test_white_space_at_the_border_of_a_piece_is_seen(put, monkeypatch):
    monkeypatch.setattr(trec, "_PIECE", 3)
    for text in (RUN, RUN.replace("\n", "\r\n"), RUN.replace("2.5 r", "2.5  r")):
        table, problems = run(put("a.run", text))
        assert problems == []
        assert table["score"].to_pylist() == [2.5, 1.5, -0.3]
    _, problems = run(put("a.run", RUN.replace("1 2.5 r", "1  2.5")))
    assert "got 5" in str(problems[0])


@pytest.mark.parametrize(
    ("name", "rows", "queries"),
    [
        ("dl_hard_passage/dl_hard-passage.qrels", 4256, 50),
        ("cranfield/QRelsCorrectedforTRECeval", 1837, 225),
    ],
)
def test_real_qrels(shared, name, rows, queries):
    table, problems = qrels(str(shared / name))
    assert problems == []
    assert table.num_rows == rows
    assert len(table["query_id"].unique()) == queries


def test_real_runs(shared):
    for path in sorted((shared / "dl_hard_passage").glob("*.run.gz")):
        table, problems = run(str(path))
        assert problems == []
        assert len(table["query_id"].unique()) == 50
        with gzip.open(path) as stream:
            lines = [line.split() for line in stream]
        assert table["item_id"].to_pylist() == [fields[2].decode() for fields in lines]
        assert table["score"].to_pylist() == [float(fields[4]) for fields in lines]


@pytest.mark.parametrize(
    ("score", "message"),
    [
        ("1e-400", "line 2: score 1e-400 is not exact"),
        ("9007199254740993", "line 2: score 9007199254740993 is not exact"),
        ("12345678901234567890", "line 2: score 12345678901234567890 is not exact"),
        ("-9007199254740993.0", "line 2: score -9007199254740993.0 is not exact"),
        ("9007199254740992", None),
        ("1.152921504606847e+18", None),
        ("-0.000", None),
        ("0.1", None),
    ],
)
@pytest.mark.parametrize("gap", [" ", " \t "])
def test_scores_that_would_become_ties(put, score, message, gap):
    text = f"q1 Q0 a 1 2 t\nq1 Q0 b 2 {score} t\n".replace(" ", gap)
    table, problems = run(put("a.trec", text))
    if message is None:
        assert problems == []
        assert table["score"].to_pylist() == [2, float(score)]
    else:
        assert len(problems) == 1
        assert message in str(problems[0])


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("query_id,item_id,score\nq,d,1\n", "csv"),
        ("query_id,item_id,score,name\nq,d,1,a name\n", "csv"),
        ("query_id\titem_id\tscore\nq\td\t1\n", "tsv"),
        ('{"query_id": "q", "item_id": "d", "score": 1}\n', "jsonl"),
        ("PAR1....PAR1", "parquet"),
    ],
)
def test_other_formats_by_the_name_of_trec(put, text, suffix):
    _, problems = run(put("a.trec", text))
    assert len(problems) == 1
    assert f"name the file .{suffix}, or set its format to {suffix}" in problems[0].fix
