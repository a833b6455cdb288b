"""Reads the command's words: flags first, then overrides, and what Hydra must not parse."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.core.problems import fault

# Hydra's flags that take a value of their own.
_WITH_VALUE = {
    "--config-dir", "-cd", "--config-path", "-cp", "--config-name", "-cn", "--package", "-p",
    "--cfg", "-c", "--experimental-rerun",
}  # fmt: skip
_MULTIRUN = {"-m", "--multirun"}
_RAW = "run"  # read before Hydra parses it, so that an id like 1234e56 stays text
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

    >>> parse("gate", ["gate=strict", "--config-dir", "mine", "run=1234e56"]).run
    '1234e56'
    >>> parse("compare", ["a=1", "-m", "b=2"]).flags
    ('-m',)

    Raises:
        SamepoolError: a flag lacks its value.
    """
    flags: list[str] = []
    overrides: list[str] = []
    run = None
    rest = iter(words)
    for word in rest:
        if word in _WITH_VALUE:
            value = next(rest, None)
            if value is None:
                raise fault("flag_without_value", f"{word} needs a value", f"{word} VALUE")
            flags += [word, value]
        elif word.startswith("-"):
            flags.append(word)
        elif word.startswith(f"{_RAW}="):
            run = word.removeprefix(f"{_RAW}=").strip("'\"")
        else:
            overrides += _out_folder(command, word)
    multirun = bool(_MULTIRUN & set(flags))
    return Invocation(command, tuple(flags), tuple(overrides), run, multirun)


def _out_folder(command: str, word: str) -> list[str]:
    """``out=`` of a comparison names Hydra's folder, so that jobs of a sweep get subfolders."""
    if command in _WITH_OUT_FOLDER and word.startswith("out="):
        value = word.removeprefix("out=")
        return [f"hydra.run.dir={value}", f"hydra.sweep.dir={value}"]
    return [word]
