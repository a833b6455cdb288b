"""config.yaml (unresolved) and overrides.yaml: how it was launched. Producer: cli."""

from collections.abc import Sequence
from pathlib import Path

import yaml

from pipeline.core.files import write_text


def write_config(folder: Path, config: str, overrides: Sequence[str]) -> None:
    """Writes both; secrets must be out of them already."""
    write_text(folder / "config.yaml", config)
    write_text(folder / "overrides.yaml", yaml.safe_dump(list(overrides), allow_unicode=True))
