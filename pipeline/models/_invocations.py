"""A model server of MLflow's kind: batches of inputs to its ``/invocations``, one at a time."""

import base64
import json
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import requests
from requests.utils import get_environ_proxies

from pipeline.core.problems import Problem, SamepoolError, UnreachableError, fault

_ATTEMPTS = 4
_FIRST_WAIT, _LONGEST_WAIT = 0.5, 30.0
_BUSY = frozenset({408, 425, 429})
_SHOWN = 300


@dataclass(frozen=True, slots=True)
class Server:
    """Where a model is served.

    Attributes:
        url: without ``/invocations``.
        who: the model's name in messages.
        timeout: seconds without an answer to a batch.
        headers: sent with each batch; hold the credentials.
        scrub: takes secrets out of a message.
        ended: last words of a server of ours that has ended; None while it runs.
    """

    url: str
    who: str
    timeout: float
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    scrub: Callable[[str], str] = str
    ended: Callable[[], str | None] = lambda: None

    def session(self) -> requests.Session:
        """A session that reads no .netrc: credentials are named. Proxies are the environment's."""
        session = requests.Session()
        session.trust_env = False
        session.proxies = dict(get_environ_proxies(self.url))
        session.headers.update({"Content-Type": "application/json", **self.headers})
        return session


@dataclass(frozen=True, slots=True)
class Asking:
    """Sends tables of inputs; gives back what the model returned for them.

    429, 5xx, timeouts and broken connections are tried again, later and later.
    """

    server: Server
    session: requests.Session
    sleep: Callable[[float], None] = time.sleep

    def __call__(self, table: pd.DataFrame) -> Any:
        """What the server's model predicts.

        Raises:
            UnreachableError: no answer, or only errors of its own, whatever the patience.
            SamepoolError: it refuses, or answers with something else than predictions.
        """
        body = encode(table)
        said = ""
        for attempt in range(_ATTEMPTS):
            answer, said = self._sent(body)
            if answer is not None and not _again(answer.status_code):
                return self._read(answer)
            if attempt + 1 < _ATTEMPTS:
                self.sleep(_wait(attempt, answer))
        text = f"{self.server.who}: {self.server.url} did not answer: {said}"
        fix = "start it, or mend the endpoint; models that are done are not scored again"
        raise UnreachableError([Problem("unreachable", "error", self.server.scrub(text), fix)])

    def _sent(self, body: bytes) -> tuple[requests.Response | None, str]:
        """The answer to one attempt, and what is wrong with it."""
        server = self.server
        try:
            answer = self.session.post(
                f"{server.url}/invocations", data=body, timeout=(10.0, server.timeout),
                allow_redirects=False,
            )  # fmt: skip
        except requests.Timeout:
            said = f"nothing within {server.timeout:g} s for a batch (timeout, batch_rows)"
            return None, self._alive(said)
        except requests.RequestException as error:
            return None, self._alive(_reason(error))
        return answer, f"status {answer.status_code}: {_words(answer, server.scrub)}"

    def _alive(self, said: str) -> str:
        """The same words, unless the server is ours and has ended: then nothing will mend it."""
        last = self.server.ended()
        if last is None:
            return said
        text = f"{self.server.who}: its server ended while it scored: {last}"
        raise fault(
            "server_ended", self.server.scrub(text), "mend the model's code or requirements"
        )

    def _read(self, answer: requests.Response) -> Any:
        status, words = answer.status_code, _words(answer, self.server.scrub)
        if status != 200:
            raise self._refused(status, words)
        try:
            found = json.loads(answer.content)
            return found["predictions"]
        except (ValueError, KeyError, TypeError) as error:
            text = f"answered without predictions: {words}"
            raise self._fault(text, "is this the address of a model server?") from error

    def _refused(self, status: int, words: str) -> SamepoolError:
        if status in {401, 403}:
            fix = "set auth={kind: bearer, env: VARIABLE} and the variable"
            return self._fault(f"refused with status {status}: {words}", fix)
        if 300 <= status < 400:
            return self._fault(f"redirects (status {status})", "give the address it leads to")
        return self._fault(f"refused a batch with status {status}: {words}", "")

    def _fault(self, text: str, fix: str) -> SamepoolError:
        server = self.server
        return fault("bad_answer", server.scrub(f"{server.who}: {server.url} {text}"), fix)


def encode(table: pd.DataFrame) -> bytes:
    """A table as MLflow's ``dataframe_split``: whole numbers whole, others not, null for missing.

    >>> encode(pd.DataFrame({"a": [1, 2], "b": [0.5, float("nan")], "c": ["x", None]}))
    b'{"dataframe_split":{"columns":["a","b","c"],"data":[[1,0.5,"x"],[2,null,null]]}}'
    """
    columns = [_plain(table[name]) for name in table.columns]
    split = {"columns": list(table.columns), "data": list(map(list, zip(*columns, strict=True)))}
    text = json.dumps({"dataframe_split": split}, separators=(",", ":"), allow_nan=False)
    return text.encode()


def _plain(column: "pd.Series[Any]") -> list[Any]:
    """Values as JSON has them."""
    kind = column.dtype.kind
    if kind in "iub":
        return column.tolist()
    if kind == "f":
        return [value if math.isfinite(value) else None for value in column.tolist()]
    if kind == "M":
        return [None if pd.isna(value) else value.isoformat() for value in column]
    return [_value(value) for value in column.tolist()]


def _value(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return [_value(each) for each in value.tolist()]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if value is None or value is pd.NaT or (isinstance(value, float) and not math.isfinite(value)):
        return None
    return value


def _again(status: int) -> bool:
    return status in _BUSY or status >= 500


def _wait(attempt: int, answer: requests.Response | None) -> float:
    """Seconds before the next attempt; more where the server asks for it."""
    asked = "" if answer is None else answer.headers.get("Retry-After", "")
    least = float(asked) if asked.isdecimal() else 0.0
    return min(_LONGEST_WAIT, max(least, _FIRST_WAIT * float(2**attempt)))


def _words(answer: requests.Response, scrub: Callable[[str], str]) -> str:
    """What the server says, in one line; of MLflow's errors the message."""
    text = answer.text
    try:
        found = json.loads(text)
        text = str(found["message"])
    except (ValueError, KeyError, TypeError):
        pass
    text = " ".join(scrub(text[: 8 * _SHOWN]).split())  # before any secret is cut off
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _reason(error: requests.RequestException) -> str:
    text = str(error).lower()
    if "refused" in text:
        return "connection refused"
    if "resolve" in text or "name or service" in text:
        return "no such host"
    return type(error).__name__
