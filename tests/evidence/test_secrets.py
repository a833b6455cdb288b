"""No file of a folder holds what must not be known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pipeline import evidence as files
from pipeline.core.evidence import Evidence
from pipeline.core.pool import Declared, Judgments, Pool, Times, Vocab
from pipeline.core.problems import Problem
from pipeline.core.run import Lists, Origin, Run
from pipeline.core.settings import ReportSettings
from pipeline.evidence.runs import write_run
from pipeline.report import render

URI = "http://ann:pw0rd@host/x"


def _pool(evidence: Evidence) -> Pool:
    ids, n = evidence.units.query_id, len(evidence.units.query_id)
    none, queries = np.zeros(0, np.int64), np.zeros(n, np.int64)
    judgments = Judgments(np.zeros(n + 1, np.int64), none.astype(np.int32), none * 1.0, none > 0)
    return Pool(
        "toy", pa.table({"query_id": ids}), pa.table({"item_id": pa.array(["a"])}), None, None,
        judgments, evidence.units, Times(queries, queries[:1], queries[:1], queries[:1]),
        Vocab(ids, pa.array(["a"])), Declared(), (), "d",
    )  # fmt: skip


def _secret(evidence: Evidence) -> Evidence:
    """The credentials wherever a user could have put them."""
    record = replace(evidence.models[1], requested=URI, resolved=URI, path=URI)
    settings = {**evidence.settings, "title": f"{URI} and more", "es": {"api_key": "pw0rd"}}
    declared = {**evidence.pool.declared, "facts": {"from": URI, "token": "pw0rd"}}
    return replace(
        evidence,
        models=(evidence.models[0], record),
        settings=settings,
        pool=replace(evidence.pool, declared=declared),
        problems=(Problem("x", "warning", f"{URI} is slow", "mend", URI, None, (URI,)),),
    )


def _texts(path: Path) -> str:
    if path.suffix != ".parquet":
        return path.read_text()
    table = pq.read_table(path)
    return f"{table.to_pylist()} {table.schema.metadata}"


def test_credentials_reach_no_file(evidence: Evidence, tmp_path: Path) -> None:
    hidden = _secret(evidence)
    origin = Origin("new", "python", URI, URI, path=URI)
    one = Lists(np.zeros(1, np.int32), np.zeros(1, np.int32), np.ones(1))
    problem = Problem("x", "note", URI)
    run = Run(origin, one, None, pa.array([], pa.string()), {}, 0, "ef", (problem,))
    write_run(run, _pool(evidence), tmp_path / "runs" / "new.parquet")
    files.write(hidden, tmp_path)
    files.write_decisions(hidden, (), tmp_path, same=True)
    render(hidden, (), tmp_path, ReportSettings())
    files.seal(tmp_path)
    texts = {path.name: _texts(path) for path in tmp_path.rglob("*") if path.is_file()}
    assert [name for name, text in texts.items() if "pw0rd" in text] == []
    for name in ("models.json", "comparison.json", "pool.json", "report.html", "new.parquet"):
        assert "http://host/x" in texts[name], name


def test_what_is_no_secret_stays(evidence: Evidence, tmp_path: Path) -> None:
    rules = {"no_token_loss": {"kind": "max_drop", "where": "token == 'x'"}, "off": None}
    plain = replace(evidence, settings={**evidence.settings, "rules": rules})
    files.write(plain, tmp_path)
    files.seal(tmp_path)
    assert files.read(tmp_path).settings == plain.settings
