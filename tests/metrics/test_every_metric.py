"""What holds for every metric there is, whoever wrote it."""

from dataclasses import fields

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.registry import modules
from pipeline.core.scores import Reason
from pipeline.metrics import known, parse

QUERIES, ITEMS = "pqrs", "abcdefé日"


def notations():
    """Every metric with a small cutoff where it takes one, without one where it may, per stage."""
    for name, cls in known().items():
        names = {field.name for field in fields(cls)}
        ends = ["@3"] if "cutoff" in names else [""]
        ends += [""] if getattr(cls, "cutoff", 0) is None else []
        stages = ["", "(stage=retrieval)"] if "stage" in names else [""]
        yield from (f"{name}{stage}{end}" for stage in stages for end in ends)


ALL = sorted(notations())
PER_QUERY = [name for name in ALL if parse(name).info().per == "query"]

GRADES = st.one_of(st.integers(-2, 4), st.floats(0, 5, width=16))
QRELS = st.fixed_dictionaries(
    {query: st.dictionaries(st.sampled_from(ITEMS), GRADES, max_size=6) for query in QUERIES}
)
RUNS = st.dictionaries(
    st.sampled_from(QUERIES),
    st.dictionaries(st.sampled_from(ITEMS + "xyz"), st.integers(0, 4), max_size=9),
)
DAYS = st.dictionaries(st.sampled_from(ITEMS), st.integers(0, 60))


@st.composite
def cases(draw, case):
    qrels = draw(QRELS)
    pairs = sorted((query, item) for query, grades in qrels.items() for item in grades)
    chosen = st.sets(st.sampled_from(pairs)) if pairs else st.just(set())
    return case(
        qrels=qrels,
        run=draw(RUNS),
        retrieval=draw(st.none() | RUNS),
        items=tuple(ITEMS),
        ineligible=frozenset(draw(chosen)),
        asked=draw(st.dictionaries(st.sampled_from(QUERIES), st.integers(0, 60))),
        created=draw(DAYS),
        opens=draw(DAYS),
        closes=draw(DAYS),
        item_slices={"some": draw(chosen), "none": set()},
        query_slices={"half": {"p", "q"}},
    )


def test_every_module_of_the_folder_is_found():
    homes = {cls.__module__.rpartition(".")[2] for cls in known().values()}
    assert homes == set(modules("metrics"))


@pytest.mark.parametrize("name", ALL)
def test_labels_round_trip_and_descriptions_are_whole(name):
    metric = parse(name)
    info = metric.info()
    assert parse(metric.label) == metric
    assert info.label == metric.label
    assert info.stage == ("retrieval" if "retrieval" in name else "final")
    low, high = info.range
    assert low is None or high is None or low < high
    if info.worst is not None:
        assert info.worst == (low if info.direction == "higher" else high)
    assert info.formula
    assert info.words.count(". ") >= 1
    assert "tie" in info.words
    assert "judged" in info.words or "judgment" in info.words
    for part in ("Formula:", "Source:", "Range:", "Ties"):
        assert part in type(metric).__doc__


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_values_are_in_range_and_reasons_agree(case, data):
    asked = data.draw(cases(case))
    scores = asked.scores(*ALL)
    infos = {info.label: info for info in (parse(name).info() for name in ALL)}
    for place, (label, item_slice) in enumerate(scores.columns):
        value, reason = scores.values[:, place], scores.reason[:, place]
        info = infos[label]
        low, high = (np.inf * sign if end is None else end
                     for end, sign in zip(info.range, (-1, 1), strict=True))  # fmt: skip
        there = ~np.isnan(value)
        assert ((value[there] >= low) & (value[there] <= high)).all()
        without = np.isin(reason, [Reason.UNJUDGED, Reason.NO_RELEVANT, Reason.UNDEFINED])
        if info.worst is None:
            without |= reason == Reason.MISSING
        else:
            assert (value[reason == Reason.MISSING] == info.worst).all()
        assert (there == ~without).all()
        judged = [bool(asked.qrels[query]) for query in QUERIES]
        assert ((reason == Reason.UNJUDGED) == ~np.array(judged)).all()
        assert item_slice != "none" or np.isnan(value).all()
    for value in scores.lists.values():
        assert np.isnan(value) or 0 <= value <= 1


