"""Speaks to the user: results on standard output, problems on standard error.

Imports nothing heavy: --help goes through here.
"""

import os
import sys
from collections.abc import Sequence

from pipeline.core.problems import Problem


def say(text: str) -> None:
    """A line of the result; the work goes on where nobody reads it any more (... | head)."""
    try:
        print(text, flush=True)  # noqa: T201
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complain(text: str) -> None:
    """A line on what is wrong; nor does it matter where nobody reads that (2>&1 | head)."""
    try:
        print(text, file=sys.stderr, flush=True)  # noqa: T201
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def report(problems: Sequence[Problem]) -> None:
    """Problems, one a line."""
    for problem in problems:
        complain(f"samepool: {problem.severity}: {problem}")
