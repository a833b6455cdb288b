"""Takes secrets out of what is written down: URI user info and values of secret-like keys."""

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "***"

_USER_INFO = re.compile(r"(?<=://)[^/?#\s'\"]+@")
_WORDS = r"(?:passw|secret|token|api_?key|credential)"
_KEY = re.compile(_WORDS, re.IGNORECASE)
_LINE = re.compile(
    rf"(?im)^(?P<key>[\s\-+]*[\w.]*{_WORDS}[\w.]*\s*[:=]\s*)(?P<value>(?!null\b|\$\{{)\S.*)$"
)


def redact(text: str) -> str:
    """A config's text without secrets, line by line; references to variables stay.

    >>> redact("uri: http://ann:pw@host/x")
    'uri: http://host/x'
    >>> redact("api_token: abc")
    'api_token: ***'
    """
    return _LINE.sub(lambda match: f"{match['key']}{HIDDEN}", redact_uris(text))


def redact_uris(text: str) -> str:
    """Any text with user names and passwords taken out of its URIs, which still can be opened.

    >>> redact_uris("at https://me:secret@host:5000/x and http://host")
    'at https://host:5000/x and http://host'
    """
    return _USER_INFO.sub("", text)


def redact_values(value: Any, key: str = "") -> Any:
    """A JSON-ready value without secrets, at any depth.

    Texts lose the user info of their URIs. What a secret-like key holds is hidden, unless it is
    null or a mapping, whose own keys speak for it.

    Args:
        value: mappings, lists and scalars; not changed.
        key: what it stands under.

    >>> redact_values({"es": {"api_key": "abc", "uri": "http://ann:pw@host"}, "token": None})
    {'es': {'api_key': '***', 'uri': 'http://host'}, 'token': None}
    """
    if isinstance(value, Mapping):
        return {name: redact_values(item, str(name)) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact_values(item, key) for item in value]
    if value is not None and _KEY.search(key):
        return HIDDEN
    return redact_uris(value) if isinstance(value, str) else value
