"""Raw tables of a freeze as the world writes them: odd names, odd numbers, broken files."""

import gzip
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.settings import FreezeColumns, FreezeCommand, FreezeNegatives, FreezeSource
from pipeline.pool import freeze

QUERIES = "query_id,text\na,red\nb,hat\n"
QRELS = "query_id,item_id,grade\na,d1,1\nb,d1,1\n"


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Any]:
    """Freezes tables: a path, or the text of a CSV."""

    def freezing(tables: dict[str, str], **more) -> Any:
        paths = {}
        for name, table in tables.items():
            paths[name] = table
            if "\n" in table:
                paths[name] = str(tmp_path / f"{name}_.csv")
                Path(paths[name]).write_text(table)
        given = {"as_of": "2026-06-01", "threads": 1, "out": str(tmp_path / "pool")}
        given |= {"columns": FreezeColumns(queries={"issued_at": None})} | more
        return freeze(FreezeCommand(source=FreezeSource(**paths), **given))

    return freezing


CLASHES = ["users", "place", "key", "other", "canonical", "n", "r", "QUERY_ID", "Text", "STRATUM",
           'a"b', "c0", "own 0"]  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_columns_of_ones_own_may_have_any_name(make, tmp_path, kind):
    # Names that the queries of a freeze use themselves, and names that differ in case only.
    rows = [["a", "b"], ["red", "hat"], *([f"{n}x", f"{n}y"] for n in CLASHES)]
    table = pa.Table.from_arrays([pa.array(row) for row in rows], ["query_id", "text", *CLASHES])
    folder = tmp_path / "asked"
    folder.mkdir()
    for part in (0, 1):
        one = table.slice(part, 1)
        if kind == "csv":
            pacsv.write_csv(one, folder / f"{part}.csv")
        else:
            pq.write_table(one, folder / f"{part}.parquet")
    made = make(tables={"queries": str(folder), "qrels": QRELS}, n=2)
    found = pq.read_table(made.folder / "queries.parquet").select(["query_id", "text", *CLASHES])
    assert found.to_pydict() == table.to_pydict()


@pytest.mark.parametrize(
    ("column", "code"),
    [
        (pa.array([2**53 + 1, 1], pa.uint64()), "not_exact"),
        (pa.array([Decimal("12345678901234567890.1"), None], pa.decimal128(38, 1)), "not_exact"),
        (pa.array([Decimal("1.10"), None], pa.decimal128(38, 2)), None),
        (pa.array([2**62, 5], pa.uint64()), None),
    ],
)
def test_attributes_that_float64_does_not_hold_are_refused(make, tmp_path, column, code):
    path = tmp_path / "asked.parquet"
    pq.write_table(pa.table({"query_id": ["a", "b"], "x": column}), path)
    tables = {"queries": str(path), "qrels": QRELS}
    if code is None:
        assert make(tables=tables).pool.queries["x"][1].as_py() in {None, 5.0}
        return
    with pytest.raises(SamepoolError) as error:
        make(tables=tables)
    assert [(p.code, p.where) for p in error.value.problems] == [(code, "row 1")]


@pytest.mark.parametrize(
    "number", ["9007199254740993", "-9007199254740993.0", "1e-400", "1" + "0" * 40 + "1"]
)
def test_grades_that_float64_does_not_hold_are_refused(make, number):
    qrels = f"query_id,item_id,grade\na,d1,{number}\n"
    with pytest.raises(SamepoolError) as error:
        make(tables={"queries": QUERIES, "qrels": qrels})
    assert [p.code for p in error.value.problems] == ["not_exact"]


def test_nanoseconds_are_cut_to_microseconds(make, tmp_path):
    path = tmp_path / "asked.parquet"
    late = pa.array([999, -1], pa.timestamp("ns", "UTC"))
    pq.write_table(pa.table({"query_id": ["a", "b"], "issued_at": late}), path)
    made = make(tables={"queries": str(path), "qrels": QRELS}, columns=FreezeColumns())
    assert made.pool.queries["issued_at"].cast(pa.int64()).to_pylist() == [0, 0]


BROKEN = {
    "lines end in different ways": b"query_id,text\r\na,x\nb,y\r\n",
    "longer than 2,000,000 bytes": b"query_id,text\na," + b"x" * 2_500_000 + b"\nb,y\n",
    "longer than can be read": b"query_id,text\na," + b"x" * 40_000_000 + b"\nb,y\n",
    "line 1: is empty": b"\nquery_id,text\na,x\n",
    "is not UTF-8": "query_id,text\na,x\n".encode("utf-16"),
    "has no rows": b"query_id,text\n",
}


