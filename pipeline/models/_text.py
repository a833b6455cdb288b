"""What is written in a pool: the texts of its queries and items, and what text models need."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from unicodedata import normalize

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.core.suggest import did_you_mean

Columns = str | tuple[str, ...]

# Modules of the extra samepool[text], and the distributions that bring them.
_DISTRIBUTIONS = {"bm25s": "bm25s", "Stemmer": "PyStemmer", "wordllama": "wordllama"}


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """One text a query and an item, in the order of the vocabulary; empty where there is none.

    White space is folded, a line break of the file being no word, and accents are one with their
    letters (Unicode NFC), however the file has them.
    """

    queries: list[str]
    items: list[str]

    @property
    def written(self) -> Bool:
        """(I,) whether the item has a text."""
        return np.array([bool(text) for text in self.items], dtype=np.bool_)


def read(pool: Pool, kind: str, query_text: Columns, item_text: Columns) -> Texts:
    """The texts of a pool.

    Args:
        pool: what is asked.
        kind: of the model, for messages.
        query_text: column of queries; several are joined by a space, in their order.
        item_text: column of items; likewise.

    Raises:
        SamepoolError: there is no such column, or it holds no text.
    """
    raise_errors(check(pool, kind, query_text, item_text))
    return Texts(_joined(pool.queries, query_text), _joined(pool.items, item_text))


def check(pool: Pool, kind: str, query_text: Columns, item_text: Columns) -> list[Problem]:
    """What keeps a text model from ranking a pool: columns that are missing, empty or no text."""
    problems: list[Problem] = []
    for table, name, columns in (("queries", "query", query_text), ("items", "item", item_text)):
        found = getattr(pool, table)
        wrong = [p for c in _listed(columns) for p in _column(found, table, c, kind, name)]
        if not wrong and not any(_joined(found, columns)):
            text = f"kind {kind} reads {_words(columns)} of {table}, and no row holds any text"
            wrong.append(Problem("no_text", "error", text, f"set {name}_text to another column"))
        problems += wrong
    return problems


def need(kind: str, *modules: str) -> None:
    """Checks that modules of the extra are installed.

    Raises:
        SamepoolError: one is not.
    """
    missing = [_DISTRIBUTIONS[module] for module in modules if find_spec(module) is None]
    if missing:
        text = f"kind {kind} needs {' and '.join(missing)}"
        raise fault("missing_extra", text, "pip install 'samepool[text]'")


def refuse_none(name: str, columns: Columns) -> None:
    """Raises ValueError where an option names no column."""
    if not all(_listed(columns)) or not _listed(columns):
        raise ValueError(f"{name} names no column")


def _column(table: pa.Table, name: str, column: str, kind: str, option: str) -> Iterable[Problem]:
    others = [other for other in table.column_names if not other.endswith("_id")]
    if column not in table.column_names:
        text = f"kind {kind} reads column {column!r} of {name}, and there is none"
        fix = f"set {option}_text; {did_you_mean(column, others)}"
        if not others:
            fix = f"give the pool a table of {name} with their texts: pool.{name}=FILE"
        yield Problem("no_text", "error", text, fix)
    elif not _is_text(table[column].type):
        text = f"kind {kind}: column {column!r} of {name} holds {table[column].type}, not text"
        yield Problem("no_text", "error", text, f"set {option}_text to a column of text")


def _is_text(kind: pa.DataType) -> bool:
    # A column of nulls alone has no type of its own; that it holds no text is told as such.
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_null)
    return any(test(kind) for test in tests)


def _joined(table: pa.Table, columns: Columns) -> list[str]:
    parts: list[Sequence[str | None]] = [table[column].to_pylist() for column in _listed(columns)]
    rows = zip(*parts, strict=True)
    return [" ".join(normalize("NFC", " ".join(filter(None, row))).split()) for row in rows]


def _listed(columns: Columns) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else columns


def _words(columns: Columns) -> str:
    listed = [repr(column) for column in _listed(columns)]
    return f"column{'s' if len(listed) > 1 else ''} {', '.join(listed)}"
