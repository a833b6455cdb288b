"""samepool stamp."""

from pipeline.cli._hydra import Context
from pipeline.core.problems import fault
from pipeline.core.settings import StampCommand
from pipeline.workflow.stamp import stamp


def run(settings: StampCommand, context: Context) -> int:
    """Writes the manifest of a run."""
    if not context.run:
        fix = "samepool stamp run=ce.trec version=models:/ranker/13 pool=..."
        raise fault("no_run", "stamp needs the run file to speak of", fix)
    stamp(settings, context.run)
    return 0
