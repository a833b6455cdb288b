"""Starts the endpoint of server.py for as long as a test needs it."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Endpoint:
    """Where it is, and what it was asked."""

    port: int

    def url(self, mode: str, path: str = "_search") -> str:
        return f"http://127.0.0.1:{self.port}/{mode}/{path}"

    def stats(self) -> dict[str, Any]:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/stats") as answer:
            return json.load(answer)

    def post(self, path: str) -> None:
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/{path}", data=b"").close()


@contextmanager
def serving(*options: str) -> Iterator[Endpoint]:
    words = [sys.executable, str(Path(__file__).with_name("server.py")), *options]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield Endpoint(int(process.stdout.readline()))
        finally:
            process.kill()
