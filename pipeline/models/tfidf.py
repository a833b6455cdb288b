"""TF-IDF: the cosine between the words of the query and those of the item."""

from dataclasses import dataclass
from typing import Literal

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem
from pipeline.core.run import Origin
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._identity import fitted
from pipeline.models._text import Columns, check, read, refuse_none
from pipeline.models._text_rank import by_terms
from pipeline.models._text_weights import english, libraries, weights
from pipeline.models._text_words import count, stemmer


@dataclass(frozen=True, slots=True)
class TfIdf(Model):
    """The cosine of term weights, by scikit-learn.

    A term weighs f (1 + log((1 + N) / (1 + n))), with f its count in the text (or 1 + log f), N the
    items that have a text and n those that hold it. An item that shares no word with the query is
    not returned; nor is one without text.

    Attributes:
        query_text, item_text: columns that are read; a list of them is joined.
        sublinear: whether f counts as 1 + log f.
        stemmer: language of the Snowball stemmer, which needs PyStemmer; ``none`` stems nothing.
        stopwords: ``english``, scikit-learn's list, or ``none``.
    """

    query_text: Columns = "text"
    item_text: Columns = "text"
    sublinear: bool = True
    stemmer: str = "none"
    stopwords: Literal["english", "none"] = "english"

    def __post_init__(self) -> None:
        """Checks the options."""
        refuse_none("query_text", self.query_text)
        refuse_none("item_text", self.item_text)

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options, its code and the libraries that weigh and stem.

        Raises:
            SamepoolError: a stemmer is asked for and not installed, or unknown.
        """
        stemmer("tfidf", self.stemmer)
        return fitted(self, name, requested, *libraries(self.stemmer))

    def fits(self, pool: Pool, _origin: Origin, _registry: Registry | None, /) -> list[Problem]:
        """Columns that are missing, empty or no text."""
        return check(pool, "tfidf", self.query_text, self.item_text)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores over each query's rankable items.

        Raises:
            SamepoolError: the pool has no such text.
        """
        stem = stemmer("tfidf", self.stemmer)
        texts = read(pool, "tfidf", self.query_text, self.item_text)
        counts = count(texts, english(self.stopwords), stem)
        found = weights(counts, texts.written, sublinear=self.sublinear)
        return by_terms(pool, tools, "tf-idf", found.queries, found.items)


PLUGIN = TfIdf
