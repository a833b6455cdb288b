"""Two stages: one model retrieves, another puts in order what it found."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, raise_errors
from pipeline.core.registry import kinds
from pipeline.core.run import Lists, Origin, joined
from pipeline.core.suggest import did_you_mean
from pipeline.kernels.digest import of_json, of_parts
from pipeline.models import (
    Model,
    Ranking,
    Registry,
    Reranker,
    Tools,
    _identity,
    _stages,
    build,
    fits,
)
from pipeline.models._scoring import best
from pipeline.models._shortlist import shortlist, unknown


@dataclass(frozen=True)
class TwoStage(Model):
    """Retrieves with one model and orders what it returned with another.

    Any model may stand in either place. The ranker is given the pool with what was retrieved as
    its candidates; what it returns beyond them is left out and counted, and a retrieved item that
    it does not return is not shown, and counted. A :class:`pipeline.models.Reranker` is given the
    lists themselves, and a function that retrieves for another pool. Both lists are kept:
    retrieval is the retriever's, final the ranker's.

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
        first, second = (isinstance(self._models[stage], Reranker) for stage in _stages.PARTS)
        if first:
            kind = self._spec("retriever")["kind"]
            raise ValueError(f"{kind} orders what a retriever found, and cannot be the retriever")
        if second:
            self._taught()

    def _taught(self) -> None:
        """Checks what a ranker needs that is taught on the retriever's answers for the past."""
        ranker, kind = (self._spec(stage)["kind"] for stage in reversed(_stages.PARTS))
        if self._models["retriever"].recorded:
            raise ValueError(
                f"a retriever of kind {kind} cannot answer for the past, so there is nothing to"
                f" train the {ranker} on; take a kind that learns from logs, or another ranker"
            )
        if self.sees is not None:
            raise ValueError(f"sees is not for {ranker}, whose own options say what they see")

    @property
    def at_most(self) -> int | None:
        """Items a query that the stages can return; None where neither has a limit of its own."""
        limits = [model.at_most for model in self._models.values()]
        return min((limit for limit in limits if limit is not None), default=None)

    @property
    def on_disk(self) -> bool:
        """Whether both lists lie in files, so that nothing is scored."""
        return all(model.on_disk for model in self._models.values())

    @property
    def recorded(self) -> bool:
        """Whether it cannot answer for the past."""
        return any(model.recorded for model in self._models.values())

    def origin(self, name: str, requested: str, registry: Registry | None = None) -> Origin:
        """Both stages, the depth and what the ranker sees; the ranker's version, if it has one.

        Raises:
            SamepoolError: a stage cannot be found.
            UnreachableError: a registry does not answer.
        """
        first, second = _stages.both(partial(self._part_of, name, registry))
        own = {"depth": self.depth, "sees": None if self.sees is None else sorted(self.sees)}
        digests = {"retriever": first.source_digest, "ranker": second.source_digest}
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
            parts=(first, second),
        )

    def _part_of(self, name: str, registry: Registry | None, stage: str) -> Origin:
        asked = _stages.requested(self._spec(stage))
        return self._models[stage].origin(f"{name}.{stage}", asked, registry)

    def fits(self, pool: Pool, origin: Origin, registry: Registry | None, /) -> Iterable[Problem]:
        """What either stage says of the pool; the ranker of the columns that it will be given."""
        first, second = self._whole(origin, registry).parts
        found = [*fits(self._models["retriever"], first, pool, registry)]
        wrong = unknown(pool, self.sees, f"model {origin.name}")
        if wrong or isinstance(self._models["ranker"], Reranker):
            return [*found, *wrong]
        given = shortlist(pool, joined(), pool.vocab.items[:0], self.sees).pool
        more = fits(self._models["ranker"], second, given, registry)
        return [*found, *map(_stages.of_sight, more)]

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Retrieves, and orders what was retrieved.

        Raises:
            SamepoolError: what either stage raises; a ranker that returned nothing of what was
                retrieved.
        """
        tools = replace(tools, origin=self._whole(tools.origin, tools.registry))
        first = self._retrieve(pool, tools, "retriever")
        ranker = self._models["ranker"]
        if isinstance(ranker, Reranker):
            return self._taught_rank(ranker, pool, first, tools)
        return self._plain_rank(pool, first, tools)

    def _plain_rank(self, pool: Pool, first: Ranking, tools: Tools) -> Ranking:
        origin = self._part(tools, "ranker")
        who = f"model {origin.name.removesuffix('.ranker')}"
        raise_errors(unknown(pool, self.sees, who))
        given = shortlist(pool, first.final, first.foreign, self.sees)
        longest = int(np.bincount(first.final.query).max(initial=1))
        lent = replace(self._lent(tools, "ranker"), keep_depth=longest)
        second = self._models["ranker"].rank(given.pool, lent)
        ranked = _stages.sound(second, "ranker", given.pool, origin)
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

    def _taught_rank(self, ranker: Reranker, pool: Pool, first: Ranking, tools: Tools) -> Ranking:
        def retrieve(other: Pool) -> Lists:
            return _stages.known(self._retrieve(other, tools, "retriever-past"))

        found = _stages.known(first)
        lent = replace(self._lent(tools, "ranker"), keep_depth=self.depth)
        score = ranker.rerank(pool, found, retrieve, lent)
        final = Lists(found.query, found.item, score)
        return replace(first, final=final, retrieval=found, cost=_stages.costs(first, None))

    def _retrieve(self, pool: Pool, tools: Tools, folder: str) -> Ranking:
        """The retriever's lists, no deeper than asked, of a sound form."""
        lent = replace(self._lent(tools, folder), keep_depth=self.depth)
        ranking = self._models["retriever"].rank(pool, lent)
        lists = _stages.sound(ranking, "retriever", pool, self._part(tools, "retriever"))
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
        return replace(tools, origin=self._part(tools, stage), scratch=scratch)

    def _whole(self, origin: Origin | None, registry: Registry | None) -> Origin:
        """The pair with its parts, as they were resolved: an alias may move before it ranks."""
        if origin is not None and origin.parts:
            return origin
        name = "two_stage" if origin is None else origin.name
        return self.origin(name, name, registry)

    def _part(self, tools: Tools, stage: str) -> Origin:
        return self._whole(tools.origin, tools.registry).parts[_stages.PARTS.index(stage)]

    @cached_property
    def _models(self) -> dict[str, Model]:
        return dict(zip(_stages.PARTS, _stages.both(self._model), strict=True))

    def _model(self, stage: str) -> Model:
        try:
            return build(self._spec(stage), f"two_stage {stage}")
        except SamepoolError as error:
            raise SamepoolError(
                [_stages.of_merge(problem, stage) for problem in error.problems]
            ) from error

    def _spec(self, stage: str) -> dict[str, Any]:
        given = self.retriever if stage == "retriever" else self.ranker
        spec = {"kind": given} if isinstance(given, str) else given
        return {**self.options.get(str(spec.get("kind")), {}), **spec}


PLUGIN = TwoStage
