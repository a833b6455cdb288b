"""A file is replaced whole, or stays as it was."""

from pathlib import Path

import pytest

from pipeline.core.files import replacing, write_text


def test_text_is_written_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "x.txt"
    write_text(path, "one\ntwo \N{SNOWMAN}\n")
    assert path.read_bytes() == b"one\ntwo \xe2\x98\x83\n"
    assert path.stat().st_mode & 0o777 == 0o644
    write_text(path, "new")
    assert path.read_text() == "new"
    assert list(path.parent.iterdir()) == [path]


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    write_text(path, "old")

    def half() -> None:
        with replacing(path) as temporary:
            temporary.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
