"""samepool ui."""

from pipeline.cli._hydra import Context
from pipeline.core.settings import UiCommand
from pipeline.workflow.publish import ui


def run(settings: UiCommand, _context: Context) -> int:
    """Serves the UI until it is interrupted."""
    return ui(settings)
