"""The words and tables that a reader of MLflow sees first: the verdict, then the numbers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.comparison import Comparison
from pipeline.core.decision import BEST_FIRST, Decision, Verdict
from pipeline.core.evidence import Evidence, ModelRecord
from pipeline.core.scores import MetricInfo
from pipeline.core.slices import ALL
from pipeline.tracking import _figures

_ROWS = 20
_VERDICTS = 10
_WORDS = {
    "pass": "passes the gate",
    "fail": "fails the gate",
    "inconclusive": "is not decided by this evidence",
    "invalid": "could not be judged",
    "no_criteria": "has no rules to meet",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """One model with all that a line about it needs.

    Attributes:
        record: which model.
        mean: primary metric on ``all``; NaN where it has none.
        change: comparison with the baseline on it, if there is one.
        decision: on it, if a gate was asked.
    """

    record: ModelRecord
    mean: float
    change: Comparison | None
    decision: Decision | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """A comparison's result in short.

    Attributes:
        metric: the primary one.
        standings: baseline first, then candidates, best first.
        status: ``pass`` if a candidate passes, else the most hopeful status of the candidates;
            ``none`` where no gate was asked.
        winner: key of the best candidate that passes; empty where none does.
    """

    metric: MetricInfo
    standings: tuple[Standing, ...]
    status: str
    winner: str

    @property
    def baseline(self) -> Standing | None:
        """The model that the others are compared with."""
        return next((each for each in self.standings if each.record.role == "baseline"), None)

    @property
    def candidates(self) -> tuple[Standing, ...]:
        """The others, best first."""
        return tuple(each for each in self.standings if each.record.role != "baseline")


def outcome(evidence: Evidence, decisions: Sequence[Decision]) -> Outcome:
    """The standings of a comparison, ordered."""
    metric = evidence.metric(evidence.primary)
    by_model = {each.model: each for each in decisions}
    scores = {each.model: each for each in evidence.scores}
    standings = [
        Standing(
            record,
            _figures.mean(evidence, scores[record.name], ALL, metric.label)
            if record.name in scores
            else math.nan,
            _figures.compared(evidence, record.name, metric.label, ALL),
            by_model.get(record.name),
        )
        for record in evidence.models
    ]
    sign = -1.0 if metric.direction == "higher" else 1.0

    def place(each: Standing) -> tuple[bool, bool, float, str]:
        lost = math.isnan(each.mean)
        return (
            each.record.role != "baseline",
            lost,
            0.0 if lost else sign * each.mean,
            each.record.name,
        )

    standings.sort(key=place)
    statuses = {each.status for each in decisions}
    passing = [s for s in standings if s.decision and s.decision.status == "pass"]
    return Outcome(
        metric,
        tuple(standings),
        next((status for status in BEST_FIRST if status in statuses), "none"),
        passing[0].record.name if passing else "",
    )


def run_name(evidence: Evidence, found: Outcome) -> str:
    """Pool, model and difference up front: MLflow's tables cut names after some 18 characters."""
    first = next((s for s in found.candidates if s.record.name == found.winner), None)
    first = first or next(iter(found.candidates), None) or found.baseline
    if first is None:
        return evidence.pool.name
    change = first.change.delta if first.change else None
    figure = _signed(change) if change is not None else _number(first.mean)
    return f"{evidence.pool.name} {first.record.name} {figure}"


def sentence(evidence: Evidence, found: Outcome) -> str:
    """The result in one sentence."""
    if not found.candidates:
        return _alone(evidence, found)
    named = [s for s in found.candidates if s.record.name == found.winner]
    first = named[0] if named else found.candidates[0]
    name = f"**{_safe(first.record.name)}**"
    if found.status in {"none", "no_criteria"}:
        start = f"No gate rules were set. Best candidate: {name}"
    elif named:
        start = f"**PASS**: {name} passes the gate"
    else:
        start = f"**{found.status.upper()}**: no candidate passes the gate. Best: {name}"
    return f"{start}; {_difference(found, first)}, on {_safe(evidence.pool.name)}."


def comparison_page(evidence: Evidence, found: Outcome, notes: Sequence[str]) -> str:
    """Markdown of the parent run: sentence, table, what failed, the pool, notes."""
    parts = [sentence(evidence, found), _table(evidence, found), _failures(found), _pool(evidence)]
    parts += [f"- {note}" for note in notes]
    return "\n\n".join(part for part in parts if part)[:7_900]


def model_page(evidence: Evidence, found: Outcome, name: str, left_out: int) -> str:
    """Markdown of a child run."""
    one = next(each for each in found.standings if each.record.name == name)
    status = f" It {_WORDS[one.decision.status]}." if one.decision else ""
    known = one.change is not None and one.change.delta is not None
    value = _difference(found, one) if known else f"`{found.metric.label}` {_number(one.mean)}"
    where = f"{one.record.role} on {_safe(evidence.pool.name)}"
    first = f"**{_safe(name)}**, {where}: {value}.{status}"
    more = f"{left_out} more numbers are in by_slice.csv of the parent run." if left_out else ""
    parts = [first, _verdicts(one), _ledger(one.record), _labels(evidence), more]
    return "\n\n".join(part for part in parts if part)[:7_900]


