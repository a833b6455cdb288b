"""Facts about this process and place, for a run's tags."""

import getpass
import os
import shutil
import socket
import subprocess
from pathlib import Path


def commit() -> str:
    """Git commit of the working directory, ``+changes`` appended if files differ; or empty."""
    head = _git("rev-parse", "HEAD")
    if not head:
        return ""
    return f"{head}+changes" if _git("status", "--porcelain", "--untracked-files=no") else head


def user() -> str:
    """Name of the user, or empty."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # a container's user may have no name
        return ""


def host() -> str:
    """Name of this machine, in characters that a filter can quote."""
    return socket.gethostname().replace("'", "").replace('"', "")


def process() -> str:
    """This process: id and, where the system tells it, the moment it began."""
    return f"{os.getpid()}:{_began(os.getpid())}"


def alive(process: str) -> bool:
    """Whether a process of this machine, as named by :func:`process`, still runs.

    In doubt it does: ending a run that goes on would be worse than leaving one open.
    """
    pid, _, began = process.partition(":")
    if os.name == "nt" or not pid.isdigit():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return not began or _began(int(pid)) in {"", began}


def _began(pid: int) -> str:
    """Start of a process in clock ticks since boot: a reused id is not taken for the first."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def _git(*args: str) -> str:
    git = shutil.which("git")
    if not git:
        return ""
    try:
        done = subprocess.run(  # noqa: S603 - fixed arguments
            [git, *args], capture_output=True, text=True, timeout=5, check=False
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
