"""Times, against the standard library."""

from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.pool._tables import Sheet
from pipeline.pool._times import instant, micros, to_times
from pipeline.pool._types import normal

ZONES = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
TIMES = st.datetimes(datetime(1678, 1, 1), datetime(2261, 1, 1), timezones=ZONES | st.just(UTC))  # noqa: DTZ001


def parsed(values):
    problems = []
    column = normal(pa.chunked_array([pa.array(values)]))
    table = pa.table({"at": column})
    return to_times(Sheet("logs", table, problems), "at", column), problems


@settings(max_examples=100, deadline=None)
@given(st.lists(TIMES, min_size=1, max_size=5), st.sampled_from(["T", " "]))
def test_iso_text_is_read_as_the_standard_library_reads_it(times, separator):
    found, problems = parsed([t.isoformat(separator) for t in times])
    assert problems == []
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    assert micros(found).tolist() == [(t - epoch) // timedelta(microseconds=1) for t in times]


@settings(max_examples=50, deadline=None)
@given(TIMES)
def test_an_instant_is_the_same_as_a_column(time):
    found, _ = parsed([time.isoformat()])
    assert instant(time.isoformat()) == micros(found)[0]


def test_zones_dates_and_fractions():
    texts = [
        "1970-01-02", "1970-01-01T00:01", "1970-01-01 00:00:00.1234567Z", "1970-01-01T01:00:00+01",
        "1969-12-31T22:30:00-0130", None,
    ]  # fmt: skip
    found, problems = parsed(texts)
    assert problems == []
    day = 86_400 * 10**6
    assert micros(found, 7).tolist() == [day, 60 * 10**6, 123_456, 0, 0, 7]


def test_a_column_of_nothing_is_unknown():
    found, problems = parsed([None, None])
    assert problems == []
    assert micros(found, 7).tolist() == [7, 7]


def test_other_types():
    big = pa.chunked_array([pa.array([2**64 - 1, 1], pa.uint64())])
    assert normal(big).to_pylist() == [float(2**64), 1.0]
    assert normal(pa.chunked_array([pa.array([float("nan"), 1.0], pa.float32())])).to_pylist() == [
        None,
        1.0,
    ]


def test_typed_times():
    naive = pa.array([datetime(1970, 1, 1, 0, 0, 1)], pa.timestamp("ms"))  # noqa: DTZ001
    column = normal(pa.chunked_array([naive]))
    assert micros(column).tolist() == [10**6]
    day = normal(pa.chunked_array([pa.array([1], pa.date32())]))
    assert micros(day).tolist() == [86_400 * 10**6]
