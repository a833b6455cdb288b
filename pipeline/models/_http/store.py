"""Answers of an attempt, kept one a line as they come, so that none is asked for twice."""

import json
import os
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import F64

_ANSWERS, _FAILED = "answers.jsonl", "failed.tsv"


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """One query's list.

    Attributes:
        items: string array (N,) of ids, in the order of the answer.
        scores: (N,) finite scores.
        ms: latency as this client measured it, in milliseconds.
        at: when it came, in seconds since 1970.
    """

    items: pa.Array
    scores: F64
    ms: float
    at: float


class Store:
    """Answers by query id in a folder; keeps nothing without one, or where it cannot write.

    Attributes:
        trouble: why nothing more is kept, or None.
    """

    def __init__(self, folder: Path | None) -> None:
        """Writes nothing yet."""
        self._folder = folder
        self._stream: TextIO | None = None
        self._lock = threading.Lock()
        self.trouble: str | None = None

    def read(self) -> dict[str, Answer]:
        """What an earlier attempt left; a line that was cut off is not an answer."""
        path = self._path(_ANSWERS)
        if path is None or not path.is_file():
            return {}
        found: dict[str, Answer] = {}
        with path.open(encoding="utf-8", errors="replace") as stream:
            for line in stream:
                try:
                    one = json.loads(line)
                    scores = np.array(one["scores"], dtype=np.float64)
                    items = pa.array(one["items"], pa.string())
                    query, ms, at = str(one["query"]), float(one["ms"]), float(one["at"])
                except (ValueError, LookupError, TypeError, pa.ArrowException):
                    continue
                if len(items) == len(scores) and np.isfinite(scores).all():
                    found[query] = Answer(items, scores, ms, at)
        return found

    def keep(self, query: str, ids: list[str], scores: list[float], ms: float) -> Answer:
        """The answer, written down; called by any thread."""
        at = time.time()
        line = json.dumps({"query": query, "items": ids, "scores": scores, "ms": ms, "at": at})
        with self._lock:
            self._write(line)
        return Answer(pa.array(ids, pa.string()), np.array(scores, dtype=np.float64), ms, at)

    def failed(self, rows: list[tuple[str, int, str]]) -> Path | None:
        """Writes the list of failed queries: id, attempts, why. None where it cannot be kept."""
        path = self._path(_FAILED)
        if path is None:
            return None
        lines = ["query_id\tattempts\treason", *("\t".join(map(str, row)) for row in rows)]
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        except OSError:
            return None
        return path

    def close(self) -> None:
        """Ends the file."""
        with self._lock:
            if self._stream is not None:
                self._stream.close()
                self._stream = None

    def _path(self, name: str) -> Path | None:
        return None if self._folder is None else self._folder / name

    def _write(self, line: str) -> None:
        if self._folder is None or self.trouble is not None:
            return
        try:
            if self._stream is None:
                self._stream = _open(self._folder / _ANSWERS)
            self._stream.write(line + "\n")
            self._stream.flush()
        except OSError as error:
            self.trouble = f"{self._folder}: {error.strerror or error}"


def _open(path: Path) -> TextIO:
    """The file at its end, after a line that was cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    stream = path.open("a", encoding="utf-8")
    with path.open("rb") as written:
        if written.seek(0, os.SEEK_END):
            written.seek(-1, os.SEEK_END)
            if written.read(1) != b"\n":
                stream.write("\n")
    return stream
