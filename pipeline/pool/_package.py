"""A package of the registry that carries data: fetched once by pip, checked, kept in a cache.

Nothing of a package is run or installed. A wheel is only downloaded. Of a source package pip wants
to know name and version, and would run its setup.py for that; it is given a build backend of ours
instead, which says both. pip checks the SHA-256 before it opens a package, and so do we.
"""

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from pipeline.core.cache import cache_folder
from pipeline.core.problems import Problem, SamepoolError, UnreachableError, fault
from pipeline.kernels.digest import of_file

_TIMEOUT = 300  # seconds
_PIP = ["pip", "download", "--quiet", "--no-deps", "--no-input", "--disable-pip-version-check"]
_BACKEND = """\
import os


def prepare_metadata_for_build_wheel(folder, config_settings=None):
    name = "{folder}-{version}.dist-info"
    os.mkdir(os.path.join(folder, name))
    with open(os.path.join(folder, name, "METADATA"), "w") as stream:
        stream.write("Metadata-Version: 2.1\\nName: {name}\\nVersion: {version}\\n")
    return name


class __legacy__:
    prepare_metadata_for_build_wheel = staticmethod(prepare_metadata_for_build_wheel)
"""


@dataclass(frozen=True, slots=True)
class Package:
    """One pinned file of the registry.

    Attributes:
        what: data that it carries, for messages.
        name, version: of the distribution.
        file: its file; a source package ends in ``.tar.gz``, and has no pyproject.toml.
        sha256: of that file.
        terms: what must be said of the data once, on standard error; may be empty.
    """

    what: str
    name: str
    version: str
    file: str
    sha256: str
    terms: str = ""

    @property
    def requirement(self) -> str:
        """What pip is asked for."""
        return f"{self.name}=={self.version}"

    @property
    def is_source(self) -> bool:
        """Whether pip has to be told what is in it."""
        return self.file.endswith(".tar.gz")


def fetched(package: Package) -> Path:
    """The checked file in the cache, fetched where it is not there or not whole.

    Raises:
        UnreachableError: it cannot be fetched.
        SamepoolError: what was fetched is something else, or the cache cannot be written.
    """
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / f"{package.file}.lock"):
            path = _sound(package, folder)
            _say_terms(package, folder)
    except OSError as error:
        text = f"the cache {folder} cannot be used: {error.strerror or error}"
        raise fault("no_cache", text, "set SAMEPOOL_CACHE to a writable folder") from error
    return path


def _sound(package: Package, folder: Path) -> Path:
    path = folder / package.file
    if path.is_file() and of_file(str(path)) == package.sha256:
        return path
    # Whatever is there under this name is cut short or not ours: fetch it anew.
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        _download(package, scratch, folder)
        found = Path(scratch) / package.file
        digest = of_file(str(found)) if found.is_file() else "no file"
        if digest != package.sha256:
            raise _other(package, folder, f"has SHA-256 {digest}, not {package.sha256}")
        found.replace(path)
    return path


def _download(package: Package, target: str, folder: Path) -> None:
    wanted = Path(target) / "requirements.txt"
    wanted.write_text(f"{package.requirement} --hash=sha256:{package.sha256}\n", encoding="utf-8")
    # -P: a folder named pip in the working directory is not run.
    command = [sys.executable, "-P", "-m", *_PIP, "-d", target, "-r", str(wanted)]
    environment = dict(os.environ)
    if package.is_source:
        command += ["--no-build-isolation", "--no-binary", package.name]
        environment |= _with_backend(package, target)
    else:
        command += ["--only-binary", ":all:"]
    try:
        done = subprocess.run(  # noqa: S603 - a fixed command
            command, capture_output=True, text=True, timeout=_TIMEOUT, check=False, env=environment
        )
        failed, said = done.returncode != 0, done.stderr
    except (OSError, subprocess.TimeoutExpired) as error:
        failed, said = True, str(error)
    if not failed:
        return
    if "do not match the hashes" in said.lower():
        raise _other(package, folder, "is another file: its SHA-256 is not the pinned one")
    last = (said.strip().splitlines() or ["nothing"])[-1]
    text = f"{package.what} cannot be fetched ({package.requirement}); pip said: {last}"
    fix = f"check the network and pip, or put {package.file} into {folder}"
    raise UnreachableError([Problem("unreachable", "error", text, fix)])


def _with_backend(package: Package, target: str) -> dict[str, str]:
    """Makes the backend of packages without pyproject.toml, and pip's variables for it."""
    folder = Path(target) / "backend"
    (folder / "setuptools").mkdir(parents=True)
    (folder / "setuptools" / "__init__.py").touch()
    named = {"name": package.name, "version": package.version}
    code = _BACKEND.format(folder=package.name.replace("-", "_"), **named)
    (folder / "setuptools" / "build_meta.py").write_text(code, encoding="utf-8")
    others = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(folder), *([others] if others else [])])
    # As a variable: a pip that knows no other way has no such flag.
    return {"PYTHONPATH": path, "PIP_USE_PEP517": "1"}


def _other(package: Package, folder: Path, how: str) -> SamepoolError:
    text = f"what the package index sent as {package.file} {how}"
    return fault("wrong_checksum", text, f"put the right file into {folder}")


def _say_terms(package: Package, folder: Path) -> None:
    marker = folder / f"{package.file}.terms"
    if package.terms and not marker.exists():
        sys.stderr.write(package.terms)
        marker.write_text(package.terms, encoding="utf-8")
