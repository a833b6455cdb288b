"""Models: anything that gives every query of the pool a list of scored items."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import pyarrow as pa

from pipeline.core.arrays import F64, I32
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, collect, fault, raise_errors
from pipeline.core.registry import build as plugin
from pipeline.core.run import NO_CODES, Lists, Origin, Run
from pipeline.core.signature import Signature
from pipeline.models import _check, _digest, _fixed
from pipeline.models._check import Place


class Loaded(Protocol):
    """A model of a registry, loaded into this process."""

    @property
    def predict(self) -> Callable[[pd.DataFrame], Any]:
        """A table of inputs (N rows) to whatever the model returns for it."""
        ...

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """Labels that a classifier tells apart; None where it is none, or does not say."""
        ...

    @property
    def proba(self) -> Callable[[pd.DataFrame], Any] | None:
        """A table of inputs to probabilities (N, classes); None where it has none."""
        ...

    @property
    def method(self) -> str:
        """The method of the model that ``predict`` calls."""
        ...


class Served(Protocol):
    """A model that a process of its own serves."""

    @property
    def url(self) -> str:
        """Of the server, on this machine."""
        ...

    @property
    def ended(self) -> Callable[[], str | None]:
        """The last lines that the server said, where it has ended; None while it runs."""
        ...


class Registry(Protocol):
    """Where registered and logged models are; the tracking stage is one."""

    def resolve(self, uri: str) -> Origin:
        """The exact model that a URI stands for now."""
        ...

    def signature(self, origin: Origin) -> Signature:
        """The inputs that the resolved model asks for; runs none of its code."""
        ...

    def load_model(self, origin: Origin) -> AbstractContextManager[Loaded]:
        """The resolved model, ready to predict."""
        ...

    def serve_model(self, origin: Origin, timeout: float) -> AbstractContextManager[Served]:
        """The resolved model, served by a process with its own requirements until it is left."""
        ...


@dataclass(frozen=True, slots=True)
class Tools:
    """What the harness lends a model while it works.

    Attributes:
        keep_depth: items to keep per query when the model scores everything; all items tied with
            the last one kept are kept too, so that the cut never breaks a tie.
        seed: for models that draw random numbers.
        progress: wraps a sequence of steps and shows how far it has come.
        origin: which model this is.
        registry: where models of a registry come from; None where nothing is tracked.
        scratch: a folder for answers that took long to get, so that an attempt that is cut off
            need not ask for them again. It belongs to this model, pool and settings, need not
            exist yet, and is removed once the lists are complete. None: keep nothing.
    """

    keep_depth: int = 1_000
    seed: int = 0
    progress: Callable[[Sequence[slice], str], Iterator[slice]] = lambda steps, _label: iter(steps)
    origin: Origin | None = None
    registry: Registry | None = None
    scratch: Path | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Ranking:
    """What a model returns: lists as in :class:`pipeline.core.run.Run`, before any check.

    Attributes:
        final, retrieval, foreign, cost, outside: as in Run.
        problems: warnings met on the way.
        complete: whether every query was asked, so that one without items was answered with
            nothing; otherwise it was not answered.
        places: for the final list, then for the retrieval list: the file and line that a row of
            it came from; empty where rows come from no file.
    """

    final: Lists
    retrieval: Lists | None
    foreign: pa.Array
    cost: Mapping[str, F64] = field(default_factory=dict)
    outside: int = 0
    problems: tuple[Problem, ...] = ()
    complete: bool = False
    places: tuple[Place, ...] = ()


@runtime_checkable
class Model(Protocol):
    """A model kind: a frozen dataclass of options that inherits this, and has the last two methods.

    All else has a default, which a kind overrides with a class variable, a property or a method.
    """

    __slots__ = ()

    @property
    def on_disk(self) -> bool:
        """Whether its lists lie in files, so that reading them scores nothing."""
        return False

    @property
    def recorded(self) -> bool:
        """Whether it cannot answer for the past, from logs other than it was made with."""
        return False

    @property
    def at_most(self) -> int | None:
        """Items a query beyond which it returns none, whatever is asked; None for no limit."""
        return None

    def fits(
        self, _pool: Pool, _origin: Origin, _registry: Registry | None, /
    ) -> Iterable[Problem]:
        """What would keep it from ranking the pool, as far as can be told without scoring.

        Raises:
            SamepoolError: likewise.
            UnreachableError: a service that must be asked does not answer.
        """
        return ()

    def origin(self, name: str, requested: str, registry: Registry | None, /) -> Origin:
        """Which model this is, with the digest of all that determines its scores but the pool.

        Raises:
            SamepoolError: the model cannot be found.
        """
        ...

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores and lists for every query of the pool that the model can answer."""
        ...


