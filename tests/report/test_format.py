import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.report import _format as fmt

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE)
def test_delta_never_loses_its_sign_and_never_prints_a_signed_zero(value: float) -> None:
    text = fmt.delta(value)
    assert text not in {"-0.0000", "+0.0000"}
    assert text.startswith({1: "+", -1: "-", 0: "0"}[(value > 0) - (value < 0)])


@given(st.floats(min_value=-1, max_value=1))
def test_mean_is_within_half_of_its_last_digit(value: float) -> None:
    assert float(fmt.mean(value)) == pytest.approx(value, abs=0.5000001e-4)


@given(st.floats(min_value=0, max_value=1))
def test_p_is_never_printed_as_zero_and_as_one_only_when_it_is(p: float) -> None:
    text = fmt.p_value(p)
    assert text not in {"0", ".000", "0.000", "1.000"}
    assert (text == "1") == (p == 1)


@pytest.mark.parametrize(
    ("part", "whole", "text"),
    [(99_999, 100_000, ">99.9 %"), (1, 100_000, "<0.1 %"), (1, 3, "33.3 %"), (0, 5, "0 %")],
)
def test_share_does_not_round_to_all_or_nothing(part: int, whole: int, text: str) -> None:
    assert fmt.share(part, whole) == text


@given(st.text())
def test_clean_text_is_one_printable_line(text: str) -> None:
    cleaned = fmt.clean(text)
    assert len(cleaned) == len(text)
    assert not set(cleaned) & set("\n\r\t\x1b\x00\x7f\x9b\u2028\u202e\u2066")
    cleaned.encode("utf-8")


@pytest.mark.parametrize("value", [None, float("nan")])
def test_missing_is_said(value: float | None) -> None:
    assert fmt.mean(value) == fmt.delta(value) == fmt.p_value(value) == "n/a"
