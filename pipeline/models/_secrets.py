"""Credentials: named in the options, taken from the environment, kept out of every message."""

import base64
import html
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, urlsplit

from pipeline.core.problems import Problem
from pipeline.core.redact import HIDDEN, redact_uris

_SECRET = re.compile(
    r"authoriz|authentic|cookie|secret|passw|credential|api[-_]?key|access[-_]?key|^key$"
    r"|(?<![a-z])(?:auth|token|jwt|session)(?![a-z])",
    re.IGNORECASE,
)
_HEADER = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_LOCAL = re.compile(r"localhost|127(\.\d+){3}|::1")
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_KINDS = ("basic", "bearer", "apikey", "header")
_BEGINNING = 6  # characters of a secret that are too many to show
_FIX = "name a variable of the environment: auth={kind: bearer, env: NAME}"


@dataclass(frozen=True, slots=True)
class Auth:
    """Where the credentials are.

    Attributes:
        kind: ``basic``, ``bearer``, ``apikey`` (as Elasticsearch has it) or ``header``.
        env: variable that holds the secret; for ``basic`` USER:PASSWORD.
        user: for ``basic``: who, where the variable holds the password alone.
        header: for ``header``: name of the header.
    """

    kind: str
    env: str
    user: str | None = None
    header: str | None = None


def read_auth(given: Mapping[str, Any]) -> Auth | None:
    """The option ``auth``; its values never show in messages, as one may be a secret.

    Raises:
        ValueError: a key or kind that is not known, or one that is missing.
    """
    if not given:
        return None
    strange = sorted(set(map(str, given)) - {"kind", "env", "user", "header"})
    if strange:
        raise ValueError(f"auth has no {', '.join(strange)}: it takes kind, env, user and header")
    kind, env, header = given.get("kind"), given.get("env"), given.get("header")
    sound = {
        "every part of auth is text": all(isinstance(v, str) and v for v in given.values()),
        f"auth.kind is one of {', '.join(_KINDS)}": kind in _KINDS,
        "auth.env names a variable of the environment": bool(_NAME.fullmatch(str(env or ""))),
        "auth.header goes with auth.kind=header": (kind == "header") == (header is not None),
        "auth.user goes with auth.kind=basic": "user" not in given or kind == "basic",
        "auth.header is no header": header is None or bool(_HEADER.fullmatch(str(header))),
    }
    for text, holds in sound.items():
        if not holds:
            raise ValueError(text)
    return Auth(**given)


def refuse_literal(
    url: str,
    params: Mapping[str, Any] | None = None,
    headers: Mapping[str, Any] | None = None,
    option: str = "url",
) -> None:
    """Refuses credentials that are written down where they would be kept with the results.

    Args:
        url: address, parameters and all.
        params: further parameters.
        headers: that are sent.
        option: name of the address among the options.

    Raises:
        ValueError: a user in the address, or a name that speaks of a secret.
    """
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ValueError(f"{option} holds a user or a password; {_FIX.replace('bearer', 'basic')}")
    places = {
        option: [name for name, _ in parse_qsl(parts.query, keep_blank_values=True)],
        "params": params or {},
        "headers": headers or {},
    }
    for place, names in places.items():
        found = [str(name) for name in names if _SECRET.search(str(name))]
        if found:
            raise ValueError(f"{place}: {found[0]} looks like a secret; {_FIX}")
    for name, value in (headers or {}).items():
        if not _HEADER.fullmatch(str(name)) or not _sendable(str(value)):
            raise ValueError(f"headers: {str(name)!r} cannot be sent as a header")


def missing(auth: Auth | None, url: str, name: str, option: str = "url") -> Iterator[Problem]:
    """What is wrong with the variable, and with sending what it holds."""
    if auth is None:
        return
    value = os.environ.get(auth.env, "").strip()
    text = None
    if not value:
        text = f"the environment variable {auth.env} is not set"
    elif not _sendable(value):
        text = f"the environment variable {auth.env} holds what no header can"
    elif auth.kind == "basic" and auth.user is None and ":" not in value:
        text = f"the environment variable {auth.env} holds no USER:PASSWORD"
    if text is not None:
        fix = f"export {auth.env}=...: it holds the credentials of auth.kind={auth.kind}"
        yield Problem("no_variable", "error", f"model {name}: {text}", fix)
    parts = urlsplit(url)
    if parts.scheme == "http" and not _LOCAL.fullmatch(str(parts.hostname)):
        text = f"model {name}: credentials are sent to {parts.hostname} unencrypted"
        yield Problem("unencrypted", "warning", text, f"write https:// in the {option}")


def _sendable(value: str) -> bool:
    """Whether a header can hold it: Latin-1 without control characters."""
    return all(" " <= char <= "\xff" and char != "\x7f" for char in value)


@dataclass(frozen=True, slots=True, repr=False)
class Secrets:
    """Credentials of one endpoint, for as long as it is asked.

    Attributes:
        headers: what to send.
        words: what must not be shown, in every form it may come back in, or be cut off in.
    """

    headers: Mapping[str, str]
    words: tuple[str, ...]

    def scrub(self, text: str) -> str:
        """A message without secrets and without characters that a terminal would obey."""
        for word in self.words:
            text = text.replace(word, HIDDEN)
        for word in self.words:
            text = _headless(text, word)
        plain = "".join(char if char.isprintable() else " " for char in text)
        return redact_uris(" ".join(plain.split()))


def take(auth: Auth | None) -> Secrets:
    """The credentials from the environment, which :func:`missing` has nothing to say about."""
    if auth is None:
        return Secrets({}, ())
    value = os.environ[auth.env].strip()
    pair = value if auth.user is None else f"{auth.user}:{value}"
    coded = base64.b64encode(pair.encode()).decode()
    headers = {
        "basic": {"Authorization": f"Basic {coded}"},
        "bearer": {"Authorization": f"Bearer {value}"},
        "apikey": {"Authorization": f"ApiKey {value}"},
        "header": {str(auth.header): value},
    }
    secret = pair.split(":", 1)[1] if auth.kind == "basic" else value  # a user's name is none
    known = [coded, secret]
    return Secrets(headers[auth.kind], tuple(_forms(known)))


def _forms(words: Iterable[str]) -> list[str]:
    """Longest first, so that no part is left of what holds another."""
    once = {form for word in words if word for form in _written(word)}
    found = {form for word in once for form in _written(word)}  # HTML within JSON, say
    return sorted(found, key=len, reverse=True)


def _written(word: str) -> Iterator[str]:
    """A word as it is, and as addresses, JSON, Python and HTML have it."""
    yield from (word, quote(word, safe=""), quote_plus(word), json.dumps(word)[1:-1])
    yield from (json.dumps(word, ensure_ascii=False)[1:-1], repr(word)[1:-1])
    yield from (html.escape(word), html.escape(word, quote=False))
    yield " ".join(word.split())  # as messages have it, in one line


def _headless(text: str, word: str) -> str:
    """The text without beginnings of the word, which somebody cut off."""
    if len(word) <= _BEGINNING:
        return text
    start = text.find(word[:_BEGINNING])
    while start >= 0:
        end = max(n for n in range(len(word) + 1) if text.startswith(word[:n], start))
        text = f"{text[:start]}{HIDDEN}{text[start + end :]}"
        start = text.find(word[:_BEGINNING], start + len(HIDDEN))
    return text
