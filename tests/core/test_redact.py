"""Secrets do not reach what is written down."""

import pytest

from pipeline.core.redact import redact, redact_uris, redact_values


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("tracking.uri=https://ann:s3cret@host/x", "tracking.uri=https://host/x"),
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


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a postgresql+psycopg2://u:p@h/db b", "a postgresql+psycopg2://h/db b"),
        ("http://ann:p@ss@host:5000", "http://host:5000"),
        ("http://a:b@one,http://c:d@two", "http://one,http://two"),
        ("http://host/@home and http://host?at=a@b", "http://host/@home and http://host?at=a@b"),
        ("models:/ranker@champion", "models:/ranker@champion"),
    ],
)
def test_uris(text: str, clean: str) -> None:
    assert redact_uris(text) == clean
    assert redact_uris(clean) == clean


def test_values_keep_their_shape() -> None:
    rules = {"no_token_loss": {"kind": "max_drop", "limit": 0.1}, "gone": None}
    value = {"rules": rules, "where": "token == 'x'", "keys": {"api_token": ["a", 2]}}
    found = redact_values(value)
    assert found == {**value, "keys": {"api_token": ["***", "***"]}}
    assert value["keys"] == {"api_token": ["a", 2]}
