"""Two stages: one model retrieves, another puts in order what it found."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import F64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, collect, raise_errors
from pipeline.core.registry import build, kinds
from pipeline.core.run import Lists, Origin
from pipeline.core.suggest import did_you_mean
from pipeline.kernels.digest import of_json, of_parts
from pipeline.models import Model, Ranking, Registry, Tools, _identity, _stages, fits
from pipeline.models._scoring import best
from pipeline.models._shortlist import shortlist, unknown

_PARTS = ("retriever", "ranker")


@dataclass(frozen=True)
class TwoStage:
    """Retrieves with one model and orders what it returned with another.

    Any model may stand in either place. The ranker is given the pool with what was retrieved as
    its candidates; what it returns beyond them is left out and counted, and a retrieved item that
    it does not return is not shown, and counted. A ranker with a method ``rerank(pool, found,
    retrieve, tools) -> (N,) scores`` is given the lists themselves, and a function that retrieves
    for another pool. Both lists are kept: retrieval is the retriever's, final the ranker's.

    Attributes:
        retriever: a model's kind and options, or the name of a kind.
        ranker: likewise.
        depth: items retrieved a query; all that tie with the last one are retrieved too.
        sees: columns of queries, items and candidates that the ranker is given, ids apart; None:
            all but ``retrieval_score`` and ``retrieval_rank``, which it sees only by name.
        options: kind -> options of a stage of that kind, where it does not set them itself.
    """

    retriever: dict[str, Any] | str
    ranker: dict[str, Any] | str
    depth: int = 500
    sees: list[str] | None = None
    options: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Checks the options, those of both stages included."""
        if self.depth < 1:
            raise ValueError(f"depth must be at least 1, not {self.depth}")
        for kind in self.options:
            if kind not in kinds("models"):
                fix = did_you_mean(kind, kinds("models"))
                raise ValueError(f"options are by kind, and {kind!r} is none; {fix}")
        problems: list[Problem] = []
        first, second = (collect(problems, partial(self._model, stage)) for stage in _PARTS)
        raise_errors(problems)
        if hasattr(first, "rerank"):
            kind = self._spec("retriever")["kind"]
            raise ValueError(f"{kind} orders what a retriever found, and cannot be the retriever")
        if hasattr(second, "rerank"):
            self._taught(first)

    def _taught(self, first: object) -> None:
        """Checks what a ranker needs that is taught on the retriever's answers for the past."""
        ranker, kind = (self._spec(stage)["kind"] for stage in reversed(_PARTS))
        if getattr(first, "recorded", False):
            raise ValueError(
                f"a retriever of kind {kind} cannot answer for the past, so there is nothing to"
                f" train the {ranker} on; take a kind that learns from logs, or another ranker"
            )
        if self.sees is not None:
            raise ValueError(f"sees is not for {ranker}, whose own options say what they see")

    @property
    def at_most(self) -> int | None:
        """Items a query that the stages can return; None where neither has a limit of its own."""
        limits = [getattr(model, "at_most", None) for model in self._models.values()]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def on_disk(self) -> bool:
        """Whether both lists lie in files, so that nothing is scored."""
        return all(getattr(model, "on_disk", False) for model in self._models.values())

    @property
    def recorded(self) -> bool:
        """Whether it cannot answer for the past."""
        return any(getattr(model, "recorded", False) for model in self._models.values())

    def origin(self, name: str, requested: str, registry: Registry | None = None) -> Origin:
        """Both stages, the depth and what the ranker sees; the ranker's version, if it has one.

        Raises:
            SamepoolError: a stage cannot be found.
            UnreachableError: a registry does not answer.
        """
        problems: list[Problem] = []
        for stage, model in self._models.items():
            asked = _stages.requested(self._spec(stage))
            found = collect(problems, partial(model.origin, f"{name}.{stage}", asked, registry))
            if found is not None:
                self._origins[stage] = found
        raise_errors(problems)
        first, second = (self._origins[stage] for stage in _PARTS)
        own = {"depth": self.depth, "sees": None if self.sees is None else sorted(self.sees)}
        digests = {stage: self._origins[stage].source_digest for stage in _PARTS}
        code = _identity.code_of(type(self).__module__)
        shown = {"retriever": first.resolved, "ranker": second.resolved, "depth": self.depth}
        if self.sees is not None:
            shown["sees"] = f"[{', '.join(self.sees)}]"
        return Origin(
            name=name,
            kind="two_stage",
            requested=requested,
            resolved=f"two_stage({', '.join(f'{key}={value}' for key, value in shown.items())})",
            registered=second.registered,
            version=second.version,
            model_id=second.model_id,
            source_digest=of_parts({"options": of_json(own), "code": code, **digests}),
            live=first.live or second.live,
        )

    def fits(
        self, pool: Pool, origin: Origin, registry: Registry | None = None
    ) -> Iterable[Problem]:
        """What either stage says of the pool; the ranker of the columns that it will be given."""
        found = [*fits(self._models["retriever"], self._origins["retriever"], pool, registry)]
        wrong = unknown(pool, self.sees, f"model {origin.name}")
        if wrong or hasattr(self._models["ranker"], "rerank"):
            return [*found, *wrong]
        none = Lists(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
        given = shortlist(pool, none, pool.vocab.items[:0], self.sees).pool
        second = fits(self._models["ranker"], self._origins["ranker"], given, registry)
        return [*found, *map(_stages.of_sight, second)]

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Retrieves, and orders what was retrieved.

        Raises:
            SamepoolError: what either stage raises; a ranker that returned nothing of what was
                retrieved.
        """
        if not self._origins:
            self.origin("two_stage", "two_stage", tools.registry)
        first = self._retrieve(pool, self._lent(tools, "retriever"))
        if hasattr(self._models["ranker"], "rerank"):
            return self._taught_rank(pool, first, tools)
        return self._plain_rank(pool, first, tools)

    def _plain_rank(self, pool: Pool, first: Ranking, tools: Tools) -> Ranking:
        who = f"model {self._origins['ranker'].name.removesuffix('.ranker')}"
        raise_errors(unknown(pool, self.sees, who))
        given = shortlist(pool, first.final, first.foreign, self.sees)
        longest = int(np.bincount(first.final.query).max(initial=1))
        lent = replace(self._lent(tools, "ranker"), keep_depth=longest)
        second = self._models["ranker"].rank(given.pool, lent)
        ranked = _stages.sound(second, "ranker", given.pool, self._origins["ranker"])
        final, beyond = given.kept(ranked)
        said = _stages.said(who, given, first, final, beyond)
        answered = np.array_equal(np.unique(first.final.query), np.unique(final.query))
        return Ranking(
            final=final,
            retrieval=first.final,
            foreign=first.foreign,
            cost=_stages.costs(first, second),
            outside=first.outside + second.outside,
            problems=(*first.problems, *second.problems, *said),
            complete=first.complete and (second.complete or answered),
        )

    def _taught_rank(self, pool: Pool, first: Ranking, tools: Tools) -> Ranking:
        def retrieve(other: Pool) -> Lists:
            return _stages.known(self._retrieve(other, self._lent(tools, "retriever-past")))

        found = _stages.known(first)
        lent = replace(self._lent(tools, "ranker"), keep_depth=self.depth)
        ranker: Any = self._models["ranker"]
        score: F64 = ranker.rerank(pool, found, retrieve, lent)
        final = Lists(found.query, found.item, score)
        return replace(first, final=final, retrieval=found, cost=_stages.costs(first, None))

    def _retrieve(self, pool: Pool, tools: Tools) -> Ranking:
        """The retriever's lists, no deeper than asked, of a sound form."""
        ranking = self._models["retriever"].rank(pool, replace(tools, keep_depth=self.depth))
        lists = _stages.sound(ranking, "retriever", pool, self._origins["retriever"])
        rows = best(lists.query, lists.score, self.depth)
        rank = lists.given_rank
        item, rank = lists.item[rows], None if rank is None else rank[rows]
        inside = len(pool.vocab.items)
        used, place = np.unique(item[item >= inside], return_inverse=True)
        item[item >= inside] = inside + place
        final = Lists(lists.query[rows], item, lists.score[rows], rank)
        foreign = ranking.foreign.take(pa.array(used - inside))
        return replace(ranking, final=final, retrieval=None, foreign=foreign, places=())

    def _lent(self, tools: Tools, folder: str) -> Tools:
        """The tools of one stage: an origin and a folder of its own."""
        stage = folder.partition("-")[0]
        scratch: Path | None = None if tools.scratch is None else tools.scratch / folder
        return replace(tools, origin=self._origins[stage], scratch=scratch)

    @cached_property
    def _models(self) -> dict[str, Model]:
        return {stage: self._model(stage) for stage in _PARTS}

    @cached_property
    def _origins(self) -> dict[str, Origin]:
        """By stage, as they were resolved once: an alias may move before anything is scored."""
        return {}

    def _model(self, stage: str) -> Model:
        try:
            model: Model = build("models", self._spec(stage), f"two_stage {stage}")
        except SamepoolError as error:
            raise SamepoolError(
                [_stages.of_merge(problem, stage) for problem in error.problems]
            ) from error
        return model

    def _spec(self, stage: str) -> dict[str, Any]:
        given = self.retriever if stage == "retriever" else self.ranker
        spec = {"kind": given} if isinstance(given, str) else given
        return {**self.options.get(str(spec.get("kind")), {}), **spec}


PLUGIN = TwoStage
