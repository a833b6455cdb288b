"""A registry with two versions of a ranker."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REGISTER = """
import pathlib
import mlflow

client = mlflow.MlflowClient()
folder = pathlib.Path("models").resolve()
training = client.create_experiment("training", folder.as_uri())
client.create_registered_model("ranker")
for alias in ("champion", "challenger"):
    model = client.create_logged_model(training, name=alias)
    client.finalize_logged_model(model.model_id, "READY")
    made = client.create_model_version("ranker", f"models:/{model.model_id}")
    client.set_registered_model_alias("ranker", alias, made.version)
"""


def ready(folder: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Where it is."""
    more = {"MLFLOW_TRACKING_URI": f"sqlite:///{folder}/registry.db"}
    words = [sys.executable, "-c", REGISTER]
    subprocess.run(words, cwd=folder, env=environment | more, check=True, capture_output=True)
    yield more
