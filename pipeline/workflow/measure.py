"""One model after the other: scored lists, judged, measured; only numbers stay in memory."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from pipeline import __version__
from pipeline.core.evidence import Ledger, ModelRecord
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError
from pipeline.core.run import Origin, Run
from pipeline.core.scores import Scores
from pipeline.core.settings import EngineSettings
from pipeline.evidence.runs import SCHEMA, find, keep, read_run, scratch, write_run
from pipeline.kernels.digest import of_json
from pipeline.metrics import judge, measure
from pipeline.metrics import tops as tops_of
from pipeline.models import Tools, rank
from pipeline.workflow.build import Contender
from pipeline.workflow.prepare import Prepared
from pipeline.workflow.voice import report

Progress = Callable[[Sequence[slice], str], Iterator[slice]]


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What is kept of a model.

    Attributes:
        scores, tops, record: values, first places, and who it was.
        problems: warnings met on the way.
        reused: whether its lists were there from an earlier comparison.
    """

    scores: Scores
    tops: pa.Table
    record: ModelRecord
    problems: tuple[Problem, ...]
    reused: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """All that measuring a model needs.

    Attributes:
        ready: what is compared, on what, where.
        engine: cache and depth.
        top: places of each list to keep.
        folder: the comparison's output folder.
        progress: shows how far scoring has come.
    """

    ready: Prepared
    engine: EngineSettings
    top: int
    folder: Path
    progress: Progress

    def __call__(self, contender: Contender) -> Measured:
        """Scores, judges and measures one model, and writes its lists."""
        found = self._found(contender)
        run = found or self._run(contender)
        experiment, pool = self.ready.experiment, self.ready.pool
        metrics, conventions = experiment.metrics, experiment.conventions
        depth = max(self.top, *(metric.cutoff or 0 for metric in metrics))
        judged = judge(run, pool, conventions, depth)
        scores = measure(contender.name, judged, metrics, self.ready.slices, pool, conventions)
        kept = judged if run.retrieval is not None else judged[:1]
        tops = pa.concat_tables(tops_of(contender.name, one, pool, self.top) for one in kept)
        record = _record(contender, run, scores, tops, pool)
        return Measured(scores, tops, record, run.problems, reused=found is not None)

    def _found(self, contender: Contender) -> Run | None:
        """The model's lists from an earlier comparison, where model and inputs are the same."""
        origin = self.ready.origins[contender.name]
        if not self.engine.reuse or origin.live:
            return None
        target = self._target(contender)
        try:
            path = find(self._cache(), self._key(origin))
            if path is None:
                return None
            _link(path, target)
            run = read_run(target, self.ready.pool)
            problems = _renamed(run.problems, run.origin.name, origin.name)
            return replace(run, origin=origin, problems=problems)
        except (OSError, SamepoolError):  # gone or unreadable by now: as if it had not been there
            return None

    def _run(self, contender: Contender) -> Run:
        """The model's lists, scored now."""
        origin, target = self.ready.origins[contender.name], self._target(contender)
        key = self._key(origin)
        with scratch(self._cache(), key, fresh=not self.engine.reuse) as folder:
            run = rank(contender.model, origin, self.ready.pool, self._tools(origin, folder))
            self._keep(run, key, target)
        return run

    def _cache(self) -> Path:
        return Path(self.engine.cache).expanduser()

    def _target(self, contender: Contender) -> Path:
        return self.folder / "runs" / f"{contender.name}.parquet"

    def _tools(self, origin: Origin, folder: Path) -> Tools:
        depth, seed = self.engine.keep_depth, self.ready.experiment.seed
        return Tools(depth, seed, self.progress, origin, self.ready.registry, folder)

    def _keep(self, run: Run, key: str, target: Path) -> None:
        """Writes the lists, into the cache where they may serve again."""
        pool, cache = self.ready.pool, self._cache()
        if run.origin.live:
            write_run(run, pool, target)
            return
        try:
            _link(keep(run, pool, cache, key), target)
        except SamepoolError as error:
            fix = "its lists are not reused; engine.cache=FOLDER keeps them elsewhere"
            found = [replace(problem, severity="warning", fix=fix) for problem in error.problems]
            report([replace(problem, file=str(cache)) for problem in found])
            write_run(run, pool, target)

    def _key(self, origin: Origin) -> str:
        """Digest of everything that determines the lists."""
        parts = {
            "samepool": __version__,  # another version may read the same file otherwise
            "schema": SCHEMA,
            "kind": origin.kind,
            "source": origin.source_digest,
            "pool": self.ready.pool.digest,
            "logs": self.ready.pool.logs_digest,
            "depth": self.engine.keep_depth,
            "seed": self.ready.experiment.seed,
        }
        return of_json(parts)


def _renamed(problems: Sequence[Problem], old: str, new: str) -> tuple[Problem, ...]:
    """What was said of lists that another comparison knew by another name."""
    named = re.compile(rf"model {re.escape(old)}(?=[:.])")
    return tuple(
        replace(problem, text=named.sub(lambda _: f"model {new}", problem.text, count=1))
        for problem in problems
    )


def _link(source: Path, target: Path) -> None:
    """The same bytes under another name: a hard link where the file system allows, else a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    try:
        target.hardlink_to(source)
    except OSError:
        target.write_bytes(source.read_bytes())


def _record(
    contender: Contender, run: Run, scores: Scores, tops: pa.Table, pool: Pool
) -> ModelRecord:
    origin = run.origin
    judged = np.diff(pool.judgments.query_ptr) > 0
    empty = np.zeros(len(judged), dtype=bool)
    empty[run.empty] = True
    returned = (scores.length > 0) & judged | empty & judged
    final = tops.filter(pa.compute.equal(tops["stage"], "final"))
    ledger = Ledger(
        asked=len(judged),
        judged=int(judged.sum()),
        returned=int(returned.sum()),
        missing=int((judged & ~returned).sum()),
        outside=run.outside,
        foreign=int((run.final.item >= len(pool.vocab.items)).sum()),
        constant=int((scores.constant & judged).sum()),
        tied=int((scores.tied & judged).sum()),
        ineligible=final.num_rows - int(pa.compute.sum(final["eligible"]).as_py() or 0),
        empty=int((empty & judged).sum()),
    )
    return ModelRecord(
        name=contender.name,
        role=contender.role,
        kind=origin.kind,
        requested=origin.requested,
        resolved=origin.resolved,
        registered=origin.registered,
        version=origin.version,
        model_id=origin.model_id,
        source_digest=origin.source_digest,
        path=origin.path,
        run_digest=run.digest,
        has_retrieval=run.retrieval is not None,
        ledger=ledger,
    )
