"""BM25: items that share the query's words, rare ones counting more."""

import logging
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from pipeline.core.arrays import Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault
from pipeline.core.run import Origin
from pipeline.core.suggest import did_you_mean
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._identity import fitted
from pipeline.models._text import Columns, check, need, read, refuse_none
from pipeline.models._text_rank import by_terms
from pipeline.models._text_words import NONE, Stem, count, stemmer

_LIBRARIES = ("bm25s", "PyStemmer", "numpy", "scipy")


@dataclass(frozen=True, slots=True)
class Bm25(Model):
    """Sum over the query's words of idf times saturated frequency, by the package bm25s.

    Under ``lucene`` a term counts log(1 + (N - n + .5) / (n + .5)) * f / (f + k1 (1 - b + b l /
    mean l)), with N the items that have a text, n those that hold the term, f its count in the item
    and l the item's number of words. Kamphuis, de Vries, Boytsov and Lin, Which BM25 do you mean,
    ECIR 2020. An item that shares no word with the query is not returned; nor is one without text.

    Attributes:
        query_text, item_text: columns that are read; a list of them is joined.
        k1: how soon further occurrences stop counting, >= 0.
        b: how much long texts are held back, 0 to 1.
        method: ``lucene``, ``robertson``, ``atire``, ``bm25l`` or ``bm25+``. Of the last two, what
            every item gets alike is left out.
        delta: of ``bm25l`` and ``bm25+``, >= 0.
        stemmer: language of the Snowball stemmer; ``none`` stems nothing.
        stopwords: language of the words that are passed over, bm25s's list; ``none`` has none.
    """

    query_text: Columns = "text"
    item_text: Columns = "text"
    k1: float = 0.9
    b: float = 0.4
    method: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = "lucene"
    delta: float = 0.5
    stemmer: str = "english"
    stopwords: str = "english"

    def __post_init__(self) -> None:
        """Checks the options."""
        if self.k1 < 0 or self.delta < 0:
            raise ValueError(f"k1 and delta must be at least 0, not {min(self.k1, self.delta)}")
        if not 0 <= self.b <= 1:
            raise ValueError(f"b must be between 0 and 1, not {self.b}")
        refuse_none("query_text", self.query_text)
        refuse_none("item_text", self.item_text)

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options, its code and the libraries that weigh and stem.

        Raises:
            SamepoolError: the extra is not installed, or a language is unknown.
        """
        self._words()
        return fitted(self, name, requested, *_LIBRARIES)

    def fits(self, pool: Pool, _origin: Origin, _registry: Registry | None, /) -> list[Problem]:
        """Columns that are missing, empty or no text."""
        return check(pool, "bm25", self.query_text, self.item_text)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores over each query's rankable items.

        Raises:
            SamepoolError: the extra is not installed, or the pool has no such text.
        """
        stop, stem = self._words()
        texts = read(pool, "bm25", self.query_text, self.item_text)
        counts = count(texts, stop, stem)
        weights = self._weights(counts.items, texts.written)
        return by_terms(pool, tools, "bm25", counts.queries, weights)

    def _words(self) -> tuple[frozenset[str], Stem]:
        """Words to pass over, and the stemmer."""
        need("bm25", "bm25s", "Stemmer")
        return _stopwords(self.stopwords), stemmer("bm25", self.stemmer)

    def _weights(self, counts: sparse.csr_array, written: Bool) -> sparse.csr_array:
        """(I, V) what each term of each item is worth to a query that has it once."""
        import bm25s  # noqa: PLC0415 - an extra

        logging.getLogger("bm25s").setLevel(logging.WARNING)  # it tells each step
        n_terms = counts.shape[1]
        if not n_terms:
            return counts
        rows = np.flatnonzero(written)
        index = bm25s.BM25(
            k1=self.k1, b=self.b, delta=self.delta, method=self.method, dtype="float64"
        )
        names = {str(term): term for term in range(n_terms)}
        held = _occurrences(counts[rows])
        index.index((held, names), create_empty_token=False, show_progress=False)
        found = index.scores
        term = np.repeat(np.arange(n_terms), np.diff(found["indptr"]))
        entries = (found["data"], (rows[found["indices"]], term))
        return sparse.coo_array(entries, shape=counts.shape).tocsr()


def _occurrences(counts: sparse.csr_array) -> list[list[int]]:
    """Each row's terms, each as often as it is counted: what bm25s reads."""
    terms = np.repeat(counts.indices, counts.data.astype(np.int64))
    lengths = np.asarray(counts.sum(axis=1), dtype=np.int64)
    return [part.tolist() for part in np.split(terms, np.cumsum(lengths)[:-1])]


def _stopwords(language: str) -> frozenset[str]:
    """The list of bm25s for a language.

    Raises:
        SamepoolError: there is none.
    """
    from bm25s import stopwords  # noqa: PLC0415 - an extra

    prefix = "STOPWORDS_"
    names = [name.removeprefix(prefix) for name in dir(stopwords) if name.startswith(prefix)]
    known = {"english": "EN"} | {name.lower(): name for name in names if len(name) > 2}
    if language == NONE:
        return frozenset()
    if language not in known:
        text = f"kind bm25: there are no stopwords for {language!r}"
        raise fault("unknown_language", text, did_you_mean(language, [NONE, *known]))
    return frozenset(getattr(stopwords, prefix + known[language]))


PLUGIN = Bm25
