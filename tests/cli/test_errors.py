"""What is read out of exceptions."""

from pipeline.cli._errors import _chain


def test_exceptions_that_lead_to_each_other_are_each_met_once() -> None:
    first, second = ValueError("first"), KeyError("second")
    first.__cause__, second.__context__ = second, first
    assert list(_chain(first)) == [first, second]
