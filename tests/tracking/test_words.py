"""What a reader sees first, and the choice of the few numbers logged."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pipeline.core.slices import Slices
from pipeline.tracking import _figures, _words

NDCG = "nDCG(gain=exp)@10"


def _sentence(evidence, decisions):
    return _words.sentence(evidence, _words.outcome(evidence, decisions))


@pytest.mark.parametrize(
    ("statuses", "start", "winner"),
    [
        (("pass", "fail"), "**PASS**: **rrf** passes the gate", "rrf"),
        (("fail", "pass"), "**PASS**: **splade** passes the gate", "splade"),
        (("pass", "pass"), "**PASS**: **rrf** passes the gate", "rrf"),
        (("fail", "invalid"), "**FAIL**: no candidate passes the gate. Best: **rrf**", ""),
        (("inconclusive", "fail"), "**INCONCLUSIVE**: no candidate passes", ""),
        (("no_criteria", "no_criteria"), "No gate rules were set. Best candidate: **rrf**", ""),
    ],
)
def test_the_verdict_comes_first(evidence, decisions, statuses, start, winner):
    given = [replace(d, status=s) for d, s in zip(decisions, statuses, strict=True)]
    found = _words.outcome(evidence, given)
    assert _words.sentence(evidence, found).startswith(start)
    assert found.winner == winner


def test_lower_is_better_turns_the_order(evidence):
    metrics = (replace(evidence.metrics[0], direction="lower"), *evidence.metrics[1:])
    found = _words.outcome(replace(evidence, metrics=metrics), ())
    assert [each.record.name for each in found.standings] == ["bm25", "splade", "rrf"]


def test_numbers_of_the_sentence_are_those_of_the_comparison(evidence, decisions):
    change = next(c for c in evidence.comparisons if c.claim.model == "rrf")
    text = _sentence(evidence, decisions)
    assert f"{change.baseline_mean:.4f} (bm25) -> {change.mean:.4f}" in text
    assert f"{change.delta:+.4f} [{change.ci[0]:+.4f}, {change.ci[1]:+.4f}]" in text


def test_no_comparison_is_said_not_guessed(evidence, decisions):
    bare = replace(evidence, comparisons=())
    assert "no difference could be measured" in _sentence(bare, decisions)


def test_a_failure_names_its_metric_and_slice_once(evidence, decisions):
    verdict = decisions[1].verdicts[1]
    told = replace(verdict, reason=f"{verdict.metric} on {verdict.slice}: a drop is shown.")
    untold = replace(verdict, reason="a drop is shown.")
    source = replace(verdict, rule="label_source", metric="", slice="", reason="Labels: click.")
    failing = replace(decisions[1], verdicts=(told, untold, source))
    page = _words.comparison_page(evidence, _words.outcome(evidence, [failing]), [])
    line = f"- **splade** fail in tail\\_ok: {NDCG} on tail: a drop is shown."
    assert page.count(line) == 2
    assert "- **splade** fail in label\\_source: Labels: click." in page


def test_names_cannot_become_markup(evidence, decisions):
    models = (evidence.models[0], replace(evidence.models[1], name="<b>|x*_"), evidence.models[2])
    scores = (evidence.scores[0], replace(evidence.scores[1], model="<b>|x*_"), evidence.scores[2])
    odd = replace(evidence, models=models, scores=scores)
    page = _words.comparison_page(odd, _words.outcome(odd, ()), [])
    assert "&lt;b>\\|x\\*\\_" in page
    assert "<b>" not in page


def test_the_table_names_the_level_of_its_intervals(evidence):
    settings = {**evidence.settings, "significance": {"confidence": 0.9}}
    for one, expected in ((evidence, "95 % CI"), (replace(evidence, settings=settings), "90 % CI")):
        assert expected in _words.comparison_page(one, _words.outcome(one, ()), [])


def test_human_labels_need_no_warning(evidence):
    human = replace(evidence, pool=replace(evidence.pool, declared={"labels": "human"}))
    for one, expected in ((evidence, "**Labels: click**"), (human, "Labels: human.")):
        assert expected in _words.comparison_page(one, _words.outcome(one, ()), [])
        assert expected in _words.model_page(one, _words.outcome(one, ()), "rrf", 0)


def test_at_most_sixty_numbers_the_important_ones_first(evidence):
    many = 80
    names = ("all", *(f"s{i}" for i in range(many)))
    rng = np.random.default_rng(0)
    query = np.column_stack([np.ones(200, bool), rng.random((200, many)) < 0.5])
    slices = Slices(names, query, ("all",), np.zeros((0, 1), bool), {}, {}, {}, "d")
    figures = _figures.of_models(replace(evidence, slices=slices))["rrf"]
    assert len(figures.values) == _figures.MOST
    assert next(iter(figures.values)) == "all/nDCG.exp_at_10"
    assert {"all/R_at_100", "all/ItemCoverage_at_10", "n_invalid"} <= set(figures.values)
    assert figures.left_out > 0
    assert (
        figures.left_out + len(figures.values) == 4 + 4 + many + 1
    )  # metrics on all, differences, slices


def test_what_is_not_finite_is_counted_not_logged(evidence):
    rrf = evidence.scores[1]
    lists = {("all", "ItemCoverage@10"): math.inf}
    odd = replace(evidence, scores=(evidence.scores[0], replace(rrf, lists=lists)))
    figures = _figures.of_models(odd)["rrf"].values
    assert "all/ItemCoverage_at_10" not in figures
    assert figures["n_invalid"] == 2.0  # this one, and the slice without queries


def test_the_two_sided_comparison_describes_a_difference(evidence):
    found = _figures.compared(evidence, "rrf", "nDCG(gain=exp)@10", "tail")
    assert found.claim.kind == "difference"
    assert _figures.compared(evidence, "bm25", "nDCG(gain=exp)@10", "all") is None
    assert _figures.guarded(evidence) == ("all", "tail")