@pytest.mark.parametrize("words", BROKEN)
def test_what_is_wrong_with_a_csv_is_said(make, tmp_path, words):
    (tmp_path / "asked.csv").write_bytes(BROKEN[words])
    with pytest.raises(SamepoolError) as error:
        make(tables={"queries": str(tmp_path / "asked.csv"), "qrels": QRELS})
    assert words in str(error.value)


def test_gzip_is_known_by_its_bytes(make, tmp_path):
    (tmp_path / "asked.csv").write_bytes(gzip.compress(b"query_id,text\na,x\n"))
    (tmp_path / "plain.csv.gz").write_bytes(b"query_id,item_id,grade\na,d1,1\n")
    tables = {"queries": str(tmp_path / "asked.csv"), "qrels": str(tmp_path / "plain.csv.gz")}
    assert make(tables=tables).pool.queries["text"].to_pylist() == ["x"]


def test_a_parquet_column_twice_is_refused(make, tmp_path):
    path = tmp_path / "asked.parquet"
    pq.write_table(pa.Table.from_arrays([pa.array(["a"])] * 2, ["query_id", "query_id"]), path)
    with pytest.raises(SamepoolError, match="column 'query_id' occurs twice"):
        make(tables={"queries": str(path), "qrels": QRELS})


@pytest.mark.parametrize(
    ("name", "sibling"), [("a[1]", "a1"), ("b*", "bz"), ("c?", "cz"), ("d[!e]", "dx")]
)
def test_a_file_whose_name_looks_like_a_pattern_is_read_and_no_other(make, tmp_path, name, sibling):
    folder = tmp_path / "asked"
    folder.mkdir()
    (folder / f"{name}.csv").write_text("query_id,text\na,right\nb,right\n")
    (folder / f"{sibling}.csv").write_text("query_id,text\na,wrong\nb,wrong\n")
    items = "item_id,text\nd1,x\nd2,y\n"
    tables = {"queries": str(folder / f"{name}.csv"), "qrels": QRELS, "items": items}
    negatives = FreezeNegatives(per_query=1)
    # What is read back from the folder to write too; DuckDB cannot write below a question mark.
    out = str(tmp_path / name.replace("?", "") / "pool")
    made = make(tables=tables, items="needed", negatives=negatives, out=out)
    assert made.pool.queries["text"].to_pylist() == ["right"]  # one query: one text
    assert made.pool.items["item_id"].to_pylist() == ["d1", "d2"]


def test_more_threads_than_can_be_started_are_refused(make):
    with pytest.raises(SamepoolError, match="threads=100000: it must be 1024 or fewer"):
        make(tables={"queries": QUERIES, "qrels": QRELS}, threads=100_000)


def test_one_column_cannot_be_two(make):
    columns = FreezeColumns(queries={"query_id": "qid", "user_id": "qid"})
    with pytest.raises(SamepoolError) as error:
        make(tables={"queries": "qid,text\na,red\n", "qrels": QRELS}, columns=columns)
    assert "columns.queries gives qid to query_id and user_id" in str(error.value)


def test_a_question_mark_in_the_path_is_told(make, tmp_path):
    tables = {"queries": QUERIES, "qrels": QRELS}
    with pytest.raises(SamepoolError, match=r"a path with a question mark .* temp=FOLDER"):
        make(tables=tables, out=str(tmp_path / "why?" / "pool"))
    made = make(tables=tables, out=str(tmp_path / "why?" / "pool"), temp=str(tmp_path))
    assert made.pool.queries.num_rows == 2


@pytest.mark.parametrize("grade", [float("nan"), float("inf")])
def test_the_smallest_relevant_grade_is_a_number(make, grade):
    with pytest.raises(SamepoolError, match=f"relevant_from={grade} is no grade"):
        make(tables={"queries": QUERIES, "qrels": QRELS}, relevant_from=grade)


def test_a_temp_that_is_not_there_is_named_and_nothing_stays(make, tmp_path):
    tables = {"queries": QUERIES, "qrels": QRELS}
    with pytest.raises(SamepoolError, match="nowhere: cannot be written"):
        make(tables=tables, temp=str(tmp_path / "nowhere"))
    assert not [path for path in tmp_path.iterdir() if path.is_dir()]
