"""Geometry of the forest plot: places in per cent of the drawing's width, so that it is fluid."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.report import _format as fmt
from pipeline.report._rows import Row


@dataclass(frozen=True, slots=True)
class Tick:
    """A labelled place on the axis."""

    x: str
    text: str


@dataclass(frozen=True, slots=True)
class Mark:
    """One row of the drawing; None where there is nothing to draw.

    Attributes:
        row: the numbers, printed beside it.
        x, low, high: the delta and its interval.
        margin: the margin of a non-inferiority rule on this slice.
        margin_text: the margin as a number.
    """

    row: Row
    x: str | None
    low: str | None
    high: str | None
    margin: str | None
    margin_text: str


@dataclass(frozen=True, slots=True)
class Forest:
    """The deltas of one candidate by slice, on one scale."""

    model: str
    marks: tuple[Mark, ...]
    zero: str
    ticks: tuple[Tick, ...]
    has_margin: bool


Rows = Sequence[tuple[Row, float | None]]  # with margins as raw deltas


def forests(found: Sequence[tuple[str, Rows]]) -> tuple[Forest, ...]:
    """A drawing a candidate, all on one scale; none where nothing has a delta."""
    rows = [row for _, group in found for row in group]
    deltas = [value for row, _ in rows for value in _drawn(row) if value is not None]
    if not deltas:
        return ()
    margins = [margin for _, margin in rows if margin is not None]
    low, high = _padded(min(0.0, *deltas, *margins), max(0.0, *deltas, *margins))
    return tuple(_forest(model, group, low, high) for model, group in found)


def _forest(model: str, rows: Rows, low: float, high: float) -> Forest:
    def place(value: float | None) -> str | None:
        return None if value is None else f"{100 * (value - low) / (high - low):.2f}%"

    marks = []
    for row, margin in rows:
        x, left, right = map(place, _drawn(row))
        marks.append(Mark(row, x, left, right, place(margin), fmt.delta(margin)))
    ticks = tuple(Tick(str(place(value)), _tick(value)) for value in _ticks(low, high))
    has_margin = any(margin is not None for _, margin in rows)
    return Forest(model, tuple(marks), str(place(0.0)), ticks, has_margin)


def _drawn(row: Row) -> tuple[float | None, float | None, float | None]:
    if row.comparison is None:
        return None, None, None
    low, high = row.comparison.ci or (None, None)
    found = [_finite(value) for value in (row.comparison.delta, low, high)]
    return found[0], found[1], found[2]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _padded(low: float, high: float) -> tuple[float, float]:
    width = (high - low) or 0.02
    return low - 0.06 * width, high + 0.06 * width


def _ticks(low: float, high: float) -> list[float]:
    raw = (high - low) / 4
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * unit for unit in (1, 2, 5, 10) if power * unit >= raw)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [number * step for number in range(first, last + 1)]


def _tick(value: float) -> str:
    return "0" if value == 0 else f"{value:+.3g}"
