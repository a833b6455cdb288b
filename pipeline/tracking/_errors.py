"""Says in one line what a tracking store or server means by its exceptions."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.core.problems import Problem, SamepoolError, UnreachableError, fault
from pipeline.core.redact import redact_uris
from pipeline.tracking._library import quiet

_UNANSWERED = (
    "max retries exceeded",
    "connection refused",
    "connection aborted",
    "timed out",
    "failed with timeout",
    "name resolution",
    "error responses",
    "could not connect",
    "failed with exception",
)
_FORBIDDEN = ("PERMISSION_DENIED", "UNAUTHENTICATED", "CUSTOMER_UNAUTHORIZED")
_RIGHTS = "ask for the right, or sign in: MLFLOW_TRACKING_USERNAME and _PASSWORD, or _TOKEN"


@contextmanager
def translated(uri: str, doing: str) -> Iterator[None]:
    """Turns exceptions of MLflow and what lies below it into problems.

    Args:
        uri: of the store; shown without credentials.
        doing: what is being done, for messages, e.g. ``open experiment 'x'``.

    Raises:
        UnreachableError: the service did not answer, answered with an error of its own, or its
            database stayed locked.
        SamepoolError: it refused.
    """
    try:
        with quiet():
            yield
    except SamepoolError:
        raise
    except Exception as error:  # MLflow lets those of SQLAlchemy, requests and the OS through
        raise _meaning(error, redact_uris(uri), doing) from error


def unreachable(uri: str, reason: str) -> UnreachableError:
    """The error for a service that does not answer."""
    text = f"MLflow at {redact_uris(uri)} did not answer: {redact_uris(reason)}"
    fix = "check tracking.uri, and that the server is up"
    return UnreachableError([Problem("unreachable", "error", text, fix)])


def _meaning(error: Exception, uri: str, doing: str) -> SamepoolError:
    said = redact_uris(_one_line(error))
    lower = said.lower()
    code = str(getattr(error, "error_code", ""))
    if code in _FORBIDDEN or "error code 403" in lower or "error code 401" in lower:
        return fault("forbidden", f"MLflow at {uri} does not allow this: {doing}: {said}", _RIGHTS)
    if "database schema" in lower:
        return _schema(uri, said)
    if "database is locked" in lower:
        return unreachable(uri, "another program holds its database locked")
    if _unanswered(error, lower, uri):
        return unreachable(uri, f"{doing}: {said}")
    return fault("tracking_failed", f"MLflow at {uri} could not {doing}: {said}")


def _unanswered(error: Exception, lower: str, uri: str) -> bool:
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    if any(sign in lower for sign in _UNANSWERED):
        return True
    status = getattr(error, "get_http_status_code", None)
    return uri.startswith("http") and status is not None and int(status()) >= 500


def _schema(uri: str, said: str) -> SamepoolError:
    """MLflow advises an upgrade in both directions; an older client cannot upgrade anything."""
    text = f"the database {uri} was made by another version of MLflow: {said}"
    fix = "use the MLflow version that wrote it; or, if yours is the newer, back it up and run: "
    return fault("store_schema", text, f"{fix}mlflow db upgrade {uri}")


def _one_line(error: Exception) -> str:
    text = " ".join(str(getattr(error, "message", "") or error).split())
    return text if len(text) <= 300 else f"{text[:297]}..."
