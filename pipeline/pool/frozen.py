"""A pool that ``samepool freeze`` wrote."""

from dataclasses import dataclass
from pathlib import Path

from pipeline.core.problems import Problem, fault
from pipeline.pool._record import RECORD, Record, read_record, read_tables
from pipeline.pool._tables import Tables


@dataclass(frozen=True, slots=True)
class Frozen:
    """A folder of Parquet tables with ``pool.json``; refused where either was edited.

    Attributes:
        path: the folder.
    """

    path: str | None = None

    def tables(self, problems: list[Problem]) -> Tables:
        """Reads the tables and verifies their bytes.

        Raises:
            SamepoolError: no such folder, no pool in it, or one that was edited.
        """
        if not self.path:
            raise fault("no_path", "pool.path is not set", "pool.path=pools/june")
        folder = Path(self.path)
        record = read_record(folder)
        tables = read_tables(folder, record, problems)
        problems += _warnings(record, str(folder / RECORD))
        return tables


def _warnings(record: Record, file: str) -> list[Problem]:
    """Sampled candidates are never used silently: Krichene and Rendle, KDD 2020."""
    drawn = record.declared.facts.get("sampled_candidates")
    if not drawn:
        return []
    short = record.counts.get("negatives", {}).get("queries_short", 0)
    most = "up to " if short else ""
    fewer = f"; {short:,} queries have fewer" if short else ""
    text = (
        f"the candidates are judged items and {most}{drawn['per_query']:,} sampled ones a query"
        f" ({drawn['how']}{fewer}): metrics on sampled candidates can reverse the order of models"
    )
    fix = "compare over the whole catalogue where you can: freeze with negatives.per_query=0"
    return [Problem("sampled_candidates", "warning", text, fix, file)]


PLUGIN = Frozen
