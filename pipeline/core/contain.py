"""Code of others that runs in this process: nothing it does ends, moves or doubles the program."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pipeline.core.redact import redact_uris

_SHOWN = 300


@contextmanager
def contained() -> Iterator[None]:
    """Restores the working directory, to which paths are relative; ends children that come back.

    Whatever the code raises goes through; exits are among it.
    """
    here, process = Path.cwd(), os.getpid()
    try:
        yield
    finally:
        if os.getpid() != process:  # it forked, and its child came back: one of us goes on
            os._exit(1)
        os.chdir(here)


def said(error: BaseException) -> str:
    r"""An exception's words in one line that a terminal can show, without passwords of addresses.

    >>> said(ValueError("two\nlines"))
    'two lines'
    """
    try:
        text = str(getattr(error, "message", "") or error)
    except Exception:  # noqa: BLE001 - a text of the user's own that fails as well
        return "(what it says cannot be shown)"
    plain = "".join(char if char.isprintable() else " " for char in text)
    plain = redact_uris(" ".join(plain.split()))
    return plain if len(plain) <= _SHOWN else f"{plain[: _SHOWN - 3]}..."