def _alone(evidence: Evidence, found: Outcome) -> str:
    one = found.baseline
    name, value = (one.record.name, one.mean) if one else ("no model", math.nan)
    label = f"`{found.metric.label}`"
    return (
        f"**{_safe(name)}** was measured alone on {_safe(evidence.pool.name)}: "
        f"{label} {_number(value)}; nothing was compared."
    )


def _difference(found: Outcome, one: Standing) -> str:
    base = found.baseline
    label = f"`{found.metric.label}`"
    if one.change is None or one.change.delta is None or base is None:
        return f"{label} {_number(one.mean)}, no difference could be measured"
    change = one.change
    return (
        f"{label} {_number(change.baseline_mean)} ({_safe(base.record.name)}) -> "
        f"{_number(change.mean)}, {_signed(change.delta)} {_interval(change.ci)}"
    )


def _table(evidence: Evidence, found: Outcome) -> str:
    delta = f"delta [{100 * evidence.confidence:.4g} % CI]"
    head = ("model", "gate", found.metric.label, delta, "p adjusted", "queries")
    rows = [_row(one) for one in found.standings[:_ROWS]]
    more = len(found.standings) - _ROWS
    return _grid(head, rows) + (f"\n\n{more} more are in by_slice.csv." if more > 0 else "")


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table; spaces that stay, as MLflow sets its columns without a gap."""
    lines = [head, ["---"] * len(head), *rows]
    gap = "&nbsp;&nbsp;"
    return "\n".join(
        f"| {' | '.join(cell if cell == '---' else cell + gap for cell in line)} |"
        for line in lines
    )


def _row(one: Standing) -> tuple[str, ...]:
    role = " (baseline)" if one.record.role == "baseline" else ""
    change, ledger = one.change, one.record.ledger
    known = change is not None and change.delta is not None
    missing = f" ({ledger.missing} missing)" if ledger.missing else ""
    return (
        f"{_safe(one.record.name)}{role}",
        one.decision.status if one.decision else "",
        _number(one.mean),
        f"{_signed(change.delta)} {_interval(change.ci)}" if change and known else "",
        _p(change.p_adjusted) if change and known else "",
        f"{ledger.returned:,} of {ledger.judged:,} answered{missing}",
    )


def _failures(found: Outcome) -> str:
    lines = [
        f"- **{_safe(one.record.name)}** {v.status} in {_safe(v.rule)}: {_safe(_reason(v))}"
        for one in found.candidates
        if one.decision
        for v in one.decision.verdicts
        if v.status != "pass"
    ]
    more = len(lines) - _VERDICTS
    return "\n".join(lines[:_VERDICTS] + ([f"- {more} more in gate.json"] if more > 0 else []))


def _reason(verdict: Verdict) -> str:
    """Why, with metric and slice named once; most reasons begin with them."""
    about = f"{verdict.metric} on {verdict.slice}"
    known = not verdict.metric or about in verdict.reason
    return verdict.reason if known else f"{about}: {verdict.reason}"


def _verdicts(one: Standing) -> str:
    if not one.decision or not one.decision.verdicts:
        return ""
    rows = [
        (
            *(_safe(v.rule), _safe(v.metric), _safe(v.slice), v.status),
            *(_signed(v.value), _signed(v.limit), f"{v.n:,}"),
        )
        for v in one.decision.verdicts[:_ROWS]
    ]
    return _grid(("rule", "metric", "slice", "verdict", "value", "limit", "n"), rows)


def _pool(evidence: Evidence) -> str:
    pool = evidence.pool
    judged = f"{pool.n_judged_queries:,} of {pool.n_queries:,} queries judged"
    size = f"{judged}, {pool.n_judgments:,} judgments, {pool.n_clusters:,} clusters"
    return f"Pool {_safe(pool.name)}, SHA-256 `{pool.digest[:12]}`: {size}. {_labels(evidence)}"


def _labels(evidence: Evidence) -> str:
    source = str(evidence.pool.declared.get("labels", "unknown"))
    if source == "human":
        return "Labels: human."
    return f"**Labels: {_safe(source)}**, not human judgments of relevance."


def _ledger(record: ModelRecord) -> str:
    counts: Mapping[str, int] = {
        "asked": record.ledger.asked,
        "judged": record.ledger.judged,
        "returned": record.ledger.returned,
        "missing": record.ledger.missing,
    }
    return "Queries: " + ", ".join(f"{value:,} {name}" for name, value in counts.items()) + "."


def _safe(text: str) -> str:
    """Text that Markdown and HTML leave as it is."""
    text = " ".join(text.split()).replace("&", "&amp;").replace("<", "&lt;")
    for sign in "\\`*_[]|~":
        text = text.replace(sign, f"\\{sign}")
    return text


def _number(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.4f}"


def _signed(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:+.4f}"


def _interval(ci: tuple[float, float] | None) -> str:
    return f"[{_signed(ci[0])}, {_signed(ci[1])}]" if ci else "(no interval)"


def _p(value: float | None) -> str:
    if value is None:
        return "-"
    return "<.001" if value < 0.001 else f"{value:.3f}"
