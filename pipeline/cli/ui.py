"""samepool ui."""

from pipeline.cli._hydra import Context
from pipeline.core.settings import Ui
from pipeline.workflow.publish import ui


def run(settings: Ui, _context: Context) -> int:
    """Serves the UI until it is interrupted."""
    return ui(settings)
