"""What a freeze says and refuses where a table has no time to be cut by, and what it says leaks."""

from dataclasses import replace
from pathlib import Path

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.settings import FreezeColumns, FreezeCommand, FreezeNegatives, FreezeSource
from pipeline.pool import FreezeResult, freeze, load
from pipeline.pool._freeze import leaks
from pipeline.pool._freeze.plan import plan

FILES = {
    "queries": "query_id,text,timestamp\na,red,2026-05-01\nb,hat,2026-05-02\nc,tie,2026-07-02\n",
    "items": "item_id,text,date_added\nd1,x,2026-01-01\nd2,y,2026-08-01\nd3,z,2026-01-01\n",
    "qrels": "query_id,item_id,grade,ts\na,d1,1,2026-05-01\na,d2,0,\nb,d1,1,2026-07-01\n"
    "c,d3,1,2026-07-01\n",
}
DATED = {"issued_at": "timestamp"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    for name, text in FILES.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def asked(folder: Path, out: str = "pool", columns=None, **more) -> FreezeCommand:
    source = FreezeSource(**{name: str(folder / f"{name}.csv") for name in FILES})
    given = {"as_of": "2026-06-01", "threads": 1, "out": str(folder / out)} | more
    return FreezeCommand(source=source, columns=FreezeColumns(**(columns or {})), **given)


@pytest.fixture(scope="module")
def undated(folder) -> FreezeResult:
    """Queries declared to have no time, items and judgments with one that nobody named."""
    negatives = FreezeNegatives(per_query=2)
    columns = {"queries": {"issued_at": None}}
    return freeze(asked(folder, columns=columns, negatives=negatives))


REFUSED = [
    ({}, {}, ["no column issued_at, by which as_of would cut the queries; timestamp looks like a",
              " time -> columns.queries={issued_at: timestamp}; columns.queries={issued_at: "]),
    ({}, {"evaluate_from": "2026-05-01"}, ["by which as_of and evaluate_from would cut"]),
    ({"queries": {"issued_at": None}}, {"evaluate_from": "2026-05-01"},
     ["evaluate_from is set, but columns.queries.issued_at is null"]),
    ({"queries": {"text": None}}, {}, ["columns.queries.text is null"]),
    ({"queries": {"at": "timestamp"}, "items": {"created": "date_added"},
      "qrels": {"judged": "ts"}}, {},
     ["columns.queries.at: at is a column of other tables -> did you mean columns.queries={issued_",
      "did you mean columns.items={created_at: date_added}?", "columns.qrels={judged_at: ts}"]),
    ({"queries": {"issued": "timestamp"}}, {}, ["did you mean columns.queries={issued_at: time"]),
    ({"queries": DATED}, {"judgments_until_as_of": True},
     ["no column judged_at, by which judgments_until_as_of would cut the qrels; ts looks like"]),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "more", "messages"), REFUSED)
def test_what_was_to_be_cut_and_cannot_be_is_refused(folder, columns, more, messages):
    with pytest.raises(SamepoolError) as error:
        freeze(asked(folder, "refused", columns, **more))
    for message in messages:
        assert message in str(error.value)
    assert not (folder / "refused").exists()


def test_a_time_that_is_declared_absent_and_is_there_is_refused(folder, tmp_path):
    (tmp_path / "q.csv").write_text("query_id,issued_at\na,2026-05-01\n")
    settings = asked(folder, "refused", {"queries": {"issued_at": None}})
    settings.source.queries = str(tmp_path / "q.csv")
    with pytest.raises(SamepoolError, match="issued_at is null, but there is a column issued_at"):
        freeze(settings)


def test_what_is_not_cut_is_said_and_recorded(undated):
    assert isinstance(undated, FreezeResult)
    said = {p.code: f"{p.severity}: {p}" for p in undated.problems if p.code != "time_not_used"}
    assert "note: " in said["undated"]
    assert "none of the queries are cut at as_of" in said["undated"]
    items, qrels = (str(p) for p in undated.problems if p.code == "time_not_used")
    assert "date_added looks like a time" in items
    assert "columns.items={created_at: date_added}" in items
    assert "columns.qrels={judged_at: ts}" in qrels
    counts = undated.record.counts
    assert (counts["queries"]["undated"], counts["items"]["undated"]) == (3, 3)


def test_queries_with_fewer_negatives_than_asked_are_counted(undated):
    """Query a has two of three items judged: one is free, and two were asked for."""
    assert undated.record.counts["negatives"] == {"rows": 9, "queries_short": 1}
    assert any("1 queries got fewer than negatives.per_query=2" in str(p) for p in undated.problems)
    loaded = load({"kind": "frozen", "path": str(undated.folder)})
    (warning,) = (p.text for p in loaded.problems if p.code == "sampled_candidates")
    assert "up to 2 sampled ones a query (uniform; 1 queries have fewer)" in warning


def test_no_message_names_the_folder_that_is_gone(folder):
    columns = {"queries": DATED, "items": {"created_at": "date_added"}}
    made = freeze(
        asked(folder, "named", columns)
    )  # d2, of grade 0, is cut: only relevant ones stay
    (told,) = (p for p in made.problems if "only relevant items are judged" in p.text)
    assert told.file == str(folder / "named" / "qrels.parquet")


def test_late_judgments_are_counted_or_cut(folder):
    columns = {"queries": DATED, "items": {"created_at": None}, "qrels": {"judged_at": "ts"}}
    kept = freeze(asked(folder, "kept", columns))
    assert kept.record.counts["qrels"] == {
        "rows": 4, "after_as_of_kept": 2, "undated": 1, "of_queries_cut": 1,
        "of_items_after_as_of": 0, "pairs": 3,
    }  # fmt: skip
    cut = freeze(asked(folder, "cut", columns, judgments_until_as_of=True))
    assert cut.record.counts["qrels"] == {
        "rows": 4, "after_as_of": 2, "undated": 1, "of_queries_cut": 0,
        "of_items_after_as_of": 0, "pairs": 2,
    }  # fmt: skip
    assert cut.pool.vocab.queries.to_pylist() == ["a"]


@pytest.mark.parametrize(
    ("times", "advice"),
    [
        ({}, "set train_until and evaluate_from"),
        ({"train_until": "2026-05-01"}, "set evaluate_from"),
        ({"train_until": "2026-05-01", "evaluate_from": "2026-04-01"}, "they overlap"),
        ({"train_until": "2026-05-01", "evaluate_from": "2026-05-01"}, "rows after train_until"),
    ],
)
def test_advice_on_leaks_is_what_is_left_to_do(folder, times, advice):
    asking = replace(asked(folder), **times)
    asking.source.logs = "logs.csv"
    found = {
        "judged_items": 9, "created_after_as_of": 2, "first_after_as_of": 5,
        "pairs": 8, "pairs_in_logs": 4, "queries_in_logs": 3,
    }  # fmt: skip
    cut, kept, pairs = leaks.notes({"leaks": found, "logs": {}}, plan(asking))
    assert (cut.severity, kept.severity) == ("note", "warning")
    assert "2 of 9 judged items were created after 2026-06-01; their judgments are cut" in str(cut)
    assert "3 of 9 judged items are in the logs only after 2026-06-01" in str(kept)
    assert pairs.fix.endswith(advice) or advice in pairs.fix
    assert ("set " in pairs.fix) == ("set " in advice or "overlap" in advice)
