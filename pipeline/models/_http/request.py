"""What is sent: a template in which placeholders stand for columns of the query.

Placeholders are replaced in the parsed structure, never in its text: whatever a column holds, it
stays one value. ``"{price}"`` alone keeps its type; inside more text it is written as text;
``{{price}}`` is ``{price}`` itself.
"""

import datetime as dt
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import numpy as np

from pipeline.core.pool import Pool
from pipeline.models._encode import candidates

_PART = re.compile(r"\{\{([\w.-]+)\}\}|\{([\w.-]+)\}")
_WHOLE = re.compile(r"\{([\w.-]+)\}")
SIZE, CANDIDATES = "size", "candidates"


@dataclass(frozen=True, slots=True)
class Ask:
    """One request.

    Attributes:
        query: id of the query.
        url: with its parameters.
        body: JSON, or None.
    """

    query: str
    url: str
    body: bytes | None


@dataclass(frozen=True, slots=True)
class Template:
    """A request with placeholders.

    Attributes:
        url: placeholders may stand behind the host.
        params: added to the address.
        body: JSON values, or None.
    """

    url: str
    params: Mapping[str, Any]
    body: Any

    def names(self) -> dict[str, bool]:
        """Placeholder -> whether it stands inside more text somewhere."""
        found: dict[str, bool] = {}
        _names(self.params, found)
        _names(self.body, found)
        for _, name in _PART.findall(self.url):
            if name:
                found[name] = True
        return found

    def fill(self, query: str, values: Mapping[str, Any]) -> Ask:
        """The request for one query, whose values stand by the placeholders' names."""
        url = _replace(self.url, lambda name: quote(text(values[name]), safe=""))
        params = _fill(self.params, values)
        if params:
            pairs = [
                (str(key), text(one))
                for key, value in params.items()
                for one in (value if isinstance(value, list) else [value])
            ]
            url += ("&" if urlsplit(url).query else "?") + urlencode(pairs)
        body = None
        if self.body is not None:
            filled = _fill(self.body, values)
            body = json.dumps(filled, ensure_ascii=False, allow_nan=False).encode()
        return Ask(query, url, body)


@dataclass(frozen=True, slots=True, eq=False)
class Asks(Sequence[Ask]):
    """Requests by the place of their query, made when they are wanted.

    Attributes:
        template: what is sent.
        ids: ids of all queries.
        columns: placeholder -> one value a query.
        size: items wanted.
        candidates: ids of a query's candidates by its place, or None.
    """

    template: Template
    ids: list[str]
    columns: Mapping[str, list[Any]]
    size: int
    candidates: Callable[[int], list[str]] | None

    def __len__(self) -> int:
        """Number of queries."""
        return len(self.ids)

    def __getitem__(self, place: Any) -> Any:
        """The request of the query at a place."""
        values = {name: column[place] for name, column in self.columns.items()}
        values[SIZE] = self.size
        if self.candidates is not None:
            values[CANDIDATES] = self.candidates(place)
        return self.template.fill(self.ids[place], values)


def asks(template: Template, pool: Pool, size: int) -> Asks:
    """The requests for a pool whose columns fit the template."""
    names = template.names()
    columns = {
        name: [_plain(value) for value in pool.queries[name].to_pylist()]
        for name in names
        if name not in {SIZE, CANDIDATES}
    }
    wanted = _candidates(pool) if CANDIDATES in names else None
    return Asks(template, pool.vocab.queries.to_pylist(), columns, size, wanted)


def _candidates(pool: Pool) -> Callable[[int], list[str]]:
    """Ids of the candidates of the query at a place."""
    listed = candidates(pool)
    starts = np.searchsorted(listed.query, np.arange(len(pool.vocab.queries) + 1))
    items = listed.table["item_id"]

    def of(place: int) -> list[str]:
        found: list[str] = items.slice(starts[place], starts[place + 1] - starts[place]).to_pylist()
        return found

    return of


def text(value: Any) -> str:
    """A value as it stands inside text: JSON's words, without quotes around text."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _fill(part: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(part, str):
        whole = _WHOLE.fullmatch(part)
        return values[whole[1]] if whole else _replace(part, lambda name: text(values[name]))
    if isinstance(part, Mapping):
        return {key: _fill(value, values) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_fill(value, values) for value in part]
    return part


def _replace(part: str, find: Callable[[str], str]) -> str:
    return _PART.sub(lambda match: f"{{{match[1]}}}" if match[1] else find(match[2]), part)


def _names(part: Any, found: dict[str, bool]) -> None:
    if isinstance(part, str):
        inside = _WHOLE.fullmatch(part) is None
        for _, name in _PART.findall(part):
            if name:
                found[name] = found.get(name, False) or inside
    elif isinstance(part, Mapping):
        for value in part.values():
            _names(value, found)
    elif isinstance(part, list | tuple):
        for value in part:
            _names(value, found)


def _plain(value: Any) -> Any:
    """A column's value as JSON has it: times as ISO text in UTC, what JSON lacks as text."""
    if isinstance(value, dt.datetime | dt.date):
        return value.isoformat().replace("+00:00", "Z")
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
