"""Prepares once what every output shows, so that the renderers hold no computation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from pipeline.core.decision import BEST_FIRST, Decision
from pipeline.core.evidence import Evidence, ModelRecord
from pipeline.core.scores import MetricInfo
from pipeline.core.settings import ReportSettings
from pipeline.core.slices import ALL
from pipeline.report import _facts, _verdicts
from pipeline.report import _format as fmt
from pipeline.report import _words as words
from pipeline.report._facts import Fact, MetricView, SliceView
from pipeline.report._forest import Forest, forests
from pipeline.report._legend import brief, legend
from pipeline.report._means import Mean, Place, means
from pipeline.report._rows import NOTHING, Cell, Row, Tables, cell, shown, verdicts
from pipeline.report._stages import Stage, stages
from pipeline.report._verdicts import DecisionView


@dataclass(frozen=True, slots=True)
class PoolLine:
    """The pool in one line."""

    name: str
    digest: str
    queries: str
    judgments: str
    items: str
    labels: str
    as_of: str


@dataclass(frozen=True, slots=True)
class ModelView:
    """A model: what was asked for, what that was, and where it came from."""

    name: str
    role: str
    requested: str
    resolved: str
    origin: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """How many queries stand behind a model's numbers; ``alarms`` are the counts above zero."""

    model: str
    asked: str
    judged: str
    returned: str
    missing: str
    constant: str
    tied: str
    ineligible: str
    outside: str
    foreign: str
    empty: str
    judged_at: tuple[Cell, ...]
    alarms: frozenset[str]


@dataclass(frozen=True, slots=True)
class MeansRow:
    """The means of every model: on one metric (leaderboard), or on one slice of a metric."""

    name: str
    better: str
    n: str
    cells: tuple[Cell, ...]

    @property
    def arrow(self) -> str:
        """The direction as a sign."""
        return "\u2191" if self.better == "higher" else "\u2193"


@dataclass(frozen=True, slots=True)
class Group:
    """One candidate's rows in the table of a metric."""

    model: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class MetricTable:
    """A metric by slice: compared, a group a candidate; or, where nothing is tested, means only."""

    metric: MetricView
    groups: tuple[Group, ...]
    grid: tuple[MeansRow, ...]

    @property
    def beside(self) -> bool:
        """Whether a terminal shows the candidates side by side: more than two are too long."""
        return len(self.groups) > 2

    @property
    def has_joint(self) -> bool:
        """Whether any row has a simultaneous interval."""
        return any(row.joint != fmt.NA for group in self.groups for row in group.rows)


@dataclass(frozen=True, slots=True)
class View:
    """Everything that is shown. Text is cleaned; numbers are strings; order is final.

    Attributes:
        title: heading.
        unit: noun of a row of the pool: query or request, in the plural.
        pool: the pool in one line; pool_facts: at length.
        baseline: name of the baseline; empty where nothing was compared.
        models, candidates: all of them, baseline first; names of the candidates.
        level: confidence level of two-sided intervals.
        labels: where labels come from, if not from people; else empty.
        primary: the table of the primary metric; others: those of the other metrics.
        metrics: all metrics in words.
        leaderboard: a row a metric, on ``all``.
        judged_at: labels of the ledger's judged@k columns.
        legend: what marks and numbers of the tables mean; brief: the same for a terminal.
        headline: the decisions in one sentence.
    """

    title: str
    unit: str
    pool: PoolLine
    pool_facts: tuple[Fact, ...]
    baseline: str
    models: tuple[ModelView, ...]
    candidates: tuple[str, ...]
    level: str
    labels: str
    primary: MetricTable
    others: tuple[MetricTable, ...]
    metrics: tuple[MetricView, ...]
    leaderboard: tuple[MeansRow, ...]
    forests: tuple[Forest, ...]
    stages: tuple[Stage, ...]
    ledger: tuple[LedgerRow, ...]
    judged_at: tuple[str, ...]
    decisions: tuple[DecisionView, ...]
    headline: str
    status: str
    legend: tuple[str, ...]
    brief: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    conventions: tuple[Fact, ...]
    slices: tuple[SliceView, ...]
    methods: tuple[Fact, ...]
    settings: tuple[Fact, ...]

    @property
    def crowded(self) -> bool:
        """Whether the checks are too many to be all open at once."""
        return sum(len(decision.rules) for decision in self.decisions) > _OPEN


_OPEN = 24  # checks


