"""Where the configs are."""

from pathlib import Path


def config_folder() -> Path:
    """conf/ of the checkout, or its copy inside an installed package."""
    package = Path(__file__).resolve().parent.parent
    installed = package / "_conf"
    return installed if installed.is_dir() else package.parent / "conf"
