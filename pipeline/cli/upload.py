"""samepool upload."""

from pipeline.cli._hydra import Context
from pipeline.core.settings import UploadCommand
from pipeline.workflow.publish import upload


def run(settings: UploadCommand, context: Context) -> int:
    """Publishes what waits."""
    return upload(settings, context.run)
