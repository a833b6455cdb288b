"""Rendered output against golden files.

To write the golden files anew after a wanted change, and then to read the difference:
``SAMEPOOL_REGEN=1 pytest tests/report/test_golden.py``; that run fails on purpose.
"""

import io
import os
from pathlib import Path

import pytest
from rich.console import Console

from pipeline.core.settings import ReportSettings
from pipeline.report import render, terminal

GOLDEN = Path(__file__).parent / "golden"


def _same(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("SAMEPOOL_REGEN"):
        path.write_text(text, encoding="utf-8", newline="\n")
        pytest.fail(f"{name} was written anew: read the difference, then run without the switch")
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 120])
def test_terminal(evidence, decisions, width) -> None:
    console = Console(file=io.StringIO(), width=width)
    terminal(evidence, decisions, console, ReportSettings())
    _same(f"terminal_{width}.txt", console.file.getvalue())


@pytest.mark.parametrize("width", [80, 120])
def test_terminal_with_many_candidates(several, width) -> None:
    console = Console(file=io.StringIO(), width=width)
    terminal(*several, console, ReportSettings())
    _same(f"terminal_many_{width}.txt", console.file.getvalue())


@pytest.mark.parametrize("name", ["summary.md", "junit.xml", "report.html"])
def test_files(evidence, decisions, name, tmp_path) -> None:
    render(evidence, decisions, tmp_path, ReportSettings())
    _same(name, (tmp_path / name).read_text(encoding="utf-8"))


def test_one_model_alone(alone, tmp_path) -> None:
    render(alone, (), tmp_path, ReportSettings(title="Only bm25"))
    _same("alone.md", (tmp_path / "summary.md").read_text(encoding="utf-8"))
