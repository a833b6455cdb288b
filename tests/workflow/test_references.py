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


STAGES = {
    **MODELS,
    "two": {"kind": "two_stage", "retriever": "svd", "ranker": "ce.run.gz", "depth": 9},
    "three": {"kind": "two_stage", "retriever": "two", "ranker": "shop:by_price"},
    "one": {"kind": "two_stage", "retriever": "other", "ranker": "trees"},
    "other": {"kind": "two_stage", "retriever": "bm25.trec", "ranker": "one"},
    "own": {"kind": "two_stage", "retriever": {"kind": "two_stage", "retriever": "svd",
            "ranker": "own"}, "ranker": "svd"},
    "run": {"kind": "run_file", "path": "ce.run.gz", "retrieval": "first"},
}  # fmt: skip
RUN = {"kind": "run_file", "path": "ce.run.gz"}


def test_stages_are_written_like_any_model() -> None:
    found = read("two", STAGES, "baseline")
    assert found.spec == {**STAGES["two"], "retriever": MODELS["svd"], "ranker": RUN}
    deeper = read("three", STAGES, "baseline").spec
    assert deeper["retriever"] == found.spec
    assert deeper["ranker"] == {"kind": "python", "call": "shop:by_price"}


def test_stages_of_a_candidate_that_is_a_mapping() -> None:
    value = {"kind": "two_stage", "retriever": "models:/first/3", "ranker": {"path": "bm25.trec",
             "retrieval": "first"}, "name": "both"}  # fmt: skip
    found = read(value, STAGES, "candidates")
    assert found.name == "both"
    assert found.spec["retriever"] == {"kind": "mlflow", "uri": "models:/first/3"}
    first_of_run = {"kind": "run_file", "path": "bm25.trec", "retrieval": "a.trec"}
    assert found.spec["ranker"] == first_of_run


def test_a_kind_by_its_name_comes_last() -> None:
    stages = {"kind": "two_stage", "retriever": "svd", "ranker": "trees"}
    assert read(stages, {}, "baseline").spec["ranker"] == {"kind": "trees"}
    assert read(stages, {}, "baseline").spec["retriever"]["kind"] == "run_file"  # a file's name
    assert read(stages, MODELS, "baseline").spec["retriever"] == MODELS["svd"]
    with pytest.raises(SamepoolError, match="is no model"):
        read("trees", {}, "baseline")


def test_a_model_of_models_may_name_its_first_stage_by_key() -> None:
    assert read("run", STAGES, "baseline").spec == {**RUN, "retrieval": "a.trec"}
    bad = {**STAGES, "run": {**RUN, "retrieval": "two"}}
    with pytest.raises(SamepoolError, match="two is a model of kind two_stage, not a run file"):
        read("run", bad, "baseline")


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("one", "models.one -> models.other -> models.one"),
        ("other", "models.other -> models.one -> models.other"),
        ("own", "models.own -> models.own.retriever -> models.own"),
    ],
)
def test_a_cycle_is_named(name: str, way: str) -> None:
    with pytest.raises(SamepoolError, match=f"is a stage of itself: {way}"):
        read(name, STAGES, "baseline")


def test_both_stages_are_checked_at_once() -> None:
    value = {"kind": "two_stage", "retriever": "svdd", "ranker": {"depth": 3}}
    with pytest.raises(SamepoolError) as caught:
        read(value, MODELS, "candidates")
    assert "candidates.retriever: 'svdd' is no model" in str(caught.value)
    assert "; a kind -> did you mean svd" in str(caught.value)
    assert "candidates.ranker has no kind" in str(caught.value)
