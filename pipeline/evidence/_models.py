"""models.json: which models exactly, baseline first; no user info of URIs. Producer: models."""

from pathlib import Path

from pipeline.core.evidence import Evidence, Ledger, ModelRecord
from pipeline.core.redact import redact_values
from pipeline.evidence._files import plain, read_json, write_json

FILE = "models.json"


def write(evidence: Evidence, folder: Path) -> None:
    """Writes one record a model."""
    write_json(folder / FILE, {"models": redact_values(plain(evidence.models))})


def read(folder: Path) -> tuple[ModelRecord, ...]:
    """Reads them back, in order."""
    records = read_json(folder / FILE)["models"]
    return tuple(ModelRecord(**{**r, "ledger": Ledger(**r["ledger"])}) for r in records)
