"""pool.json after somebody wrote in it: refused, whatever was written."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.settings import FreezeColumns, FreezeCommand, FreezeSource
from pipeline.pool import freeze, load

EDITS: dict[str, Callable[[dict], object]] = {
    "digest": lambda found: found.update(digest=""),
    "digest of another type": lambda found: found.update(digest=5),
    "name": lambda found: found.update(name={"a": 1}),
    "declared": lambda found: found.update(declared=5),
    "labels": lambda found: found["declared"].update(labels="human"),
    "facts": lambda found: found["declared"].update(facts=None),
    "grades": lambda found: found["declared"].update(grades="ab"),
    "one grade": lambda found: found["declared"].update(grades=[1]),
    "as_of": lambda found: found["declared"].update(as_of=5),
    "no file": lambda found: found["files"].clear(),
    "files": lambda found: found.update(files="qrels.parquet"),
    "a file less": lambda found: found["files"].pop("queries.parquet"),
    "no sum": lambda found: found["files"]["qrels.parquet"].pop("sha256"),
    "a sum": lambda found: found["files"]["qrels.parquet"].update(sha256=5),
    "another file": lambda found: found["files"].update({"../a.parquet": {"sha256": "0"}}),
    "schema": lambda found: found.pop("schema"),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("raw")
    (folder / "queries.csv").write_text("query_id,text\na,red\nb,hat\n")
    (folder / "qrels.csv").write_text("query_id,item_id,grade\na,d1,1\nb,d1,2\n")
    source = FreezeSource(queries=str(folder / "queries.csv"), qrels=str(folder / "qrels.csv"))
    out = str(folder / "pool")
    more = {"columns": FreezeColumns(queries={"issued_at": None}), "grades": [0, 2]}
    freeze(FreezeCommand(source=source, as_of="2026-06-01", out=out, threads=1, **more))
    return folder / "pool"


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_record_is_refused(written, tmp_path, edit):
    for file in written.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    assert load({"kind": "frozen", "path": str(tmp_path)}).vocab.queries.to_pylist() == ["a", "b"]
    found = json.loads((tmp_path / "pool.json").read_text())
    EDITS[edit](found)
    (tmp_path / "pool.json").write_text(json.dumps(found))
    with pytest.raises(SamepoolError, match=r"is no record of a pool|was edited"):
        load({"kind": "frozen", "path": str(tmp_path)})
