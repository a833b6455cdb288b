"""The manifest of a run: which registered version made it, on which pool. JSON beside the run.

``samepool stamp`` writes it, or the job that scored the run; models of kind ``run_file`` read it.
"""

import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, TypeAdapter, ValidationError

from pipeline.core.files import write_text
from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.formats._paths import unusable

MANIFEST_SCHEMA = 1
_SHOWN = 100
_ENDING = ".manifest.json"
_FIX = "docs/models.md says what it must hold; samepool stamp writes it"


def _sha256(text: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", text):
        raise ValueError("this is no SHA-256 of 64 hexadecimal digits")
    return text.lower()


def _text(value: Any) -> Any:
    """A job may write version 13 as a number."""
    return str(value) if type(value) is int else value


def _name(text: str) -> str:
    if not text.strip() or not text.isprintable():
        raise ValueError("this is no name")
    return text


Name = Annotated[str, AfterValidator(_name)]
Digest = Annotated[str, AfterValidator(_sha256)]


@dataclass(frozen=True, slots=True)
class Version:
    """The registered version that made the lists.

    Attributes:
        registered, version: name and number in the registry.
        uri: how it was asked for, e.g. by an alias.
        model_id: MLflow's id of the logged model behind the version; never given twice.
        source_digest: SHA-256 of the version as samepool resolves it. One of these two is needed:
            a version's number may be given again after a deletion.
    """

    registered: Name
    version: Annotated[Name, BeforeValidator(_text)]
    uri: str | None = None
    model_id: str | None = None
    source_digest: Digest | None = None

    @property
    def resolved(self) -> str:
        """The version's own URI."""
        return f"models:/{self.registered}/{self.version}"


@dataclass(frozen=True, slots=True)
class Asked:
    """The pool that was scored: its digest, and what people call it."""

    digest: Digest
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Written:
    """A run file: SHA-256 of its bytes, its name then, and its number of rows."""

    sha256: Digest
    file: str | None = None
    rows: int | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is said of a run, by whoever made it.

    Attributes:
        schema: of this file; 1.
        model, pool: what scored, and what was scored.
        run: the lists.
        retrieval: the lists of the stage before, where there was one.
        created: when it was stamped, ISO 8601 in UTC.
        by: the program or job that says so.
        notes: anything else.
    """

    schema: int
    model: Version
    pool: Asked
    run: Written
    retrieval: Written | None = None
    created: str | None = None
    by: str | None = None
    notes: str | None = None


def beside(path: str) -> str:
    """Where the manifest of a run is looked for.

    >>> beside("runs/ce.trec")
    'runs/ce.trec.manifest.json'
    """
    return path + _ENDING


def write_manifest(manifest: Manifest, path: str) -> None:
    """Writes a manifest, whole or not at all.

    Raises:
        SamepoolError: it cannot be written.
    """
    write_text(Path(path), json.dumps(asdict(manifest), indent=1, ensure_ascii=False) + "\n")


def read_manifest(path: str) -> Manifest:
    """Reads a manifest; keys that it does not know are passed over.

    Raises:
        SamepoolError: no such file, no JSON, another schema, or fields that are missing or wrong,
            all of them named.
    """
    problem = unusable(path, "manifest")
    if problem is not None:
        raise SamepoolError([problem])
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8-sig"))
    except (ValueError, OSError, RecursionError) as error:
        raise fault("bad_manifest", f"this is no JSON: {error}", _FIX, file=path) from error
    if not isinstance(value, dict) or value.get("schema") != MANIFEST_SCHEMA:
        given = value.get("schema") if isinstance(value, dict) else None
        text = f"schema is {given!r}, and {MANIFEST_SCHEMA} is what this version reads"
        raise fault("bad_manifest", text, _FIX, file=path)
    return _checked(value, path)


def _checked(value: dict[str, Any], path: str) -> Manifest:
    try:
        found = TypeAdapter(Manifest).validate_python(value)
    except ValidationError as error:
        raise SamepoolError(_problem(each, path) for each in error.errors()) from error
    if not (found.model.model_id or found.model.source_digest):
        text = "model has neither model_id nor source_digest"
        raise fault("bad_manifest", text, "the number of a version may be given again", file=path)
    return found


def _problem(error: Any, path: str) -> Problem:
    field = ".".join(map(str, error["loc"]))
    given = repr(error["input"])
    given = given if len(given) <= _SHOWN else f"{given[: _SHOWN - 3]}..."
    given = "" if error["type"] == "missing" else f" {given}:"
    said = str(error["msg"]).removeprefix("Value error, ")
    text = f"{field}:{given} {said[0].lower()}{said[1:]}"
    return Problem("bad_manifest", "error", text, _FIX, path)
