"""manifest.json: SHA-256 of every file; written last. Producer: evidence."""

from pathlib import Path

from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.evidence._files import read_json, write_json
from pipeline.kernels.digest import of_file, of_json

FILE = "manifest.json"

# What comes after the seal: publication has its own state, and decisions can be taken again.
OUTSIDE = {FILE, "tracking.json"}
AGAIN = "gate"


def _sealed(path: Path, folder: Path) -> bool:
    inside = path.relative_to(folder)
    hidden = any(part.startswith(".") for part in inside.parts)
    return path.is_file() and not hidden and str(inside) not in OUTSIDE and inside.parts[0] != AGAIN


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if _sealed(path, folder))


def seal(folder: Path) -> str:
    """Writes the manifest of all files in the folder.

    Returns:
        Its digest: SHA-256 over file names and digests, hex.
    """
    files = {path.relative_to(folder).as_posix(): of_file(str(path)) for path in _files(folder)}
    digest = of_json(files)
    write_json(folder / FILE, {"schema": 1, "digest": digest, "files": files})
    return digest


def verify(folder: Path) -> str:
    """Checks every file that the manifest names.

    Returns:
        The manifest's digest.

    Raises:
        SamepoolError: no manifest (the comparison did not finish), or files that are missing or
            have changed, all of them named.
    """
    if not folder.is_dir():
        raise fault("no_folder", f"there is no folder {folder}", "give run=FOLDER or run=latest")
    if not (folder / FILE).is_file():
        text = "is not a finished comparison: it has no manifest.json"
        raise fault("unfinished", text, "run the same comparison again", file=str(folder))
    manifest = read_json(folder / FILE)
    problems = []
    for name, digest in manifest["files"].items():
        path = folder / name
        if not path.is_file():
            problems.append(Problem("evidence_missing", "error", "is missing", file=str(path)))
        elif of_file(str(path)) != digest:
            text = "was changed after the comparison"
            problems.append(Problem("evidence_altered", "error", text, "compare again", str(path)))
    if problems:
        raise SamepoolError(problems)
    if of_json(manifest["files"]) != manifest["digest"]:
        raise fault("evidence_altered", "was edited", "compare again", file=str(folder / FILE))
    return str(manifest["digest"])
