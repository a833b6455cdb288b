"""Every engine gives each task's result, in the order of the tasks."""

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import kinds
from pipeline.core.settings import EngineSettings
from pipeline.engine import engine


@pytest.mark.parametrize("kind", kinds("engine"))
def test_results_come_in_the_order_of_the_tasks(kind: str) -> None:
    found = engine(EngineSettings(kind=kind)).map(lambda x: x * x, [3, 1, 2])
    assert list(found) == [9, 1, 4]


def test_local_holds_one_result_at_a_time() -> None:
    """The next model is scored only when the last one's numbers have been taken."""
    started: list[int] = []
    results = engine(EngineSettings()).map(lambda x: started.append(x) or x, [1, 2])
    assert next(results) == 1
    assert started == [1]


def test_an_unknown_engine_is_refused() -> None:
    with pytest.raises(SamepoolError, match="unknown kind 'spark'"):
        engine(EngineSettings(kind="spark"))
