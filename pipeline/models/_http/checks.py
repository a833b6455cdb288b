"""What is wrong with the options of an endpoint, and with a pool for them, before it is asked."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pyarrow.compute as pc

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem
from pipeline.core.suggest import did_you_mean
from pipeline.models._http.request import CANDIDATES, SIZE

_RANGES: Mapping[str, tuple[float, float]] = {
    "size": (1, 1_000_000),
    "concurrency": (1, 256),
    "timeout": (0.001, 86_400),
    "deadline": (0.001, 86_400),
    "retries": (0, 100),
    "backoff": (0, 3_600),
    "probe": (0, 1_000_000),
}


def numbers(options: Mapping[str, Any]) -> None:
    """Refuses numbers out of range.

    Raises:
        ValueError: one is.
    """
    for name, (low, high) in _RANGES.items():
        if not low <= options[name] <= high:
            raise ValueError(f"{name} is a number from {low:g} to {high:,}, not {options[name]}")


def address(url: str, option: str = "url") -> None:
    """Refuses what is no address of a web service, without showing what may be a password.

    Args:
        url: what was given.
        option: its name.

    Raises:
        ValueError: it is none.
    """
    form = "write http://HOST:PORT/PATH"
    try:
        parts = urlsplit(url)
        sound = parts.scheme in {"http", "https"} and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, brackets that do not match
        raise ValueError(f"{option} is no address; {form}, and credentials as auth") from None
    if not sound:
        shown = "" if "@" in url else f"={url!r}"
        raise ValueError(f"{option}{shown} is no address; {form}")
    if "{" in parts.netloc:
        raise ValueError(f"{option}: placeholders stand behind the host, not in it")
    if parts.fragment:
        raise ValueError(f"{option} holds a #, which is never sent; write %23")


def mapping(given: Any, name: str) -> None:
    """Refuses an option that is no mapping, without showing what may be a secret.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} is a mapping: {name}={{NAME: VALUE}}")  # noqa: TRY004 - as any option


def body(given: Any, method: str) -> Any:
    """The body as JSON values, placeholders and all.

    Raises:
        ValueError: text that is no JSON, a body that cannot be sent.
    """
    if given is None:
        return None
    if method == "GET":
        raise ValueError("a body is sent with method=POST; with GET use params")
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError as error:
            hint = 'quote placeholders: "{size}" alone in quotes stays a number'
            raise ValueError(f"body is no JSON: {error}; {hint}") from error
    if not isinstance(given, Mapping | list):
        raise ValueError("body is a mapping, or JSON in text")  # noqa: TRY004 - as any option
    placed(given, "body")
    return given


def placed(part: Any, where: str) -> None:
    """Refuses placeholders that YAML read as mappings, and values that JSON has not.

    Raises:
        ValueError: there is one.
    """
    if isinstance(part, float) and not math.isfinite(part):
        raise ValueError(f"{where} is {part}, which JSON cannot hold")
    if isinstance(part, Mapping):
        if len(part) == 1 and next(iter(part.values())) is None:
            name = next(iter(part))
            raise ValueError(f'{where}: YAML reads {{{name}}} as a mapping; quote it: "{{{name}}}"')
        for key, value in part.items():
            placed(value, f"{where}.{key}")
    elif isinstance(part, list | tuple):
        for value in part:
            placed(value, where)


def elasticsearch(url: str, given: Any, asked: Iterable[str], method: str) -> None:
    """Refuses what contradicts the template ``elasticsearch``.

    Raises:
        ValueError: another address, no query, or a second word on the size.
    """
    if not re.search(r"/_search(/template)?$", urlsplit(url).path):
        raise ValueError(f"url={url!r} is no search; write http://HOST:PORT/INDEX/_search")
    if method != "POST" or not isinstance(given, Mapping):
        raise ValueError('give the query: method=POST body={query: {match: {title: "{text}"}}}')
    if given.get("size", "{size}") != "{size}" or "size" in asked:
        raise ValueError("how many items are wanted is the option size; leave it out elsewhere")


def generic(items: str | None, id_path: str | None, score: str | None, order: str) -> None:
    """Refuses a template ``json`` that does not say where things are.

    Raises:
        ValueError: a path is missing.
    """
    if not items or not id_path:
        fix = "items=response.docs id=id score=score"
        raise ValueError(f"template=json needs the paths of the list and of its ids: {fix}")
    if not score and order == "score":
        raise ValueError("set score to its path, or order=given where the order says it all")
    if score and order == "given":
        raise ValueError("order=given reads no score; leave score out")


def columns(names: Mapping[str, bool], pool: Pool, model: str) -> Iterator[Problem]:
    """Placeholders that the pool cannot fill for every query, and an unasked size.

    Args:
        names: placeholder -> whether it stands inside more text.
        pool: whose queries are asked.
        model: for messages.
    """
    if not set(names) - {SIZE}:
        text = f"model {model}: every query would be asked alike: there is no placeholder"
        fix = 'write "{text}" or another column of the queries where the query belongs'
        yield Problem("no_placeholder", "error", text, fix)
    if SIZE not in names:
        text = f"model {model}: the request does not say how many items are wanted"
        fix = 'write "{size}" where it belongs, or lists may end early'
        yield Problem("no_size", "warning", text, fix)
    for name, inside in names.items():
        problem = _column(name, inside=inside, pool=pool)
        if problem is not None:
            code, text, fix = problem
            yield Problem(code, "error", f"model {model}: {{{name}}} {text}", fix)


def _column(name: str, *, inside: bool, pool: Pool) -> tuple[str, str, str] | None:
    """Code, text and fix of what is wrong with one placeholder."""
    if name == SIZE:
        return None
    if name == CANDIDATES:
        if pool.candidates is None:
            return "no_candidates", "needs the pool's candidates", "pool.candidates=FILE"
        return _whole(inside=inside)
    if name not in pool.queries.column_names:
        fix = did_you_mean(name, pool.queries.column_names)
        extra = f"; {{{{{name}}}}} is {{{name}}} itself"
        return "missing_input", "is no column of the queries", fix + extra
    column = pool.queries[name]
    empty = column.is_null(nan_is_null=True)
    n = pc.sum(empty).as_py() or 0
    if n:
        first = pool.vocab.queries[pc.index(empty, value=True).as_py()].as_py()
        text = f"is empty for {n:,} queries, first `{first}`"
        return "empty_input", text, "fill the column, or use another one"
    nested = pa.types.is_nested(column.type)
    return _whole(inside=inside) if nested else None


def _whole(*, inside: bool) -> tuple[str, str, str] | None:
    if not inside:
        return None
    return "list_in_text", "is a list and stands inside text", "let it be a whole value of the body"
