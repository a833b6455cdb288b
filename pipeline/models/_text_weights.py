"""TF-IDF weights of texts, as scikit-learn has them."""

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfTransformer

from pipeline.core.arrays import Bool
from pipeline.models._text_words import NONE, Counts


def weights(counts: Counts, written: Bool, *, sublinear: bool) -> Counts:
    """TF-IDF weights instead of counts, each text's scaled to length 1.

    Args:
        counts: how often each term stands in each text.
        written: (I,) items that have a text: what idf is counted over.
        sublinear: whether a count f is read as 1 + log f.
    """
    if not counts.items.shape[1]:
        return counts
    scale = TfidfTransformer(sublinear_tf=sublinear).fit(counts.items[written])
    return Counts(*(scale.transform(part).tocsr() for part in (counts.queries, counts.items)))


def libraries(language: str) -> tuple[str, ...]:
    """Distributions that decide what TF-IDF weights are, given the stemmer's language."""
    own = ("scikit-learn", "numpy", "scipy")
    return own if language == NONE else (*own, "PyStemmer")


def english(name: str) -> frozenset[str]:
    """scikit-learn's English stop words, or none."""
    return frozenset() if name == NONE else ENGLISH_STOP_WORDS
