"""Digests are equal exactly where the content is."""

import hashlib
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pipeline.kernels.digest import of_arrays, of_file, of_json, of_strings


def test_json_digest_is_sha256_of_canonical_text() -> None:
    assert (
        of_json({"b": 1, "a": "\u00e9"})
        == hashlib.sha256('{"a":"\u00e9","b":1}'.encode()).hexdigest()
    )


def test_equal_numbers_have_equal_digests() -> None:
    left = np.array([0.0, np.nan, 1.5])
    right = np.array([-0.0, -np.nan, 1.5])
    assert of_arrays({"x": left}) == of_arrays({"x": right})


def test_names_types_and_shapes_count() -> None:
    array = np.arange(4)
    digests = {
        of_arrays({"x": array}),
        of_arrays({"y": array}),
        of_arrays({"x": array.astype(np.float64)}),
        of_arrays({"x": array.reshape(2, 2)}),
    }
    assert len(digests) == 4


def test_memory_layout_does_not_count() -> None:
    array = np.arange(6.0).reshape(2, 3)
    assert of_arrays({"x": array}) == of_arrays({"x": np.asfortranarray(array)})
    assert of_arrays({"x": array}) == of_arrays({"x": array.astype(">f8")})


strings = st.lists(st.one_of(st.none(), st.text(max_size=5)), max_size=5)


@given(strings, strings)
def test_string_digests_collide_only_for_equal_lists(
    left: list[str | None], right: list[str | None]
) -> None:
    assert (of_strings(left) == of_strings(right)) == (left == right)


def test_file_digest(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"abc")
    assert of_file(str(path)) == hashlib.sha256(b"abc").hexdigest()