def prepare(evidence: Evidence, decisions: Sequence[Decision], settings: ReportSettings) -> View:
    """Everything that the outputs show."""
    found = means(evidence)
    tables = Tables(found, shown(evidence.comparisons), verdicts(decisions))
    primary = evidence.metric(evidence.primary)
    by_metric = {info.label: _table(info, evidence, tables) for info in evidence.metrics}
    first = by_metric[primary.label]
    judged = [info for info in evidence.metrics if info.label.partition("@")[0] == "Judged"]
    declared = evidence.pool.declared
    return View(
        title=_title(evidence, settings),
        unit="requests" if declared.get("unit") == "request" else "queries",
        pool=_pool_line(evidence),
        pool_facts=_facts.pool(evidence.pool),
        baseline=fmt.clean(_baseline(evidence)),
        models=tuple(_model(record) for record in evidence.models),
        candidates=tuple(fmt.clean(name) for name in _candidates(evidence)),
        level=fmt.level(evidence.confidence),
        labels=_labels(evidence),
        primary=first,
        others=tuple(table for table in by_metric.values() if table is not first),
        metrics=tuple(_facts.metric(info, evidence, found) for info in evidence.metrics),
        leaderboard=_leaderboard(evidence, found),
        forests=_forests(evidence, primary, tables, decisions),
        stages=stages(evidence, found),
        ledger=tuple(_ledger(record, judged, found) for record in evidence.models),
        judged_at=tuple(fmt.clean(info.label) for info in judged),
        decisions=_verdicts.views(evidence, decisions),
        headline=_headline(decisions, evidence),
        status=_status(decisions),
        legend=legend(evidence, tables, first.metric),
        brief=_brief(evidence, first),
        warnings=_problems(evidence, {"error", "warning"}),
        notes=_problems(evidence, {"note"}),
        conventions=_facts.conventions(evidence),
        slices=_facts.slices(evidence),
        methods=_facts.methods(evidence.comparisons),
        settings=_facts.settings(evidence),
    )


def _brief(evidence: Evidence, table: MetricTable) -> tuple[str, ...]:
    rows = [row for group in table.groups for row in group.rows]
    return brief(evidence, rows, beside=table.beside)


def _title(evidence: Evidence, settings: ReportSettings) -> str:
    default = f"{evidence.pool.name}: model comparison"
    return _facts.text(settings.title or evidence.settings.get("title") or default)


def _baseline(evidence: Evidence) -> str:
    """Name of the baseline; empty where nothing is compared with anything."""
    return (evidence.baseline or "") if evidence.candidates else ""


def _candidates(evidence: Evidence) -> tuple[str, ...]:
    return evidence.candidates if evidence.baseline else ()


def _labels(evidence: Evidence) -> str:
    labels = str(evidence.pool.declared.get("labels") or "unknown")
    return "" if labels == "human" else f"labels: {fmt.clean(labels)}"


def _pool_line(evidence: Evidence) -> PoolLine:
    pool = evidence.pool
    return PoolLine(
        fmt.clean(pool.name),
        fmt.digest(pool.digest),
        fmt.count(pool.n_queries),
        fmt.count(pool.n_judgments),
        fmt.count(pool.n_items),
        fmt.clean(pool.declared.get("labels") or "unknown"),
        fmt.moment(str(pool.declared.get("as_of") or "not declared")),
    )


def _model(record: ModelRecord) -> ModelView:
    return ModelView(
        fmt.clean(record.name),
        fmt.clean(record.role),
        _facts.text(record.requested),
        _facts.text(record.resolved),
        _facts.origin(record),
    )


def _ledger(
    record: ModelRecord, judged: Iterable[MetricInfo], found: Mapping[Place, Mean]
) -> LedgerRow:
    counts = record.ledger
    watched = ("missing", "constant", "tied", "ineligible", "outside", "foreign", "empty")
    return LedgerRow(
        fmt.clean(record.name),
        fmt.count(counts.asked),
        fmt.count(counts.judged),
        fmt.count(counts.returned),
        _of(counts.missing, counts.judged),
        _of(counts.constant, counts.judged),
        _of(counts.tied, counts.judged),
        fmt.count(counts.ineligible),
        fmt.count(counts.outside),
        fmt.count(counts.foreign),
        _of(counts.empty, counts.judged),
        tuple(cell(found.get((record.name, info.label, ALL), NOTHING)) for info in judged),
        frozenset(name for name in watched if getattr(counts, name)),
    )


