"""What marks and numbers of the tables mean: at length, and in a few lines for a terminal."""

from collections.abc import Iterable, Sequence

from pipeline.core.comparison import Comparison
from pipeline.core.evidence import Evidence
from pipeline.report import _format as fmt
from pipeline.report import _words as words
from pipeline.report._facts import MetricView
from pipeline.report._rows import Row, Tables

_DELTA = (
    "Delta: candidate minus baseline. Intervals: two-sided {level}, by a cluster-robust t, each "
    "for itself: not adjusted for how many there are."
)
_TENDENCY = (
    "better, worse: the adjusted p is at or below the claim's alpha. unclear: the data do not "
    "settle the direction; that is not the same as no difference, or as no worse. detects: the "
    "true difference that the test, before adjustment, would find in 80 % of pools like this."
)
_PURPOSE = {"F1": "gate", "F2": "alarm", "F3": "exploration"}
_FEW = "too few non-zero deltas to rely on."
_GATE = ("pass", "fail", "inconclusive", "invalid")


def legend(evidence: Evidence, tables: Tables, primary: MetricView) -> tuple[str, ...]:
    """The whole legend."""
    compared = tables.comparisons.values()
    lines = [
        _DELTA.format(level=fmt.level(evidence.confidence)),
        *_adjusted(evidence.comparisons),
        "W/T/L: queries on which the candidate is better, equal, worse.",
        _TENDENCY,
    ]
    if not compared:
        lines = []
    if any(mean.constant for mean in tables.means.values()):
        lines.append(
            "cN: N of the queries behind the number got one score for all their items, so their "
            "order is the tie rule's, not the model's."
        )
    if any(comparison.status == "too_few" for comparison in compared):
        lines.append("too few: fewer clusters with a non-zero delta than the evidence minimum.")
    if ";" in primary.coverage:
        lines.append(f"{primary.label} on all: {primary.coverage}.")
    return tuple(lines)


def _families(compared: Iterable[Comparison]) -> dict[str, int]:
    """How many claims of a difference were adjusted together, by family."""
    sizes: dict[str, int] = {}
    for comparison in compared:
        if comparison.claim.kind == "difference" and comparison.p_adjusted is not None:
            family = comparison.claim.family
            sizes[family] = sizes.get(family, 0) + 1
    return sizes


def _adjusted(compared: Iterable[Comparison]) -> list[str]:
    return [
        f"p adj: two-sided, adjusted over the {fmt.counted(n, 'claim')} tested in family "
        f"{words.FAMILIES.get(family, family)}. raw: not adjusted."
        for family, n in _families(compared).items()
    ]


def brief(evidence: Evidence, rows: Sequence[Row], *, beside: bool) -> tuple[str, ...]:
    """Four short lines at most; ``beside``: the candidates stand side by side in one table."""
    if not any(row.comparison for row in rows):
        return ()
    holm = _holm(evidence.comparisons)
    interval = f"{fmt.level(evidence.confidence)} CI: two-sided, cluster-robust t, each for itself."
    lines = (
        [
            "Intervals, p-values and W/T/L: report.html, comparisons.csv.",
            f"better, worse: two-sided p <= alpha, {holm}; unclear: neither shown.",
        ]
        if beside
        else [
            f"delta: candidate minus baseline; {interval}",
            f"p adj: two-sided, {holm}; unclear: neither better nor worse is shown.",
        ]
    )
    few = any("too few" in row.mark for row in rows)
    if beside and few:
        lines[0] += f" few: {_FEW}"
    rare = [] if beside else ["W/T/L: queries better, equal, worse."]
    rare += [f"too few: {_FEW}"] if few and not beside else []
    if any(row.delta.mark or row.baseline.mark or row.model.mark for row in rows):
        rare.append("cN: N queries with all scores equal.")
    last = [" ".join(rare)] if rare else []
    return (*lines, *_gate(rows, beside=beside), *last)


def _holm(compared: Iterable[Comparison]) -> str:
    found = [
        f"{fmt.counted(n, 'claim')} ({_PURPOSE.get(family, family)})"
        for family, n in _families(compared).items()
    ]
    return f"Holm over {', '.join(found)}" if found else "not adjusted"


def _gate(rows: Sequence[Row], *, beside: bool) -> list[str]:
    tones = {row.tone for row in rows}
    seen = [words.STATUS[status] for status in _GATE if status in tones]
    if "inconclusive" in tones:
        mark = "? (inconclusive" if beside else "inconclusive ("
        at = seen.index("inconclusive")
        seen[at] = f"{mark}{': ' if beside else ''}no pass, and no proof that nothing got worse)"
    verb = "is the gate's verdict" if len(seen) == 1 else "are the gate's verdicts"
    return [f"{', '.join(seen)} {verb}."] if seen else []
