"""samepool freeze as a user starts it: what it prints, what it refuses, and how it stops."""

import os
import signal
import subprocess
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

FILES = {
    "asked.csv": "query_id,text,issued_at\n0012,red shoes,2026-05-01\nNO,hat,2026-05-02\n"
    "0012,Red  shoes,2026-05-03\n1e5,null,2026-06-02\n",
    "items.csv": "item_id,title\nd1,one\nd2,\"two, or 2\"\n",
    "rated.csv": "query_id,item_id,grade\n0012,d1,2\n0012,d2,0\nNO,d1,1\n1e5,d2,1\n",
    "clicks.csv": "query_id,item_id,at\n0012,d2,2026-05-03\nNO,d2,2026-05-28\nNO,d1,2026-06-05\n",
}  # fmt: skip
BASE = [
    "source.queries=asked.csv", "source.items=items.csv", "source.qrels=rated.csv",
    "source.logs=clicks.csv", "as_of=2026-06-01", "out=pools/june", "threads=1",
]  # fmt: skip
UNDATED = "columns.queries={issued_at: null}"


@pytest.fixture(autouse=True)
def tables(here: Path) -> Path:
    for name, text in FILES.items():
        (here / name).write_text(text)
    return here


def test_a_pool_is_frozen_checked_and_compared(samepool, here):
    done = samepool("freeze", *BASE, "n=2", "labels=human")
    assert done.returncode == 0, done.stderr
    assert "queries    4 rows, 1 later than as_of: cut, 2 ids, 2 distinct queries" in done.stdout
    assert "logs       3 rows, 1 later than as_of: cut" in done.stdout
    assert "head       1 queries, asked 2 times, 66.7 % of the traffic: 1 sampled, weight 1" in (
        done.stdout
    )
    assert "1 of 3 judged pairs, of 1 queries, are in the logs" in done.stderr
    frozen = ["pool=frozen", "pool.path=pools/june"]
    assert f"next: samepool check {' '.join(frozen)}\n" in done.stdout
    checked = samepool("check", *frozen)
    assert checked.returncode == 0, checked.stderr
    assert "pool june@" in checked.stdout
    assert "2 queries, 2 items, 3 judgments" in checked.stdout
    run = "0012 Q0 d1 1 2 x\n0012 Q0 d2 2 1 x\nNO Q0 d1 1 1 x\n"
    (here / "mine.trec").write_text(run)
    words = ["baseline=mine.trec", "models=[popular]", "tracking=none", "gate=none"]
    compared = samepool("compare", *frozen, *words)
    assert compared.returncode == 0, compared.stderr
    assert samepool("freeze", *BASE, "n=2", "labels=human").stdout.count("the very same") == 1
    (here / "pools" / "june" / "queries.parquet").write_bytes(b"PAR1")
    edited = samepool("check", *frozen, "models=[popular]")
    assert edited.returncode == 2
    assert "pools/june/queries.parquet: was edited" in edited.stderr


def test_help_and_nothing_given(inside):
    assert "samepool freeze source.queries=" in inside("freeze", "--help").stdout
    answer = inside("freeze")
    assert answer.returncode == 2
    for name in ("source.queries", "source.qrels", "as_of", "out"):
        assert f"error: {name} is not set -> " in answer.stderr


TOGETHER = [  # what is wrong is told all at once
    {
        "as_of=yesterday": "as_of 'yesterday' is not a time -> write ISO 8601, e.g. as_of=2026",
        "n=0": "n=0: it must be 1 or more",
        "allocation={haed: 1, torso: 1, tail: 1}": "no stratum 'haed' -> did you mean head?",
        "repeats.by=sound": "repeats.by: 'sound'",
        "negatives.per_query=-1": "per_query is -1; it must be 0 or more",
        "items=some": "unknown items=some",
        "columns.queries=3": "columns.queries is 3, not a mapping",
        "source.train=clicks.csv": "source.logs and source.train are both set",
    },
    {
        "train_until=2026-07-01": "train_until is after as_of",
        "strata={head: .5, torso: .2, tail: .2}": "the shares of strata add up to 0.9",
        "source.qrels=null": "source.qrels is not set",
        "logs=some": "unknown logs=some",
    },
    {
        "source.items=item.csv": "item.csv: no such file -> did you mean items.csv",
        "source.logs=logs/*.parquet": "source.logs: no file matches logs/*.parquet",
        "columns.qrels={query_id: qid}": "columns.qrels.query_id: there is no column qid",
        "columns.queries={user_id: txt}": "there is no column txt -> did you mean text?",
    },
    {
        "source.items=conf": "folder conf holds no .parquet, .csv or .tsv file",
        "source.qrels=bm25.trec": "bm25.trec: raw tables are Parquet, CSV or TSV",
        "source.logs=rated.csv": "logs need the column at, to be cut at a time; there are",
    },
    {"source.logg=x": "did you mean logs?"},
    {"allocation={head: 1}": "allocation lacks the stratum torso, tail"},
    {"n=many": "n is a whole number"},
    {"memory=lots": "memory='lots' is no size -> e.g. memory=4GB"},
    {"evaluate_from=2026-05-31": "no query is left: 1 of 4 were issued after as_of, 3 before eval"},
    {"allocation={head: 0, torso: 0, tail: 1}": "stratum head has 1 queries and would get none"},
    {"min_judged=3": "no query is left to sample from: 2 of 2 have fewer than 3 judgments"},
    {"out=conf": "conf: holds other files, which freeze would not touch"},
    {"out=asked.csv": "asked.csv: is a file, not a folder"},
]