def _of(part: int, whole: int) -> str:
    return f"{fmt.count(part)} ({fmt.share(part, whole)})" if part else "0"


def _leaderboard(evidence: Evidence, found: Mapping[Place, Mean]) -> tuple[MeansRow, ...]:
    return tuple(
        _means_row(info, ALL, evidence, found, name=info.label) for info in evidence.metrics
    )


def _means_row(
    info: MetricInfo, on: str, evidence: Evidence, found: Mapping[Place, Mean], *, name: str
) -> MeansRow:
    row = [found.get((model.name, info.label, on), NOTHING) for model in evidence.models]
    values = [mean.value for mean in row if mean.value is not None]
    texts = {fmt.mean(value) for value in values}
    best = fmt.mean((max if info.direction == "higher" else min)(values)) if texts else ""
    least, most = min(mean.n for mean in row), max(mean.n for mean in row)
    return MeansRow(
        fmt.clean(name),
        info.direction,
        fmt.count(most) if least == most else f"{least:,} to {most:,}",
        tuple(cell(mean, best=len(texts) > 1 and fmt.mean(mean.value) == best) for mean in row),
    )


def _table(info: MetricInfo, evidence: Evidence, tables: Tables) -> MetricTable:
    view = _facts.metric(info, evidence, tables.means)
    base = _baseline(evidence)
    names = evidence.slices.names
    measured = {
        name
        for name in names
        if any((model.name, info.label, name) in tables.means for model in evidence.models)
    }
    if info.per == "list" or not base:
        grid = [n for n in names if n in measured]
        rows = (_means_row(info, name, evidence, tables.means, name=name) for name in grid)
        return MetricTable(view, (), tuple(rows))
    groups = []
    for model in _candidates(evidence):
        found = (tables.row(base, model, info, name) for name in names)
        groups.append(Group(fmt.clean(model), tuple(row for row in found if row is not None)))
    return MetricTable(view, tuple(groups), ())


def _forests(
    evidence: Evidence,
    primary: MetricInfo,
    tables: Tables,
    decisions: Sequence[Decision],
) -> tuple[Forest, ...]:
    base = _baseline(evidence)
    if primary.per == "list" or not base:
        return ()
    margins = _margins(primary, decisions)
    drawn = []
    for model in _candidates(evidence):
        rows = [
            (row, margins.get((model, name)))
            for name in evidence.slices.names
            if (row := tables.row(base, model, primary, name)) is not None
        ]
        drawn.append((fmt.clean(model), rows))
    return forests(drawn)


def _margins(primary: MetricInfo, decisions: Sequence[Decision]) -> dict[tuple[str, str], float]:
    """Margins of non-inferiority rules as raw deltas; the tightest where a slice has several."""
    sign = -1.0 if primary.direction == "higher" else 1.0
    found: dict[tuple[str, str], float] = {}
    for decision in decisions:
        for verdict in decision.verdicts:
            claim = verdict.claim
            if claim and claim.kind == "noninferior" and claim.metric == primary.label:
                key = decision.model, claim.slice
                tightest = min(claim.margin, abs(found.get(key, claim.margin)))
                found[key] = sign * tightest
    return found


def _status(decisions: Sequence[Decision]) -> str:
    found = {decision.status for decision in decisions}
    if not found:
        return "no_criteria"
    return next(status for status in BEST_FIRST if status in found)


def _headline(decisions: Sequence[Decision], evidence: Evidence) -> str:
    if not _baseline(evidence):
        were = "model was" if len(evidence.models) == 1 else "models were"
        return f"{len(evidence.models)} {were} measured; without a baseline nothing was compared."
    if len(decisions) == 1:
        return words.decision(decisions[0])
    judged = [decision for decision in decisions if decision.status != "no_criteria"]
    if not judged:
        return "The models were compared; there are no rules, so nothing was decided."
    passed = [fmt.clean(d.model) for d in judged if d.status == "pass"]
    names = f": {', '.join(passed)}" if passed else ""
    verb = "passes" if len(passed) == 1 else "pass"
    return f"{len(passed)} of {fmt.counted(len(judged), 'candidate')} {verb}{names}."


def _problems(evidence: Evidence, severities: set[str]) -> tuple[str, ...]:
    return tuple(
        _facts.text(problem) + (f" ({problem.count:,} times)" if problem.count > 1 else "")
        for problem in evidence.problems
        if problem.severity in severities
    )
