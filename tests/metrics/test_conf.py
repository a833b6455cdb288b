from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from pipeline.core.conventions import Conventions
from pipeline.core.settings import MetricSettings
from pipeline.metrics import parse_all
from pipeline.metrics._conventions import check

CONF = sorted((Path(__file__).parents[2] / "conf" / "metrics").glob("*.yaml"))


@pytest.mark.parametrize("path", CONF, ids=lambda path: path.stem)
def test_every_metrics_option_can_be_built(path):
    options = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert options.keys() == {field.name for field in fields(MetricSettings)}
    names = options.pop("names")
    assert [metric.label for metric in parse_all(names, options["profile"])] == names
    assert options.pop("primary") is None
    check(Conventions(**options))


def test_there_are_options():
    assert {path.stem for path in CONF} >= {"default", "recommendation"}
