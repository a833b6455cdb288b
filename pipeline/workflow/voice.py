"""Speaks to the user: results on standard output, problems on standard error."""

import sys


def say(text: str) -> None:
    """A line of the result."""
    print(text, flush=True)  # noqa: T201


def complain(text: str) -> None:
    """A line on what is wrong."""
    print(text, file=sys.stderr, flush=True)  # noqa: T201
