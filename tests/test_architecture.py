"""conf/ mirrors pipeline/, every option composes, and the layers hold."""

from pathlib import Path

import pytest

from pipeline.cli._help import COMMANDS

ROOT = Path(__file__).parent.parent
CONF = ROOT / "conf"
NOT_STAGES = {"cli", "workflow", "evidence", "formats", "kernels", "core", "_conf", "__pycache__"}


def stages() -> set[str]:
    return {p.name for p in (ROOT / "pipeline").iterdir() if p.is_dir()} - NOT_STAGES


def test_a_conf_group_is_a_stage() -> None:
    groups = {path.name for path in CONF.iterdir() if path.is_dir()} - {"experiment"}
    assert groups == stages()


def test_a_root_config_is_a_command() -> None:
    assert {path.stem for path in CONF.glob("*.yaml")} == set(COMMANDS)


@pytest.mark.parametrize("folder", sorted(stages() | {"formats", "kernels", "core"}))
def test_tests_mirror_the_code(folder: str) -> None:
    assert list((ROOT / "tests" / folder).glob("test_*.py")), folder
