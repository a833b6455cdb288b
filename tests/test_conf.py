"""Every option of conf/ composes, and what it describes can be built."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hydra import compose, initialize_config_dir
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from omegaconf import OmegaConf

from pipeline.cli._hydra import SCHEMAS
from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build, kinds
from pipeline.core.settings import CompareSettings
from pipeline.workflow.build import build as build_experiment

CONF = Path(__file__).parent.parent / "conf"
GROUPS = sorted(path.name for path in CONF.iterdir() if path.is_dir())
OPTIONS = [
    (group, path.stem)
    for group in GROUPS
    for path in sorted((CONF / group).glob("*.yaml"))
    if path.stem != "as_fixed"
]
# What a comparison needs beside any option, so that only the option decides.
BASE = ["models=[popular,svd]", "baseline=popular", "out=out"]


@pytest.fixture(autouse=True)
def hydra() -> Iterator[None]:
    GlobalHydra.instance().clear()
    for name, node in SCHEMAS.items():
        ConfigStore.instance().store(name=f"{name}_schema", node=node)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        yield


def composed(command: str, *words: str) -> Any:
    return OmegaConf.to_object(compose(command, list(words)))


def with_option(group: str, option: str) -> CompareSettings:
    if group == "experiment":
        words = ["experiment=" + option, "out=out"]
    elif group == "models":
        words = [f"models=[{option}]", f"baseline={option}", "out=out"]
    else:
        words = [*BASE, f"{group}={option}"]
    settings: CompareSettings = composed("compare", *words)
    return settings


def test_rules_as_fixed_are_for_gate_alone() -> None:
    assert composed("gate").gate.alpha is None
    with pytest.raises(SamepoolError, match=r"gate\.alpha"):
        build_experiment(with_option("gate", "as_fixed"))


def test_every_option_is_explained() -> None:
    """A line that sets a value says what it means, or stands in a list or mapping that does."""
    plain = re.compile(r"^[a-z_]+: +[^\s#][^#]*$", re.MULTILINE)
    bare = {path.name: plain.findall(path.read_text()) for path in CONF.glob("*/*.yaml")}
    assert not {name: found for name, found in bare.items() if found}


@pytest.mark.parametrize(("group", "option"), OPTIONS)
def test_every_option_composes_and_builds(group: str, option: str) -> None:
    settings = with_option(group, option)
    assert build_experiment(settings).contenders
    pool = settings.pool
    if pool["kind"] == "files":
        pool = {**pool, "qrels": "qrels.trec"}
    for stage, spec in {
        "pool": pool,
        "engine": {"kind": settings.engine.kind},
        "significance": {"kind": settings.significance.kind},
        "tracking": {"kind": settings.tracking.kind},
    }.items():
        assert build(stage, spec, stage) is not None


@pytest.mark.parametrize("command", ["freeze", "gate", "stamp", "upload", "ui"])
def test_every_command_composes(command: str) -> None:
    assert type(composed(command)) is SCHEMAS[command]


def test_check_takes_what_compare_takes() -> None:
    words = ["experiment=movielens", "out=out"]
    assert composed("check", *words) == composed("compare", *words)


@pytest.mark.parametrize("stage", ["pool", "models"])
def test_what_a_person_chooses_has_an_option_or_is_named_directly(stage: str) -> None:
    """Kinds without a file in conf/ are those that a path, a URI or a callable stands for."""
    used = {OmegaConf.load(path).kind for path in (CONF / stage).glob("*.yaml")}
    assert set(kinds(stage)) - used <= {"run_file", "python", "mlflow", "item_column", "trees"}
