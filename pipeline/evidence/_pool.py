"""pool.json: which pool it was. Producer: pool."""

from pathlib import Path

from pipeline.core.evidence import Evidence, PoolRecord
from pipeline.core.redact import redact_values
from pipeline.evidence._files import plain, read_json, write_json

FILE = "pool.json"


def write(evidence: Evidence, folder: Path) -> None:
    """Writes the pool's record."""
    write_json(folder / FILE, redact_values(plain(evidence.pool)))


def read(folder: Path) -> PoolRecord:
    """Reads it back."""
    return PoolRecord(**read_json(folder / FILE))
