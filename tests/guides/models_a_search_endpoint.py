"""A process that answers as Elasticsearch does, with the lists of a run."""

from collections.abc import Iterator
from pathlib import Path

from tests.endpoints.endpoint import serving


def ready(folder: Path, environment: dict[str, str]) -> Iterator[dict[str, str]]:
    """Where it is, and a key for it."""
    with serving("--run", str(folder / "ce.trec")) as endpoint:
        address = f"http://127.0.0.1:{endpoint.port}"
        yield {"SHOP_SEARCH": address, "SHOP_SEARCH_KEY": "not-a-real-key"}
