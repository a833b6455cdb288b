"""The search-like demo pool, against the real data; and that no package is ever run."""

import hashlib
import io
import tarfile
from pathlib import Path

import numpy as np
import pytest

from pipeline.core.problems import SamepoolError, UnreachableError
from pipeline.pool import _package, load
from pipeline.pool.semanlink import SOURCE

DATA = SOURCE  # what the fixture cache holds


@pytest.mark.network
def test_tags_are_queries(cache):
    pool = load({"kind": "semanlink"})
    assert (len(pool.queries), len(pool.items)) == (870, 7245)
    judgments = pool.judgments
    assert len(judgments.item) == 10_865
    assert set(judgments.grade) == {1.0}
    assert judgments.eligible.all()
    per_query = np.diff(judgments.query_ptr)
    assert per_query.min() == 5
    # Frequency is the number of documents with the tag.
    assert pool.units.traffic.tolist() == per_query.tolist()
    rows = {row["query_id"]: row for row in pool.queries.to_pylist()}
    row = rows["aaron_swartz"]
    assert (row["text"], row["words"], row["first_year"]) == ("Aaron Swartz", 2, 2008)
    assert (row["has_alias"], row["has_parent"]) == (False, True)
    assert pool.queries["text"].null_count == 0
    assert [p.code for p in pool.problems if p.severity != "note"] == []
    assert [p.count for p in pool.problems if p.code == "no_text"] == [55]
    assert pool.declared.labels == "tag"
    assert pool.declared.labels_reason


@pytest.mark.network
def test_everything_is_asked_the_day_after_the_last_document(cache):
    pool = load({"kind": "semanlink"})
    asked = np.unique(pool.times.query)
    assert np.datetime64(int(asked[0]), "us") == np.datetime64("2021-10-28")
    assert len(asked) == 1
    age = (asked[0] - pool.times.created) / 86_400_000_000
    assert (age.min(), age.max()) == (1.0, 6240.0)  # 2021-10-27 and 2004-09-27
    assert (pool.times.eligible_from == pool.times.created).all()


@pytest.mark.network
def test_no_column_of_the_items_gives_the_answer_away(cache):
    """Tags are what is asked for; a document's own tags must not be among its columns."""
    pool = load({"kind": "semanlink"})
    assert set(pool.items.column_names) == {
        "item_id", "text", "title", "created_at", "eligible_from", "has_comment",
    }  # fmt: skip
    for row in pool.items.slice(0, 500).to_pylist():
        assert row["text"].startswith(row["title"])
        assert row["has_comment"] == (row["text"] != row["title"])
        assert row["text"].strip()


@pytest.mark.network
def test_the_least_number_of_documents_is_an_option(cache):
    many = load({"kind": "semanlink", "min_documents": 50})
    assert np.diff(many.judgments.query_ptr).min() >= 50
    assert 0 < len(many.queries) < 50
    assert len(many.items) == 7245  # also documents that no query asks for
    assert many.digest != load({"kind": "semanlink", "min_documents": 5}).digest
    with pytest.raises(SamepoolError, match=r"no tag has 5,000 documents -> set a smaller"):
        load({"kind": "semanlink", "min_documents": 5000})


def test_a_query_needs_something_relevant():
    with pytest.raises(SamepoolError, match="min_documents is 0"):
        load({"kind": "semanlink", "min_documents": 0})


# Packages


def source_package(folder, marker):
    """A package whose setup.py would leave a mark, where pip finds it."""
    code = f"open({str(marker)!r}, 'w').close()\nfrom setuptools import setup\n"
    code += "setup(name='samepool-made-up', version='1.0')\n"
    path = folder / "samepool-made-up-1.0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, text in (
            ("setup.py", code),
            ("PKG-INFO", "Metadata-Version: 1.0\nName: samepool-made-up\nVersion: 1.0\n"),
            ("data.txt", "held"),
        ):
            member = tarfile.TarInfo(f"samepool-made-up-1.0/{name}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return _package.Package("Made-up data", "samepool-made-up", "1.0", path.name, digest)


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A folder that is all of pip's world."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    monkeypatch.setenv("SAMEPOOL_CACHE", str(tmp_path / "cache"))
    return folder


def test_a_source_package_is_fetched_and_not_run(shelf, tmp_path):
    package = source_package(shelf, tmp_path / "ran")
    path = _package.fetched(package)
    with tarfile.open(path) as archive:
        assert archive.extractfile("samepool-made-up-1.0/data.txt").read() == b"held"
    assert not (tmp_path / "ran").exists()
    assert path == tmp_path / "cache" / package.file
    assert sorted(p.name for p in path.parent.iterdir()) == [package.file, f"{package.file}.lock"]
    (shelf / package.file).unlink()
    assert _package.fetched(package) == path  # from the cache


def test_another_file_under_its_name_is_refused_and_not_run(shelf, tmp_path):
    package = source_package(shelf, tmp_path / "ran")
    pinned = _package.Package("Made-up data", package.name, "1.0", package.file, "0" * 64)
    line = r"samepool-made-up-1.0.tar.gz is another file.* -> put the right file into"
    with pytest.raises(SamepoolError, match=line) as caught:
        _package.fetched(pinned)
    assert caught.value.exit_code == 2
    assert not (tmp_path / "ran").exists()
    assert not (tmp_path / "cache" / package.file).exists()


def test_what_pip_does_not_find_is_exit_5(shelf, tmp_path):
    with pytest.raises(UnreachableError, match=r"Semanlink cannot be fetched \(cherche==2.2.1\)"):
        load({"kind": "semanlink"})
    assert not list(Path(tmp_path / "cache").glob("cherche*.gz"))
