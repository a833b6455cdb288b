"""What can be wrong with an input, and the errors that carry it to the user."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeVar

T = TypeVar("T")

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong, where, and how to mend it.

    Attributes:
        code: stable identifier in snake case, e.g. ``duplicate_judgment``.
        severity: ``error`` stops the command; ``warning`` and ``note`` are shown and recorded.
        text: what is wrong, with the offending value.
        fix: what the user can do about it.
        file: path or table in which it was found, if any.
        where: line or row, e.g. ``line 12``, if any.
        examples: a few offending values.
        count: how often it occurs.
    """

    code: str
    severity: Severity
    text: str
    fix: str = ""
    file: str | None = None
    where: str | None = None
    examples: tuple[str, ...] = ()
    count: int = 1

    def __str__(self) -> str:
        """One line: place, what, examples, how to mend it."""
        place = ":".join(part for part in (self.file, self.where) if part)
        examples = f" (e.g. {', '.join(self.examples)})" if self.examples else ""
        fix = f" -> {self.fix}" if self.fix else ""
        return f"{place + ': ' if place else ''}{self.text}{examples}{fix}"


class SamepoolError(Exception):
    """Bad input or bad config: shown as one line a problem, exit code 2.

    Attributes:
        problems: everything that is wrong, not only the first.
        exit_code: the process's exit code.
    """

    exit_code = 2

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Carries all the problems found."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class UnreachableError(SamepoolError):
    """A service did not answer; results are on disk. Exit code 5."""

    exit_code = 5


def fault(
    code: str, text: str, fix: str = "", *, file: str | None = None, where: str | None = None
) -> SamepoolError:
    """The error of a single problem."""
    return SamepoolError([Problem(code, "error", text, fix, file, where)])


def collect(problems: list[Problem], make: Callable[[], T]) -> T | None:
    """What ``make`` returns; None if it raises, with its problems added to ``problems``.

    An unreachable service is raised on: it is no mistake of the user's to be listed with others.
    """
    try:
        return make()
    except UnreachableError:
        raise
    except SamepoolError as error:
        problems.extend(error.problems)
        return None


def raise_errors(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Raises if any problem is an error, with all problems; else returns them."""
    found = tuple(problems)
    if any(problem.severity == "error" for problem in found):
        raise SamepoolError(found)
    return found
