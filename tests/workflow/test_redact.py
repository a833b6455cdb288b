"""Secrets do not reach what is written down."""

import pytest

from pipeline.workflow.redact import redact


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("tracking.uri=https://ann:s3cret@host/x", "tracking.uri=https://***@host/x"),
        ("+models.es.api_key=abc", "+models.es.api_key=***"),
        ("  password: 'a b'", "  password: ***"),
        ("    DB_TOKEN: x\n    host: y", "    DB_TOKEN: ***\n    host: y"),
        ("password: null", "password: null"),
        ("token: ${oc.env:TOKEN}", "token: ${oc.env:TOKEN}"),
        ("seed: 3", "seed: 3"),
        ("path: a@b/c", "path: a@b/c"),
    ],
)
def test_lines(text: str, clean: str) -> None:
    assert redact(text) == clean