@pytest.mark.parametrize("mistakes", TOGETHER, ids=lambda v: next(iter(v))[:40])
def test_mistakes_of_settings(inside, here, mistakes):
    answer = inside("freeze", *BASE, *mistakes)
    for expected in mistakes.values():
        refused(answer, expected)
    nothing_left(here)


def test_logs_that_were_said_to_be_cut(inside, here):
    answer = inside("freeze", *BASE, "source.logs=null", "source.train=clicks.csv")
    refused(answer, "clicks.csv: 1 train row postdates the cut-off 2026-06-01")
    refused(answer, "query_id NO, item d1 at 2026-06-05")
    nothing_left(here)


def test_as_of_before_everything(inside, here):
    answer = inside("freeze", *BASE, "as_of=2020-01-01")
    refused(answer, "asked.csv: no query is left: 4 of 4 were issued after as_of -> as_of is 2020")
    refused(answer, "the table runs from 2026-05-01 00:00:00+00 to 2026-06-02")


def test_queries_without_the_time_they_are_cut_by(inside, here):
    text = FILES["asked.csv"].replace("issued_at", "timestamp")
    (here / "asked.csv").write_text(text)
    refused(inside("freeze", *BASE), "asked.csv: no column issued_at, by which as_of would cut the")
    nothing_left(here)
    answer = inside("freeze", *BASE, "columns.queries={issued_at: timestamp}")
    assert "queries    4 rows, 1 later than as_of: cut" in answer.stdout
    answer = inside("freeze", *BASE, UNDATED, "out=pools/all", "negatives.per_query=9")
    assert "queries    4 rows, 4 without a time, 3 ids" in answer.stdout
    assert ", 3 queries with fewer negatives than asked\n" in answer.stdout
    assert "note: items.csv: no column created_at: none of the items are cut" in answer.stderr
    assert ".new-" not in answer.stderr


def nothing_left(here):
    assert not (here / "pools" / "june").exists()
    assert not [*here.rglob(".new-*"), *here.rglob(".freeze-*")]


def refused(answer, expected):
    assert answer.returncode == 2, answer.stderr
    assert expected in answer.stderr
    assert "Traceback" not in answer.stderr


ROWS = {
    "asked.csv": ("query_id,issued_at,frequency\nq1,2026-05-01,1\n q2,31/05/2026,-2\n,,x\n", [
        "asked.csv:row 2: issued_at '31/05/2026' is not a time",
        "asked.csv:row 2: query_id ' q2' has white space around it",
        "asked.csv:row 2: frequency '-2' must be 0 or more",
        "asked.csv:row 3: query_id is empty",
        "asked.csv:row 3: frequency 'x' is not a finite number",
    ]),
    "items.csv": ("id,title\nd1,x\n", [
        "items.csv: missing column item_id; there are: id, title -> columns.items={item_id: ",
    ]),
    "rated.csv": ("query_id,item_id,grade\nNO,d1,1\nNO,d2\n", [
        "rated.csv:line 3: expected 3 fields as in the header, got 2",
    ]),
    "clicks.csv": ("query_id,item_id,at\nNO,d1,1748736000\n", [
        "clicks.csv:row 1: at '1748736000' is not a time",
    ]),
}  # fmt: skip


def test_what_is_wrong_in_any_table_is_told_at_once(inside, here):
    for name, (text, _) in ROWS.items():
        (here / name).write_text(text)
    answer = inside("freeze", *BASE)
    for _, messages in ROWS.values():
        for expected in messages:
            refused(answer, expected)
    nothing_left(here)


CONTENT = [
    ("asked.csv", 'query_id,text\nq1,"a\nq2,b\n', "asked.csv:line 2: a double quote is not closed"),
    ("asked.csv", "query_id,text\nq1,a\nq1,b\n", "query_id 'q1' maps to two texts, 'a' and 'b'"),
    ("asked.csv", "query_id,stratum\nq1,a\n", "a column stratum, which freeze writes itself"),
    ("asked.csv", "", "asked.csv:line 1: is empty"),
    ("asked.csv", "query_id,text\n12,a\n", "qrels have query_id '0012', queries '12'"),
    ("items.csv", "item_id\nd1\nd2\nd1\n", "items.csv: item_id 'd1' has 2 rows"),
    ("items.csv", "item_id,created_at\nd1,2027-01-01\n", "no item is left: 1 of 1 were created"),
    ("rated.csv", "query_id,item_id,grade\nNO,d1,Exact\n", "grade 'Exact' is not a finite number"),
    ("rated.csv", "query_id,item_id,grade\nNO,d1,1\nNO,d1,3\n",
     "rated.csv: query NO, item d1 is judged 1 and 3 -> keep one grade a pair"),
    ("rated.csv", "query_id,item_id,grade\n", "rated.csv: has no judgments"),
    ("clicks.csv", "query_id,item_id,at\n,d1,2026-01-01\n", "1 rows have neither query_id nor"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "expected"), CONTENT, ids=lambda v: str(v)[-40:])
