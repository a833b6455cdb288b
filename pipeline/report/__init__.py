"""Report: shows evidence and decisions to people, as files and on the terminal.

Every module here is one kind of file; each renders the same prepared view.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from rich.console import Console

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.core.files import write_text
from pipeline.core.registry import build, kinds
from pipeline.core.settings import ReportSettings
from pipeline.report._terminal import show
from pipeline.report._view import View, prepare


class Output(Protocol):
    """One kind of file."""

    name: ClassVar[str]

    def render(self, view: View) -> str:
        """The whole text of the file; the same for the same view."""
        ...


def render(
    evidence: Evidence, decisions: Sequence[Decision], folder: Path, settings: ReportSettings
) -> None:
    """Writes every kind of file into ``folder``, each whole or not at all.

    Raises:
        OSError: the folder cannot be written.
    """
    view = prepare(evidence, decisions, settings)
    for kind in kinds("report"):
        output: Output = build("report", {"kind": kind}, "report")
        write_text(folder / output.name, output.render(view))


def terminal(
    evidence: Evidence, decisions: Sequence[Decision], console: Console, settings: ReportSettings
) -> None:
    """Prints the comparison, the decisions last: a terminal shows its end first."""
    show(prepare(evidence, decisions, settings), console)
