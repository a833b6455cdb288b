"""Asks whether a service answers at all, within seconds: MLflow's own clients retry for minutes."""

import os
import socket
from urllib.parse import urlsplit

from pipeline.tracking._errors import unreachable
from pipeline.tracking._library import library

_CONNECT_SECONDS = 3.0
_READ_SECONDS = 5.0
_PORTS = {"postgresql": 5432, "mysql": 3306, "mssql": 1433}


def answer(uri: str) -> None:
    """Returns if the service at ``uri`` answers, whatever it says; files always do.

    Raises:
        UnreachableError: it does not.
    """
    parts = urlsplit(uri)
    if parts.scheme in {"http", "https"}:
        _http(uri)
        return
    port = parts.port or _PORTS.get(parts.scheme.partition("+")[0])
    if parts.hostname and port:
        _socket(uri, parts.hostname, port)


def _http(uri: str) -> None:
    # Through requests, as MLflow does, so that proxies and certificates count here too.
    requests = library("requests")
    insecure = os.environ.get("MLFLOW_TRACKING_INSECURE_TLS", "").lower() in {"true", "1"}
    bundle = os.environ.get("MLFLOW_TRACKING_SERVER_CERT_PATH")
    try:
        requests.get(
            f"{uri.rstrip('/')}/health",
            timeout=(_CONNECT_SECONDS, _READ_SECONDS),
            verify=bundle or not insecure,
            allow_redirects=False,
        ).close()
    except requests.exceptions.RequestException as error:
        raise unreachable(uri, _reason(error)) from error


def _socket(uri: str, host: str, port: int) -> None:
    try:
        socket.create_connection((host, port), timeout=_CONNECT_SECONDS).close()
    except OSError as error:
        raise unreachable(uri, _reason(error)) from error


def _reason(error: BaseException) -> str:
    """The innermost cause in a few words: libraries wrap it several times."""
    text = str(error)
    for words in ("Connection refused", "timed out", "Name or service not known", "certificate"):
        if words.lower() in text.lower():
            return words.lower()
    return " ".join(text.split())[:200]