def test_mistakes_in_tables(inside, here, name, text, expected):
    (here / name).write_text(text)
    undated = [UNDATED] if name == "asked.csv" else []
    refused(inside("freeze", *BASE, *undated), expected)
    nothing_left(here)


def test_bytes_that_are_no_text_and_gzip_cut_short(inside, here):
    (here / "asked.csv").write_bytes(b"query_id,text\nq1,\xff\n")
    refused(inside("freeze", *BASE, UNDATED), "asked.csv:line 2: is not UTF-8")
    (here / "asked.csv").write_text(FILES["asked.csv"])
    subprocess.run(["gzip", "clicks.csv"], cwd=here, check=True)
    packed = (here / "clicks.csv.gz").read_bytes()
    (here / "clicks.csv.gz").write_bytes(packed[:-9])
    refused(inside("freeze", *BASE, "source.logs=clicks.csv.gz"), "gzip file is corrupt or cut")


def test_ids_that_parquet_holds_as_numbers(inside, here):
    """Whole numbers are their digits, as in pool=files; where zeros were lost, nothing matches."""
    table = pa.table({"query_id": [12, 13], "text": ["red shoes", "hat"]})
    pq.write_table(table, here / "asked.parquet")
    numbers = [*BASE, "source.queries=asked.parquet", "source.logs=null", UNDATED]
    refused(
        inside("freeze", *numbers),
        "asked.parquet: query_id holds numbers in the queries, but qrels have '0012': leading zeros"
        " were lost -> store query_id as a string column",
    )
    (here / "rated.csv").write_text(FILES["rated.csv"].replace("0012", "12"))
    assert inside("freeze", *numbers).returncode == 0
    pq.write_table(table.set_column(0, "query_id", pa.array([12.0, 13.0])), here / "asked.parquet")
    refused(inside("freeze", *numbers), "column query_id is of type double; ids and text must be")


def test_another_pool_is_never_written_over(inside, here):
    assert inside("freeze", *BASE).returncode == 0
    before = {path: path.read_bytes() for path in (here / "pools" / "june").iterdir()}
    refused(inside("freeze", *BASE, "seed=1"), "pools/june: holds pool june@")
    refused(inside("freeze", *BASE, "logs=none"), "with other logs -> give another out=")
    assert {path: path.read_bytes() for path in (here / "pools" / "june").iterdir()} == before


def test_folders_that_are_no_pool(inside, here):
    (here / "pools" / "june").mkdir(parents=True)
    words = ["check", "pool=frozen", "models=[popular]"]
    refused(inside(*words), "pool.path is not set")
    refused(inside(*words, "pool.path=pools/jun"), "there is no such folder -> did you mean june?")
    refused(inside(*words, "pool.path=pools/june"), "holds no frozen pool")
    (here / "pools" / "june" / "pool.json").write_text("{}")
    refused(inside(*words, "pool.path=pools/june"), "pool.json: is no record of a pool")
    refused(inside("freeze", *BASE), "holds something else")


def test_n_larger_than_there_is_takes_all(inside):
    answer = inside("freeze", *BASE, "n=50")
    assert answer.returncode == 0
    assert "n=50 is more than there are: all 2 are taken" in answer.stdout


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_it_leaves_nothing(here, environment, sign):
    rng = np.random.default_rng(1)
    size = 2_000_000
    logs = pa.table({
        "query_id": pa.array(rng.integers(0, 9_999, size)).cast(pa.string()),
        "item_id": pa.array(rng.integers(0, 9_999, size)).cast(pa.string()),
        "at": pa.array(rng.integers(0, 2**40, size), pa.timestamp("us", "UTC")),
    })  # fmt: skip
    pq.write_table(logs, here / "logs.parquet")
    words = ["samepool", "freeze", *BASE, "source.logs=logs.parquet", "memory=200MB"]
    process = subprocess.Popen(words, cwd=here, env=environment, stderr=subprocess.PIPE, text=True)
    while not [*here.rglob("tables.duckdb")] and process.poll() is None:
        time.sleep(0.02)
    time.sleep(0.2)
    os.kill(process.pid, sign)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130, errors
    assert errors.strip() == "samepool: interrupted"
    assert not (here / "pools" / "june").exists()
    assert not [*here.rglob(".new-*"), *here.rglob(".freeze-*")]
