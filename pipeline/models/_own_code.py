"""Calls code of the user's, so that nothing it does ends, moves or doubles the comparison."""

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pipeline.core.problems import SamepoolError, fault
from pipeline.core.redact import redact_uris

T = TypeVar("T")
_SHOWN = 300


def call(what: str, function: Callable[[], T], file: str | None) -> T:
    """What the function returns; the working directory is the same afterwards.

    Args:
        what: for messages, what is being done.
        function: of the user's.
        file: where it stands, so that messages have its line.

    Raises:
        SamepoolError: whatever it raised, also an exit; interruptions alone go through.
    """
    here, process = Path.cwd(), os.getpid()
    try:
        return function()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise _failed(what, error, file) from error
    finally:
        if os.getpid() != process:  # it forked, and its child came back: one of us goes on
            os._exit(1)
        os.chdir(here)  # paths are relative to where samepool was started


def _failed(what: str, error: BaseException, file: str | None) -> SamepoolError:
    """One problem for an exception in the user's code, with the line of the user's file."""
    lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == file]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f"line {lines[-1]}" if lines else None
    text = f"{what} raised {type(error).__name__}: {_said(error)}"
    return fault("model_failed", text, "mend the function", file=file, where=where)


def _said(error: BaseException) -> str:
    """Its words in one line that a terminal can show, without passwords of addresses."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - a text of the user's own that fails as well
        return "(what it says cannot be shown)"
    plain = "".join(char if char.isprintable() else " " for char in text)
    plain = redact_uris(" ".join(plain.split()))
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 3]}..."
