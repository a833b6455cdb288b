"""Options of a kind are checked against its dataclass, all problems at once."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pytest

from pipeline.core.options import parse
from pipeline.core.problems import SamepoolError


@dataclass(frozen=True)
class Example:
    path: str
    factors: int = 50
    share: float = 0.2
    shrink: float | None = None
    mode: Literal["a", "b"] = "a"
    ids: tuple[str, ...] = ()
    more: Mapping[str, Any] | None = None
    strict: bool = False
    grades: Mapping[str, float] | None = None
    bounds: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.factors < 1:
            raise ValueError("factors must be at least 1")


def problems_of(given: dict[str, Any]) -> list[str]:
    with pytest.raises(SamepoolError) as caught:
        parse(Example, given, "models.svd")
    return [str(problem) for problem in caught.value.problems]


def test_values_are_taken_and_text_numbers_converted() -> None:
    found = parse(Example, {"kind": "x", "path": "p", "factors": "7", "share": 1}, "models.svd")
    assert (found.path, found.factors, found.share) == ("p", 7, 1.0)


def test_null_stands_for_the_default() -> None:
    assert parse(Example, {"path": "p", "factors": None}, "m").factors == 50


def test_lists_become_tuples() -> None:
    assert parse(Example, {"path": "p", "ids": ["a", "b"]}, "m").ids == ("a", "b")


def test_an_unknown_option_names_the_nearest() -> None:
    assert problems_of({"path": "p", "factor": 3}) == [
        "unknown option models.svd.factor -> did you mean factors?"
    ]


def test_a_missing_option_says_how_to_set_it() -> None:
    assert problems_of({}) == ["models.svd.path is not set -> set models.svd.path=..."]


def test_all_problems_come_together() -> None:
    found = problems_of({"fctors": 1, "share": "x", "factors": 1.5})
    assert len(found) == 4
    assert any("models.svd.factors: 1.5" in text for text in found)
    assert any("models.svd.share: 'x'" in text for text in found)


@pytest.mark.parametrize("value", [3, True, ["x"]])
def test_a_number_is_never_turned_into_an_id(value: object) -> None:
    assert "models.svd.path" in problems_of({"path": value})[0]


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("name", ["factors", "share", "shrink"])
def test_a_boolean_is_not_a_number(name: str, value: bool) -> None:  # noqa: FBT001
    (found,) = problems_of({"path": "p", name: value})
    assert (
        found == f"models.svd.{name}: {value}: true and false are not numbers -> write the number"
    )


@pytest.mark.parametrize("given", [{"grades": {"a": True}}, {"bounds": [False, 1]}])
def test_nor_within_a_list_or_mapping(given: dict[str, Any]) -> None:
    assert "true and false are not numbers" in problems_of({"path": "p", **given})[0]


def test_booleans_are_taken_where_they_are_asked_for() -> None:
    found = parse(Example, {"path": "p", "strict": True, "more": {"a": True, "b": 1}}, "m")
    assert (found.strict, found.more) == (True, {"a": True, "b": 1})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "nan"])
def test_nan_is_refused(value: object) -> None:
    assert "models.svd.share" in problems_of({"path": "p", "share": value})[0]


def test_a_dataclass_may_refuse_a_value() -> None:
    assert problems_of({"path": "p", "factors": 0}) == ["models.svd: factors must be at least 1"]


def test_a_choice_lists_its_values() -> None:
    assert "'a' or 'b'" in problems_of({"path": "p", "mode": "c"})[0]
