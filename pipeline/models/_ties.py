"""Scores that cannot order lists: labels, or the same score for everything."""

from dataclasses import dataclass, field

import numpy as np

from pipeline.core.arrays import F64, I32
from pipeline.core.problems import Problem, Severity

FEW = 10  # distinct scores in all that a list's first places cannot be told apart by


@dataclass(slots=True)
class Spread:
    """How far the scores of a model tell the items of its lists apart; filled list by list.

    Lists of a single item have no order and do not count.

    Attributes:
        pairs: scored pairs in lists of two items and more.
        tied: pairs among them whose score another item of the list has too.
        lists: such lists.
        varied: lists in which not all scores are equal.
        distinct: different scores in all lists; no more than FEW + 1 are kept.
    """

    pairs: int = 0
    tied: int = 0
    lists: int = 0
    varied: int = 0
    distinct: F64 = field(default_factory=lambda: np.empty(0))

    def add(self, query: I32, score: F64) -> None:
        """Counts whole lists.

        Args:
            query: (N,) codes, ascending; all pairs of a query at once.
            score: (N,) finite scores.
        """
        order = np.lexsort((score, query))
        query, score = query[order], score[order]
        first = np.flatnonzero(np.diff(query, prepend=-1))
        length = np.diff(first, append=len(query))
        several = np.repeat(length, length) > 1
        equal = (query[1:] == query[:-1]) & (score[1:] == score[:-1])
        tied = np.append(equal, False) | np.append(False, equal)
        last = first + length - 1
        self.pairs += int(several.sum())
        self.tied += int(tied.sum())
        self.lists += int((length > 1).sum())
        self.varied += int((score[first] != score[last]).sum())
        if len(self.distinct) <= FEW:
            both = np.concatenate([self.distinct, score[several]])
            self.distinct = np.unique(both)[: FEW + 1]

    def problem(self, who: str, *, allowed: bool) -> Problem | None:
        """What is wrong with the scores; a warning where it is allowed.

        Wrong are lists in all of which every item has the same score; and FEW different scores or
        fewer in all, where more than half of the pairs tie with another of their list: so many
        items cannot be ordered by so few values, which is how labels look. Few pairs with as few
        scores that do tell them apart are right.
        """
        severity: Severity = "warning" if allowed else "error"
        fix = "" if allowed else "return a score, e.g. output: CLASS; or allow_ties: true"
        if not self.lists:
            return None
        if not self.varied:
            same = "one score" if len(self.distinct) == 1 else "one score a query"
            text = f"{who} is constant: it gave {same} to {self.pairs:,} pairs"
            text = f"{text}; ranking is tie-break only"
            return Problem("constant_scores", severity, text, fix)
        if len(self.distinct) <= FEW and 2 * self.tied > self.pairs:
            text = f"{who} gave {len(self.distinct)} distinct scores for {self.pairs:,} pairs"
            text = f"{text}, as labels do; ranking is mostly by tie-break"
            return Problem("few_scores", severity, text, fix)
        return None