@given(st.data(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_the_order_of_rows_and_columns_changes_nothing(case, data, random):
    asked = data.draw(cases(case))
    lists = {"run": asked.run, "retrieval": asked.retrieval}
    shuffled = {
        stage: run
        and {
            query: dict(random.sample(list(rows.items()), len(rows)))
            for query, rows in random.sample(list(run.items()), len(run))
        }
        for stage, run in lists.items()
    }
    again = case(**{**vars(asked), **shuffled})
    one, other = asked.scores(*ALL), again.scores(*ALL[::-1])
    place = [other.columns.index(column) for column in one.columns]
    assert np.array_equal(one.values, other.values[:, place], equal_nan=True)
    assert np.array_equal(one.reason, other.reason[:, place])
    assert one.lists.keys() == other.lists.keys()
    assert np.array_equal(
        [*one.lists.values()], [other.lists[key] for key in one.lists], equal_nan=True
    )


@pytest.mark.parametrize("name", PER_QUERY)
def test_an_empty_run_is_missing_everywhere(case, name):
    metric = parse(name)
    times = {"asked": {"p": 1}, "created": {"a": 0}, "opens": {"a": 0}}
    found = case({"p": {"a": 1}}, {}, **times).column(name)["p"]
    worst = metric.info().worst
    assert found[1] == Reason.MISSING
    assert np.isnan(found[0]) if worst is None else found[0] == worst


@pytest.mark.parametrize("name", ALL)
def test_an_empty_pool_has_no_values(case, name):
    scores = case({}, {}).scores(name)
    assert scores.values.shape == (0, len(scores.columns))
    assert all(np.isnan(value) for value in scores.lists.values())
    unjudged = case({"p": {}}, {"p": {"a": 1.0}}).scores(name)
    assert np.isnan(unjudged.values).all()
    assert all(np.isnan(value) for value in unjudged.lists.values())


BINARY = ["P@3", "R@3", "RR@3", "AP@3", "Success@3", "nDCG@3", "DCG@3", "nDCG(gain=linear)@3"]


@given(
    st.permutations("abcdef"), st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 3)),
    st.integers(0, 4),
)  # fmt: skip
@settings(max_examples=60, deadline=None)
def test_moving_the_better_item_up_never_hurts(case, order, grades, place):
    qrels = {"q": {**grades, "a": 1}}
    better = list(order)
    grade = [qrels["q"].get(item, 0) for item in better]
    if grade[place] < grade[place + 1]:
        better[place : place + 2] = better[place + 1], better[place]
    before, after = (
        case(qrels, {"q": {item: -float(rank) for rank, item in enumerate(items)}})
        for items in (order, better)
    )
    before, after = before.scores(*BINARY).values[0], after.scores(*BINARY).values[0]
    assert (after >= before - 1e-12).all()


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 4), min_size=1))
@settings(max_examples=30, deadline=None)
def test_the_best_order_has_ndcg_one(case, grades):
    run = {"q": {item: float(grade) for item, grade in grades.items()}}
    found = case({"q": grades}, run)
    for name in ("nDCG@3", "nDCG", "nDCG(gain=linear)@5", "AP", "R", "RR"):
        assert found.value(name) == 1.0


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_a_deeper_cutoff_never_finds_less(case, data):
    asked = data.draw(cases(case))
    for name in ("R", "RR", "AP", "DCG"):
        shallow, deep, whole = (
            asked.scores(f"{name}{end}").values[:, 0] for end in ("@2", "@4", "")
        )
        there = ~np.isnan(shallow)
        assert (there == ~np.isnan(whole)).all()
        assert (shallow[there] <= deep[there] + 1e-12).all()
        assert (deep[there] <= whole[there] + 1e-12).all()
