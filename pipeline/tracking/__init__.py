"""Tracking: publishes a finished comparison's output folder, and manages its run's life.

A run is opened before the first model is scored and carries the digests of pool and rules from
then on. What is published is read from the folder and its evidence; the folder is the record, the
server an index to it. Publishing is idempotent: it may be cut off anywhere and repeated.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import Path
from typing import Protocol, cast

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.core.registry import build
from pipeline.core.run import Origin
from pipeline.core.settings import TrackingSettings
from pipeline.core.signature import Signature
from pipeline.tracking import _state, _ui
from pipeline.tracking._values import Links, Loaded, Served, Start, Ticket

__all__ = [
    "Links",
    "Loaded",
    "Served",
    "Start",
    "Ticket",
    "Tracker",
    "destination",
    "open_tracker",
    "ui",
    "waiting",
]


class Tracker(Protocol):
    """A place where comparisons are logged, and models and comparisons are found again.

    Every method raises UnreachableError where the service does not answer, and SamepoolError
    where it refuses.
    """

    def check(self) -> None:
        """Returns within seconds if the service answers; for asking before long work."""
        ...

    def begin(self, start: Start) -> Ticket:
        """Opens the run, in status RUNNING; ends runs of ours whose process is gone."""
        ...

    def publish(
        self,
        ticket: Ticket | None,
        folder: Path,
        evidence: Evidence,
        decisions: Sequence[Decision],
    ) -> Links:
        """Logs a sealed output folder and ends its run as FINISHED.

        Args:
            ticket: of :meth:`begin`; None where no run could be opened, and for late uploads.
            folder: sealed: it has a manifest.json.
            evidence: what the folder holds.
            decisions: one a candidate; empty where no gate was asked.

        Raises:
            UnreachableError: the folder is marked as waiting.
        """
        ...

    def finish(self, ticket: Ticket | None, status: str) -> bool:
        """Ends a run that is still RUNNING as FINISHED, FAILED or KILLED; never raises.

        Returns:
            Whether the run has ended.
        """
        ...

    def fetch(self, run_id: str, into: Path) -> Path:
        """Downloads a published comparison.

        Returns:
            The folder, with the manifest that was published; reading it checks the other files.
        """
        ...

    def latest(self, pool: str | None = None) -> str:
        """Run id of the newest FINISHED comparison of the experiment.

        Args:
            pool: only comparisons on the pool of this name or digest.
        """
        ...

    def resolve(self, uri: str) -> Origin:
        """The exact model that ``models:/...`` or ``runs:/...`` stands for now."""
        ...

    def signature(self, origin: Origin) -> Signature:
        """The inputs that the resolved model asks for; runs none of its code."""
        ...

    def load_model(self, origin: Origin) -> AbstractContextManager[Loaded]:
        """The resolved model, loaded into this process. It is code of the user's, and trusted."""
        ...

    def serve_model(self, origin: Origin, timeout: float) -> AbstractContextManager[Served]:
        """The resolved model, served by a process with its own requirements until it is left.

        Args:
            origin: which model.
            timeout: seconds that the server gives a request.
        """
        ...


def open_tracker(settings: TrackingSettings) -> Tracker:
    """The tracker that the settings describe. Imports and contacts nothing yet.

    Raises:
        SamepoolError: unknown kind or option.
    """
    return cast("Tracker", build("tracking", asdict(settings), "tracking"))


def destination(folder: Path) -> str:
    """Where an output folder was, or was meant to be, published; empty where that is unknown."""
    state = _state.read(folder)
    return state.uri if state else ""


def waiting(root: Path) -> list[Path]:
    """Output folders below ``root`` that are finished but not published, sorted."""
    return _state.waiting(root)


def ui(settings: TrackingSettings, host: str, port: int, say: Callable[[str], None]) -> int:
    """Serves the MLflow UI on the embedded store until it is stopped.

    Args:
        settings: whose store is shown.
        host: a loopback address.
        port: to listen on.
        say: told the link, line by line.

    Returns:
        The server's exit code; 0 when stopped by a signal.

    Raises:
        SamepoolError: no loopback address, a port in use, no store yet.
    """
    return _ui.serve(settings, host, port, say)
