"""samepool compare: the spine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipeline import evidence as files
from pipeline.core.decision import Decision
from pipeline.core.evidence import Evidence
from pipeline.core.redact import redact
from pipeline.core.settings import CompareSettings
from pipeline.engine import engine
from pipeline.evidence.runs import tidy
from pipeline.kernels.digest import of_json
from pipeline.report import render
from pipeline.tracking import Start
from pipeline.workflow import decide, progress
from pipeline.workflow.evidence import describe, gather
from pipeline.workflow.measure import Measured, Task
from pipeline.workflow.prepare import Prepared, prepare
from pipeline.workflow.publish import Publication
from pipeline.workflow.show import show
from pipeline.workflow.voice import say


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """A finished comparison.

    Attributes:
        folder: where its files are.
        evidence: what was found.
        decisions: one a candidate; none without a baseline.
        exit_code: 0; 5 if results wait for a server; the gate's where it is enforced.
    """

    folder: Path
    evidence: Evidence
    decisions: tuple[Decision, ...]
    exit_code: int


def compare(settings: CompareSettings, config: str = "", overrides: Sequence[str] = ()) -> Outcome:
    """Makes one comparison, from the pool to the log.

    Args:
        settings: what to compare.
        config: the unresolved config, kept beside the results.
        overrides: what the user overrode, likewise.

    Raises:
        SamepoolError: bad input, found before a model is scored wherever that is possible.
    """
    folder = Path(settings.out)
    files.refuse_taken(folder)
    ready = prepare(settings)
    files.claim(folder)
    described = describe(settings, ready)
    start = _start(settings, ready, (described["rules_digest"], of_json(described)), folder)
    with Publication(settings.tracking, start) as publication:
        measured = _measure(settings, ready, folder)
        untested = gather(ready, described, measured)
        evidence, decisions = decide.conclude(untested, settings.gate.rules, described["alpha"])
        files.write(evidence, folder, decisions)
        files.write_decisions(evidence, decisions, folder, same=True)
        render(evidence, decisions, folder, settings.report)
        files.write_config(folder, redact(config), [redact(word) for word in overrides])
        files.seal(folder)
        show(evidence, decisions, settings.report)
        links, code = publication.publish(folder, evidence, decisions)
    for line in (f"report: {folder / 'report.html'}", *links):
        say(line)
    return Outcome(folder, evidence, decisions, code or _gated(settings, evidence, decisions))


def _gated(settings: CompareSettings, evidence: Evidence, decisions: Sequence[Decision]) -> int:
    if not settings.gate.enforce or settings.gate.informational:
        return 0
    return decide.exit_code(decisions, evidence.models, settings.candidate)


def _start(
    settings: CompareSettings, ready: Prepared, digests: tuple[str, str], folder: Path
) -> Start:
    names = [contender.name for contender in ready.experiment.contenders]
    rules_digest, settings_digest = digests
    return Start(
        name=settings.report.title or f"{ready.pool.name}: {' vs '.join(names[:3])}",
        pool=ready.pool.name,
        pool_digest=ready.pool.digest,
        rules_digest=rules_digest,
        settings_digest=settings_digest,
        n_models=len(names),
        out=folder,
        seed=ready.experiment.seed,
    )


def _measure(settings: CompareSettings, ready: Prepared, folder: Path) -> list[Measured]:
    bar = progress.bar if settings.engine.progress else progress.silent
    task = Task(ready, settings.engine, settings.report.top, folder, bar)
    measured = list(engine(settings.engine).map(task, ready.experiment.contenders))
    tidy(Path(settings.engine.cache).expanduser())
    reused = [one.record.name for one in measured if one.reused]
    if reused:
        say(f"scored lists reused: {', '.join(reused)}")
    return measured
