"""read(write(e)) == e, to the bit; what was changed afterwards is found."""

import csv
import json
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline import evidence as files
from pipeline.core.decision import Decision, Verdict
from pipeline.core.evidence import Evidence
from pipeline.core.problems import SamepoolError


def same(left: Any, right: Any) -> bool:
    """Equality of core values: arrays by bits, NaN equals NaN."""
    if type(left) is not type(right):
        return False
    if is_dataclass(left):
        return all(same(getattr(left, f.name), getattr(right, f.name)) for f in fields(left))
    if isinstance(left, np.ndarray):
        return left.dtype == right.dtype and np.array_equal(
            left, right, equal_nan=left.dtype.kind == "f"
        )
    if isinstance(left, pa.Table | pa.Array):
        return bool(left.equals(right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, tuple | list):
        return len(left) == len(right) and all(map(same, left, right))
    return bool(left == right or (left != left and right != right))


@pytest.fixture
def folder(evidence: Evidence, tmp_path: Path) -> Path:
    files.write(evidence, tmp_path)
    files.seal(tmp_path)
    return tmp_path


def test_every_field_comes_back(evidence: Evidence, folder: Path) -> None:
    found = files.read(folder)
    for field in fields(Evidence):
        assert same(getattr(evidence, field.name), getattr(found, field.name)), field.name


def test_the_comparison_above_sees_a_difference(evidence: Evidence) -> None:
    assert not same(evidence.scores[0], evidence.scores[1])


def test_the_same_evidence_gives_the_same_bytes(evidence: Evidence, tmp_path: Path) -> None:
    digests = []
    for name in ("a", "b"):
        files.write(evidence, tmp_path / name)
        digests.append(files.seal(tmp_path / name))
    assert digests[0] == digests[1]


def test_json_holds_no_bare_nan(folder: Path) -> None:
    for path in folder.glob("*.json"):
        json.loads(path.read_text(), parse_constant=pytest.fail)


def test_per_query_has_the_columns_of_the_contract(folder: Path) -> None:
    table = pq.read_table(folder / "per_query.parquet")
    assert table.column_names == ["query_id", "model", "metric", "item_slice", "value", "reason"]
    rows = table.to_pylist()
    assert rows[4]["value"] is None
    assert rows[4]["reason"] == "no_relevant"
    assert rows[2] == {
        "query_id": "null",
        "model": "old",
        "metric": "nDCG(gain=exp)@10",
        "item_slice": "all",
        "value": 0.0,
        "reason": "missing",
    }


def test_by_slice_holds_hand_computed_means(folder: Path) -> None:
    with (folder / "by_slice.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    found = {(r["model"], r["metric"], r["slice"]): r for r in rows}
    whole = found["old", "nDCG(gain=exp)@10", "all"]
    assert float(whole["mean"]) == pytest.approx((0.1 + 1 / 3 + 0 + 1) / 4)
    assert int(whole["n"]) == 4
    item = found["old", "nDCG(gain=exp)@10", "new"]
    assert (int(item["n"]), float(item["mean"])) == (2, 0.375)
    assert found["old", "nDCG(gain=exp)@10", "few_new"]["mean"] == ""
    assert found["old", "ItemCoverage@10", "all"]["mean"] == "0.25"
    assert found["old", "ItemCoverage@10", "all"]["ci_low"] == ""


def test_lists_count_the_judged_queries_of_the_slice(folder: Path) -> None:
    with (folder / "by_slice.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["metric"] == "ItemCoverage@10"]
    found = {row["slice"]: int(row["n"]) for row in rows if row["model"] == "old"}
    assert found == {"all": 3, "few": 0}  # the query "null" has no judgments


def test_facts_of_the_comparison(evidence: Evidence) -> None:
    assert (evidence.baseline, evidence.candidates) == ("old", ("new",))
    assert (evidence.primary, evidence.confidence) == ("nDCG(gain=exp)@10", 0.95)
    assert evidence.metric("Freshness@10").direction == "lower"
    alone = replace(evidence, models=evidence.models[1:])
    assert (alone.baseline, alone.candidates) == (None, ("new",))


def test_verdicts_stand_beside_their_claims(evidence: Evidence, tmp_path: Path) -> None:
    claim = evidence.comparisons[0].claim
    verdict = Verdict("r", claim, "fail", 0.1, 0.2, None, 0.5, 4, None, claim.metric, "all", "")
    files.write(evidence, tmp_path, [Decision("new", "fail", 0.5, 0.5, (verdict,), "", "")])
    with (tmp_path / "comparisons.csv").open() as stream:
        assert [row["verdict"] for row in csv.DictReader(stream)] == ["fail", ""]


def test_a_table_of_another_layout_is_refused(folder: Path) -> None:
    path = folder / "per_model.parquet"
    pq.write_table(pq.read_table(path).drop_columns(["judged"]), path)
    files.seal(folder)
    with pytest.raises(SamepoolError, match=r"per_model\.parquet: .*no column judged"):
        files.read(folder)


@pytest.mark.parametrize(
    "name", ["comparisons.csv", "per_query.parquet", "pool.json", "units.parquet"]
)
def test_an_altered_file_is_named(folder: Path, name: str) -> None:
    with (folder / name).open("ab") as stream:
        stream.write(b"\n")
    with pytest.raises(SamepoolError, match=f"{name}: was changed after the comparison"):
        files.read(folder)


def test_a_missing_file_is_named(folder: Path) -> None:
    (folder / "top.parquet").unlink()
    with pytest.raises(SamepoolError, match=r"top\.parquet: is missing"):
        files.read(folder)


def test_an_edited_manifest_is_found(folder: Path) -> None:
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"].pop("pool.json")
    (folder / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(SamepoolError, match=r"manifest\.json: was edited"):
        files.read(folder)


def test_an_unfinished_folder_is_refused(evidence: Evidence, tmp_path: Path) -> None:
    files.write(evidence, tmp_path)
    with pytest.raises(SamepoolError, match="is not a finished comparison"):
        files.read(tmp_path)


def test_another_schema_is_refused(folder: Path) -> None:
    path = folder / "comparison.json"
    path.write_text(path.read_text().replace('"schema": 1', '"schema": 99'))
    files.seal(folder)
    with pytest.raises(SamepoolError, match="has schema 99; this version reads 1"):
        files.read(folder)


def test_nothing_half_written_stays(
    evidence: Evidence, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pq, "write_table", lambda *_a, **_k: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(SamepoolError, match="cannot be written: full"):
        files.write(evidence, tmp_path)
    assert not list(tmp_path.glob("*.parquet"))
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize("content", ["{}", "[]", '{"files": {}, "digest": ""}', '{"files": 3}'])
def test_a_manifest_that_vouches_for_nothing_is_refused(folder: Path, content: str) -> None:
    (folder / "manifest.json").write_text(content)
    with pytest.raises(SamepoolError, match=r"manifest\.json: was edited"):
        files.read(folder)


def test_a_manifest_must_name_every_section(folder: Path) -> None:
    for path in folder.glob("*.csv"):
        path.unlink()
    files.seal(folder)
    with pytest.raises(SamepoolError, match=r"comparisons\.csv: is missing"):
        files.read(folder)


def test_a_folder_is_taken_up_only_if_nothing_can_be_lost(tmp_path: Path) -> None:
    fresh, mine = tmp_path / "a" / "b", tmp_path / "mine"
    for _ in range(2):  # the second time it is an unfinished comparison's
        files.claim(fresh)
    mine.mkdir()
    (mine / "summary.md").write_text("of the user")
    with pytest.raises(SamepoolError, match="holds files that are no comparison's"):
        files.claim(mine)
    with pytest.raises(SamepoolError, match="is a file"):
        files.claim(mine / "summary.md")
    files.seal(fresh)
    with pytest.raises(SamepoolError, match="holds a finished comparison"):
        files.claim(fresh)


@pytest.mark.parametrize("place", ["/proc/x", "/dev/null/x"])
def test_what_cannot_be_written_is_named(evidence: Evidence, place: str) -> None:
    with pytest.raises(SamepoolError, match=f"{place}.*cannot be written"):
        files.claim(Path(place))
