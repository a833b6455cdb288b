"""Registry URIs: what they stand for, and messages for what is not there."""

from dataclasses import replace

import pandas as pd
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.signature import Column


@pytest.fixture
def ranker(place, client, mlflow, tmp_path):
    """A registered model with two versions; the second is the champion. Its score is x + 1."""

    class PlusOne(mlflow.pyfunc.PythonModel):
        def predict(self, context, model_input, params=None):
            return model_input["x"] + 1.0

    signature = mlflow.models.ModelSignature(
        mlflow.types.Schema(
            [mlflow.types.ColSpec("double", "x"), mlflow.types.ColSpec("string", "kind")]
        ),
        mlflow.types.Schema([mlflow.types.ColSpec("double")]),
    )
    folder = tmp_path / "model"
    mlflow.pyfunc.save_model(
        str(folder), python_model=PlusOne(), signature=signature, pip_requirements=[]
    )
    client.create_registered_model("ranker")
    for _ in range(2):
        client.create_model_version("ranker", folder.as_uri())
    client.set_registered_model_alias("ranker", "champion", "2")
    client.create_registered_model("empty")
    return folder


@pytest.mark.filterwarnings("ignore")
def test_an_alias_is_followed_once_to_a_version(tracker, ranker, client):
    origin = tracker.resolve("models:/ranker@champion")
    assert origin.requested == "models:/ranker@champion"
    assert (origin.resolved, origin.registered, origin.version) == (
        "models:/ranker/2", "ranker", "2",
    )  # fmt: skip
    assert origin.kind == "mlflow"
    client.set_registered_model_alias("ranker", "champion", "1")
    assert tracker.signature(origin).columns == (Column("x", "double"), Column("kind", "string"))
    with tracker.load_model(origin) as loaded:  # still the version that was resolved
        scores = loaded.predict(pd.DataFrame({"x": [1.0, 2.5], "kind": ["a", "b"]}))
    assert scores.tolist() == [2.0, 3.5]
    assert tracker.resolve("models:/ranker@champion").version == "1"


@pytest.mark.filterwarnings("ignore")
def test_the_source_digest_is_of_the_files(tracker, ranker):
    one, two = tracker.resolve("models:/ranker/1"), tracker.resolve("models:/ranker/latest")
    assert two.version == "2"
    assert one.source_digest == two.source_digest  # the same files
    assert len(one.source_digest) == 64
    (ranker / "python_model.pkl").write_bytes(b"other")
    assert tracker.resolve("models:/ranker/1").source_digest != one.source_digest


@pytest.mark.filterwarnings("ignore")
def test_what_does_not_exist_is_told_with_what_does(tracker, ranker):
    expected = {
        "models:/ranker@chalenger": r"has no @chalenger; versions 1-2 -> there are: @champion",
        "models:/empty@champion": r"empty has no @champion; no versions",
        "models:/ranker/7": "ranker has no version 7; there are 1-2",
        "models:/ranke@champion": "no model ranke.*did you mean ranker",
        "models:/ranker": "names no version and no alias.*models:/ranker/2",
        "models:/": "names no model",
        "models:/it's/1": "no registered model",
        "runs:/" + "0" * 32 + "/model": "has no run",
        "runs:/x": "names no model",
        "models:/m-" + "0" * 32: "has no logged model",
        "s3://bucket/model": "names no model",
    }
    for uri, message in expected.items():
        with pytest.raises(SamepoolError, match=message):
            tracker.resolve(uri)


@pytest.mark.filterwarnings("ignore")
def test_a_model_of_a_run(tracker, ranker, client):
    run = client.create_run("0")
    client.log_artifacts(run.info.run_id, str(ranker), "model")
    origin = tracker.resolve(f"runs:/{run.info.run_id}/model")
    assert origin.resolved == f"runs:/{run.info.run_id}/model"
    frame = pd.DataFrame({"x": [3.0], "kind": ["a"]})
    with tracker.load_model(origin) as loaded:
        assert loaded.predict(frame).tolist() == [4.0]
    with pytest.raises(SamepoolError, match="did you mean model"):
        tracker.resolve(f"runs:/{run.info.run_id}/modell")


def test_a_comparison_s_own_models_have_no_files(tracker, client, folder, evidence, decisions):
    links = tracker.publish(None, folder, evidence, decisions)
    model = client.search_logged_models([links.experiment_id])[0]
    origin = tracker.resolve(f"models:/{model.model_id}")
    assert origin.model_id == model.model_id
    for use in (tracker.signature, lambda model: tracker.load_model(model).__enter__()):
        with pytest.raises(SamepoolError, match="no files that can be loaded"):
            use(origin)


def test_an_evaluated_registry_model_is_linked_not_made_anew(
    tracker, client, folder, altered, evidence, decisions
):
    exp = client.create_experiment("elsewhere")
    known = client.create_logged_model(exp, name="served")
    models = (
        evidence.models[0], replace(evidence.models[1], model_id=known.model_id),
        evidence.models[2],
    )  # fmt: skip
    for _ in range(2):
        links = tracker.publish(None, folder, altered(models=models), decisions)
    assert len(client.search_logged_models([links.experiment_id])) == 2
    runs = client.search_runs([links.experiment_id])
    child = client.get_run(next(r.info.run_id for r in runs if r.info.run_name == "rrf"))
    assert [each.model_id for each in child.inputs.model_inputs] == [known.model_id]
    assert client.get_logged_model(known.model_id).metrics
