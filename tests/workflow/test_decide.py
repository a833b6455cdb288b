"""The exit code of a gate over one or several candidates."""

from types import SimpleNamespace
from typing import Any

import pytest

from pipeline.core.decision import Decision
from pipeline.core.problems import SamepoolError
from pipeline.workflow.decide import exit_code

MODELS: Any = [
    SimpleNamespace(name=name, role=role)
    for name, role in (("old", "baseline"), ("a", "candidate"), ("b", "candidate"))
]


def decisions(*statuses: str) -> list[Decision]:
    return [
        Decision(model, status, None, None, (), "", "")  # type: ignore[arg-type]
        for model, status in zip("ab", statuses, strict=False)
    ]


@pytest.mark.parametrize(
    ("statuses", "code"),
    [
        (("pass",), 0),
        (("fail",), 3),
        (("invalid",), 3),
        (("inconclusive",), 4),
        (("no_criteria",), 2),
        (("fail", "pass"), 0),
        (("invalid", "inconclusive"), 4),
        (("fail", "invalid"), 3),
        (("no_criteria", "no_criteria"), 2),
    ],
)
def test_at_least_one_must_pass(statuses: tuple[str, ...], code: int) -> None:
    assert exit_code(decisions(*statuses), MODELS, None) == code


def test_a_candidate_that_is_named_decides_alone() -> None:
    assert exit_code(decisions("pass", "fail"), MODELS, "b") == 3
    assert exit_code(decisions("fail", "pass"), MODELS, "b") == 0


def test_a_candidate_that_is_not_there_is_named() -> None:
    with pytest.raises(SamepoolError, match="no candidate 'c' -> there are: a, b"):
        exit_code(decisions("pass", "fail"), MODELS, "c")


def test_nothing_to_decide_is_no_pass() -> None:
    with pytest.raises(SamepoolError, match="nothing to decide"):
        exit_code([], MODELS, None)
