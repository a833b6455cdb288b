"""samepool freeze."""

from pipeline.cli._hydra import Context
from pipeline.core.settings import FreezeCommand
from pipeline.workflow.freeze import freeze


def run(settings: FreezeCommand, _context: Context) -> int:
    """Makes a pool from raw tables."""
    freeze(settings)
    return 0
