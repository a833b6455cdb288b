"""Problems say where, what, and how to mend it."""

import pytest

from pipeline.core.problems import Problem, SamepoolError, fault, raise_errors


def test_one_line_holds_everything() -> None:
    problem = Problem(
        "x", "error", "q7 is there twice", "keep one", "qrels.trec", "line 3", ("a", "b")
    )
    assert str(problem) == "qrels.trec:line 3: q7 is there twice (e.g. a, b) -> keep one"


def test_a_fault_exits_2() -> None:
    assert fault("x", "text").exit_code == 2


def test_warnings_do_not_stop() -> None:
    warning = Problem("x", "warning", "odd")
    assert raise_errors([warning]) == (warning,)


def test_one_error_brings_all_problems() -> None:
    problems = [Problem("x", "warning", "odd"), Problem("y", "error", "bad")]
    with pytest.raises(SamepoolError) as caught:
        raise_errors(problems)
    assert caught.value.problems == tuple(problems)
