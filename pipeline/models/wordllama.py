"""WordLlama: the cosine between averages of static word vectors, which the package brings."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.core.arrays import F64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault
from pipeline.core.run import Origin
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models._identity import fitted
from pipeline.models._text import Columns, check, need, read, refuse_none
from pipeline.models._text_rank import by_cosine

_BATCH = 256  # texts whose word vectors are held at once


@dataclass(frozen=True, slots=True)
class WordLlama(Model):
    """256 dimensions, the model l2_supercat of the package wordllama; nothing is downloaded.

    A text is the mean of the vectors of its pieces of words, so that no word is unknown. Every item
    with a text is returned; a query without one is not answered.

    Attributes:
        query_text, item_text: columns that are read; a list of them is joined.
    """

    query_text: Columns = "text"
    item_text: Columns = "text"

    def __post_init__(self) -> None:
        """Checks the options."""
        refuse_none("query_text", self.query_text)
        refuse_none("item_text", self.item_text)

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """This kind, its options, its code and the packages that hold the vectors and the pieces.

        Raises:
            SamepoolError: the extra is not installed.
        """
        need("wordllama", "wordllama")
        return fitted(self, name, requested, "wordllama", "tokenizers", "numpy")

    def fits(self, pool: Pool, _origin: Origin, _registry: Registry | None, /) -> list[Problem]:
        """Columns that are missing, empty or no text."""
        return check(pool, "wordllama", self.query_text, self.item_text)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Scores over each query's rankable items.

        Raises:
            SamepoolError: the extra is not installed or not whole, or the pool has no such text.
        """
        need("wordllama", "wordllama")
        texts = read(pool, "wordllama", self.query_text, self.item_text)
        model = _loaded()
        asked, shown = _means(model, texts.queries), _means(model, texts.items)
        return by_cosine(pool, tools, "wordllama", asked, shown)


def _loaded() -> Any:
    """The model that lies in the package.

    Raises:
        SamepoolError: it does not.
    """
    # Importing the package makes the root logger print everybody's notes.
    root = logging.getLogger()
    level, handlers = root.level, list(root.handlers)
    import wordllama  # noqa: PLC0415 - an extra

    root.setLevel(level)
    root.handlers[:] = handlers
    place = Path(wordllama.__file__).parent
    try:
        return wordllama.WordLlama.load(cache_dir=place, disable_download=True)
    except FileNotFoundError as error:
        fix = "pip install --force-reinstall 'samepool[text]'"
        raise fault("missing_extra", f"kind wordllama: {error}", fix) from error


def _means(model: Any, texts: Sequence[str]) -> F64:
    """(N, 256) sums of the vectors of each text's pieces: only their direction counts."""
    vectors = np.asarray(model.embedding, dtype=np.float64)
    found = np.zeros((len(texts), vectors.shape[1]))
    # Texts are taken one by one, not by the tokeniser's threads, and never padded to one length.
    model.tokenizer.no_padding()
    for start in range(0, len(texts), _BATCH):
        pieces = [
            model.tokenizer.encode(text, add_special_tokens=False).ids
            for text in texts[start : start + _BATCH]
        ]
        rows = np.flatnonzero([len(ids) for ids in pieces])
        if not rows.size:
            continue
        held = np.concatenate([pieces[row] for row in rows])
        first = np.cumsum([0, *(len(pieces[row]) for row in rows[:-1])])
        known = vectors[np.clip(held, 0, len(vectors) - 1)]
        found[start + rows] = np.add.reduceat(known, first, axis=0)
    return found


PLUGIN = WordLlama
