"""samepool gate."""

from pipeline.cli import _verdict
from pipeline.cli._hydra import Context
from pipeline.core.problems import SamepoolError, fault
from pipeline.core.settings import GateCommand
from pipeline.workflow.gate import gate


def run(settings: GateCommand, context: Context) -> int:
    """Decides again; the exit code is the decision's."""
    if not context.run:
        fix = "run=FOLDER, run=MLFLOW_RUN_ID or run=latest"
        raise fault("no_run", "gate needs the comparison to decide on", fix)
    code = gate(settings, context.run)
    if code == SamepoolError.exit_code:  # returned, not raised: no rule decided anything
        raise _verdict.no_criteria()
    return code
