"""Imports MLflow, once and late, with its telemetry off and its chatter silenced."""

import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# Defaults of ours; whoever sets one of these keeps it. Retries are few because results are on
# disk and can be uploaded later; the timeout leaves a server time to store a large file.
ENVIRONMENT = {
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
    "MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT": "true",
    "MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR": "false",
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_BACKOFF_FACTOR": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "30",
}


def library(module: str = "mlflow") -> Any:
    """A module of MLflow. The first call takes seconds."""
    for name, value in ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    with quiet():
        return importlib.import_module(module)


@contextmanager
def quiet() -> Iterator[None]:
    """Keeps MLflow's log lines and Python warnings from the terminal; errors are raised anyway."""
    logs = sys.modules.get("mlflow.utils.logging_utils")
    stream: Any = getattr(logs, "MLFLOW_LOGGING_STREAM", None)
    before = getattr(stream, "enabled", False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if stream is not None:
                stream.enabled = False
            yield
        finally:
            if stream is not None:
                stream.enabled = before
