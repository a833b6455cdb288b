"""What comes back: ids and scores at their places in a JSON answer."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pipeline.models._http.troubles import AwayError, GarbledError, MistakeError

_SHOWN, _QUOTED = 80, 2_000
_EXACT = 2**53  # whole numbers up to here are floats exactly


class Number(str):
    """A JSON number as it was written, so that an id keeps its digits."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """Where an answer holds what.

    Attributes:
        items: path of the list, keys with dots between.
        id: path of the id within an entry.
        score: path of the score within an entry; None: the place in the list decides.
        total: path of the number of matches; where that is 0 the list may be absent.
        partial: path -> value by which an answer says that it is not whole.
        partial_above: paths of counts that are above 0 where it is not whole.
        scrub: takes secrets out of what is quoted, before any of it is cut off.
    """

    items: str
    id: str
    score: str | None
    total: str | None = None
    partial: Mapping[str, Any] = field(default_factory=dict)
    partial_above: tuple[str, ...] = ()
    scrub: Callable[[str], str] = str

    def read(self, payload: bytes, kind: str) -> tuple[list[str], list[float]]:
        """Ids and scores, in the order of the answer.

        Args:
            payload: the body.
            kind: its content type, for messages.

        Raises:
            GarbledError: it is no JSON.
            AwayError: it says itself that it is not whole.
            MistakeError: a path that leads nowhere, an id twice, a score that is no number.
        """
        found = _parse(payload, kind, self.scrub)
        self._whole(found)
        entries = self._entries(found)
        ids = [self._id(entry, place) for place, entry in enumerate(entries)]
        _sound(ids)
        if self.score is None:
            return ids, [-float(place) for place in range(1, len(ids) + 1)]
        scores = [self._score(entry, one) for entry, one in zip(entries, ids, strict=True)]
        if scores and max(scores) > _EXACT:
            _told_apart(scores, [str(_at(entry, self.score)) for entry in entries])
        return ids, scores

    def _whole(self, found: Any) -> None:
        for path, sign in self.partial.items():
            value = _at(found, path)
            if _same(value, sign):
                raise AwayError(f"a partial answer: {path} is {json.dumps(sign)}")
        for path in self.partial_above:
            value = _at(found, path)
            if isinstance(value, Number) and float(value) > 0:
                raise AwayError(f"a partial answer: {path} is {value}")

    def _entries(self, found: Any) -> list[Any]:
        entries = _at(found, self.items)
        if entries is None and self.total is not None and _same(_at(found, self.total), 0):
            return []
        if not isinstance(entries, list):
            text = f"the answer has no list at {self.items}: {self._there(found, self.items)}"
            raise MistakeError(text, "set items to the path of the list of results")
        return entries

    def _id(self, entry: Any, place: int) -> str:
        value = _at(entry, self.id)
        if not isinstance(value, str) or not value:
            text = f"result {place + 1} has no id at {self.id}: {self._there(entry, self.id)}"
            raise MistakeError(text, "set id to the path of the id within a result")
        return str(value)

    def _score(self, entry: Any, one: str) -> float:
        assert self.score is not None
        value = _at(entry, self.score)
        if not isinstance(value, Number):
            shown = self._there(entry, self.score)
            text = f"result {one[:_SHOWN]!r} has no number at {self.score}: {shown}"
            fix = "set score to its path, or order=given where the order of results is all there is"
            raise MistakeError(text, fix)
        score = float(value)
        if not math.isfinite(score):
            text = f"result {one[:_SHOWN]!r} has the score {value[:_SHOWN]}"
            raise MistakeError(text, "every score must be a finite number")
        return score

    def _there(self, value: Any, path: str) -> str:
        return self.scrub(_what_is_there(value, path, self.scrub)[:_QUOTED])[: 2 * _SHOWN]


def _parse(payload: bytes, kind: str, scrub: Callable[[str], str]) -> Any:
    if not payload.strip():
        raise GarbledError("an empty answer", _FIX)
    try:
        whole = payload.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise GarbledError(f"an answer that is not UTF-8 at byte {error.start}", _FIX) from error
    try:
        return json.loads(whole, parse_int=Number, parse_float=Number, parse_constant=Number)
    except (ValueError, RecursionError) as error:
        shown = " ".join(scrub(whole[:_QUOTED]).split())[:_SHOWN]
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "nested too deeply"
        text = f"an answer of type {kind or 'unknown'} that is no JSON ({reason}): {shown!r}"
        raise GarbledError(text, _FIX) from error


_FIX = "check the url: another service, or a page to log in, may answer there"


@lru_cache(maxsize=256)
def _keys(path: str) -> tuple[str, ...]:
    """The keys of a path, split once rather than for every result."""
    return tuple(path.split("."))


def _at(value: Any, path: str) -> Any:
    """What stands at a path; None where it leads nowhere."""
    for key in _keys(path):
        if isinstance(value, dict):
            value = value.get(key)
        elif isinstance(value, list) and key.isdecimal() and int(key) < len(value):
            value = value[int(key)]
        else:
            return None
    return value


def _same(value: Any, sign: Any) -> bool:
    """Whether a value of an answer is one of the options; numbers are compared as numbers."""
    if isinstance(value, Number):
        number = isinstance(sign, int | float) and not isinstance(sign, bool)
        return number and float(value) == float(sign)
    return type(value) is type(sign) and bool(value == sign)


def _what_is_there(value: Any, path: str, scrub: Callable[[str], str]) -> str:
    """Words for how far a path leads."""
    done: list[str] = []
    for key in path.split("."):
        after = _at(value, key)
        if after is None and not (isinstance(value, dict) and key in value):
            break
        value = after
        done.append(key)
    where = ".".join(done) or "it"
    if isinstance(value, dict):
        keys = ", ".join(list(value)[:12]) or "no keys"
        return f"{where} has {keys}"
    if isinstance(value, list):
        return f"{where} is a list of {len(value)}"
    if isinstance(value, Number):
        return f"{where} is {value}"
    shown = scrub(value[:_QUOTED]) if isinstance(value, str) else value
    return f"{where} is {json.dumps(shown)}"


def _told_apart(scores: list[float], written: list[str]) -> None:
    """Refuses whole numbers that are equal only because a float has no room for their digits."""
    whole = [int(one) for one in written if one.isdecimal()]
    if len(set(whole)) > len({float(one) for one in whole}):
        text = f"it has scores up to {max(scores):.0f}, which as floats are equal to others"
        raise MistakeError(text, "let it subtract their minimum, or scale them")


def _sound(ids: list[str]) -> None:
    """Refuses an id twice, and text that is no Unicode."""
    if len(set(ids)) < len(ids):
        seen: set[str] = set()
        twice = next(one for one in ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
        raise MistakeError(
            f"the answer lists {twice[:_SHOWN]!r} twice", "list each item once a query"
        )
    try:
        "".join(ids).encode()
    except UnicodeEncodeError as error:
        raise MistakeError("an id is no Unicode text", "send ids as Unicode text") from error
