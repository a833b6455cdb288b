import gzip
from pathlib import Path

import pytest


@pytest.fixture
def put(tmp_path):
    """Writes a file of bytes or text under a name (packed where it ends in .gz); its path."""

    def write(name: str, content: str | bytes) -> str:
        raw = content.encode() if isinstance(content, str) else content
        path = Path(tmp_path) / name
        path.write_bytes(gzip.compress(raw, 1) if name.endswith(".gz") else raw)
        return str(path)

    return write


@pytest.fixture
def shared():
    """The folder of real cases beside the checkout."""
    folder = Path(__file__).parents[3] / "shared" / "cases"
    if not folder.is_dir():
        pytest.skip("needs the collections in ../shared/cases")
    return folder
