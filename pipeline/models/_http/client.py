"""One request at a time over one connection, with a limit on everything that may go on forever."""

import contextlib
import os
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.utils import get_environ_proxies
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import HTTPError

from pipeline.models._http.request import Ask
from pipeline.models._http.status import judge
from pipeline.models._http.troubles import (
    Advice,
    AwayError,
    GarbledError,
    MistakeError,
    TroubleError,
)

LARGEST = 50_000_000  # bytes of an answer, unpacked
_PIECE = 1 << 16
_TICK = 0.05
_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")


@dataclass(frozen=True, slots=True, repr=False)
class Wire:
    """How the endpoint is spoken to.

    Attributes:
        method: GET or POST.
        headers: sent with each request; hold the credentials.
        timeout: seconds without a sign of life.
        deadline: seconds for a whole answer.
        ca_bundle: certificates to trust instead of the usual ones.
        scrub: takes secrets out of what the endpoint says.
        connect: seconds for a connection; ``timeout`` unless given.
        direct: it is on this machine, so no proxy is asked.
        advice: what can be done about trouble.
    """

    method: str
    headers: Mapping[str, str]
    timeout: float
    deadline: float
    ca_bundle: str | None
    scrub: Callable[[str], str] = str
    connect: float | None = None
    direct: bool = False
    advice: Advice = field(default_factory=Advice)

    @property
    def limits(self) -> tuple[float, float]:
        """Seconds for a connection, and without a sign of life over it."""
        longest = min(self.timeout, self.deadline)
        return min(self.connect or longest, longest), longest

    def session(self, url: str, seen: Callable[[socket.socket], None]) -> requests.Session:
        """A session that reports its sockets, and reads no .netrc: credentials are named.

        Proxies and certificates of the environment hold; they are looked up once.
        """
        session = requests.Session()
        session.trust_env = False
        session.proxies = {} if self.direct else dict(get_environ_proxies(url))
        found = [value for name in _BUNDLES if (value := os.environ.get(name))]
        session.verify = self.ca_bundle or (found[0] if found else True)
        session.headers = {"User-Agent": "samepool", "Accept": "application/json", **self.headers}
        for scheme in ("http://", "https://"):
            session.mount(scheme, _Watched(seen))
        return session


class _Watched(HTTPAdapter):
    """Reports the socket of each new connection, so that it can be shut from outside."""

    def __init__(self, seen: Callable[[socket.socket], None]) -> None:
        self._pools = _pools(seen)
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = self._pools

    def proxy_manager_for(self, *args: Any, **kwargs: Any) -> Any:
        manager = super().proxy_manager_for(*args, **kwargs)
        manager.pool_classes_by_scheme = self._pools
        return manager


def _pools(seen: Callable[[socket.socket], None]) -> dict[str, Any]:
    class Plain(HTTPConnection):
        def connect(self) -> None:
            super().connect()
            seen(self.sock)

    class Secure(HTTPSConnection):
        def connect(self) -> None:
            super().connect()
            seen(self.sock)

    class PlainPool(HTTPConnectionPool):
        ConnectionCls = Plain

    class SecurePool(HTTPSConnectionPool):
        ConnectionCls = Secure

    return {"http": PlainPool, "https": SecurePool}


@dataclass(frozen=True, slots=True)
class Reply:
    """A whole answer.

    Attributes:
        payload: the body.
        kind: its content type.
        ms: milliseconds from sending to the last byte, as this client measured.
    """

    payload: bytes
    kind: str
    ms: float


