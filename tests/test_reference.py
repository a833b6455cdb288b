"""docs/reference.md names everything there is, and its examples work as they stand."""

import csv
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from pipeline import metrics
from pipeline.core import settings
from pipeline.core.pool import Declared, Pool
from pipeline.core.registry import build, kinds, plugin
from pipeline.core.scores import Reason
from pipeline.gate import build as build_rules
from pipeline.metrics._conventions import KNOWN
from pipeline.models.python import PoolFrames
from pipeline.models.trees import Trees
from pipeline.pool import load
from pipeline.pool._clean import _SHAPES
from pipeline.slices import assign

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
SECTIONS = {
    int(part[0]): part
    for part in re.split(r"^## (?=\d)", TEXT, flags=re.MULTILINE)
    if part[1] == "."
}
BLOCK = re.compile(r"^```(bash|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
STAGES = {"pool": 1, "formats": 1, "slices": 3, "gate": 4, "models": 5, "significance": 6}


def named(section: int) -> set[str]:
    """Everything in backticks, and its dotted and called parts."""
    found = set(re.findall(r"`([^`\n]+)`", SECTIONS[section]))
    return found | {word for text in found for word in re.findall(r"[\w.]+", text)}


def rows(section: int) -> Iterator[tuple[str, str]]:
    """First cell and whole line of every table row."""
    for line in SECTIONS[section].splitlines():
        if line.startswith("| `"):
            yield line.split("|")[1].strip().strip("`"), line


def blocks(language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(TEXT) if found == language]


def options(stage: str) -> list[tuple[str, set[str]]]:
    return [(kind, {f.name for f in fields(plugin(stage, kind, stage))}) for kind in kinds(stage)]


@pytest.fixture
def place(here: Path) -> Path:
    """The user's folder with all tables that the examples speak of."""
    table = ["query_id,user_id,issued_at,frequency,length,country"]
    table += [
        f"q{i:03},u{i % 50},2026-0{1 + i % 2}-15,{1 + i % 9},{3 + i % 8},{'NO' if i % 3 else 'SE'}"
        for i in range(60)
    ]
    (here / "queries.csv").write_text("\n".join(table) + "\n")
    items = ["item_id,price,created_at"]
    items += [f"d{i},{i + 0.5},2026-01-{10 + i}T12:00:00Z" for i in range(10)]
    (here / "items.csv").write_text("\n".join(items) + "\n")
    return here


@pytest.fixture
def pool(place: Path) -> Pool:
    names = {name: str(place / f"{name}.csv") for name in ("queries", "items")}
    return load({"kind": "files", "qrels": str(place / "qrels.trec"), **names})


@pytest.mark.parametrize("stage", ["slices", "gate", "models", "significance"])
def test_a_row_names_each_kind_with_all_its_options(stage):
    found = dict(rows(STAGES[stage]))
    for kind, wanted in options(stage):
        assert kind in found
        missing = {name for name in wanted if f"`{name}`" not in found[kind]}
        assert not missing, kind


def test_every_other_kind_and_setting_is_named():
    for stage in ("formats", "report", "tracking", "engine"):
        assert set(kinds(stage)) <= named(STAGES.get(stage, 8))
    of_pool = {name: line for name, line in rows(1) if line.count("|") == 4}
    pools = [plugin("pool", kind, "pool") for kind in ("files", "movielens", "semanlink")]
    told = {word for line in of_pool.values() for word in re.findall(r"`(\w+)`", line)}
    assert {f.name for pool in pools for f in fields(pool)} <= told
    assert {f.name for f in fields(Declared)} <= told
    assert {f.name for f in fields(Trees)} <= named(5)
    assert {f.name for f in fields(PoolFrames)} <= named(5)


def test_every_setting_of_the_groups_is_named():
    groups = {
        "metrics": (settings.MetricSettings, 2), "significance": (settings.SignificanceSettings, 6),
        "gate": (settings.GateSettings, 4), "report": (settings.ReportSettings, 8),
        "tracking": (settings.TrackingSettings, 8), "engine": (settings.EngineSettings, 8),
        "slices": (settings.SliceSettings, 3),
    }  # fmt: skip
    for group, (cls, section) in groups.items():
        wanted = {f"{group}.{f.name}" for f in fields(cls)} - {"tracking.kind", "engine.kind"}
        assert wanted <= named(section), group
    commands = (
        settings.CompareSettings,
        settings.UiCommand,
        settings.UploadCommand,
        settings.FreezeCommand,
        settings.StampCommand,
    )
    for cls in commands:
        assert {f.name for f in fields(cls)} <= named(8)
    default = settings.CompareSettings()
    assert f"| `seed` | {default.seed} |" in TEXT
    shown = default.significance
    for name in ("confidence", "flips", "gate_flips", "exact_up_to", "min_nonzero"):
        assert f"| `significance.{name}` | {getattr(shown, name)} |" in TEXT


def test_every_column_of_the_tables_is_named():
    for shape in _SHAPES.values():
        assert shape.known() <= named(1)
    for kind in kinds("formats"):
        for suffix in plugin("formats", kind, "format").suffixes:
            assert suffix in named(1)
    assert {"click", "human", "llm", "purchase", "rating", "synthetic", "unknown"} <= named(1)


def test_every_metric_stands_in_a_row_that_is_true():
    told = {name: line for name, line in rows(2) if line.count("|") == 7}
    assert {metrics.parse(label).NAME for label in told} == set(metrics.known())
    for label, line in told.items():
        metric = metrics.parse(label)
        assert metric.label == label
        info = metric.info()
        _, _, _, span, better, nothing, silent, _ = (cell.strip() for cell in line.split("|"))
        assert better == info.direction
        assert span == ("0 up" if info.range[1] is None else "0 to 1")
        worst = "no value" if info.worst is None else f"{info.worst:g}"
        assert silent == ("shows nothing" if info.per == "list" else worst)
        words = {"left out": "are left out", "0": "nothing relevant score 0"}
        assert nothing == "as others" or words[nothing] in info.words
        assert ("(`@` optional)" in line) == (type(metric)(cutoff=10) != metric or _bare(label))
        assert {f.name for f in fields(metric)} - {"cutoff"} <= named(2)
        assert set(getattr(metric, "ALIASES", ())) <= named(2)
    for name in ("ties", "precision", "no_relevant"):
        assert set(KNOWN[name]) <= named(2)


def _bare(label: str) -> bool:
    """Whether the metric may be written without its cutoff."""
    try:
        metrics.parse(label.partition("@")[0])
    except Exception:  # noqa: BLE001
        return False
    return True


def test_yaml_examples_hold_every_kind(pool):
    seen: dict[str, set[str]] = {"slices": set(), "gate": set(), "models": set(), "metrics": set()}
    for text in blocks("yaml"):
        stage = text.split("/")[1]
        found = yaml.safe_load(text)
        if stage == "slices":
            slices = assign(pool, found["defs"])
            empty = [n for n in slices.query_names if not slices.mask(n).any()]
            assert not empty
            assert slices.item[:, 1:].any(axis=0).all()
            seen[stage] |= {spec["kind"] for spec in found["defs"].values()}
        elif stage == "gate":
            assert settings.GateSettings(**found)
            build_rules(found["rules"])
            seen[stage] |= {spec["kind"] for spec in found["rules"].values()}
        elif stage == "metrics":
            assert settings.MetricSettings(**found)
            assert len(metrics.parse_all(found["names"])) == len(found["names"])
            seen[stage].add("read")
        else:
            for name, spec in found["models"].items():
                build("models", spec, name)
            seen["models"] |= {spec["kind"] for spec in found["models"].values()}
    assert seen.pop("metrics")
    assert seen == {stage: set(kinds(stage)) for stage in seen}


def test_commands_run_and_what_they_write_is_named(place: Path, environment: Mapping[str, str]):
    for text in blocks("bash"):
        done = subprocess.run(
            ["bash", "-euc", text], cwd=place, env=environment, timeout=300,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    written = {path.parent for path in place.rglob("manifest.json")}
    assert len(written) == 4  # one of section 4, one of 5, two jobs of 8
    told = named(7)
    for folder in written:
        for path in folder.rglob("*"):
            inside = path.relative_to(folder)
            assert f"{inside.parts[0]}/" in told or str(inside) in told, inside
            if path.is_file():
                assert set(_columns(path)) <= told, inside


def _columns(path: Path) -> list[Any]:
    if path.name == "membership.parquet":
        return ["query_id"]
    if path.suffix == ".parquet":
        return list(pq.read_schema(path).names)
    if path.suffix == ".csv":
        with path.open(newline="") as stream:
            return next(csv.reader(stream))
    return []


def test_words_for_values_are_named():
    assert {reason.name.lower() for reason in Reason} <= named(7)
    statuses = {"pass", "fail", "inconclusive", "invalid", "no_criteria"}
    assert statuses <= {name for name, _ in rows(4)}
    codes = re.findall(r"^\| (\d+) \|", SECTIONS[4], re.MULTILINE)
    assert [int(code) for code in codes] == [0, 1, 2, 3, 4, 5, 130]
