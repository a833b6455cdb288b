"""samepool check."""

from pipeline.cli import _verdict
from pipeline.cli._hydra import Context
from pipeline.core.settings import CompareSettings
from pipeline.workflow.check import check


def run(settings: CompareSettings, _context: Context) -> int:
    """Lists every problem; 0 if none is an error."""
    _verdict.require_rules(settings)
    check(settings)
    return 0
