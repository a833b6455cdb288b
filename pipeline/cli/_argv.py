"""Reads the command's words: flags first, then overrides, and what Hydra must not parse."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pipeline.cli import _keys
from pipeline.core.problems import fault
from pipeline.core.suggest import nearest

# Hydra's flags, by their short forms; those that take a value of their own, and its choices.
_LONG = {
    "-m": "--multirun", "-c": "--cfg", "-cd": "--config-dir", "-cp": "--config-path",
    "-cn": "--config-name", "-p": "--package", "-r": "--run", "-i": "--info",
    "-sc": "--shell-completion",
}  # fmt: skip
_FLAGS = {*_LONG.values(), "--help", "--hydra-help", "--version", "--resolve"}
_FLAGS |= {"--experimental-rerun"}
_WITH_VALUE = {
    "--config-dir", "--config-path", "--config-name", "--package", "--cfg", "--experimental-rerun",
}  # fmt: skip
_CHOICES = {
    "--cfg": ("job", "hydra", "all"),
    "--info": ("all", "config", "defaults", "defaults-tree", "plugins", "searchpath"),
}
_RAW = "run"  # read before Hydra parses it, so that an id like 1234e56 stays text
TAKES_RUN = {"gate", "upload", "stamp"}
_WITH_OUT_FOLDER = {"compare"}


@dataclass(frozen=True, slots=True)
class Invocation:
    """One command, read.

    Attributes:
        command: its name.
        flags: Hydra's flags with their values.
        overrides: Hydra overrides.
        run: the text after ``run=``, as typed; None where absent.
        multirun: whether this is a sweep.
    """

    command: str
    flags: tuple[str, ...]
    overrides: tuple[str, ...]
    run: str | None
    multirun: bool


def parse(command: str, words: Sequence[str]) -> Invocation:
    """Sorts the words of a command.

    >>> parse("gate", ["gate=strict", "--config-dir", ".", "run=1234e56"]).run
    '1234e56'
    >>> parse("compare", ["a=1", "-m", "b=2"]).flags
    ('--multirun',)

    Raises:
        SamepoolError: an unknown flag, or one that lacks its value; a name that cannot be one.
    """
    flags: list[str] = []
    overrides: list[str] = []
    run = None
    rest = iter(words)
    for word in rest:
        if word.startswith("-"):
            flags += _flag(word, rest)
        elif word.startswith(f"{_RAW}="):
            run = word.removeprefix(f"{_RAW}=").strip("'\"")
        else:
            overrides += _out_folder(command, word)
    _keys.check(tuple(overrides))
    multirun = "--multirun" in flags
    return Invocation(command, tuple(flags), tuple(overrides), run, multirun)


def _flag(word: str, rest: Iterator[str]) -> list[str]:
    """A flag in its long form, and its value where it takes one, from ``rest`` or after a =."""
    name, equals, value = word.partition("=")
    flag = _LONG.get(name, name)
    if flag not in _FLAGS:
        near = nearest(flag, _FLAGS, n=1)
        fix = (
            f"did you mean {near[0]}?" if near else "flags: -m, --config-dir DIR, --cfg job, --help"
        )
        raise fault("unknown_flag", f"there is no flag {name}", fix)
    if flag == "--info":  # its value may be left out, and would swallow an override
        _check_value(flag, value or "all")
        return [f"--info={value or 'all'}"]
    if flag not in _WITH_VALUE:
        return [flag]
    taken = value if equals else next(rest, "")
    if not taken:
        raise fault("flag_without_value", f"{flag} needs a value", f"{flag} VALUE")
    _check_value(flag, taken)
    return [flag, taken]


def _check_value(flag: str, value: str) -> None:
    choices = _CHOICES.get(flag)
    if choices and value not in choices:
        raise fault("bad_flag", f"{flag} {value}", f"{flag} takes {', '.join(choices)}")
    if flag == "--config-dir" and not os.path.isdir(value):  # noqa: PTH112 - never raises
        raise fault("no_config_dir", f"--config-dir {value} is no folder", "name one that exists")


def _out_folder(command: str, word: str) -> list[str]:
    """``out=`` of a comparison names Hydra's folder, so that jobs of a sweep get subfolders."""
    if word.startswith("out="):
        _keys.check_out(word)
    if command in _WITH_OUT_FOLDER and word.startswith("out="):
        value = word.removeprefix("out=")
        return [f"hydra.run.dir={value}", f"hydra.sweep.dir={value}"]
    return [word]
