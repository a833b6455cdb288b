"""The program in this process: the same words, without a second for the imports."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from pipeline.cli.main import main


class Answer(NamedTuple):
    """What a call answered."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def inside(
    here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[..., Answer]:
    """Calls the program in a user's folder; modules of that folder are imported anew each time."""
    monkeypatch.chdir(here)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def call(*words: str) -> Answer:
        for name in {path.stem for path in here.glob("*.py")} & set(sys.modules):
            del sys.modules[name]
        code = main(words)
        return Answer(code, *capfd.readouterr())

    return call
