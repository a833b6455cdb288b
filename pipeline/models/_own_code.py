"""Calls code of the user's; whatever it raises is one problem."""

import traceback
from collections.abc import Callable
from typing import TypeVar

from pipeline.core.contain import contained, said
from pipeline.core.problems import SamepoolError, fault

T = TypeVar("T")


def call(what: str, function: Callable[[], T], file: str | None) -> T:
    """What the function returns; the working directory is the same afterwards.

    Args:
        what: for messages, what is being done.
        function: of the user's.
        file: where it stands, so that messages have its line.

    Raises:
        SamepoolError: whatever it raised, also an exit; interruptions alone go through.
    """
    try:
        with contained():
            return function()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _failed(what, error, file) from error


def _failed(what: str, error: BaseException, file: str | None) -> SamepoolError:
    """One problem for an exception in the user's code, with the line of the user's file."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f"line {lines[-1]}" if lines else None
    text = f"{what} raised {type(error).__name__}: {said(error)}"
    return fault("model_failed", text, "mend the function", file=file, where=where)
