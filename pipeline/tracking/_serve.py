"""A model with its own requirements: MLflow's scoring server, in a process of its own.

``mlflow models serve`` makes the environment (with uv, or with pyenv and pip) and starts the
server. Environments are kept, one for each set of requirements; one that was not finished is made
anew, as MLflow would take it for whole.
"""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from pipeline.core.problems import SamepoolError, fault
from pipeline.core.redact import redact_uris
from pipeline.core.run import Origin
from pipeline.kernels.digest import of_file, of_parts
from pipeline.tracking import _keeper
from pipeline.tracking._library import ENVIRONMENT
from pipeline.tracking._load import files
from pipeline.tracking._store import Where
from pipeline.tracking._values import Served

_SIGNS = ("python_env.yaml", "conda.yaml", "requirements.txt", "uv.lock", "pyproject.toml")
_READY = ".whole"
_START_SECONDS = 1_800.0  # an environment may take long to install
_POLL_SECONDS = 0.1
_STOP_SECONDS = 10.0
_LINES, _WIDTH = 4, 400
_NOISE = re.compile(r" (INFO|WARNING) mlflow|^INFO:|Downloading artifacts")
_TELLING = re.compile(r"^([Ee]rror|ERROR|cause)\b|^[\w.]*(Error|Exception|Exit)\b")
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@contextmanager
def serve(where: Where, origin: Origin, timeout: float) -> Iterator[Served]:
    """Serves a model on a free port of this machine until it is left.

    Args:
        where: which store.
        origin: which model.
        timeout: seconds that the server gives a request.

    Raises:
        SamepoolError: no program makes environments, one cannot be made, or the server ends.
        UnreachableError: the model's files cannot be downloaded for want of an answer.
    """
    manager, path = _manager(origin)
    with files(where, origin) as model, tempfile.TemporaryDirectory(prefix="samepool-") as here:
        root = _root(model)
        server = _Server(origin, Path(here) / "log")
        try:
            with _alone(root, origin):
                if root.exists() and not (root / _READY).exists():
                    shutil.rmtree(root)
                root.mkdir(parents=True, exist_ok=True)
                server.start(_command(model, manager, server.port, timeout), _variables(root, path))
                server.wait()
                (root / _READY).touch()
            yield Served(server.url, server.ended)
        finally:
            server.stop()


class _Server:
    """The process, its address and what it says."""

    def __init__(self, origin: Origin, log: Path) -> None:
        self._origin = origin
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self, command: list[str], environment: dict[str, str]) -> None:
        """Starts it below a keeper that ends it with this process, in whatever way this ends."""
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and command
                [sys.executable, str(_keeper.__file__), *command],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=self._log.parent,
                env=environment,
                start_new_session=True,
            )

    def wait(self) -> None:
        """Returns once the server answers.

        Raises:
            SamepoolError: it ends instead, or does not answer in time.
        """
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            said = self.ended()
            if said is not None:
                raise self._failed("could not be started with its own requirements", said)
            try:
                _OPENER.open(f"{self.url}/ping", timeout=5).close()
            except (OSError, urllib.error.URLError):
                time.sleep(_POLL_SECONDS)
            else:
                return
        text = f"did not start within {_START_SECONDS:.0f} s"
        raise self._failed(text, _last(self._log))

    def _failed(self, text: str, said: str) -> SamepoolError:
        fix = "mend the requirements that it was logged with, or score with env: inprocess"
        return fault("env_failed", f"{self._origin.resolved} {text}: {said}", fix)

    def ended(self) -> str | None:
        """Its last lines, where it has ended."""
        if self._process is None or self._process.poll() is None:
            return None
        return _last(self._log)

    def stop(self) -> None:
        """Ends it and all that it started; its keeper does that when the pipe closes."""
        if self._process is None or self._process.stdin is None:
            return
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, 9)
            self._process.wait()


def _manager(origin: Origin) -> tuple[str, str]:
    """The program that makes environments, as MLflow calls it, and the PATH that it is on."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    if shutil.which("uv", path=path):
        return "uv", path
    if shutil.which("pyenv", path=path):
        return "virtualenv", path
    text = f"{origin.resolved} cannot have an environment of its own: there is no uv and no pyenv"
    raise fault("no_env_manager", text, "pip install uv; or score with env: inprocess")


def _command(model: Path, manager: str, port: int, timeout: float) -> list[str]:
    # MLflow's own, with this program's Python; whole seconds, and some more than ours.
    return [
        sys.executable, "-m", "mlflow", "models", "serve", f"--model-uri={model.resolve()}",
        f"--env-manager={manager}", "--host=127.0.0.1", f"--port={port}",
        f"--timeout={int(timeout) + 5}", "--workers=1",
    ]  # fmt: skip


def _variables(root: Path, path: str) -> dict[str, str]:
    """The environment: what is on this program's PYTHONPATH is none of the model's."""
    left_out = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "MLFLOW_RUN_ID"}
    kept = {name: value for name, value in os.environ.items() if name not in left_out}
    ours = {"PATH": path, "MLFLOW_ENV_ROOT": str(root), "MLFLOW_LOGGING_LEVEL": "INFO"}
    return {**ENVIRONMENT, **kept, **ours, "PYTHONUNBUFFERED": "1"}


def _root(model: Path) -> Path:
    """The folder of the environment for a model's requirements, beside those that MLflow keeps."""
    base = os.environ.get("MLFLOW_ENV_ROOT") or str(Path.home() / ".mlflow" / "envs")
    signs = {name: of_file(str(model / name)) for name in _SIGNS if (model / name).is_file()}
    return Path(base) / "samepool" / of_parts(signs)[:16]


@contextmanager
def _alone(root: Path, origin: Origin) -> Iterator[None]:
    """Nobody else makes this environment meanwhile."""
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{root}.lock", timeout=_START_SECONDS):
            yield
    except Timeout as error:
        text = f"another process has been making the environment of {origin.resolved} for long"
        raise fault("env_locked", text, f"end it, or remove {root}.lock") from error
    except OSError as error:
        text = f"the environment of {origin.resolved} cannot be kept in {root}: {error}"
        raise fault("env_failed", text, "set MLFLOW_ENV_ROOT to a folder with room") from error


def _last(log: Path) -> str:
    """What matters most of the last things said: errors by name, else the last lines.

    MLflow ends with a traceback of its own that says no more than that a command failed.
    """
    text = redact_uris(log.read_text(encoding="utf-8", errors="replace"))
    told, mark, trace = text.rpartition("Traceback (most recent call last)")
    if not mark or "ShellCommandException" not in trace:
        told = text
    lines = [line.strip() for line in told.splitlines()]
    lines = [line for line in lines if line and not _NOISE.search(line)]
    shown = " / ".join([line for line in lines if _TELLING.search(line)][-2:] or lines[-_LINES:])
    return shown if len(shown) <= _WIDTH else f"{shown[:_WIDTH]}..."
