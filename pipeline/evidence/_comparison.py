"""comparison.json: settings, problems, and a summary in one place. Producer: workflow."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pipeline.core.evidence import SCHEMA, Evidence
from pipeline.core.problems import Problem, fault
from pipeline.core.redact import redact_values
from pipeline.evidence._files import plain, read_json, write_json

FILE = "comparison.json"


class Summary(NamedTuple):
    """What the file gives back; the rest of it repeats other files for readers' convenience."""

    schema: int
    settings: Mapping[str, Any]
    problems: tuple[Problem, ...]


def write(evidence: Evidence, folder: Path) -> None:
    """Writes the summary, without secrets."""
    value = {
        "schema": evidence.schema,
        "settings": redact_values(plain(evidence.settings)),
        "pool": redact_values(plain(evidence.pool)),
        "models": redact_values(plain(evidence.models)),
        "metrics": [info.label for info in evidence.metrics],
        "slices": plain(evidence.slices.definitions),  # a slice may be called token_rare
        "problems": redact_values(plain(evidence.problems)),
    }
    write_json(folder / FILE, value)


def read(folder: Path) -> Summary:
    """Reads it back.

    Raises:
        SamepoolError: missing, damaged, or of a schema that this version does not read.
    """
    value = read_json(folder / FILE)
    if value.get("schema") != SCHEMA:
        text = f"has schema {value.get('schema')!r}; this version reads {SCHEMA}"
        raise fault("evidence_schema", text, "compare again", file=str(folder / FILE))
    problems = (Problem(**{**p, "examples": tuple(p["examples"])}) for p in value["problems"])
    return Summary(value["schema"], value["settings"], tuple(problems))
