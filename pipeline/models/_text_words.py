"""Words of texts, and how often each stands in each text."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from pipeline.core.arrays import I64
from pipeline.core.problems import fault
from pipeline.core.suggest import did_you_mean
from pipeline.models._text import Texts, need

# As scikit-learn and bm25s have it: single characters are no words.
_WORD = re.compile(r"\b\w\w+\b")
NONE = "none"  # an option that is null stands for its default
Stem = Callable[[list[str]], list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How often each term stands in each text.

    A term is a stem, or a word where nothing is stemmed. Terms are sorted, so that sums over them
    are made in the same order in every process.

    Attributes:
        queries: (Q, V) counts; terms that no item holds are left out.
        items: (I, V) counts.
    """

    queries: sparse.csr_array
    items: sparse.csr_array


def count(texts: Texts, stop: frozenset[str], stem: Stem) -> Counts:
    """Counts the terms of lower-cased texts.

    Args:
        texts: what is read.
        stop: words that are passed over, before stemming.
        stem: words to their stems, one each.
    """
    seen: dict[str, int] = {}  # a word's place, in order of first use
    of_items = _places(texts.items, seen, stop)
    n_words = len(seen)  # what queries add has no weight
    of_queries = _places(texts.queries, seen, stop)
    stems = stem(list(seen))
    terms = {term: place for place, term in enumerate(sorted(set(stems[:n_words])))}
    term_of_word = np.array([terms.get(term, -1) for term in stems], dtype=np.int64)
    return Counts(*(_matrix(*found, term_of_word, len(terms)) for found in (of_queries, of_items)))


def as_it_is(words: list[str]) -> list[str]:
    """No stemming."""
    return words


def stemmer(kind: str, language: str) -> Stem:
    """The Snowball stemmer of a language; ``none`` stems nothing.

    Raises:
        SamepoolError: PyStemmer is not installed, or does not know the language.
    """
    if language == NONE:
        return as_it_is
    need(kind, "Stemmer")
    import Stemmer  # noqa: PLC0415 - an extra

    known = [NONE, *Stemmer.algorithms()]
    if language not in known:
        text = f"kind {kind}: there is no stemmer for {language!r}"
        raise fault("unknown_language", text, did_you_mean(language, known))
    found: Stem = Stemmer.Stemmer(language).stemWords
    return found


def _places(
    texts: Iterable[str], seen: dict[str, int], stop: frozenset[str]
) -> tuple[I64, list[int]]:
    """(N,) places of all words of all texts, and how many words each text has."""
    places: list[int] = []
    lengths = []
    for text in texts:
        words = [word for word in _WORD.findall(text.lower()) if word not in stop]
        places += [seen.setdefault(word, len(seen)) for word in words]
        lengths.append(len(words))
    return np.array(places, dtype=np.int64), lengths


def _matrix(places: I64, lengths: list[int], term_of_word: I64, n_terms: int) -> sparse.csr_array:
    row = np.repeat(np.arange(len(lengths)), lengths)
    term = term_of_word[places]
    known = term >= 0
    entries = (np.ones(known.sum()), (row[known], term[known]))
    counts = sparse.coo_array(entries, shape=(len(lengths), n_terms)).tocsr()
    counts.sum_duplicates()
    counts.sort_indices()
    return counts
