"""What a freeze is told to do, checked before anything is read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from typing import Any, get_args

from pipeline.core.options import parse
from pipeline.core.pool import Declared
from pipeline.core.problems import Problem, collect, fault, raise_errors
from pipeline.core.settings import FreezeCommand
from pipeline.core.suggest import did_you_mean
from pipeline.pool._freeze.options import (
    TABLES,
    TIMES,
    Allocation,
    Labels,
    Negatives,
    Repeats,
    default_strata,
)
from pipeline.pool._times import instant

_THREADS = 1024  # each takes a moment to start, and memory


@dataclass(frozen=True, slots=True)
class Plan:
    """Checked settings.

    Attributes:
        sources: table -> path, glob or folder; ``train`` stands for logs that are cut already.
        columns: table -> our name -> theirs.
        undated: tables that are declared to have no time.
        as_of, train_until: microseconds since 1970 UTC; everything later is cut, logs at the
            second.
        evaluate_from: queries issued before are left out; None: none are.
        shares: stratum -> share of the traffic, most frequent first.
        allocation: ``equal``, ``proportional``, or stratum -> number of queries.
        repeats, negatives, labels: as set.
        settings: everything as the user wrote it.
    """

    sources: Mapping[str, str]
    columns: Mapping[str, Mapping[str, str]]
    undated: frozenset[str]
    as_of: int
    train_until: int
    evaluate_from: int | None
    shares: Mapping[str, Fraction]
    allocation: str | Mapping[str, int]
    repeats: Repeats
    negatives: Negatives
    labels: Labels
    settings: FreezeCommand

    @property
    def out(self) -> str:
        """The folder to write."""
        return str(self.settings.out).rstrip("/")

    def declared(self, **more: Any) -> Declared:
        """What the pool will declare."""
        labels = self.labels
        return Declared(
            labels=labels.labels,
            labels_reason=labels.labels_reason,
            as_of=self.settings.as_of,
            grades=labels.grades,
            **more,
        )


def plan(settings: FreezeCommand) -> Plan:
    """Checks the settings.

    Raises:
        SamepoolError: everything that is wrong with them.
    """
    problems: list[Problem] = [*_needed(settings), *_numbers(settings)]
    sources = {t: str(v) for t in TABLES if (v := getattr(settings.source, t)) not in {None, ""}}
    problems += _sources(sources, settings)
    as_of = collect(problems, lambda: _time("as_of", settings.as_of))
    until = collect(problems, lambda: _time("train_until", settings.train_until))
    start = collect(problems, lambda: _time("evaluate_from", settings.evaluate_from))
    problems += [*_order(as_of, until, start), *_never(settings)]
    columns = collect(problems, lambda: _columns(settings))
    shares = collect(problems, lambda: _shares(settings.strata))
    allocation = None
    if shares:
        allocation = collect(problems, lambda: _allocation(settings.allocation, shares))
    repeats = collect(problems, lambda: parse(Repeats, vars(settings.repeats), "repeats"))
    negatives = collect(problems, lambda: parse(Negatives, vars(settings.negatives), "negatives"))
    labels = collect(problems, lambda: parse(Labels, _labels(settings), "freeze"))
    if negatives and negatives.per_query and "items" not in sources:
        text = "negatives are drawn from the catalogue, and there is none"
        problems.append(Problem("no_items", "error", text, "source.items=items.parquet"))
    raise_errors(problems)
    if not (repeats and negatives and labels and shares and allocation and columns is not None):
        raise AssertionError("a part is missing, but nothing is wrong with it")
    return Plan(
        sources=sources,
        columns=columns,
        undated=frozenset(_undated(settings)),
        as_of=as_of or 0,
        train_until=until if until is not None else as_of or 0,
        evaluate_from=start,
        shares=shares,
        allocation=allocation,
        repeats=repeats,
        negatives=negatives,
        labels=labels,
        settings=settings,
    )


def _labels(settings: FreezeCommand) -> dict[str, Any]:
    return {name: getattr(settings, name) for name in ("labels", "labels_reason", "grades")}


def _needed(settings: FreezeCommand) -> list[Problem]:
    wanted = {
        "source.queries": (settings.source.queries, "source.queries=queries.parquet"),
        "source.qrels": (settings.source.qrels, "source.qrels=qrels.parquet"),
        "as_of": (settings.as_of, "as_of=2026-06-01: everything later is cut"),
        "out": (settings.out, "out=pools/june"),
    }
    return [
        Problem("missing_option", "error", f"{name} is not set", fix)
        for name, (value, fix) in wanted.items()
        if value in {None, ""}
    ]


def _numbers(settings: FreezeCommand) -> list[Problem]:
    least = {"n": 1, "min_judged": 1, "min_relevant": 0, "threads": 1}
    found = []
    for name, low in least.items():
        value = getattr(settings, name)
        if value is not None and value < low:
            text = f"{name}={value}: it must be {low} or more"
            found.append(Problem("bad_option", "error", text))
    if not isfinite(settings.relevant_from):
        text = f"relevant_from={settings.relevant_from} is no grade"
        found.append(Problem("bad_option", "error", text, "e.g. relevant_from=1"))
    if settings.threads is not None and settings.threads > _THREADS:
        text = f"threads={settings.threads}: it must be {_THREADS} or fewer"
        found.append(Problem("bad_option", "error", text))
    for name, known in (("logs", ("all", "sampled", "none")), ("items", ("all", "needed"))):
        value = getattr(settings, name)
        if value not in known:
            text = f"unknown {name}={value}"
            found.append(Problem("bad_option", "error", text, did_you_mean(str(value), known)))
    return found


def _sources(sources: Mapping[str, str], settings: FreezeCommand) -> list[Problem]:
    found = []
    if "logs" in sources and "train" in sources:
        text = "source.logs and source.train are both set"
        fix = "source.logs is cut at train_until; source.train is declared to be cut already"
        found.append(Problem("two_logs", "error", text, fix))
    if settings.train_until and not {"logs", "train"} & {*sources}:
        text = "train_until is set, but there are no logs"
        found.append(Problem("no_logs", "error", text, "source.logs=logs.parquet"))
    return found


def _time(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return instant(str(text))
    except ValueError as error:
        fix = f"write ISO 8601, e.g. {name}=2026-06-01 or {name}=2026-06-01T12:00:00Z"
        raise fault("not_a_time", f"{name} {text!r} is not a time", fix) from error


def _order(as_of: int | None, until: int | None, start: int | None) -> list[Problem]:
    found = []
    for name, value in (("train_until", until), ("evaluate_from", start)):
        if as_of is not None and value is not None and value > as_of:
            text = f"{name} is after as_of, and everything after as_of is cut"
            found.append(Problem("bad_times", "error", text, f"give an earlier {name}"))
    return found


def _columns(settings: FreezeCommand) -> dict[str, Mapping[str, str]]:
    found: dict[str, Mapping[str, str]] = {}
    for table, given in vars(settings.columns).items():
        if given is None:
            continue
        if not isinstance(given, Mapping):
            fix = f"columns.{table}={{query_id: qid}}: our name, then that of your table"
            raise fault("bad_option", f"columns.{table} is {given!r}, not a mapping", fix)
        for ours in (name for name, theirs in given.items() if theirs is None):
            if ours != TIMES.get(table):
                text = f"columns.{table}.{ours} is null"
                raise fault("bad_option", text, "name the column of your table, or leave it out")
        found[table] = {str(o): str(theirs) for o, theirs in given.items() if theirs is not None}
    return found


def _undated(settings: FreezeCommand) -> Iterator[str]:
    """Tables whose time is null: they have none."""
    for table, time in TIMES.items():
        given = getattr(settings.columns, table)
        if isinstance(given, Mapping) and time in given and given[time] is None:
            yield table


def _never(settings: FreezeCommand) -> list[Problem]:
    """Cuts of tables that are declared to have no time."""
    undated, found = {*_undated(settings)}, []
    cuts = {"queries": "evaluate_from", "qrels": "judgments_until_as_of"}
    for table, option in cuts.items():
        if table in undated and getattr(settings, option):
            text = f"{option} is set, but columns.{table}.{TIMES[table]} is null: none has a time"
            fix = f"name their column, or leave {option} out"
            found.append(Problem("undated", "error", text, fix))
    return found


def _shares(given: Any) -> dict[str, Fraction]:
    """Shares as the decimals that the user wrote, so that they add up exactly."""
    given = default_strata() if given is None else given
    fix = "strata={head: .5, torso: .4, tail: .1}: shares of the traffic, most frequent first"
    if not isinstance(given, Mapping) or not given:
        raise fault("bad_strata", f"strata is {given!r}", fix)
    try:
        shares = {str(name): Fraction(str(share)) for name, share in given.items()}
    except (ValueError, ZeroDivisionError) as error:
        raise fault("bad_strata", f"strata {dict(given)}: shares are numbers", fix) from error
    if any(share <= 0 for share in shares.values()) or sum(shares.values()) != 1:
        text = f"the shares of strata add up to {float(sum(shares.values())):g}"
        raise fault("bad_strata", text, f"{fix}; above 0, and 1 together")
    return shares


def _allocation(given: Any, shares: Mapping[str, Fraction]) -> str | dict[str, int]:
    if isinstance(given, str):
        if given not in get_args(Allocation):
            known = (*get_args(Allocation), "{head: 1000, torso: 2000, tail: 2000}")
            text = f"unknown allocation={given}"
            raise fault("bad_option", text, did_you_mean(given, known))
        return given
    if not isinstance(given, Mapping):
        raise fault("bad_option", f"allocation is {given!r}", "equal, or {head: 1000, ...}")
    for name, number in given.items():
        if name not in shares:
            text = f"allocation names no stratum {name!r}"
            raise fault("unknown_stratum", text, did_you_mean(str(name), shares))
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise fault("bad_option", f"allocation.{name} is {number!r}, not a number of queries")
    missing = [name for name in shares if name not in given]
    if missing:
        text = f"allocation lacks the stratum {', '.join(missing)}"
        raise fault("unknown_stratum", text, "give each stratum a number of queries")
    return {str(name): given[name] for name in shares}
