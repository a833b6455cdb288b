"""samepool compare."""

from pipeline.cli import _verdict
from pipeline.cli._hydra import Context
from pipeline.core.settings import CompareSettings
from pipeline.workflow.compare import compare
from pipeline.workflow.voice import say


def run(settings: CompareSettings, context: Context) -> int:
    """Runs the comparison; the exit code is the gate's where it is enforced."""
    _verdict.require_rules(settings)
    done = compare(settings, context.config, context.overrides)
    if _verdict.enforced(settings.gate):
        say(_verdict.why(done.decisions, settings.candidate, done.exit_code))
    return done.exit_code
