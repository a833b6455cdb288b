"""Runs a command and ends it, with all that it started, when whoever asked for it is gone.

Started as a script, leader of a process group of its own, with a pipe as standard input. The pipe
closes when the other side closes it or dies, however it dies.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading

_GRACE_SECONDS = 5.0


def main(command: list[str]) -> int:
    """Runs the command to its end, or to the end of standard input."""
    signal.signal(signal.SIGTERM, lambda *_: None)  # the group's, which this process outlives
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL)  # noqa: S603 - our own command
    threading.Thread(target=_end_with_input, args=(child,), daemon=True).start()
    code = child.wait()
    os.killpg(0, signal.SIGTERM)  # what it left behind
    return code


def _end_with_input(child: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 1):  # unbuffered: a lock of Python's would outlive the main thread
        pass
    os.killpg(0, signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(_GRACE_SECONDS)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
