"""Gradient-boosted trees that put in order what a retriever found: a ranker taught on the logs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from threadpoolctl import threadpool_limits

from pipeline.core.arrays import F64, I64, Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, fault
from pipeline.core.run import Lists, Origin
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._features import Features, best_of_list, features
from pipeline.models._identity import fitted
from pipeline.models._interactions import need_times, read
from pipeline.models._training import training, wanted_rows

_ROWS = 500_000  # rows whose features are held at once
_ALONE = Problem(
    "needs_retriever",
    "error",
    "trees order what another model retrieved, and retrieve nothing themselves",
    "{kind: two_stage, retriever: item_knn, ranker: trees}",
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
class Trees(Model):
    """Log-odds that an item is wanted, from its features; the ranker of a ``two_stage``.

    The trees learn from the logs alone: each person's last interactions are held out, the
    retriever answers from the rest, and what it found of them is told from what else it found.
    Judgments are never read. The features are those of
    :class:`pipeline.models._features.Features`; the retriever's score is one of them.

    Attributes:
        iterations: number of trees.
        learning_rate: how much each tree may change.
        leaves: leaves a tree has at most.
        min_rows: rows a leaf has at least.
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

    iterations: int = 100
    learning_rate: float = 0.1
    leaves: int = 15
    min_rows: int = 20
    held_out: float = 0.2
    wanted_from: float | None = None
    negatives: int = 50
    train_people: int = 2_000
    window_days: float = 30.0
    tags: str | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        """Checks the options."""
        if min(self.iterations, self.learning_rate, self.min_rows) <= 0 or self.leaves < 2:
            raise ValueError(
                "iterations, learning_rate and min_rows must be above 0, leaves at least 2"
            )
        if min(self.negatives, self.train_people, self.window_days) <= 0:
            raise ValueError("negatives, train_people and window_days must be above 0")
        if not 0 < self.held_out < 1:
            raise ValueError(f"held_out must lie between 0 and 1, not {self.held_out}")

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options, its code and the libraries that fit the trees."""
        return fitted(self, name, requested, "numpy", "scikit-learn")

    def fits(
        self, _pool: Pool, _origin: Origin, _registry: Registry | None, /
    ) -> Iterable[Problem]:
        """An error: alone, trees have nothing to order."""
        return [_ALONE]

    def rank(self, pool: Pool, tools: Tools) -> Ranking:  # noqa: ARG002 - never ranks alone
        """Nothing: trees need a retriever.

        Raises:
            SamepoolError: always.
        """
        raise SamepoolError([_ALONE])

    def rerank(
        self, pool: Pool, found: Lists, retrieve: Callable[[Pool], Lists], tools: Tools
    ) -> F64:
        """(N,) scores of what was retrieved, in its order.

        Args:
            pool: what is asked.
            found: the retriever's lists for it.
            retrieve: the retriever's lists for another pool, here one cut from the logs.
            tools: the depth of retrieval, and progress.

        Raises:
            SamepoolError: the pool has no dated logs, or they teach nothing.
        """
        log = read(pool, "trees")
        need_times(log, pool, "trees")
        options = (self.held_out, self.wanted_from, self.train_people, self.seed)
        taught = training(pool, log, *options)
        past = retrieve(taught.pool)
        wanted = wanted_rows(taught.wanted, past.query, past.item)
        if not wanted.any():
            text = (
                f"trees: of {taught.wanted.nnz:,} held-out interactions the retriever found"
                f" none within depth {tools.keep_depth}"
            )
            raise fault("nothing_to_train_on", text, "retrieve deeper, or with another model")
        with threadpool_limits(limits=1):  # sums of gradients depend on the number of threads
            trees = self._fit(features(taught.pool, self.window_days, self.tags), past, wanted)
            return _scores(trees, features(pool, self.window_days, self.tags), found, tools)

    def _fit(self, known: Features, past: Lists, wanted: Bool) -> _Fitted:
        rows = _drawn(past, wanted, self.negatives, self.seed)
        lists = Lists(past.query[rows], past.item[rows], past.score[rows])
        table = known.of(lists, best_of_list(past)[rows], slice(None))
        used: Bool = ~np.all(np.isnan(table), axis=0)  # a pool without dates has no ages
        trees = HistGradientBoostingClassifier(
            max_iter=self.iterations,
            learning_rate=self.learning_rate,
            max_leaf_nodes=self.leaves,
            min_samples_leaf=self.min_rows,
            early_stopping=False,
            random_state=self.seed,
        )
        return _Fitted(trees.fit(table[:, used], wanted[rows]), used)


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


PLUGIN = Trees
