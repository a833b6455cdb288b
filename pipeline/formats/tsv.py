"""TSV: a header, tabs, no quoting: a double quote is a character like any other."""

from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from pipeline.formats import _delimited
from pipeline.formats._source import Source

_DIALECT = _delimited.Dialect("tsv", "\t", quoting=False)


@dataclass(frozen=True)
class Tsv:
    """TSV with a header."""

    suffixes: ClassVar[tuple[str, ...]] = (".tsv",)

    def table(self, source: Source) -> pa.Table:
        """All columns of an attribute table."""
        return _delimited.table(source, _DIALECT)

    def qrels(self, source: Source) -> pa.Table:
        """Judgments of columns query_id, item_id, grade."""
        return _delimited.qrels(source, _DIALECT)

    def run(self, source: Source) -> pa.Table:
        """Scored lists of columns query_id, item_id, score, rank."""
        return _delimited.run(source, _DIALECT)


PLUGIN = Tsv
