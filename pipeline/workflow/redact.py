"""Takes secrets out of what is written down: URI user info and values of secret-like keys."""

import re

_USER_INFO = re.compile(r"(?<=://)[^/\s@'\"]+@")
_SECRET = re.compile(
    r"(?im)^(?P<key>[\s\-+]*[\w.]*(?:password|passwd|secret|token|api_?key|credential)[\w.]*"
    r"\s*[:=]\s*)(?P<value>(?!null\b|\$\{)\S.*)$"
)
HIDDEN = "***"


def redact(text: str) -> str:
    """The text without secrets, line by line.

    >>> redact("uri: http://ann:pw@host/x")
    'uri: http://***@host/x'
    >>> redact("api_token: abc")
    'api_token: ***'
    """
    text = _USER_INFO.sub(f"{HIDDEN}@", text)
    return _SECRET.sub(lambda match: f"{match['key']}{HIDDEN}", text)
