"""A model server of MLflow's kind: batches of inputs to its ``/invocations``, one at a time."""

import base64
import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from pipeline.core.problems import Problem, SamepoolError, UnreachableError, fault
from pipeline.models._http.client import Line, Wire, watched
from pipeline.models._http.crew import LONGEST_WAIT, Plan
from pipeline.models._http.request import Ask
from pipeline.models._http.troubles import Advice, MistakeError, TroubleError

BACKOFF = 0.5
_CONNECT = 10.0  # seconds; a batch may take longer
_SHOWN = 300
_AUTH = "set auth={kind: bearer, env: VARIABLE} and the variable"
_ADVICE = Advice(
    option="endpoint",
    status={401: _AUTH, 403: _AUTH, 404: "is this the address of a model server?"},
    refused="",
    large="set batch_rows lower",
    certificate="name the authority that signed it: export REQUESTS_CA_BUNDLE=FILE",
)
Pause = Callable[[float, str], None]


def _pause(seconds: float, _why: str) -> None:
    time.sleep(seconds)


@dataclass(frozen=True, slots=True)
class Server:
    """Where a model is served.

    Attributes:
        url: without ``/invocations``.
        who: the model's name in messages.
        timeout: seconds a batch may take.
        headers: sent with each batch; hold the credentials.
        scrub: takes secrets out of a message.
        ended: last words of a server of ours that has ended; None while it runs, and of others.
        ours: it is on this machine.
    """

    url: str
    who: str
    timeout: float
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    scrub: Callable[[str], str] = str
    ended: Callable[[], str | None] = lambda: None
    ours: bool = False

    @contextmanager
    def asking(self, plan: Plan, pause: Pause = _pause) -> Iterator["Asking"]:
        """Ready to be asked, over one connection.

        Args:
            plan: how often to try.
            pause: waits so many seconds, and may say why.
        """
        wire = Wire(
            "POST", self.headers, self.timeout, self.timeout, None, self.scrub,
            connect=_CONNECT, direct=self.ours, advice=_ADVICE,
        )  # fmt: skip
        with watched(Line(wire, self.url)) as line:
            yield Asking(self, line, plan, pause)


@dataclass(slots=True)
class Asking:
    """Sends tables of inputs; gives back what the model returned for them.

    Busy servers, timeouts and broken connections are tried again, later and later; one that was
    never reached is not.
    """

    server: Server
    line: Line
    plan: Plan
    pause: Pause
    _batches: int = 0

    def __call__(self, table: pd.DataFrame) -> Any:
        """What the server's model predicts.

        Raises:
            UnreachableError: no answer, or only errors of its own, whatever the patience.
            SamepoolError: it refuses, or answers with something else than predictions.
        """
        ask = Ask("", f"{self.server.url}/invocations", encode(table))
        attempt = 0
        while True:
            try:
                found = self._read(self.line.send(ask).payload)
            except TroubleError as error:
                self._judge(error, attempt)
                wait = self.plan.wait(self._batches, attempt)
                wait = max(wait, min(error.after or 0.0, LONGEST_WAIT))
                self.pause(wait, self.server.scrub(str(error)))
                attempt += 1
            else:
                self._batches += 1
                return found

    def _judge(self, error: TroubleError, attempt: int) -> None:
        """Returns where another attempt may help.

        Raises:
            UnreachableError, SamepoolError: as when called.
        """
        server = self.server
        if isinstance(error, MistakeError):
            raise self._fault(error.text, error.fix) from error
        last = server.ended()
        if last is not None:
            text = server.scrub(f"{server.who}: its server ended while it scored: {last}")
            raise fault("server_ended", text, "mend the model's code or requirements") from error
        if attempt < self.plan.retries and (self._batches or not error.unreached):
            return
        text = f"{server.who}: {server.url} did not answer: {error}"
        text += f", after {attempt + 1} attempts" if attempt else ""
        fix = error.fix or "start it, or mend the endpoint (timeout, batch_rows)"
        fix += "; models that are done are not scored again"
        raise UnreachableError([Problem("unreachable", "error", server.scrub(text), fix)])

    def _read(self, payload: bytes) -> Any:
        try:
            return json.loads(payload)["predictions"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            said = payload[: 8 * _SHOWN].decode("utf-8", errors="replace")
            said = " ".join(self.server.scrub(said).split())[:_SHOWN]  # scrubbed, then cut off
            fix = "is this the address of a model server?"
            raise self._fault(f"answered without predictions: {said}", fix) from error

    def _fault(self, text: str, fix: str) -> SamepoolError:
        server = self.server
        return fault("bad_answer", server.scrub(f"{server.who}: {server.url}: {text}"), fix)


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
