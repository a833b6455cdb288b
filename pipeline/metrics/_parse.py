"""The notation of metrics: ``Name(param=value,...)@cutoff``, as in ir_measures."""

import importlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from functools import cache
from typing import Any

from pipeline.core import options
from pipeline.core.problems import SamepoolError, fault
from pipeline.core.registry import foreign, modules
from pipeline.core.suggest import did_you_mean, nearest
from pipeline.metrics._conventions import check_profile
from pipeline.metrics._protocol import Metric

_NOTATION = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w*)\s*(\((?P<params>[^()]*)\))?\s*(@\s*(?P<cutoff>[^@()]*?))?\s*"
)
_GLUED = re.compile(r"([A-Za-z]+)([0-9]+)")  # RR10 for RR@10
_LARGEST = 999_999_999  # cutoffs are kept in 32 bits
_EXAMPLE = "write Name(parameter=value)@cutoff, e.g. nDCG(gain=exp)@10"


def parse(text: str, profile: str = "samepool") -> Metric:
    """The metric that a notation stands for.

    Args:
        text: e.g. ``nDCG@10``, ``R(stage=retrieval)@100``, ``P(rel=2)@5``.
        profile: whose defaults fill what the text leaves out; ``samepool``: gain exp.

    Returns:
        The metric; parsing its label gives an equal one.

    Raises:
        SamepoolError: unknown metric, parameter or profile, or a value that cannot be.

    >>> parse("nDCG@10").label
    'nDCG(gain=exp)@10'
    >>> parse("nDCG(dcg='log2')@10").label
    'nDCG(gain=linear)@10'
    >>> parse("ndgc@10")
    Traceback (most recent call last):
    ...
    pipeline.core.problems.SamepoolError: unknown metric ndgc@10 -> did you mean nDCG@10?
    """
    check_profile(profile)
    match = _NOTATION.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        raise fault("bad_metric", f"cannot read the metric {text!r}", _EXAMPLE)
    text = text.strip()
    cls = _named(match["name"], text)
    given = _params(match["params"], text, getattr(cls, "SPELLINGS", {}))
    return _build(cls, given, match["cutoff"], text)


def parse_all(texts: Iterable[str], profile: str = "samepool") -> tuple[Metric, ...]:
    """The metrics of several notations.

    Raises:
        SamepoolError: everything that is wrong with any of them; two that mean the same.

    >>> [metric.label for metric in parse_all(["RR@10", "MAP"])]
    ['RR@10', 'AP']
    """
    found: dict[str, Metric] = {}
    problems: list[Any] = []
    for text in texts:
        try:
            metric = parse(text, profile)
            if metric.label in found:
                raise fault("same_metric", f"{metric.label} is named twice", "name it once")
            found[metric.label] = metric
        except SamepoolError as error:
            problems.extend(error.problems)
    if problems:
        raise SamepoolError(problems)
    return tuple(found.values())


@cache
def known() -> Mapping[str, type[Any]]:
    """All metrics by name: those of this folder, found by looking, and those of other packages.

    A module of the folder exports ``PLUGIN`` or ``PLUGINS``; another package an entry point in the
    group ``samepool.metrics``, named as the metric.

    Raises:
        SamepoolError: two metrics share a name.
    """
    found: dict[str, type[Any]] = {}
    for name in modules("metrics"):
        module = importlib.import_module(f"pipeline.metrics.{name}")
        for cls in getattr(module, "PLUGINS", None) or (module.PLUGIN,):
            _add(found, cls.NAME, cls)
    for name, point in foreign("metrics").items():
        _add(found, name, point.load())
    return found


def _add(found: dict[str, type[Any]], name: str, cls: type[Any]) -> None:
    if name in found:
        raise fault("kind_clash", f"two plugins provide the metric {name}", "remove one")
    found[name] = cls


def _named(name: str, text: str) -> type[Any]:
    """The class of a name or of one of its aliases."""
    metrics = known()
    aliases = {alias: key for key, cls in metrics.items() for alias in getattr(cls, "ALIASES", ())}
    if name in metrics or name in aliases:
        return metrics[aliases.get(name, name)]
    split = _GLUED.fullmatch(name) if name == text else None
    base, rest = (split[1], f"@{split[2]}") if split else (name, text[len(name) :])
    close = [aliases.get(other, other) for other in nearest(base, [*metrics, *aliases], n=1)]
    fix = f"did you mean {close[0]}{rest}?" if close else f"there are: {', '.join(sorted(metrics))}"
    raise fault("unknown_metric", f"unknown metric {text}", fix)


def _params(
    written: str | None, text: str, spellings: Mapping[str, Mapping[str, tuple[str, str]]]
) -> dict[str, str]:
    """Parameters by name, in our spelling."""
    given: dict[str, str] = {}
    for part in (written or "").split(",") if (written or "").strip() else ():
        name, equals, value = (piece.strip() for piece in part.partition("="))
        value = value.strip("'\"")
        if not (name and equals and value):
            raise fault("bad_metric", f"{text}: cannot read the parameter {part!r}", _EXAMPLE)
        if name in spellings:
            name, value = _respelled(name, value, text, spellings[name])
        if name in given:
            raise fault("bad_metric", f"{text}: {name} is given twice", "give it once")
        given[name] = value
    return given


def _respelled(
    name: str, value: str, text: str, values: Mapping[str, tuple[str, str]]
) -> tuple[str, str]:
    if value not in values:
        raise fault("bad_option", f"{text}: unknown {name} {value!r}", did_you_mean(value, values))
    return values[value]


def _build(cls: type[Any], given: dict[str, str], cutoff: str | None, text: str) -> Metric:
    """The metric with its parameters validated."""
    allowed = {field.name: field for field in fields(cls) if field.name != "cutoff"}
    for name in given:
        if name not in allowed:
            fix = "the cutoff stands after the @" if name == "cutoff" else ""
            raise fault(
                "unknown_option",
                f"{text}: unknown parameter {name}",
                fix or did_you_mean(name, allowed),
            )
    values: dict[str, Any] = {**given}
    if cutoff is not None:
        values["cutoff"] = _cutoff(cutoff, text)
    elif _needs_cutoff(cls):
        raise fault("no_cutoff", f"{text} needs a cutoff", f"write {text}@10")
    metric: Metric = options.parse(cls, values, text)
    return metric


def _needs_cutoff(cls: type[Any]) -> bool:
    return any(f.name == "cutoff" and f.default is MISSING for f in fields(cls))


def _cutoff(written: str, text: str) -> int:
    whole = re.fullmatch(r"[0-9]+", written)
    if whole is None or len(written) > 20 or not 1 <= int(written) <= _LARGEST:
        raise fault(
            "bad_cutoff",
            f"{text}: the cutoff {written[:40]!r} is not a whole number from 1 to {_LARGEST}",
            "write e.g. @10",
        )
    return int(written)
