"""A kind is a module of the stage's folder, or an entry point."""

from dataclasses import dataclass
from importlib.metadata import EntryPoint

import pytest

from pipeline.core import registry
from pipeline.core.problems import SamepoolError

STAGES = ("pool", "models", "slices", "significance", "gate", "engine", "tracking")


@dataclass(frozen=True)
class Foreign:
    size: int = 1


def install(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    here = f"{__name__}:Foreign"
    points = [EntryPoint(name, here, "samepool.engine") for name in names]
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    monkeypatch.setattr(EntryPoint, "load", lambda self: Foreign)


@pytest.mark.parametrize("stage", STAGES)
def test_every_module_of_a_stage_is_a_plugin(stage: str) -> None:
    assert registry.modules(stage)
    for kind in registry.modules(stage):
        cls = registry.plugin(stage, kind, stage)
        assert hasattr(cls, "__dataclass_fields__"), kind
        assert cls.__doc__, kind


def test_a_spec_is_built_with_its_options() -> None:
    assert type(registry.build("engine", {"kind": "local"}, "engine")).__name__ == "Local"


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(SamepoolError, match=r"engine: unknown kind 'locl' -> did you mean local\?"):
        registry.build("engine", {"kind": "locl"}, "engine")


def test_a_spec_without_a_kind_lists_the_kinds() -> None:
    with pytest.raises(
        SamepoolError, match=r"engine has no kind -> set engine.kind to one of local"
    ):
        registry.build("engine", {}, "engine")


def test_an_entry_point_adds_a_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, "remote")
    assert registry.kinds("engine") == ("local", "remote")
    assert registry.build("engine", {"kind": "remote", "size": 3}, "engine") == Foreign(3)


@pytest.mark.parametrize("names", [("local",), ("remote", "remote")])
def test_a_clash_of_names_is_an_error(monkeypatch: pytest.MonkeyPatch, names: tuple[str]) -> None:
    install(monkeypatch, *names)
    with pytest.raises(SamepoolError, match="two plugins provide engine kind"):
        registry.kinds("engine")