class Line:
    """The connection of one thread; :meth:`cut` and :meth:`check` are for another one."""

    def __init__(self, wire: Wire, url: str) -> None:
        """Connects when it is first used."""
        self._wire = wire
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._until: float | None = None
        self._late = False
        self._session = wire.session(url, self._seen)

    def send(self, ask: Ask) -> Reply:
        """Sends one request and reads the whole answer.

        Raises:
            TroubleError: there is none, it is too large, or its status says no.
        """
        headers = {} if ask.body is None else {"Content-Type": "application/json"}
        with self._lock:
            self._until, self._late = time.monotonic() + self._wire.deadline, False
        try:
            request = requests.Request(self._wire.method, ask.url, headers=headers, data=ask.body)
            prepared = self._session.prepare_request(request)
            start = time.perf_counter()
            with self._session.send(
                prepared, timeout=self._wire.limits, stream=True, allow_redirects=False
            ) as response:
                payload = b"".join(self._pieces(response))
                ms = (time.perf_counter() - start) * 1_000
                if self._late:  # cut among the headers, it looks like an end
                    raise self._overdue()
                judge(response, payload, self._wire.scrub, self._wire.advice)
                return Reply(payload, response.headers.get("Content-Type", ""), ms)
        except (requests.RequestException, HTTPError, OSError, ValueError) as error:
            raise self._trouble(error) from error
        finally:
            with self._lock:
                self._until = None

    def check(self, now: float) -> None:
        """Cuts a request that is past its deadline."""
        with self._lock:
            if self._until is not None and now > self._until:
                self._late = True
                self._shut()

    def cut(self) -> None:
        """Ends the request that is under way."""
        with self._lock:
            self._shut()

    def close(self) -> None:
        """Gives the connection back."""
        self._session.close()

    def _seen(self, found: socket.socket) -> None:
        with self._lock:
            self._socket = found

    def _shut(self) -> None:
        if self._socket is None:
            return
        with contextlib.suppress(OSError):  # it is closed already
            # Of the plain class: that of TLS would pull its state from under the reader.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _pieces(self, response: requests.Response) -> Iterator[bytes]:
        size = 0
        while piece := response.raw.read(_PIECE, decode_content=True):
            size += len(piece)
            if size > LARGEST:
                text = f"an answer of more than {LARGEST / 1e6:.0f} MB"
                raise MistakeError(text, self._wire.advice.large)
            yield piece

    def _trouble(self, error: Exception) -> TroubleError:
        return self._overdue() if self._late else _trouble(error, self._wire)

    def _overdue(self) -> TroubleError:
        return AwayError(f"no whole answer within {self._wire.deadline:g} s (deadline)")


@contextlib.contextmanager
def watched(line: Line) -> Iterator[Line]:
    """Keeps a connection's deadline until it is left, and closes it then."""
    left = threading.Event()

    def watch() -> None:
        while not left.wait(_TICK):
            line.check(time.monotonic())

    threading.Thread(target=watch, daemon=True).start()
    try:
        yield line
    finally:
        left.set()
        line.close()


def _trouble(error: Exception, wire: Wire) -> TroubleError:
    """What an exception of the client stands for."""
    chain = list(_causes(error))
    unreached = _unreached(error, chain, wire)
    if unreached is not None:
        return unreached
    if any(isinstance(cause, ssl.SSLCertVerificationError) for cause in chain):
        text = f"its certificate cannot be verified: {chain[-1]}"
        return MistakeError(text, wire.advice.certificate)
    if any(isinstance(cause, TimeoutError) for cause in chain):
        return AwayError(f"no answer within {wire.timeout:g} s (timeout)")
    if isinstance(error, requests.exceptions.ContentDecodingError):
        return GarbledError("an answer that cannot be unpacked")
    if isinstance(error, ValueError) and not isinstance(error, HTTPError):
        return MistakeError(f"this cannot be sent: {error}", f"check the {wire.advice.option}")
    return AwayError(f"the connection broke: {chain[-1]}")


def _unreached(error: Exception, chain: list[BaseException], wire: Wire) -> AwayError | None:
    """Why no connection came about, if that is what happened."""
    found, check = None, f"check the {wire.advice.option}"
    if isinstance(error, requests.exceptions.ConnectTimeout):
        named = "" if wire.connect else " (timeout)"
        found = f"no connection within {wire.limits[0]:g} s{named}", check
    elif any(isinstance(cause, socket.gaierror) for cause in chain):
        found = "its host name is not known", check
    elif any(isinstance(cause, ConnectionRefusedError) for cause in chain):
        found = "connection refused", f"{check}, and that it is up"
    elif isinstance(error, requests.exceptions.ProxyError):
        found = "its proxy does not answer", "check HTTPS_PROXY and HTTP_PROXY"
    return None if found is None else AwayError(*found, unreached=True)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and what it came from, to the bottom."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
