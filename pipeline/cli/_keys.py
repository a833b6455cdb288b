"""Keys of overrides: names of the user's own where they may stand, refused where they cannot."""

import re

from pipeline.cli._conf import config_folder
from pipeline.core.problems import Problem, SamepoolError, fault

# Mappings whose keys are the user's own names; what stands below them, their stages validate.
OPEN = ("gate.rules", "slices.defs", "models", "pool.grade_map", "pool.formats", "pool.facts")
_PART = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]*")
_LONGEST = 100  # names become parts of file names


def opened(word: str) -> str:
    """The override in Hydra's form for a key that may be new, where names may be new.

    >>> opened("pool.grade_map={Exact: 3}")
    '++pool.grade_map={Exact: 3}'
    >>> opened("+gate.rules.x.max_drop=.02")
    '++gate.rules.x.max_drop=.02'
    >>> opened("models=[svd]")
    'models=[svd]'
    """
    key, equals, _ = word.partition("=")
    plain = key.lstrip("+")
    if not equals or plain == "models" or _opening(plain) is None or _strict(key):
        return word
    return f"++{word.lstrip('+')}"


def _strict(key: str) -> bool:
    """Whether it is an option of one of our own models, whose files list them all."""
    parts = key.split(".")
    ours = config_folder() / "models" / f"{parts[1] if len(parts) > 2 else ''}.yaml"
    return parts[0] == "models" and ours.is_file()


def check(words: tuple[str, ...]) -> None:
    """Refuses names that no rule, slice or model can have, before Hydra trips over them.

    Raises:
        SamepoolError: all of them.
    """
    problems = [problem for word in words if (problem := _problem(word)) is not None]
    if problems:
        raise SamepoolError(problems)


def _problem(word: str) -> Problem | None:
    key = word.partition("=")[0].lstrip("+~")
    opening = _opening(key)
    if opening is None or opening == key:
        return None
    parts = key.removeprefix(f"{opening}.").split(".")
    shown = key if len(key) <= _LONGEST else f"{key[:40]}..."
    if not all(_PART.fullmatch(part) for part in parts):
        text = f"{shown}: names are plain: letters a to z, digits, _ and -"
        return Problem("bad_key", "error", text, _plain_fix(opening))
    if max(map(len, parts)) > _LONGEST:
        text = f"{shown}: a name of {max(map(len, parts))} characters"
        return Problem("bad_key", "error", text, f"use at most {_LONGEST}")
    return None


def _plain_fix(opening: str) -> str:
    if opening.startswith("pool."):
        return f"{opening}={{'any text': ...}} takes other keys"
    return "rename it; a metric or a condition is an option, not the name"


def _opening(key: str) -> str | None:
    """The open mapping at or above a key."""
    return next((name for name in OPEN if key == name or key.startswith(f"{name}.")), None)


def check_out(word: str) -> None:
    """Refuses an output folder without a name.

    Raises:
        SamepoolError: ``out=`` is empty.
    """
    if not word.removeprefix("out=").strip("'\" "):
        raise fault("bad_out", "out= names no folder", "out=FOLDER, or leave it out")
