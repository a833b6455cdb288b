"""A comparison as the terminal shows it."""

import os
import sys
from collections.abc import Sequence

from rich.console import Console

from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.core.settings import ReportSettings
from pipeline.report import terminal
from pipeline.workflow.voice import say

_WIDTH = 120  # of files and pipes, which have none of their own


def show(evidence: Evidence, decisions: Sequence[Decision], settings: ReportSettings) -> None:
    """Prints it as wide as the terminal, in colours where there are any."""
    own = sys.stdout.isatty() or "COLUMNS" in os.environ
    console = Console(width=None if own else _WIDTH)
    # Captured first: rich ends the process when the reader of its output has gone away.
    with console.capture() as captured:
        terminal(evidence, decisions, console, settings)
    say(captured.get().rstrip("\n"))
