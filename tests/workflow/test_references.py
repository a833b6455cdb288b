"""What may be written for a model, in the order in which it is tried."""

from pathlib import Path

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.workflow.references import read

MODELS = {"svd": {"kind": "svd", "factors": 8}, "first": {"kind": "run_file", "path": "a.trec"}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("bm25.trec", "svd", "ce.run.gz"):
        (tmp_path / name).touch()
    return tmp_path


def test_a_key_comes_before_a_file_of_that_name() -> None:
    found = read("svd", MODELS, "baseline")
    assert (found.name, found.spec, found.where) == ("svd", MODELS["svd"], "models.svd")


@pytest.mark.parametrize(
    ("uri", "name"),
    [("models:/ranker@champion", "ranker-champion"), ("runs:/ab12/model", "ab12-model")],
)
def test_a_registry_uri(uri: str, name: str) -> None:
    found = read(uri, MODELS, "baseline")
    assert (found.name, found.spec) == (name, {"kind": "mlflow", "uri": uri})


@pytest.mark.parametrize(("path", "name"), [("bm25.trec", "bm25"), ("./ce.run.gz", "ce")])
def test_a_file_is_a_run(path: str, name: str) -> None:
    found = read(path, MODELS, "baseline")
    assert found.name == name
    assert found.spec["kind"] == "run_file"


def test_a_callable() -> None:
    found = read("shop.rankers:by_price", MODELS, "baseline")
    assert (found.name, found.spec["kind"]) == ("by_price", "python")


def test_a_mapping_may_name_the_first_stage_by_key() -> None:
    found = read({"path": "bm25.trec", "retrieval": "first", "name": "two"}, MODELS, "candidates")
    assert found.name == "two"
    assert found.spec == {"kind": "run_file", "path": "bm25.trec", "retrieval": "a.trec"}


def test_a_typo_lists_what_was_tried_and_the_nearest() -> None:
    with pytest.raises(SamepoolError) as caught:
        read("bm52.trec", MODELS, "candidates")
    text = str(caught.value)
    for part in (
        "a key of models (svd, first)",
        "registry URI",
        "a file (no bm52.trec in",
        "callable",
    ):
        assert part in text
    assert "did you mean bm25.trec?" in text


@pytest.mark.parametrize("value", [1e5, 12, True, None])
def test_a_number_is_told_to_be_quoted(value: object) -> None:
    with pytest.raises(SamepoolError, match="quote it"):
        read(value, MODELS, "baseline")


def test_a_mapping_without_a_path_is_refused() -> None:
    with pytest.raises(SamepoolError, match="needs a path to a run file, or a kind"):
        read({"retrieval": "first"}, MODELS, "baseline")
