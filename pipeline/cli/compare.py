"""samepool compare."""

from pipeline.cli._hydra import Context
from pipeline.core.settings import CompareSettings
from pipeline.workflow.compare import compare


def run(settings: CompareSettings, context: Context) -> int:
    """Runs the comparison; the exit code is the gate's where it is enforced."""
    return compare(settings, context.config, context.overrides).exit_code
