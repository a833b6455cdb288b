"""Logs nowhere: results stay in the output folder."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.core.problems import SamepoolError, fault
from pipeline.core.run import Origin
from pipeline.core.signature import Signature
from pipeline.tracking._values import Links, Loaded, Served, Start, Ticket


@dataclass(frozen=True)
class NoTracker:
    """Does nothing, well. Takes the options of the others so that switching is one word."""

    uri: str | None = None
    registry_uri: str | None = None
    experiment: str = "samepool"

    def check(self) -> None:
        """Nothing is asked, so nothing is silent."""

    def begin(self, start: Start) -> Ticket:  # noqa: ARG002 - nothing to log
        """A ticket for no run."""
        return Ticket("", "", "")

    def publish(
        self,
        ticket: Ticket | None,  # noqa: ARG002
        folder: Path,  # noqa: ARG002
        evidence: Evidence,  # noqa: ARG002
        decisions: Sequence[Decision],  # noqa: ARG002
    ) -> Links:
        """No links."""
        return Links()

    def finish(self, ticket: Ticket | None, status: str) -> bool:  # noqa: ARG002
        """Nothing runs, so it has ended."""
        return True

    def fetch(self, run_id: str, into: Path) -> Path:  # noqa: ARG002
        """Always an error."""
        raise _off(f"run {run_id!r} cannot be fetched")

    def latest(self, pool: str | None = None) -> str:  # noqa: ARG002
        """Always an error."""
        raise _off("there is no latest run")

    def resolve(self, uri: str) -> Origin:
        """Always an error."""
        raise _off(f"{uri} cannot be resolved")

    def signature(self, origin: Origin) -> Signature:
        """Always an error."""
        raise _off(f"{origin.resolved} cannot be read")

    def load_model(self, origin: Origin) -> AbstractContextManager[Loaded]:
        """Always an error."""
        raise _off(f"{origin.resolved} cannot be loaded")

    def serve_model(
        self,
        origin: Origin,
        timeout: float,  # noqa: ARG002
    ) -> AbstractContextManager[Served]:
        """Always an error."""
        raise _off(f"{origin.resolved} cannot be served")


def _off(text: str) -> SamepoolError:
    fix = "use tracking=mlflow, or give an output folder or a file"
    return fault("tracking_off", f"tracking=none: {text}", fix)


PLUGIN = NoTracker
