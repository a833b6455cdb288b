from importlib.metadata import EntryPoint

import pytest

from pipeline.core.problems import SamepoolError
from pipeline.metrics import _parse, known, parse, parse_all


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("nDCG@10", "nDCG(gain=exp)@10"),
        ("nDCG", "nDCG(gain=exp)"),
        (" nDCG( gain = linear ) @ 10 ", "nDCG(gain=linear)@10"),
        ("nDCG(gain='linear')@10", "nDCG(gain=linear)@10"),
        ("nDCG(gain=identity)@10", "nDCG(gain=identity)@10"),
        ("nDCG(dcg='log2')@10", "nDCG(gain=linear)@10"),
        ('DCG(dcg="exp-log2")@5', "DCG(gain=exp)@5"),
        ("nDCG(stage=retrieval)@100", "nDCG(gain=exp,stage=retrieval)@100"),
        ("R(stage=retrieval,rel=2)@100", "R(rel=2,stage=retrieval)@100"),
        ("P(rel=1.5)@10", "P(rel=1.5)@10"),
        ("P(rel=1)@10", "P(rel=1)@10"),
        ("P(stage=final)@10", "P@10"),
        ("P()@010", "P@10"),
        ("AP", "AP"),
        ("MAP@100", "AP@100"),
        ("MRR@10", "RR@10"),
        ("Freshness@10", "Freshness(new=30)@10"),
        ("Freshness(new=365)@10", "Freshness(new=365)@10"),
    ],
)
def test_labels_are_canonical_and_round_trip(text, label):
    metric = parse(text)
    assert metric.label == label
    assert parse(label) == metric
    assert metric.info().label == label


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc@10", "unknown metric ndgc@10 -> did you mean nDCG@10?"),
        ("ndcg@10", "unknown metric ndcg@10 -> did you mean nDCG@10?"),
        ("map", "unknown metric map -> did you mean AP?"),
        ("Sucess(rel=2)@5", "unknown metric Sucess(rel=2)@5 -> did you mean Success(rel=2)@5?"),
        ("P", "P needs a cutoff -> write P@10"),
        ("nDCG(gian=exp)@10", "nDCG(gian=exp)@10: unknown parameter gian -> did you mean gain?"),
        ("Judged(rel=1)@10", "Judged(rel=1)@10: unknown parameter rel -> there are: stage"),
        ("R(cutoff=5)", "R(cutoff=5): unknown parameter cutoff -> the cutoff stands after the @"),
        ("nDCG(dcg=ln)@10", "nDCG(dcg=ln)@10: unknown dcg 'ln' -> there are: exp-log2, log2"),
        ("P@0", "P@0: the cutoff '0' is not a whole number from 1 to 999999999 -> write e.g. @10"),
        ("P@ten", "P@ten: the cutoff 'ten' is not a whole number from 1 to 999999999"),
        ("P@99999999999", "P@99999999999: the cutoff '99999999999' is not a whole number"),
        ("P(rel=0)@5", "P(rel=0)@5: rel must be above 0, not 0"),
        ("P(rel=nan)@5", "P(rel=nan)@5.rel: 'nan': input should be a finite number"),
        ("P(rel=high)@5", "P(rel=high)@5.rel: 'high': input should be a valid number"),
        ("P(rel=1,rel=2)@5", "P(rel=1,rel=2)@5: rel is given twice"),
        ("P(rel)@5", "P(rel)@5: cannot read the parameter 'rel'"),
        ("P(stage=first)@5", "P(stage=first)@5.stage: 'first': input should be 'final' or"),
        ("nDCG(gain=cubic)@5", "nDCG(gain=cubic)@5.gain: 'cubic': input should be 'exp'"),
        ("nDCG@10@20", "cannot read the metric 'nDCG@10@20'"),
        ("", "cannot read the metric ''"),
        (10, "cannot read the metric 10"),
        ("__import__('os')", "unknown metric __import__('os') -> "),
    ],
)
def test_bad_notations_are_told_in_one_line(text, message):
    with pytest.raises(SamepoolError) as caught:
        parse(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_other_profiles_are_refused():
    with pytest.raises(SamepoolError, match="profile 'beir' is not supported"):
        parse("nDCG@10", profile="beir")


def test_all_problems_of_several_names_are_told():
    with pytest.raises(SamepoolError) as caught:
        parse_all(["nDCG@10", "ndgc@10", "P", "nDCG(gain=exp)@10"])
    assert [problem.code for problem in caught.value.problems] == [
        "unknown_metric", "no_cutoff", "same_metric",
    ]  # fmt: skip


def test_metrics_of_other_packages_are_found(monkeypatch):
    point = EntryPoint("Mine", "pipeline.metrics.rr:RR", "samepool.metrics")
    monkeypatch.setattr(_parse, "foreign", lambda _: {"Mine": point})
    assert "Mine" in known.__wrapped__()


def test_a_name_that_is_taken_is_refused(monkeypatch):
    point = EntryPoint("RR", "pipeline.metrics.rr:RR", "samepool.metrics")
    monkeypatch.setattr(_parse, "foreign", lambda _: {"RR": point})
    with pytest.raises(SamepoolError, match="two plugins provide the metric RR"):
        known.__wrapped__()


def test_a_metric_made_by_hand_is_checked_too():
    with pytest.raises(ValueError, match="cutoff must be at least 1, not 0"):
        known()["P"](0)
    with pytest.raises(ValueError, match=r"new must be above 0, not -1\.5"):
        known()["Freshness"](10, new=-1.5)
