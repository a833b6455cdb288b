"""Every section of docs/models.md and docs/pools.md runs as it stands, in a user's folder.

A block with a title is a file; the others run in their order. What a section stands on beside
that folder (a server, a registry, tables) is made by ``ready(folder, environment)`` of
tests/guides/GUIDE_SECTION.py, a generator that cleans up after its yield. ``NEEDS`` there names a
module of an extra without which the section is skipped.
"""

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parent.parent
BLOCK = re.compile(r"^```(\w+)(?: title=(\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FETCHES = "cannot be fetched"


def sections() -> Iterator[tuple[str, str, str]]:
    """Guide, section and text."""
    for guide in ("models", "pools"):
        text = (ROOT / "docs" / f"{guide}.md").read_text(encoding="utf-8")
        for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
            yield guide, part.partition("\n")[0], part


def slug(title: str) -> str:
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def helper(guide: str, title: str) -> ModuleType | None:
    path = Path(__file__).parent / "guides" / f"{guide}_{slug(title)}.py"
    if not path.exists():
        return None
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("guide", "title", "text"), [pytest.param(*s, id=f"{s[0]}-{slug(s[1])}") for s in sections()]
)
def test_section_runs(guide: str, title: str, text: str, here: Path, environment) -> None:
    made = helper(guide, title)
    if made is not None and hasattr(made, "NEEDS"):
        pytest.importorskip(made.NEEDS, reason=f"{made.NEEDS} is in an extra")
    ready = contextmanager(made.ready) if made is not None and hasattr(made, "ready") else None
    if ready is None:
        return _run(text, here, environment)
    with ready(here, environment) as more:
        return _run(text, here, environment | (more or {}))


def _run(text: str, here: Path, environment: dict[str, str]) -> None:
    ran = 0
    for language, title, block in BLOCK.findall(text):
        if title:
            (here / title).parent.mkdir(parents=True, exist_ok=True)
            (here / title).write_text(block, encoding="utf-8")
        elif language in {"bash", "python"}:
            words = ["bash", "-euc", block] if language == "bash" else [sys.executable, "-c", block]
            done = subprocess.run(
                words, cwd=here, env=environment, timeout=600,
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode == 5 and FETCHES in done.stderr:
                pytest.skip(done.stderr.splitlines()[-1])
            assert done.returncode == 0, done.stdout + done.stderr
            ran += 1
    assert ran
