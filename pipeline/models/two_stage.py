"""Two stages: one model retrieves, gradient-boosted trees put in order what it found."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from pipeline.core.arrays import F64, I64, Bool
from pipeline.core.options import parse
from pipeline.core.pool import Pool
from pipeline.core.problems import fault
from pipeline.core.registry import build
from pipeline.core.run import Lists, Origin
from pipeline.kernels.digest import of_parts
from pipeline.models import Model, Ranking, Registry, Tools, _identity
from pipeline.models._features import Features, best_of_list, features
from pipeline.models._interactions import Interactions, need_times, read
from pipeline.models._training import Training, training, wanted_rows

_ROWS = 500_000  # rows whose features are held at once


@dataclass(frozen=True, slots=True)
class Ranker:
    """Options of the trees.

    Attributes:
        iterations: number of trees.
        learning_rate: how much each tree may change.
        leaves: leaves a tree has at most.
        min_rows: rows a leaf has at least.
    """

    iterations: int = 100
    learning_rate: float = 0.1
    leaves: int = 15
    min_rows: int = 20

    def __post_init__(self) -> None:
        """Checks the options."""
        if min(self.iterations, self.learning_rate, self.min_rows) <= 0 or self.leaves < 2:
            raise ValueError(
                "iterations, learning_rate and min_rows must be above 0, leaves at least 2"
            )


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """Trees, and which of the features they were taught with."""

    trees: HistGradientBoostingClassifier
    used: Bool

    def __call__(self, table: F64) -> F64:
        """(N,) log-odds that an item is wanted."""
        odds: F64 = self.trees.decision_function(table[:, self.used])
        return odds


@dataclass(frozen=True, slots=True)
class TwoStage:
    """Retrieves with one model and re-ranks what it returned.

    The trees learn from the logs alone: each person's last interactions are held out, the
    retriever answers from the rest, and what it found of them is told from what else it found.
    Judgments are never read. Both lists are kept: retrieval is the retriever's, final the same
    items with the trees' log-odds as scores.

    Attributes:
        retriever: a model's kind and options.
        ranker: options of :class:`Ranker`.
        depth: items retrieved a query; all that tie with the last one are retrieved too.
        held_out: share of a person's interactions that is held out for training.
        wanted_from: smallest reward of a held-out interaction that counts as one to be found, e.g.
            the rating from which items are relevant; None for any.
        negatives: items a person that were retrieved but not held out, drawn for training.
        train_people: people that training uses at most.
        window_days: window of the feature recent popularity.
        tags: column of items whose tags are compared with those in a person's history; None for
            none.
        seed: of the draws.
    """

    retriever: dict[str, Any]
    ranker: dict[str, Any] = field(default_factory=dict)
    depth: int = 500
    held_out: float = 0.2
    wanted_from: float | None = None
    negatives: int = 50
    train_people: int = 2_000
    window_days: float = 30.0
    tags: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the options, those of both stages included."""
        if min(self.depth, self.negatives, self.train_people, self.window_days) <= 0:
            raise ValueError("depth, negatives, train_people and window_days must be above 0")
        if not 0 < self.held_out < 1:
            raise ValueError(f"held_out must lie between 0 and 1, not {self.held_out}")
        self._trees()
        first = self._retriever()
        if getattr(first, "recorded", False):
            kind = self.retriever["kind"]
            raise ValueError(
                f"a retriever of kind {kind} cannot answer for the past, so there is nothing to"
                " train on; take a kind that learns from logs"
            )

    def origin(self, name: str, requested: str, registry: Registry | None = None) -> Origin:
        """This kind, its options, its code, and the same of its retriever."""
        own = _identity.fitted(self, name, requested, "numpy", "scikit-learn")
        first = self._retriever().origin(f"{name}.retriever", requested, registry).source_digest
        return replace(
            own, source_digest=of_parts({"ranker": own.source_digest, "retriever": first})
        )

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Retrieves, trains on the logs, and scores what was retrieved.

        Raises:
            SamepoolError: the pool has no dated logs, or they teach nothing.
        """
        log = read(pool, "two_stage")
        need_times(log, pool, "two_stage")
        lent = replace(tools, keep_depth=self.depth)
        taught = self._training(pool, log)
        past = self._retrieve(taught.pool, lent)
        wanted = wanted_rows(taught.wanted, past.query, past.item)
        if not wanted.any():
            text = (
                f"two_stage: of {taught.wanted.nnz:,} held-out interactions the retriever found"
                f" none within depth {self.depth}"
            )
            raise fault("nothing_to_train_on", text, "retrieve deeper, or with another model")
        with threadpool_limits(limits=1):  # sums of gradients depend on the number of threads
            fitted_on = features(taught.pool, self.window_days, self.tags)
            trees = self._fit(fitted_on, past, wanted)
            found = self._retrieve(pool, lent)
            known = features(pool, self.window_days, self.tags)
            score = _scores(trees, known, found, tools)
        final = Lists(found.query, found.item, score)
        return Ranking(final, found, pool.vocab.items[:0])

    def _training(self, pool: Pool, log: Interactions) -> Training:
        options = (self.held_out, self.wanted_from, self.train_people, self.seed)
        return training(pool, log, *options)

    def _retriever(self) -> Model:
        model: Model = build("models", self.retriever, "two_stage retriever")
        return model

    def _retrieve(self, pool: Pool, tools: Tools) -> Lists:
        ranking = self._retriever().rank(pool, tools)
        if len(ranking.foreign):
            text = f"two_stage: the retriever returned `{ranking.foreign[0]}`, not in the pool"
            raise fault("foreign_item", text, "only items of the pool have features to rank by")
        return ranking.final

    def _trees(self) -> HistGradientBoostingClassifier:
        options = parse(Ranker, self.ranker, "two_stage ranker")
        return HistGradientBoostingClassifier(
            max_iter=options.iterations,
            learning_rate=options.learning_rate,
            max_leaf_nodes=options.leaves,
            min_samples_leaf=options.min_rows,
            early_stopping=False,
            random_state=self.seed,
        )

    def _fit(self, known: Features, past: Lists, wanted: Bool) -> _Fitted:
        rows = _drawn(past, wanted, self.negatives, self.seed)
        lists = Lists(past.query[rows], past.item[rows], past.score[rows])
        table = known.of(lists, best_of_list(past)[rows], slice(None))
        used: Bool = ~np.all(np.isnan(table), axis=0)  # a pool without dates has no ages
        return _Fitted(self._trees().fit(table[:, used], wanted[rows]), used)


def _drawn(lists: Lists, wanted: Bool, negatives: int, seed: int) -> I64:
    """Rows to train on: all that are wanted, and of each list so many of the others."""
    others = np.flatnonzero(~wanted)
    chance = np.random.default_rng(seed).random(len(others))
    query = lists.query[others]
    order = np.lexsort((chance, query))
    start = np.searchsorted(query, query)  # ascending: where each row's list begins
    drawn = others[order][np.arange(len(others)) - start < negatives]
    return np.sort(np.concatenate([np.flatnonzero(wanted), drawn]))


def _scores(trees: _Fitted, known: Features, lists: Lists, tools: Tools) -> F64:
    """(N,) log-odds that an item is wanted; each row's own, whatever block it stands in."""
    best, n = best_of_list(lists), len(lists.query)
    blocks = [slice(start, min(start + _ROWS, n)) for start in range(0, n, _ROWS)]
    scores = [np.empty(0)]
    scores += [
        trees(known.of(lists, best, rows)) for rows in tools.progress(blocks, "two-stage ranking")
    ]
    return np.concatenate(scores)


PLUGIN = TwoStage
