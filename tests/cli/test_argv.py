"""Words of a command are sorted before Hydra sees them."""

import pytest

from pipeline.cli._argv import parse
from pipeline.core.problems import SamepoolError


def test_flags_are_moved_ahead() -> None:
    found = parse("compare", ["pool=a,b", "-m", "seed=1", "--config-dir", "."])
    assert found.flags == ("--multirun", "--config-dir", ".")
    assert found.overrides == ("pool=a,b", "seed=1")
    assert found.multirun


@pytest.mark.parametrize("text", ["1234e56", "0012", "latest", "outputs/a b", "2026-12-01/x=y"])
def test_run_stays_text(text: str) -> None:
    assert parse("gate", [f"run={text}"]).run == text


def test_out_of_a_comparison_names_the_folder_of_every_job() -> None:
    words = parse("compare", ["out=x/y"]).overrides
    assert words == ("hydra.run.dir=x/y", "hydra.sweep.dir=x/y")
    assert parse("gate", ["out=x/y"]).overrides == ("out=x/y",)


def test_a_flag_without_its_value_is_named() -> None:
    with pytest.raises(SamepoolError, match="--config-dir needs a value"):
        parse("compare", ["--config-dir"])


@pytest.mark.parametrize("words", [["-cd", "."], ["--config-dir=."], ["-cd=."]])
def test_a_flag_has_one_form(words: list[str]) -> None:
    assert parse("check", words).flags == ("--config-dir", ".")
