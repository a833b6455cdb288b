"""Reads what a user may write for a model: a key, a registry URI, a file, a callable."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pipeline.core.problems import fault
from pipeline.core.suggest import nearest

_URI = re.compile(r"^(models|runs):/")
_CALL = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
_ENDINGS = re.compile(r"\.(gz|run|trec|txt|csv|tsv|jsonl|ndjson|parquet|res)$")
_PLAIN = re.compile(r"[^\w+.-]+")
_LONGEST = 255  # what a file's name may have on most systems, in characters


@dataclass(frozen=True, slots=True)
class Reference:
    """One model as asked for.

    Attributes:
        name: key in the comparison.
        requested: what the user wrote.
        spec: kind and options.
        where: where it stands in the config.
    """

    name: str
    requested: str
    spec: Mapping[str, Any]
    where: str


def read(value: Any, models: Mapping[str, Any], where: str) -> Reference:
    """The model that ``value`` names, tried in this order: key, URI, file, callable.

    Args:
        value: text, or a mapping with ``path`` and optional ``retrieval`` and ``name``.
        models: the selected models by key.
        where: ``baseline`` or ``candidates``.

    Raises:
        SamepoolError: it is none of these; the message says what was tried.
    """
    if isinstance(value, Mapping):
        return _mapping(value, models, where)
    if not isinstance(value, str):
        text = f"{where}: {value!r} was read as {type(value).__name__}, not as text"
        raise fault("bad_reference", text, f"""quote it: {where}='"{value}"'""")
    if value in models:
        if not isinstance(models[value], Mapping):
            text = f"models.{value} is {models[value]!r}, not a kind with its options"
            raise fault("bad_model", text, f"models.{value}={{kind: popularity}}")
        return Reference(value, value, models[value], f"models.{value}")
    if _URI.match(value):
        return Reference(_from_uri(value), value, {"kind": "mlflow", "uri": value}, where)
    if _is_file(value):
        path = str(Path(value).expanduser())
        return Reference(stem(path), value, {"kind": "run_file", "path": path}, where)
    if _CALL.match(value):
        return Reference(value.partition(":")[2], value, {"kind": "python", "call": value}, where)
    raise _unknown(value, models, where)


def _is_file(value: str) -> bool:
    try:
        return Path(value).expanduser().is_file()
    except (OSError, RuntimeError):  # longer than names can be; a home of nobody
        return False


def _mapping(value: Mapping[str, Any], models: Mapping[str, Any], where: str) -> Reference:
    spec = {key: option for key, option in value.items() if key != "name"}
    path = spec.get("path")
    if "kind" not in spec and not isinstance(path, str):
        text = f"{where}: a mapping needs a path to a run file, or a kind"
        raise fault("bad_reference", text, f"{where}={{path: bm25.trec, retrieval: first.trec}}")
    spec = {"kind": "run_file", **spec}
    name = value.get("name") or (stem(path) if isinstance(path, str) else str(spec["kind"]))
    first = spec.get("retrieval")
    if isinstance(first, str) and first in models and models[first].get("kind") == "run_file":
        spec["retrieval"] = models[first]["path"]
    return Reference(str(name), str(path or spec["kind"]), spec, where)


def stem(path: str) -> str:
    """A run file's name without folders and endings.

    >>> stem("runs/bm25+rm3.run.gz")
    'bm25+rm3'
    """
    name = Path(path).name
    while (shorter := _ENDINGS.sub("", name)) != name and shorter:
        name = shorter
    return _PLAIN.sub("-", name)


def _from_uri(uri: str) -> str:
    return _PLAIN.sub("-", uri.partition(":/")[2].strip("/"))


def _unknown(value: str, models: Mapping[str, Any], where: str) -> Exception:
    if len(value) > _LONGEST:
        text = f"{where}: {value[:40]!r}... has {len(value)} characters and is no model"
        return fault("unknown_model", text, "name a key of models, a URI, a file or a callable")
    folder = Path(os.path.expanduser(value)).parent  # noqa: PTH111 - leaves ~nobody as it is
    files = [str(p) for p in folder.glob("*") if p.is_file()] if folder.is_dir() else []
    near = nearest(value, [*models, *(f.removeprefix("./") for f in files)])
    tried = [
        f"a key of models ({', '.join(models) or 'none selected'})",
        "a registry URI (models:/..., runs:/...)",
        f"a file (no {value} in {Path.cwd() if not folder.is_absolute() else folder})",
        "a callable (module:function)",
    ]
    text = f"{where}: {value!r} is no model: tried {'; '.join(tried)}"
    fix = (
        f"did you mean {' or '.join(near)}?"
        if near
        else "models=[NAME] selects one of conf/models/"
    )
    return fault("unknown_model", text, fix)
