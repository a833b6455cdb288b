"""Files of a logged model: their signature, and the model in this process."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

import pandas as pd

from pipeline.core.contain import contained, said
from pipeline.core.problems import fault
from pipeline.core.redact import redact_uris
from pipeline.core.run import Origin
from pipeline.core.signature import Column, Signature
from pipeline.tracking._errors import translated
from pipeline.tracking._library import library, quiet
from pipeline.tracking._origin import location
from pipeline.tracking._store import Where, connect
from pipeline.tracking._values import Loaded

_FILE = "MLmodel"
_KINDS = ("boolean", "integer", "long", "float", "double", "string", "datetime", "binary")
_LABELS = {"boolean", "integer", "long", "string"}
_OF_TENSOR = {
    "bool": "boolean", "int32": "integer", "int64": "long", "float32": "float",
    "float64": "double",
}  # fmt: skip


def signature(where: Where, origin: Origin) -> Signature:
    """The inputs that a model asks for, from its ``MLmodel`` file; runs none of its code.

    Raises:
        UnreachableError: the file cannot be downloaded for want of an answer.
        SamepoolError: the model has no such file, or none that can be served as a function.
    """
    with _files(where, origin, _FILE) as path:
        return _signature(_spec(path, origin))


@contextmanager
def load(where: Where, origin: Origin) -> Iterator[Loaded]:
    """The model in this process, by MLflow's pyfunc; downloaded files go when it is left.

    Raises:
        UnreachableError: its files cannot be downloaded for want of an answer.
        SamepoolError: it has no files, or does not load; the message has the reason.
    """
    with files(where, origin) as path:
        spec = _spec(path, origin)
        with translated(where.registry_uri, f"load {origin.resolved}"):
            model = _loaded(path, origin)
        method = str(spec.flavors["python_function"].get("predict_fn", "predict"))
        yield Loaded(_Call(model.predict, origin.resolved), *_classifier(model, origin), method)


@contextmanager
def files(where: Where, origin: Origin) -> Iterator[Path]:
    """The folder of a model's files: where it is, or a copy that goes when it is left.

    Raises:
        UnreachableError, SamepoolError: as :func:`load`.
    """
    with _files(where, origin, "") as path:
        _spec(path, origin)
        yield path


def _loaded(path: Path, origin: Origin) -> Any:
    try:
        with contained():
            return library("mlflow.pyfunc").load_model(str(path))
    except ImportError as error:
        text = f"{origin.resolved} needs a module that is not installed here: {error}"
        fix = "install it, or score with env: virtualenv, which installs what the model needs"
        raise fault("model_needs", text, fix) from error
    except (SystemExit, GeneratorExit) as error:  # of code that the model brings along
        text = f"{origin.resolved} raised {type(error).__name__} as it was loaded: {said(error)}"
        raise fault("model_failed", text, "mend the model") from error


class _Call:
    """Calls the model's code; what it raises becomes one line."""

    def __init__(self, function: Any, name: str) -> None:
        self._function = function
        self._name = name

    def __call__(self, table: pd.DataFrame) -> Any:
        try:
            with quiet(), contained():
                return self._function(table)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            text = f"{self._name} raised {type(error).__name__}: {said(error)}"
            raise fault("model_failed", text, "mend the model, or its inputs") from error


def _classifier(model: Any, origin: Origin) -> tuple[tuple[Any, ...] | None, _Call | None]:
    """Classes of the model below MLflow's wrapper, and its probabilities; None where it has none.

    Wrappers of libraries with scikit-learn's interface give that model out.
    """
    try:
        raw = model.get_raw_model()
    except (NotImplementedError, AttributeError):
        return None, None
    classes = getattr(raw, "classes_", None)
    if classes is None or getattr(classes, "ndim", 1) != 1:
        return None, None
    proba = getattr(raw, "predict_proba", None)
    labels = tuple(getattr(label, "item", lambda label=label: label)() for label in classes)
    return labels, None if proba is None else _Call(proba, origin.resolved)


@contextmanager
def _files(where: Where, origin: Origin, inside: str) -> Iterator[Path]:
    client = connect(where, create=False)
    with translated(where.registry_uri, f"find the files of {origin.resolved}"):
        address = "/".join(filter(None, (location(client, origin).rstrip("/"), inside)))
    parts = urlsplit(address)
    if parts.scheme in {"", "file"}:
        path = Path(unquote(parts.path))
        if not path.exists():
            raise _no_files(origin, f" (looked in {path})")
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="samepool-model-") as folder:
        with translated(where.registry_uri, f"download {origin.resolved}"):
            found = _download(where, origin, address, folder)
        yield found


def _download(where: Where, origin: Origin, address: str, folder: str) -> Path:
    """The files from where they are kept; a registry of its own has a server of its own."""
    server = where.registry_uri if origin.registered else where.uri
    artifacts = library("mlflow.artifacts")
    try:
        got = artifacts.download_artifacts(
            artifact_uri=address, dst_path=folder, tracking_uri=server
        )
    except Exception as error:
        said = str(error).lower()
        if "404" in said or "does not exist" in said or "no such" in said:
            raise _no_files(origin, f" (looked in {redact_uris(address)})") from error
        raise
    return Path(str(got))


def _spec(path: Path, origin: Origin) -> Any:
    file = path if path.name == _FILE else path / _FILE
    if not file.is_file():
        raise _no_files(origin)
    with translated(origin.resolved, f"read {_FILE}"):
        spec = library("mlflow.models").Model.load(str(file.parent))
    if "python_function" not in spec.flavors:
        raise _no_files(origin)
    return spec


def _no_files(origin: Origin, where: str = "") -> Exception:
    text = f"{origin.resolved} has no files that can be loaded as a Python function{where}"
    return fault("no_model_files", text, "log the model with its code, or give a run file")


def _signature(spec: Any) -> Signature:
    inputs, outputs = spec.get_input_schema(), spec.get_output_schema()
    named = inputs is not None and inputs.has_input_names()
    columns = tuple(_column(each) for each in inputs.inputs) if named else None
    names = None if outputs is None else _names(outputs)
    unnamed = inputs is not None and not named
    return Signature(columns, unnamed, names, _returns(spec.flavors, outputs))


def _names(schema: Any) -> tuple[str, ...]:
    return tuple(map(str, schema.input_names())) if schema.has_input_names() else ()


def _returns(flavors: Any, schema: Any) -> Literal["", "labels", "probabilities"]:
    """What a classifier answers with, as far as the file tells.

    Flavors of boosted trees name the class of the model. That of scikit-learn does not, but there
    whole numbers and words are labels: what it has for regression predicts floats.
    """
    method = flavors["python_function"].get("predict_fn", "predict")
    if method.endswith("_proba"):
        return "probabilities"
    named = any(str(f.get("model_class", "")).endswith("Classifier") for f in flavors.values())
    kinds = set() if schema is None else {_column(each).kind for each in schema.inputs}
    labels = kinds and kinds <= _LABELS and len(schema.inputs) == 1
    return "labels" if method == "predict" and (named or ("sklearn" in flavors and labels)) else ""


def _column(spec: Any) -> Column:
    required = bool(getattr(spec, "required", True))
    shape = getattr(spec, "shape", None)
    if shape is not None:  # a tensor: one number a row can be a column
        kind = _OF_TENSOR.get(str(spec.type), "other") if tuple(shape) == (-1,) else "other"
        return Column(str(spec.name), kind, required)
    kind = str(getattr(spec.type, "name", "other"))
    return Column(str(spec.name), kind if kind in _KINDS else "other", required)
