"""Serves MLflow's own pages on the embedded store, to this machine only."""

import ipaddress
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from pipeline.core.problems import fault
from pipeline.core.settings import TrackingSettings
from pipeline.tracking import _links, _runs
from pipeline.tracking._library import ENVIRONMENT
from pipeline.tracking._store import FOLDER, Where, locate

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0
_POLL_SECONDS = 0.2
_ASK_SECONDS = 10.0
_OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def serve(settings: TrackingSettings, host: str, port: int, say: Callable[[str], None]) -> int:
    """Runs the server until it ends or a signal ends it; see ``pipeline.tracking.ui``."""
    where = locate(settings.uri, settings.registry_uri)
    if where.uri.startswith("http"):
        say(f"tracking.uri is a server; its UI is {_links.experiments_page(where.uri)}")
        return 0
    if where.database and not where.database.is_file():
        text = f"there is no MLflow store at {where.database}"
        raise fault("no_store", text, "compare first, or change to the directory that has mlruns/")
    _check_host(host)
    _check_port(host, port)
    process = subprocess.Popen(  # noqa: S603 - our own interpreter
        command(where, host, port),
        env=environment(where),
        start_new_session=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with _forwarding(process) as stopped:
        said = _wait_ready(process, (f"http://{_in_url(host)}:{port}", where), say, stopped)
    if stopped or process.returncode == 0:
        return 0
    last = "\n".join(said.strip().splitlines()[-3:])
    raise fault("ui_failed", f"the MLflow server ended with {process.returncode}: {last}")


def command(where: Where, host: str, port: int) -> list[str]:
    """The server's command line: one worker, no proxy for artifacts, which are files here."""
    artifacts = where.artifacts or Path.cwd() / FOLDER / "artifacts"
    return [
        sys.executable,
        "-m",
        "mlflow",
        "server",
        f"--default-artifact-root={artifacts.as_uri()}",
        "--no-serve-artifacts",
        f"--host={host}",
        f"--port={port}",
        "--workers=1",
    ]


def environment(where: Where) -> dict[str, str]:
    """The server's environment: the store, whose address may hold a password, and what is off.

    Job runners are ten processes and a gigabyte.
    """
    store = {
        "MLFLOW_BACKEND_STORE_URI": where.uri,
        "MLFLOW_REGISTRY_STORE_URI": where.registry_uri,
    }
    off = {**ENVIRONMENT, "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false"}
    return {**off, **os.environ, **store}


def _check_host(host: str) -> None:
    try:
        loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        text = f"host {host!r} is not this machine alone; the UI has no passwords"
        raise fault("not_loopback", text, "use 127.0.0.1; for others run mlflow server with auth")


def _check_port(host: str, port: int) -> None:
    if not 0 < port < 65_536:
        raise fault("bad_port", f"port {port} does not exist", "use one from 1024 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind((host, port))
        except OSError as error:
            text = f"port {port} on {host} cannot be used: {error.strerror}"
            raise fault("port_in_use", text, f"samepool ui port={port + 1}") from error


@contextmanager
def _forwarding(process: "subprocess.Popen[str]") -> Iterator[list[int]]:
    """Passes interrupts on to the server's process group; yields the signals seen."""
    seen: list[int] = []

    def forward(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - the signal's
        seen.append(number)
        _stop(process, signal.SIGTERM)

    before = {each: signal.signal(each, forward) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield seen
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
        _stop(process, signal.SIGTERM)
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            _stop(process, signal.SIGKILL)
            process.wait()


def _stop(process: "subprocess.Popen[str]", number: int) -> None:
    try:
        os.killpg(process.pid, number)  # its own session, so this group is its alone
    except (ProcessLookupError, PermissionError):
        return


def _wait_ready(
    process: "subprocess.Popen[str]",
    served: tuple[str, Where],
    say: Callable[[str], None],
    stopped: list[int],
) -> str:
    """Says the links once the server answers, then waits for its end.

    Returns:
        What the server said on standard error.
    """
    base, where = served
    say(f"starting MLflow at {base} ...")
    until = time.monotonic() + _START_SECONDS
    while process.poll() is None and time.monotonic() < until and not stopped:
        if _answers(base):
            newest = _newest(base, where)
            if newest:
                say(f"newest comparison: {newest}")
            say(f"{_links.experiments_page(base)}  (Ctrl-C stops it)")
            break
        time.sleep(_POLL_SECONDS)
    _, said = process.communicate()
    return said or ""


def _answers(base: str) -> bool:
    try:
        with _OPENER.open(f"{base}/health", timeout=1.0):
            return True
    except OSError:
        return False


def _newest(base: str, where: Where) -> str:
    """Leaderboard of the newest comparison, at the port served here; empty where there is none.

    Links that were printed or stored earlier name the default port.
    """
    try:
        found = _asked(base, "experiments/search", {"max_results": 1_000})["experiments"]
        query = {
            "experiment_ids": [each["experiment_id"] for each in found],
            "filter": f"tags.`{_runs.KIND}` = '{_runs.COMPARISON}' and status = 'FINISHED'",
            "order_by": ["attributes.start_time DESC"],
            "max_results": 1,
        }
        runs = _asked(base, "runs/search", query).get("runs", [])
        if not runs:
            return ""
        info = runs[0]["info"]
        key = _links.view_key(info["run_id"])
        here = next(each for each in found if each["experiment_id"] == info["experiment_id"])
        known = any(tag["key"] == f"{_links.VIEWS}{key}" for tag in here.get("tags", []))
    except (OSError, ValueError, KeyError, StopIteration):  # a convenience: the page serves as well
        return ""
    view = key if known else ""
    return _links.links(where, info["experiment_id"], info["run_id"], view, ui=base).leaderboard


def _asked(base: str, what: str, query: Mapping[str, object]) -> Any:
    """The server's answer to a question of its REST interface."""
    request = urllib.request.Request(  # noqa: S310 - our own server
        f"{base}/api/2.0/mlflow/{what}",
        json.dumps(query).encode(),
        {"Content-Type": "application/json"},
    )
    with _OPENER.open(request, timeout=_ASK_SECONDS) as answer:
        return json.load(answer)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host
