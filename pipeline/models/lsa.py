"""LSA: the cosine between query and item in the space of the largest factors of their words."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from threadpoolctl import threadpool_limits

from pipeline.core.arrays import F64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem
from pipeline.core.run import Origin
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._identity import fitted
from pipeline.models._text import Columns, check, read, refuse_none
from pipeline.models._text_rank import by_cosine
from pipeline.models._text_weights import english, libraries, weights
from pipeline.models._text_words import count, stemmer


@dataclass(frozen=True, slots=True)
class Lsa(Model):
    """Latent semantic analysis: TF-IDF weights, projected on their largest singular vectors.

    Deerwester et al., Indexing by latent semantic analysis, JASIS 1990; the factors are those of
    Halko, Martinsson and Tropp's randomised method, by scikit-learn. Every item with a known word
    is returned, and a query without one is not answered: it has no place in the space.

    Attributes:
        query_text, item_text: columns that are read; a list of them is joined.
        dimensions: factors kept; all of them where there are no more.
        seed: of the random projection.
        sublinear: whether a count f weighs as 1 + log f.
        stemmer: language of the Snowball stemmer, which needs PyStemmer; ``none`` stems nothing.
        stopwords: ``english``, scikit-learn's list, or ``none``.
    """

    query_text: Columns = "text"
    item_text: Columns = "text"
    dimensions: int = 200
    seed: int = 0
    sublinear: bool = True
    stemmer: str = "none"
    stopwords: Literal["english", "none"] = "english"

    def __post_init__(self) -> None:
        """Checks the options."""
        if self.dimensions < 1:
            raise ValueError(f"dimensions must be at least 1, not {self.dimensions}")
        if self.seed < 0:
            raise ValueError(f"seed must be at least 0, not {self.seed}")
        refuse_none("query_text", self.query_text)
        refuse_none("item_text", self.item_text)

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options, its code and the libraries that weigh, stem and factor.

        Raises:
            SamepoolError: a stemmer is asked for and not installed, or unknown.
        """
        stemmer("lsa", self.stemmer)
        return fitted(self, name, requested, *libraries(self.stemmer))

    def fits(self, pool: Pool, _origin: Origin, _registry: Registry | None, /) -> list[Problem]:
        """Columns that are missing, empty or no text."""
        return check(pool, "lsa", self.query_text, self.item_text)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores over each query's rankable items.

        Raises:
            SamepoolError: the pool has no such text.
        """
        stem = stemmer("lsa", self.stemmer)
        texts = read(pool, "lsa", self.query_text, self.item_text)
        counts = count(texts, english(self.stopwords), stem)
        found = weights(counts, texts.written, sublinear=self.sublinear)
        axes = term_factors(found.items, self.dimensions, self.seed)
        return by_cosine(pool, tools, "lsa", found.queries @ axes, found.items @ axes)


def term_factors(items: sparse.csr_array, dimensions: int, seed: int) -> F64:
    """(V, K) right singular vectors of the largest singular values, as columns.

    One thread only: with more, BLAS adds in another order.
    """
    small = min(items.shape)
    with threadpool_limits(limits=1):
        if dimensions >= small:
            return np.linalg.svd(items.toarray(), full_matrices=False)[2].T
        factors = TruncatedSVD(dimensions, random_state=seed).fit(items).components_
    return np.ascontiguousarray(factors.T)


PLUGIN = Lsa
