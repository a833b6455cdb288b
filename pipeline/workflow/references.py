"""Reads what a user may write for a model: a key, a registry URI, a file, a callable.

The stages of a model of two stages are written alike, and read here before the model is built.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from pipeline.core.problems import Problem, collect, fault, raise_errors
from pipeline.core.registry import kinds
from pipeline.core.suggest import nearest

_URI = re.compile(r"^(models|runs):/")
_CALL = re.compile(r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")
_ENDINGS = re.compile(r"\.(gz|run|trec|txt|csv|tsv|jsonl|ndjson|parquet|res)$")
_PLAIN = re.compile(r"[^\w+.-]+")
_STAGES = ("retriever", "ranker")  # of the kind two_stage: each a model, written like any other
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
        SamepoolError: it is none of these; the message says what was tried. A model is a stage of
            itself.
    """
    found = _read(value, models, where)
    return replace(found, spec=_resolved(found.spec, models, found.where, (found.where,)))


def _read(value: Any, models: Mapping[str, Any], where: str, *, stage: bool = False) -> Reference:
    if isinstance(value, Mapping):
        return _mapping(value, where)
    if not isinstance(value, str):
        text = f"{where}: {value!r} was read as {type(value).__name__}, not as text"
        raise fault("bad_reference", text, f"""quote it: {where}='"{value}"'""")
    if value in models:
        if not isinstance(models[value], Mapping):
            text = f"models.{value} is {models[value]!r}, not a kind with its options"
            raise fault("bad_model", text, f"models.{value}={{kind: popularity}}")
        return Reference(value, value, models[value], f"models.{value}")
    found = _elsewhere(value, where)
    if found is not None:
        return found
    if stage and value in kinds("models"):
        return Reference(value, value, {"kind": value}, where)
    raise _unknown(value, models, where, kinds("models") if stage else ())


def _elsewhere(value: str, where: str) -> Reference | None:
    """A model that stands in no config: in a registry, a file or a module."""
    if _URI.match(value):
        return Reference(_from_uri(value), value, {"kind": "mlflow", "uri": value}, where)
    if _is_file(value):
        path = str(Path(value).expanduser())
        return Reference(stem(path), value, {"kind": "run_file", "path": path}, where)
    if _CALL.match(value):
        return Reference(value.partition(":")[2], value, {"kind": "python", "call": value}, where)
    return None


def _resolved(
    spec: Mapping[str, Any], models: Mapping[str, Any], where: str, trail: tuple[str, ...]
) -> Mapping[str, Any]:
    """The spec with what it names of other models in full.

    Args:
        spec: kind and options.
        models: the selected models by key.
        where: where it stands in the config.
        trail: the models of which it is a stage, outermost first, and itself.
    """
    if spec.get("kind") == "run_file":
        return _first_stage(spec, models, where)
    if spec.get("kind") != "two_stage":
        return spec
    problems: list[Problem] = []
    given = {stage: spec[stage] for stage in _STAGES if spec.get(stage) is not None}
    found = {
        stage: collect(problems, partial(_stage, value, models, f"{where}.{stage}", trail))
        for stage, value in given.items()
    }
    raise_errors(problems)
    return {**spec, **found}


def _stage(
    value: Any, models: Mapping[str, Any], where: str, trail: tuple[str, ...]
) -> Mapping[str, Any]:
    if isinstance(value, Mapping) and "kind" not in value and "path" not in value:
        text = f"{where} has no kind"
        fix = "{kind: KIND, ...} with its options, or text: a key of models, a file, a kind"
        raise fault("no_kind", text, fix)
    found = _read(value, models, where, stage=True)
    if found.where in trail:
        way = " -> ".join([*trail[trail.index(found.where) :], found.where])
        text = f"{where}: {found.requested} is a stage of itself: {way}"
        raise fault("cycle", text, "name another model")
    return _resolved(found.spec, models, found.where, (*trail, found.where))


def _first_stage(
    spec: Mapping[str, Any], models: Mapping[str, Any], where: str
) -> Mapping[str, Any]:
    """A run whose first stage may be the key of another run."""
    first = spec.get("retrieval")
    if not isinstance(first, str) or first not in models:
        return spec
    other = models[first]
    if isinstance(other, Mapping) and other.get("kind") == "run_file":
        return {**spec, "retrieval": other.get("path")}
    if _is_file(first):
        return spec
    kind = other.get("kind") if isinstance(other, Mapping) else other
    text = f"{where}: retrieval: {first} is a model of kind {kind}, not a run file"
    fix = f"{{kind: two_stage, retriever: {first}, ranker: {spec.get('path')}}}"
    raise fault("bad_retrieval", text, fix)


def _is_file(value: str) -> bool:
    try:
        return Path(value).expanduser().is_file()
    except (OSError, RuntimeError):  # longer than names can be; a home of nobody
        return False


def _mapping(value: Mapping[str, Any], where: str) -> Reference:
    spec = {key: option for key, option in value.items() if key != "name"}
    path = spec.get("path")
    if "kind" not in spec and not isinstance(path, str):
        text = f"{where}: a mapping needs a path to a run file, or a kind"
        raise fault("bad_reference", text, f"{where}={{path: bm25.trec, retrieval: first.trec}}")
    spec = {"kind": "run_file", **spec}
    name = value.get("name") or (stem(path) if isinstance(path, str) else str(spec["kind"]))
    asked = path or spec.get("uri") or spec.get("call") or spec["kind"]
    return Reference(str(name), str(asked), spec, where)


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


def _unknown(value: str, models: Mapping[str, Any], where: str, also: tuple[str, ...]) -> Exception:
    if len(value) > _LONGEST:
        text = f"{where}: {value[:40]!r}... has {len(value)} characters and is no model"
        return fault("unknown_model", text, "name a key of models, a URI, a file or a callable")
    folder = Path(os.path.expanduser(value)).parent  # noqa: PTH111 - leaves ~nobody as it is
    files = [str(p) for p in folder.glob("*") if p.is_file()] if folder.is_dir() else []
    near = nearest(value, [*models, *(f.removeprefix("./") for f in files), *also])
    tried = [
        f"a key of models ({', '.join(models) or 'none selected'})",
        "a registry URI (models:/..., runs:/...)",
        f"a file (no {value} in {Path.cwd() if not folder.is_absolute() else folder})",
        "a callable (module:function)",
        *(["a kind"] if also else []),
    ]
    text = f"{where}: {value!r} is no model: tried {'; '.join(tried)}"
    fix = (
        f"did you mean {' or '.join(near)}?"
        if near
        else "models=[NAME] selects one of conf/models/"
    )
    return fault("unknown_model", text, fix)
