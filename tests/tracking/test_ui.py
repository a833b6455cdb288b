"""The ui command: whom it serves, what it says, and that it ends."""

import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import urllib.request
from pathlib import Path

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.settings import TrackingSettings
from pipeline.tracking import _store, _ui, ui

ROOT = Path(__file__).parents[2]


def _port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def test_it_serves_until_a_signal_and_leaves_nothing_behind(tracker, folder, evidence, decisions):
    links = tracker.publish(None, folder, evidence, decisions)
    port = _port()
    code = textwrap.dedent(
        """
        import sys
        from pipeline.core.settings import TrackingSettings
        from pipeline.tracking import ui
        say = lambda line: print(line, flush=True)
        sys.exit(ui(TrackingSettings(), "127.0.0.1", int(sys.argv[1]), say))
        """
    )
    running = subprocess.Popen(
        [sys.executable, "-c", code, str(port)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    base = f"http://127.0.0.1:{port}"
    assert running.stdout.readline() == f"starting MLflow at {base} ...\n"
    newest = links.leaderboard.replace("http://127.0.0.1:5000", base)
    assert running.stdout.readline() == f"newest comparison: {newest}\n"
    link = running.stdout.readline()
    assert link.startswith(f"{base}/#/experiments?workflowType=machine_learning")
    with urllib.request.urlopen(f"{base}/health", timeout=5) as answer:
        assert answer.status == 200
    with pytest.raises(SamepoolError, match=rf"port {port}.*port={port + 1}"):
        ui(TrackingSettings(), "127.0.0.1", port, print)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=20)
    assert (running.returncode, out, err) == (0, "", "")
    until = time.monotonic() + 5
    while time.monotonic() < until:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)):
                return
    pytest.fail("the server still listens")


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.2", "example.org"])
def test_other_machines_are_not_served(place, host):
    with pytest.raises(SamepoolError, match="not this machine alone"):
        ui(TrackingSettings(), host, 5000, print)


def test_a_server_has_a_ui_of_its_own(place):
    said = []
    settings = TrackingSettings(uri="https://me:pw@mlflow.example.org/")
    assert ui(settings, "127.0.0.1", 5000, said.append) == 0
    page = "https://mlflow.example.org/#/experiments?workflowType=machine_learning"
    assert said == [f"tracking.uri is a server; its UI is {page}"]


def test_no_store_and_no_port(tmp_path, place, monkeypatch):
    with pytest.raises(SamepoolError, match="port 70000 does not exist"):
        ui(TrackingSettings(), "127.0.0.1", 70_000, print)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SamepoolError, match="no MLflow store"):
        ui(TrackingSettings(), "127.0.0.1", 5000, print)


def test_jobs_and_telemetry_are_off_and_no_password_is_on_the_command_line():
    where = _store.locate("postgresql://me:secret@host/db", None)
    environment = _ui.environment(where)
    assert environment["MLFLOW_SERVER_ENABLE_JOB_EXECUTION"] == "false"
    assert environment["MLFLOW_DISABLE_TELEMETRY"] == "true"
    assert environment["MLFLOW_BACKEND_STORE_URI"] == where.uri
    assert "secret" not in " ".join(_ui.command(where, "127.0.0.1", 5000))
    assert "--workers=1" in _ui.command(where, "127.0.0.1", 5000)


def test_without_a_comparison_there_is_no_link_to_one(place, monkeypatch):
    where = _store.locate(None, None)
    empty = {"experiments/search": {"experiments": []}, "runs/search": {}}
    monkeypatch.setattr(_ui, "_asked", lambda base, what, query: empty[what])
    assert not _ui._newest("http://127.0.0.1:5001", where)
    monkeypatch.undo()
    assert not _ui._newest(f"http://127.0.0.1:{_port()}", where)  # nobody answers