@runtime_checkable
class Reranker(Protocol):
    """A model that is given a retriever's lists, and can have that retriever answer elsewhere."""

    def rerank(
        self, pool: Pool, found: Lists, retrieve: Callable[[Pool], Lists], tools: Tools
    ) -> F64:
        """(N,) scores of what was retrieved, in its order.

        Args:
            pool: what is asked.
            found: the retriever's lists for it.
            retrieve: the retriever's lists for another pool.
            tools: the depth of retrieval, and progress.
        """
        ...


def build(spec: Mapping[str, Any], where: str) -> Model:
    """The model that ``spec`` describes: its ``kind``, and the options of that kind.

    Raises:
        SamepoolError: no or unknown kind; unknown, missing or ill-typed options; a kind of others
            that is no :class:`Model`.
    """
    model = plugin("models", spec, where)
    if not isinstance(model, Model):
        text = f"{where}: kind {spec['kind']!r} lacks what every model has"
        raise fault("not_a_model", text, "its class must inherit pipeline.models.Model")
    return model


def fits(
    model: Model, origin: Origin, pool: Pool, registry: Registry | None
) -> tuple[Problem, ...]:
    """What would keep the model from ranking the pool, told before anything is scored.

    Raises:
        UnreachableError: a service that must be asked does not answer.
    """
    found: list[Problem] = []
    found += collect(found, lambda: tuple(model.fits(pool, origin, registry))) or ()
    return tuple(found)


def rank(model: Model, origin: Origin, pool: Pool, tools: Tools) -> Run:
    """The model's lists on the pool, checked and with their digest.

    Args:
        model: what answers.
        origin: which model this is; named in messages.
        pool: what is asked.
        tools: what the harness lends.

    Raises:
        SamepoolError: codes out of order or range, a score that is NaN or infinite, an item twice
            in one list; what the model itself raises for bad input.
    """
    ranking = model.rank(pool, tools)
    foreign = ranking.foreign
    of_final, of_retrieval = (*ranking.places, None, None)[:2]
    book = _check.Book(origin, pool, foreign, of_final)
    final, found = _check.check(ranking.final, "list", book)
    found = (*ranking.problems, *found, *_check.costs(ranking.cost, book))
    before, retrieval = ranking.retrieval, None
    if before is None and not model.on_disk:  # a file names its own first stage
        before = _fixed.first_stage(pool, final)
    if before is not None:
        first = _check.Book(origin, pool, foreign, of_retrieval)
        retrieval, more = _check.check(before, "retrieval list", first)
        found = raise_errors((*found, *more))
        found = (*found, *_check.beyond(final, retrieval, book))
    problems = raise_errors(found)
    empty = _empty(final, pool) if ranking.complete else NO_CODES
    return Run(
        origin=origin,
        final=final,
        retrieval=retrieval,
        foreign=foreign,
        cost=ranking.cost,
        outside=ranking.outside,
        digest=_digest.of_lists(final, retrieval, pool.vocab, foreign, empty),
        problems=problems,
        empty=empty,
    )


def _empty(lists: Lists, pool: Pool) -> I32:
    """Codes of the queries without a list."""
    counts = np.bincount(lists.query, minlength=len(pool.vocab.queries))
    return np.flatnonzero(counts == 0).astype(np.int32)
