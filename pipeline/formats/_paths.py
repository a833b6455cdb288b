"""What can be wrong with a path before a file is opened."""

import errno
import os
import stat
from pathlib import Path

from pipeline.core.problems import Problem
from pipeline.core.suggest import nearest

_WHY = {
    errno.ELOOP: ("is a symbolic link that leads back to itself", "name the file itself"),
    errno.ENAMETOOLONG: ("is too long for the name of a file", "check the path"),
    errno.EACCES: ("cannot be reached: permission denied", "allow reading the folders above it"),
}
_KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
    (stat.S_ISFIFO, "pipe"),
    (stat.S_ISSOCK, "socket"),
)


def unusable(name: str, what: str = "file") -> Problem | None:
    """Why a path names no file that can be read; None where it names one.

    Args:
        name: the path.
        what: what the file holds, for the message, e.g. ``run file``.
    """
    path = Path(name)
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return _absent(path, name, what)
    except (OSError, ValueError) as error:
        text, fix = _WHY.get(getattr(error, "errno", 0), (f"cannot be read: {error}", ""))
        return Problem("not_a_file", "error", text, fix, _short(name))
    kind = next((kind for test, kind in _KINDS if test(mode)), None)
    if kind is not None:
        fix = "name the file in it" if kind == "folder" else "write the data to a file"
        return Problem("not_a_file", "error", f"is a {kind}, not a file", fix, name)
    if not os.access(path, os.R_OK):
        fix = "allow reading it, e.g. chmod u+r"
        return Problem("unreadable", "error", "cannot be read: permission denied", fix, name)
    return None


def _absent(path: Path, name: str, what: str) -> Problem:
    text = "no such file" if what == "file" else f"there is no {what} {name}"
    file = name if what == "file" else None
    return Problem("no_such_file", "error", text, _remedy(path), file)


def _remedy(path: Path) -> str:
    folder = path.parent
    if path.is_symlink():
        return f"it is a link to {path.readlink()}, which does not exist"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    try:
        others = [other.name for other in folder.iterdir() if other.is_file()]
    except OSError:
        return "check the path"
    near = [str(folder / other) for other in nearest(path.name, others)]
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"folder {folder} holds no file of a like name"


def _short(name: str) -> str:
    return name if len(name) <= 200 else f"{name[:100]}...{name[-40:]}"
