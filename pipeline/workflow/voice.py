"""Speaks to the user: results on standard output, problems on standard error.

Imports nothing heavy: --help goes through here.
"""

import os
import sys
from collections.abc import Sequence

from pipeline.core.problems import Problem

_LONGEST = 5_000


def say(text: str) -> None:
    """A line of the result; the work goes on where nobody reads it any more (... | head)."""
    try:
        print(_shown(text), flush=True)  # noqa: T201
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """A line on what is wrong; nor does it matter where nobody reads that (2>&1 | head)."""
    try:
        print(text, file=sys.stderr, flush=True)  # noqa: T201
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def report(problems: Sequence[Problem]) -> None:
    """Problems, one a line, whatever is quoted in them: no line of theirs, no word to terminals."""
    for problem in problems:
        text = f"{problem}"
        plain = "".join(char if char.isprintable() else " " for char in text[:_LONGEST])
        rest = f"... ({len(text):,} characters)" if len(text) > _LONGEST else ""
        complain(f"samepool: {problem.severity}: {plain}{rest}")


def _shown(text: str) -> str:
    """The text in characters that standard output can be given."""
    encoding = sys.stdout.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
