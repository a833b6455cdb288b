"""Parameters of runs: settings in flat form, for MLflow's columns and filters."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.core.evidence import Evidence, ModelRecord
from pipeline.core.redact import redact_uris, redact_values
from pipeline.tracking._keys import plain

_MOST = 100
_LONGEST = 500  # what every server takes; config.yaml has the whole


def of(evidence: Evidence) -> dict[str, str]:
    """Parameters of a comparison; the same evidence always gives the same."""
    first = {
        "pool": evidence.pool.name,
        "pool_digest": evidence.pool.digest,
        "baseline": evidence.baseline,
        "models": [each.name for each in evidence.models],
        "metrics": [each.label for each in evidence.metrics],
        "slices": list(evidence.slices.names),
    }
    found: dict[str, str] = {}
    for name, value in [*_flat(first), *_flat(redact_values(evidence.settings))]:
        if len(found) < _MOST:
            found.setdefault(name, _text(value))
    return found


def of_model(record: ModelRecord) -> dict[str, str]:
    """Parameters of a model's run."""
    values = {
        "role": record.role,
        "kind": record.kind,
        "requested": record.requested,
        "resolved": record.resolved,
        "registered": record.registered,
        "version": record.version,
    }
    return {name: _text(value) for name, value in values.items() if value is not None}


def _flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, item in value.items():
        name = f"{prefix}{plain(str(key))}"
        if isinstance(item, Mapping):
            yield from _flat(item, f"{name}.")
        elif item is not None:
            yield name, item


def _text(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = redact_uris(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
