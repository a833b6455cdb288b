"""The wheel that carries MovieLens-100K: fetched once, checked, kept in a cache."""

import subprocess
import sys
import tempfile
from pathlib import Path

from filelock import FileLock

from pipeline.core.cache import cache_folder
from pipeline.core.problems import Problem, UnreachableError, fault
from pipeline.kernels.digest import of_file

NAME = "recbole-1.2.1-py3-none-any.whl"
SHA256 = "9c9948202011f37eb0a7c6768129313f00d6403ad221ec940d5e2d5d5f33a407"
_REQUIREMENT = "recbole==1.2.1"
_TIMEOUT = 300  # seconds
_TERMS = """\
samepool: MovieLens-100K was collected by GroupLens Research at the University of Minnesota. Its
terms: research use, no commercial use without permission, no redistribution, acknowledge the
source in publications (Harper and Konstan 2015, doi:10.1145/2827872). This is said once.
"""


def wheel() -> Path:
    """The checked wheel in the cache, fetched where it is not there or not whole.

    Raises:
        UnreachableError: it cannot be fetched.
        SamepoolError: what was fetched is something else, or the cache cannot be written.
    """
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{NAME}.lock"):
            path = _sound(folder)
            _say_terms(folder)
    except OSError as error:
        text = f"the cache {folder} cannot be used: {error.strerror or error}"
        raise fault("no_cache", text, "set SAMEPOOL_CACHE to a writable folder") from error
    return path


def _sound(folder: Path) -> Path:
    path = folder / NAME
    if path.is_file() and of_file(str(path)) == SHA256:
        return path
    # Whatever is there under this name is cut short or not ours: fetch it anew.
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        _download(scratch, folder)
        fetched = Path(scratch) / NAME
        found = of_file(str(fetched)) if fetched.is_file() else "no file"
        if found != SHA256:
            text = f"what the package index sent as {NAME} has SHA-256 {found}, not {SHA256}"
            fix = f"put the right file into {folder}"
            raise fault("wrong_checksum", text, fix)
        fetched.replace(path)
    return path


def _download(target: str, folder: Path) -> None:
    # -P: a folder named pip in the working directory is not run.
    command = [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--no-deps", "--no-input"]
    command += ["--disable-pip-version-check", "--only-binary", ":all:", "-d", target, _REQUIREMENT]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command, capture_output=True, text=True, timeout=_TIMEOUT, check=False
        )
        failed, said = done.returncode != 0, done.stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        failed, said = True, str(error)
    if failed:
        last = (said.strip().splitlines() or ["nothing"])[-1]
        text = f"MovieLens-100K could not be fetched ({_REQUIREMENT}); pip said: {last}"
        fix = f"check the network and pip, or put {NAME} into {folder}"
        raise UnreachableError([Problem("unreachable", "error", text, fix)])


def _say_terms(folder: Path) -> None:
    marker = folder / "movielens-100k.terms"
    if not marker.exists():
        sys.stderr.write(_TERMS)
        marker.write_text(_TERMS, encoding="utf-8")
