"""Finds the metrics and slices that rules name; what is not there is an error, never a pass."""

import re
from collections.abc import Mapping, Sequence

from pipeline.core.comparison import Claim, Kind
from pipeline.core.problems import Problem, SamepoolError, fault, raise_errors
from pipeline.core.scores import MetricInfo
from pipeline.core.suggest import did_you_mean
from pipeline.gate import Axes


def metric(axes: Axes, name: str | None, where: str) -> MetricInfo:
    """The metric that a rule names; the primary one where it names none.

    Raises:
        SamepoolError: it is not measured.
    """
    labels = {info.label: info for info in axes.metrics}
    wanted = axes.primary if name is None else name
    try:
        label = wanted if wanted in labels else axes.canonical(wanted)
    except SamepoolError:
        label = wanted
    if label not in labels:
        text = f"{where}.metric: {wanted!r} is not among the metrics measured"
        plain = [re.sub(r"\(.*?\)", "", known) for known in labels]
        raise fault("unknown_metric", text, did_you_mean(wanted, dict.fromkeys([*labels, *plain])))
    return labels[label]


def matching(axes: Axes, patterns: Sequence[str], where: str) -> tuple[str, ...]:
    """Slices that patterns match, each once, in their order; * stands for any characters.

    Raises:
        SamepoolError: a pattern matches none; all such patterns together.
    """
    found: dict[str, None] = {}
    problems = []
    for pattern in patterns:
        regex = re.compile(re.escape(pattern).replace(r"\*", ".*"))
        hits = [name for name in axes.slices if regex.fullmatch(name)]
        if not hits:
            text = f"{where}: {pattern!r} matches no slice"
            fix = did_you_mean(pattern, axes.slices)
            problems.append(Problem("unknown_slice", "error", text, fix))
        found |= dict.fromkeys(hits)
    if not patterns:
        problems.append(Problem("unknown_slice", "error", f"{where} names no slice"))
    raise_errors(problems)
    return tuple(found)


def compared(
    axes: Axes, name: str, metric_name: str | None, patterns: Sequence[str]
) -> tuple[MetricInfo, tuple[str, ...]]:
    """Metric and slices of a rule that compares with the baseline; all problems together.

    Raises:
        SamepoolError: unknown names, a metric of lists.
    """
    where = f"gate.rules.{name}"
    problems: list[Problem] = []
    info: MetricInfo | None = None
    slices: tuple[str, ...] = ()
    try:
        info = metric(axes, metric_name, where)
    except SamepoolError as error:
        problems.extend(error.problems)
    try:
        slices = matching(axes, patterns, where)
    except SamepoolError as error:
        problems.extend(error.problems)
    if info is not None and info.per == "list":
        text = f"{where}.metric: {info.label} is one value for a set of lists; it has no pairs"
        problems.append(Problem("list_metric", "error", text, "use kind: threshold"))
    if problems or info is None:
        raise SamepoolError(problems)
    return info, slices


def below_width(info: MetricInfo, where: str, value: float) -> None:
    """Refuses a difference that no two values of the metric could exceed.

    A drop as wide as the range is never reached, so that anything would pass; a gain as wide is
    never exceeded, so that nothing would.

    Raises:
        SamepoolError: it is as wide as the metric's range or wider.
    """
    low, high = info.range
    if low is None or high is None or value < high - low:
        return
    text = f"{where} {value:g} is as wide as {info.label}'s range {low:g}..{high:g}"
    raise fault("bad_limit", text, f"give it in the metric's units, e.g. {(high - low) / 50:g}")


def within_range(info: MetricInfo, limits: Mapping[str, float | None]) -> None:
    """Refuses limits that no value of the metric could cross, or reach.

    Raises:
        SamepoolError: limits outside the metric's range, all of them together.
    """
    low, high = info.range
    span = f"{'' if low is None else f'{low:g}'}..{'' if high is None else f'{high:g}'}"
    raise_errors(
        Problem(
            "bad_limit", "error", f"{where} {limit:g} is outside {info.label}'s range {span}",
            "give it in the metric's units",
        )
        for where, limit in limits.items()
        if limit is not None
        and ((low is not None and limit < low) or (high is not None and limit > high))
    )  # fmt: skip


def claim(  # noqa: PLR0913 - a claim's own fields
    axes: Axes, *, rule: str, kind: Kind, model: str, info: MetricInfo, where: str, margin: float
) -> Claim:
    """A claim of the gate; its side is in raw deltas, so below where lower is better."""
    return Claim(
        id=f"{rule}/{model}/{info.label}/{where}",
        rule=rule,
        model=model,
        baseline=str(axes.baseline),
        metric=info.label,
        slice=where,
        average=axes.average,
        kind=kind,
        margin=margin,
        side="greater" if info.direction == "higher" else "less",
        alpha=axes.alpha,
        family="F1",
    )
