"""manifest.json: SHA-256 of every file; written last. Producer: evidence."""

from collections.abc import Iterable
from pathlib import Path

from pipeline.core.files import TEMPORARY, write_text
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.evidence._files import read_json, write_json
from pipeline.kernels.digest import of_file, of_json

FILE = "manifest.json"

# What comes after the seal: publication has its own state, and decisions can be taken again.
OUTSIDE = {FILE, "tracking.json"}
AGAIN = "gate"
MARK = ".samepool"


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


def refuse_taken(folder: Path) -> None:
    """Accepts a folder that is not there, is empty, or holds an unfinished comparison.

    Raises:
        SamepoolError: it is a file, holds a finished comparison, or holds other files, which a
            comparison must not mix with its own.
    """
    place = str(folder)
    if folder.exists() and not folder.is_dir():
        raise fault("folder_taken", "is a file", "give another out=", file=place)
    if (folder / FILE).exists():
        text = "holds a finished comparison"
        raise fault("folder_taken", text, "give another out=, or delete it", file=place)
    if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).exists():
        text = "holds files that are no comparison's"
        raise fault("folder_taken", text, "give out= a new folder", file=place)


def claim(folder: Path) -> None:
    """Makes the folder, or takes up an unfinished one, and marks it as a comparison's.

    What an attempt that was cut off left half written, and lists of models that this one may not
    have, are taken away.

    Raises:
        SamepoolError: as :func:`refuse_taken`.
    """
    refuse_taken(folder)
    for path in (*folder.rglob(f"{TEMPORARY}*"), *folder.glob("runs/*.parquet")):
        path.unlink(missing_ok=True)
    write_text(folder / MARK, "a comparison; unfinished while there is no manifest.json\n")


def verify(folder: Path, required: Iterable[str]) -> str:
    """Checks every file that the manifest names, and that it names what it must.

    Args:
        folder: of a comparison.
        required: files that a comparison cannot be without.

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
    files = manifest.get("files") if isinstance(manifest, dict) else None
    if not isinstance(files, dict) or of_json(files) != manifest.get("digest"):
        raise fault("evidence_altered", "was edited", "compare again", file=str(folder / FILE))
    problems = []
    for name in sorted({*files, *required}):
        path = folder / name
        if name not in files or not path.is_file():
            problems.append(Problem("evidence_missing", "error", "is missing", file=str(path)))
        elif of_file(str(path)) != files[name]:
            text = "was changed after the comparison"
            problems.append(Problem("evidence_altered", "error", text, "compare again", str(path)))
    raise_errors(problems)
    return str(manifest["digest"])
