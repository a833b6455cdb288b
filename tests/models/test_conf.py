"""The options of conf/models: placed under their names, valid, and complete."""

from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from pipeline.core.registry import build, plugin

CONF = Path(__file__).parents[2] / "conf" / "models"


@pytest.mark.parametrize("path", sorted(CONF.glob("*.yaml")), ids=lambda path: path.stem)
def test_an_option_of_the_group_is_a_model(path):
    text = path.read_text()
    assert text.startswith(f"# @package models.{path.stem}\n# ")
    spec = yaml.safe_load(text)
    model = build("models", spec, f"models.{path.stem}")
    assert model == build("models", spec, "models.other")
    # A key that is not there could not be overridden by its name alone.
    names = {field.name for field in fields(plugin("models", spec["kind"], "here"))}
    assert set(spec) == names | {"kind"}
