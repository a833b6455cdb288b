"""Threads that ask, each over its own connection, and ask again where that may help."""

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pipeline.models._http.answer import Reader
from pipeline.models._http.client import Line, Wire
from pipeline.models._http.request import Ask
from pipeline.models._http.store import Answer
from pipeline.models._http.troubles import MistakeError, TroubleError

LONGEST_WAIT = 60.0  # seconds, whatever the back-off or the endpoint says
_TICK = 0.05
_PATIENCE = 2.0


@dataclass(frozen=True, slots=True)
class Plan:
    """How hard to try.

    Attributes:
        concurrency: requests under way at a time.
        retries: further attempts after the first.
        backoff: seconds before the second attempt, at most; doubles with each.
        seed: of the jitter.
    """

    concurrency: int
    retries: int
    backoff: float
    seed: int

    def wait(self, place: int, attempt: int) -> float:
        """Seconds before the attempt after ``attempt``: half to all of the back-off."""
        jitter = np.random.default_rng((self.seed, place, attempt)).uniform(0.5, 1.0)
        return min(LONGEST_WAIT, float(self.backoff * 2**attempt * jitter))


@dataclass(frozen=True, slots=True)
class Failure:
    """A query without an answer.

    Attributes:
        error: what happened last.
        attempts: how often it was asked.
    """

    error: TroubleError
    attempts: int


Outcome = tuple[int, Answer | Failure]
Keep = Callable[[str, list[str], list[float], float], Answer]


class Crew:
    """Asks a sequence of requests; what comes back is read by ``reader`` and kept by ``keep``."""

    def __init__(self, wire: Wire, plan: Plan, reader: Reader, keep: Keep) -> None:
        """Starts nothing yet."""
        self._wire, self._plan, self._reader, self._keep = wire, plan, reader, keep

    def keeping(self, keep: Keep) -> "Crew":
        """The same crew, which keeps answers otherwise."""
        return Crew(self._wire, self._plan, self._reader, keep)

    def ask(
        self, asks: Sequence[Ask], places: Sequence[int], *, opening: bool = False
    ) -> Generator[Outcome, None, None]:
        """Outcomes by place, in the order in which they come.

        Closing the iterator, or an exception in its reader, ends all threads at once.

        Args:
            asks: all requests.
            places: those to ask.
            opening: nothing answered yet: where no connection comes about, do not insist.
        """
        shift = _Shift(self, asks, iter(places), opening=opening)
        try:
            shift.start(min(self._plan.concurrency, len(places)))
            for _ in places:
                yield shift.next()
        finally:
            shift.end()

    def settle(self, line: Line, place: int, ask: Ask, shift: "_Shift") -> Answer | Failure:
        """Asks until there is an answer, or nothing more to try."""
        attempt = 0
        while True:
            shift.pause()
            try:
                reply = line.send(ask)
                ids, scores = self._reader.read(reply.payload, reply.kind)
            except TroubleError as error:
                if self._last(error, attempt, shift):
                    return Failure(error, attempt + 1)
                shift.hold(error.after)
                shift.sleep(self._plan.wait(place, attempt))
                attempt += 1
            else:
                return self._keep(ask.query, ids, scores, reply.ms)

    def line(self, url: str) -> Line:
        """A connection for one thread."""
        return Line(self._wire, url)

    def _last(self, error: TroubleError, attempt: int, shift: "_Shift") -> bool:
        hopeless = isinstance(error, MistakeError) or (shift.opening and error.unreached)
        return hopeless or attempt >= self._plan.retries or shift.stopped


class _Shift:
    """One round of asking."""

    def __init__(
        self, crew: Crew, asks: Sequence[Ask], places: Iterator[int], *, opening: bool
    ) -> None:
        self._crew, self._asks, self._places = crew, asks, places
        self.opening = opening
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._held = 0.0
        self._done: queue.SimpleQueue[Outcome | BaseException] = queue.SimpleQueue()
        self._lines: list[Line] = []
        self._threads: list[threading.Thread] = []

    @property
    def stopped(self) -> bool:
        """Whether nobody waits for answers any more."""
        return self._stop.is_set()

    def start(self, n: int) -> None:
        """Sends out the threads. Daemons: a request that hangs keeps no process from ending."""
        url = self._asks[0].url
        self._lines = [self._crew.line(url) for _ in range(n)]
        self._threads = [
            threading.Thread(target=self._work, args=(line,), daemon=True) for line in self._lines
        ]
        self._threads.append(threading.Thread(target=self._watch, daemon=True))
        for thread in self._threads:
            thread.start()

    def next(self) -> Outcome:
        """The next outcome; waits in short turns, so that an interrupt is heard."""
        while True:
            try:
                found = self._done.get(timeout=1.0)
            except queue.Empty:
                continue
            if isinstance(found, BaseException):
                raise found
            return found

    def end(self) -> None:
        """Stops all threads and cuts what is under way."""
        self._stop.set()
        limit = time.monotonic() + _PATIENCE
        while time.monotonic() < limit and any(thread.is_alive() for thread in self._threads):
            for line in self._lines:
                line.cut()
            for thread in self._threads:
                thread.join(timeout=_TICK / len(self._threads))

    def hold(self, after: float | None) -> None:
        """Lets no thread ask for so long: the endpoint said so."""
        if after is not None:
            until = time.monotonic() + min(after, LONGEST_WAIT)
            with self._lock:
                self._held = max(self._held, until)

    def pause(self) -> None:
        """Waits as long as the endpoint asked for."""
        while (rest := self._held - time.monotonic()) > 0 and not self.stopped:
            self._stop.wait(rest)

    def sleep(self, seconds: float) -> None:
        """Waits, unless the work is over."""
        self._stop.wait(seconds)

    def _work(self, line: Line) -> None:
        try:
            while (place := self._take()) is not None:
                self._done.put((place, self._crew.settle(line, place, self._asks[place], self)))
        except BaseException as error:  # noqa: BLE001 - raised again by the one who waits
            self._done.put(error)
        finally:
            line.close()

    def _take(self) -> int | None:
        with self._lock:
            return None if self.stopped else next(self._places, None)

    def _watch(self) -> None:
        while not self._stop.wait(_TICK):
            now = time.monotonic()
            for line in self._lines:
                line.check(now)
