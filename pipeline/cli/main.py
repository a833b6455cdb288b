"""The ``samepool`` program: picks the command, hands the rest to Hydra, answers with a code.

Exit codes: 0 done, 1 a bug of ours, 2 bad input or config, 3 gate failed or invalid, 4 gate
inconclusive, 5 a service was unreachable, 130 interrupted.
"""

import os
import signal
import sys
from collections.abc import Sequence
from functools import cache, partial
from types import FrameType

from pipeline import __version__
from pipeline.cli._argv import Invocation, parse
from pipeline.cli._help import COMMANDS, command_help, overview
from pipeline.core.problems import SamepoolError, fault
from pipeline.core.suggest import did_you_mean
from pipeline.workflow.voice import complain, report, say

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command; what the console script and ``python -m pipeline`` call."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        _let_children_end()
        signal.signal(signal.SIGTERM, _interrupt)
        return _dispatch(words)
    except KeyboardInterrupt:
        complain("samepool: interrupted")
        return INTERRUPTED
    except SamepoolError as error:
        report(error.problems)
        return error.exit_code
    except BrokenPipeError:
        # The reader of our output went away (samepool ... | head): not an error of anybody's.
        return 0
    finally:
        _flush()


def _flush() -> None:
    """Empties our streams now: at its end Python would complain of a pipe that is closed."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


@cache
def _let_children_end() -> None:
    """Children that a model forks have nothing of ours to tidy up: SIGTERM ends them.

    A handler in Python would not do: one that waits for a lock when the signal comes may never
    get to run it, and a pool of workers would wait for it for ever.
    """
    os.register_at_fork(after_in_child=partial(signal.signal, signal.SIGTERM, signal.SIG_DFL))


def _dispatch(words: list[str]) -> int:
    if not words or words[0] in {"-h", "--help", "help"}:
        say(overview())
        return 0
    if words[0] in {"--version", "-V"}:
        say(f"samepool {__version__}")
        return 0
    command, rest = words[0], words[1:]
    if command not in COMMANDS:
        fix = did_you_mean(command, COMMANDS)
        raise fault("unknown_command", f"there is no command {command!r}", fix)
    if "-h" in rest or "--help" in rest:
        say(command_help(command))
        return 0
    if "--version" in rest:
        return _dispatch(["--version"])
    return _run(parse(command, rest))


def _run(invocation: Invocation) -> int:
    from pipeline.cli._hydra import run  # noqa: PLC0415 - keeps --help fast

    return run(invocation)


if __name__ == "__main__":
    sys.exit(main())
