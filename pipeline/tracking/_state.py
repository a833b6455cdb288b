"""tracking.json: whether an output folder has been published, and where."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from pipeline.core.files import write_text
from pipeline.core.problems import fault

FILE = "tracking.json"
MANIFEST = "manifest.json"
LOCK = ".tracking.lock"


@dataclass(frozen=True, slots=True)
class State:
    """Content of the file.

    Attributes:
        state: ``published``, or ``waiting`` for an upload.
        uri: tracking URI without credentials.
        experiment_id, run_id: of the parent run; empty while there is none.
        links: names and addresses of pages.
    """

    state: Literal["published", "waiting"]
    uri: str
    experiment_id: str = ""
    run_id: str = ""
    links: dict[str, str] = field(default_factory=dict)


def write(folder: Path, state: State) -> None:
    """Replaces the file, whole or not at all."""
    text = json.dumps({"schema": 1, **asdict(state)}, indent=1, sort_keys=True)
    write_text(folder / FILE, text + "\n")


def read(folder: Path) -> State | None:
    """The state of a folder; None where there is none that can be read."""
    value = _json(folder / FILE)
    if not isinstance(value, dict) or value.get("state") not in {"published", "waiting"}:
        return None
    known = {key: value[key] for key in State.__slots__ if key in value}
    return State(**{"uri": "", **known})


def waiting(root: Path) -> list[Path]:
    """Folders below ``root``, and itself, that are sealed and wait for an upload, sorted."""
    found = []
    for path in sorted(root.rglob(FILE)):
        state = read(path.parent)
        if state and state.state == "waiting" and (path.parent / MANIFEST).is_file():
            found.append(path.parent)
    return found


@dataclass(frozen=True, slots=True)
class Manifest:
    """The part of manifest.json that is needed here: its digest, and the files it names."""

    digest: str
    files: dict[str, str]


def manifest(folder: Path) -> Manifest:
    """Reads a folder's manifest.

    Raises:
        SamepoolError: no manifest, or a named file is missing.
    """
    value = _json(folder / MANIFEST)
    if not isinstance(value, dict) or not isinstance(value.get("files"), dict):
        text = "is not a finished comparison: it has no readable manifest.json"
        raise fault("unfinished", text, "run the same comparison again", file=str(folder))
    missing = [name for name in value["files"] if not (folder / name).is_file()]
    if missing:
        text = f"lacks files that its manifest names: {', '.join(missing[:5])}"
        raise fault("evidence_missing", text, "run the same comparison again", file=str(folder))
    return Manifest(str(value.get("digest", "")), value["files"])


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
