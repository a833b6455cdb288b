"""What an HTTP status stands for, and what the endpoint says about it."""

import json
import time
from collections.abc import Callable
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any

import requests

from pipeline.core.redact import redact_uris
from pipeline.models._http.troubles import Advice, AwayError, MistakeError

_SHOWN = 300
_BUSY = frozenset({408, 425, 429})


def judge(
    response: requests.Response,
    payload: bytes,
    scrub: Callable[[str], str] = str,
    advice: Advice | None = None,
) -> None:
    """Lets an answer of success pass.

    Args:
        response: its status and headers.
        payload: its body.
        scrub: takes secrets out of what is quoted, before any of it is cut off.
        advice: what can be done; that of searches unless given.

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
    advice = advice or Advice()
    raise MistakeError(text, advice.status.get(status, advice.refused))


def _said(payload: bytes, scrub: Callable[[str], str]) -> str:
    """The endpoint's own words on what is wrong, else how its answer begins."""
    plain = payload[: 8 * _SHOWN].decode("utf-8", errors="replace")
    with suppress(ValueError, LookupError, TypeError, AttributeError, RecursionError):
        plain = _reason(json.loads(payload))[: 8 * _SHOWN]
    return " ".join(scrub(str(plain)).split())[:_SHOWN]


def _reason(answer: Any) -> str:
    """Where Elasticsearch (``error``) and MLflow (``message``) say it."""
    if isinstance(answer.get("message"), str):
        return str(answer["message"])
    error = answer["error"]
    causes = [cause["reason"] for cause in error.get("root_cause", ())]
    return str(causes[0] if causes else error["reason"])


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
