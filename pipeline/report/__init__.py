"""Report: shows evidence and decisions to people, as files and on the terminal.

Every module here is one kind of file; each renders the same prepared view.
"""

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol

from rich.console import Console

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
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
    folder.mkdir(parents=True, exist_ok=True)
    for kind in kinds("report"):
        output: Output = build("report", {"kind": kind}, "report")
        _write(folder / output.name, output.render(view))


def terminal(
    evidence: Evidence, decisions: Sequence[Decision], console: Console, settings: ReportSettings
) -> None:
    """Prints the comparison, the decisions last: a terminal shows its end first."""
    show(prepare(evidence, decisions, settings), console)


def _write(path: Path, text: str) -> None:
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
