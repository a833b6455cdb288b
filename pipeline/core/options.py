"""Validates a mapping of options against the dataclass of the kind that takes them."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeVar, get_args, get_type_hints

from pydantic import ConfigDict, TypeAdapter, ValidationError

from pipeline.core.problems import Problem, SamepoolError
from pipeline.core.suggest import did_you_mean

T = TypeVar("T")

# Lax mode takes "5" for 5 from a command line, but never 3 for "3": an id stays an id.
_CONFIG = ConfigDict(allow_inf_nan=False, arbitrary_types_allowed=True)


def parse(cls: type[T], given: Mapping[str, Any], where: str) -> T:
    """Makes an instance of the dataclass ``cls`` from ``given``.

    Args:
        cls: a dataclass whose fields are the options.
        given: option names and values; the key ``kind`` is passed over. A null stands for the
            default, where the option has one and is not itself nullable.
        where: where the options stand in the config, e.g. ``models.svd``; named in messages.

    Raises:
        SamepoolError: unknown, missing or ill-typed options, all of them together; what
            ``cls.__post_init__`` raises as ValueError becomes a problem too.
    """
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    hints = get_type_hints(cls)
    given = {key: value for key, value in given.items() if key != "kind"}
    problems = [
        Problem(
            "unknown_option", "error", f"unknown option {where}.{key}", did_you_mean(key, known)
        )
        for key in given
        if key not in known
    ]
    values: dict[str, Any] = {}
    for name, field in known.items():
        optional = field.default is not MISSING or field.default_factory is not MISSING
        if given.get(name) is None and optional:
            continue
        if given.get(name) is None:
            text = f"{where}.{name} is not set"
            problems.append(Problem("missing_option", "error", text, f"set {where}.{name}=..."))
            continue
        if _numeric(hints[name]) and _has_bool(given[name]):
            text = f"{where}.{name}: {given[name]!r}: true and false are not numbers"
            problems.append(Problem("bad_option", "error", text, "write the number"))
            continue
        try:
            values[name] = TypeAdapter(hints[name], config=_CONFIG).validate_python(given[name])
        except ValidationError as error:
            first = error.errors()[0]
            text = f"{where}.{name}: {given[name]!r}: {first['msg'].lower()}"
            problems.append(Problem("bad_option", "error", text))
    if problems:
        raise SamepoolError(problems)
    try:
        return cls(**values)
    except ValueError as error:
        raise SamepoolError([Problem("bad_option", "error", f"{where}: {error}")]) from error


def _numeric(hint: Any) -> bool:
    """Whether an option holds numbers and no booleans: Pydantic would read true as 1."""
    kinds = _kinds(hint)
    return (int in kinds or float in kinds) and bool not in kinds and Any not in kinds


def _kinds(hint: Any) -> list[Any]:
    """The plain types that a type is made of."""
    inner = get_args(hint)
    return [kind for part in inner for kind in _kinds(part)] if inner else [hint]


def _has_bool(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(_has_bool(part) for part in value.values())
    if isinstance(value, list | tuple):
        return any(_has_bool(part) for part in value)
    return isinstance(value, bool)
