"""What an HTTP status stands for, and what the endpoint says about it."""

import json
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

import requests

from pipeline.core.redact import redact_uris
from pipeline.models._http.troubles import AwayError, MistakeError

_SHOWN = 300
_BUSY = frozenset({408, 425, 429})


def judge(response: requests.Response, payload: bytes, scrub: Callable[[str], str] = str) -> None:
    """Lets an answer of success pass.

    Args:
        response: its status and headers.
        payload: its body.
        scrub: takes secrets out of what is quoted, before any of it is cut off.

    Raises:
        AwayError: the endpoint is busy or broken: asking again may help.
        MistakeError: a redirect, or the endpoint does not want the question.
    """
    status = response.status_code
    if 200 <= status < 300:
        return
    if 300 <= status < 400:
        to = scrub(redact_uris(response.headers.get("Location", "elsewhere")))
        fix = "redirects are not followed: write the address that answers"
        raise MistakeError(f"HTTP {status}, a redirect to {to[:_SHOWN]}", fix)
    text = f"HTTP {status} {response.reason or ''}".strip()
    said = _said(payload, scrub)
    text += f": {said}" if said else ""
    if status in _BUSY or status >= 500:
        raise AwayError(text, after=after(response.headers.get("Retry-After")))
    fixes = {
        401: "set auth to credentials that may search",
        403: "set auth to credentials that may search",
        404: "check the url and the name of the index",
        405: "set method to GET or POST",
    }
    raise MistakeError(text, fixes.get(status, "mend the body, params or url"))


def _said(payload: bytes, scrub: Callable[[str], str]) -> str:
    """The endpoint's own words on what is wrong: Elasticsearch's reason, else the body's start."""
    plain = payload[: 8 * _SHOWN].decode("utf-8", errors="replace")
    try:
        error = json.loads(payload)["error"]
        causes = [cause["reason"] for cause in error.get("root_cause", ())]
        plain = str(causes[0] if causes else error["reason"])[: 8 * _SHOWN]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    return " ".join(scrub(str(plain)).split())[:_SHOWN]


def after(value: str | None) -> float | None:
    """Seconds of a Retry-After header, which holds a number or a date."""
    if value is None:
        return None
    if value.strip().isdecimal():
        return float(value)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
