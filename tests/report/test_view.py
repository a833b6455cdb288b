from dataclasses import replace

import numpy as np
import pytest

from pipeline.core.decision import Verdict
from pipeline.core.scores import Reason
from pipeline.core.settings import ReportSettings
from pipeline.report._means import means
from pipeline.report._view import prepare

NDCG = "nDCG(gain=exp)@10"


def _prepared(evidence, decisions=()):
    return prepare(evidence, decisions, ReportSettings())


def test_means_are_macro_means_over_the_values_of_the_slice(evidence) -> None:
    found = means(evidence)
    scores = evidence.scores[1]
    column = scores.values[:40, 0]
    head = found["ce", NDCG, "head"]
    assert head.value == pytest.approx(np.nanmean(column))
    assert head.n == np.count_nonzero(~np.isnan(column)) == 39
    assert (head.left_out, head.why) == (1, "1 with nothing relevant")
    assert head.constant == 2  # queries 3 and 33


def test_a_metric_of_lists_counts_judged_queries(evidence) -> None:
    found = means(evidence)
    counts = [found["ce", "ItemCoverage@10", name].n for name in ("all", "head", "tail", "tiny")]
    assert counts == [119, 40, 79, 3]  # query 119 has no judgments
    assert found["ce", "ItemCoverage@10", "tail"].constant == 2  # queries 63 and 93


def test_constant_scores_touch_no_lists_of_retrieval(evidence) -> None:
    first = tuple(
        replace(info, stage="retrieval") if info.per == "list" else info
        for info in evidence.metrics
    )
    assert means(replace(evidence, metrics=first))["ce", "ItemCoverage@10", "all"].constant == 0


def test_a_crossing_is_a_query_mask_on_the_item_slice(evidence) -> None:
    column = evidence.scores[0].columns.index((NDCG, "new_items"))
    expected = np.nanmean(evidence.scores[0].values[40:, column])
    assert means(evidence)["bm25", NDCG, "tail_new"].value == pytest.approx(expected)


def test_unjudged_queries_are_not_called_left_out(evidence) -> None:
    judged = means(evidence)["bm25", "Judged@10", "all"]
    assert (judged.n, judged.left_out) == (119, 0)


def test_a_mean_of_nothing_says_why(evidence) -> None:
    reason = np.full_like(evidence.scores[0].reason, Reason.NO_RELEVANT)
    empty = replace(
        evidence.scores[0], values=np.full_like(evidence.scores[0].values, np.nan), reason=reason
    )
    view = _prepared(replace(evidence, scores=(empty, *evidence.scores[1:])))
    cell = view.leaderboard[0].cells[0]
    assert (cell.text, cell.why) == ("n/a", "120 with nothing relevant")
    assert not cell.best


def test_best_follows_direction(evidence) -> None:
    rows = {row.name: row for row in _prepared(evidence).leaderboard}
    assert [cell.best for cell in rows[NDCG].cells] == [False, True, False]
    assert [cell.best for cell in rows["latency_ms"].cells] == [True, False, False]


def test_nothing_is_best_where_all_models_are_equal(evidence) -> None:
    first = evidence.scores[0]
    equal = tuple(replace(s, values=first.values, reason=first.reason) for s in evidence.scores)
    rows = _prepared(replace(evidence, scores=equal)).leaderboard
    assert not any(cell.best for row in rows[:5] for cell in row.cells)
    assert [cell.best for cell in rows[5].cells] == [False, True, False]


def test_a_row_of_a_verdict_says_no_number_twice(evidence, decided) -> None:
    measured = "gain +0.0064 [+0.0012, +0.0116], p = 0.0321, n = 116: "
    about = f"{NDCG} on all: "
    gain = _verdict_on_gain(
        evidence, "inconclusive", f"{about}{measured}a gain above 0 is not shown."
    )
    rule = _prepared(evidence, decided("inconclusive", gain)).decisions[0].rules[0]
    assert rule.why == ("A gain above 0 is not shown; about 3,100 more queries would settle it.")
    assert rule.line == (
        f"gain: {NDCG} on all: +0.0064 [+0.0012, +0.0116], limit 0.0000, p <.001; "
        "about 3,100 more queries would settle it"
    )
    other = _verdict_on_gain(evidence, "invalid", f"{about}bm25 did not answer 30 queries.")
    rule = _prepared(evidence, decided("invalid", other)).decisions[0].rules[0]
    assert rule.line.startswith(f"gain: {about}bm25 did not answer 30 queries;")


def _verdict_on_gain(evidence, status: str, reason: str) -> Verdict:
    found = next(c for c in evidence.comparisons if c.claim.rule == "gain")
    return Verdict(
        "gain",
        found.claim,
        status,
        found.delta,
        0.0,
        found.ci,
        found.p,
        found.n,
        3100,
        NDCG,
        "all",
        reason,
    )


def test_a_verdict_on_no_metric_has_neither_place_nor_count(evidence, decided) -> None:
    labels = Verdict(
        "label_source", None, "invalid", None, None, None, None, 0, None, "", "", "Labels: click."
    )
    rule = _prepared(evidence, decided("invalid", labels)).decisions[0].rules[0]
    assert (rule.n, rule.line) == ("n/a", "label_source: Labels: click.")


def test_the_number_of_queries_that_would_settle_it_is_said_once(evidence, decided) -> None:
    told = _verdict_on_gain(evidence, "inconclusive", "about 3,100 more queries would show it")
    rule = _prepared(evidence, decided("inconclusive", told)).decisions[0].rules[0]
    assert rule.reason.count("3,100") == rule.line.count("3,100") == 1


def test_constant_scores_touch_final_lists_only(evidence) -> None:
    rows = {row.name: row for row in _prepared(evidence).leaderboard}
    assert [cell.mark for cell in rows[NDCG].cells] == ["", "c4", ""]
    assert [cell.mark for cell in rows["R(stage=retrieval)@100"].cells] == ["", "", ""]


def test_marks_say_no_more_than_the_data(evidence, decisions) -> None:
    table = _prepared(evidence, decisions).primary
    marks = {(group.model, row.slice): row.mark for group in table.groups for row in group.rows}
    assert marks["ce", "tail"] == "FAIL"
    assert marks["ce", "tiny"] == "too few"
    assert marks["ce", "new_items"] == "unclear, detects 0.0443"
    assert marks["ce", "tail_new"] == "not tested"
    assert marks["splade", "head"] == "all deltas 0"
    assert marks["splade", "tail"] == "unclear"  # its own interval leaves 0 out; adjusted p is .08
    assert marks["splade", "empty"] == "no data"


def test_lower_is_better_turns_the_tendency_not_the_delta(evidence) -> None:
    table = next(t for t in _prepared(evidence).others if t.metric.label == "latency_ms")
    row = table.groups[0].rows[0]
    assert (row.delta.text, row.mark) == ("+10.0000", "worse")


def test_an_uncorrected_p_is_never_called_better(evidence) -> None:
    raw = tuple(replace(c, p_adjusted=None) for c in evidence.comparisons)
    row = _prepared(replace(evidence, comparisons=raw)).primary.groups[0].rows[0]
    assert (row.p, row.mark) == ("<.001 raw", "uncorrected")


def test_margins_stand_on_the_losing_side(evidence, decisions) -> None:
    ce = _prepared(evidence, decisions).forests[0]
    tail = next(mark for mark in ce.marks if mark.row.slice == "tail")
    assert tail.margin_text == "-0.0050"
    assert float(tail.margin[:-1]) < float(ce.zero[:-1])
    assert float(tail.low[:-1]) < float(tail.x[:-1]) < float(tail.high[:-1])


def test_margins_of_metrics_where_lower_is_better_stand_above_zero(evidence, decisions) -> None:
    lower = tuple(
        replace(info, direction="lower") if info.label == NDCG else info
        for info in evidence.metrics
    )
    ce = _prepared(replace(evidence, metrics=lower), decisions).forests[0]
    assert {mark.margin_text for mark in ce.marks if mark.margin} == {"+0.0050", "+0.0200"}


def test_stages_tell_what_retrieval_and_ranking_lost(evidence) -> None:
    bm25, ce, _ = _prepared(evidence).stages
    assert not bm25.known
    assert "cannot be told apart" in bm25.sentences[0]
    assert ce.sentences[0].startswith("Retrieval lost 0.3284:")
    assert ce.sentences[1].startswith("Ranking lost 0.2664 more before place 10:")


def test_secrets_in_settings_and_addresses_are_left_out(evidence) -> None:
    hidden = replace(evidence.models[1], requested="https://user:pw@host/x")
    view = _prepared(replace(evidence, models=(evidence.models[0], hidden, evidence.models[2])))
    assert "do-not-print" not in str(view)
    assert "user:pw" not in str(view)
    assert "https://host/x" in str(view)


def test_labels_that_are_not_human_are_named(evidence) -> None:
    assert _prepared(evidence).labels == "labels: rating"
    human = replace(evidence.pool, declared={"labels": "human"})
    assert not _prepared(replace(evidence, pool=human)).labels
    silent = replace(evidence.pool, declared={})
    assert _prepared(replace(evidence, pool=silent)).labels == "labels: unknown"


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("pass", "ce passes: its one check holds."),
        ("fail", "ce fails: of 1 check, 1 failed (gain)."),
        ("inconclusive", "no proof that nothing got worse"),
        ("invalid", "ce cannot be judged: of 1 check, 1 invalid (gain)."),
    ],
)
def test_sentences(evidence, decisions, decided, status, words) -> None:
    verdict = replace(decisions[0].verdicts[0], status=status)
    view = _prepared(evidence, decided(status, verdict))
    assert words in view.headline
    assert view.status == status


def test_no_criteria_is_no_pass(evidence, decided) -> None:
    view = _prepared(evidence, decided("no_criteria"))
    assert view.headline == "ce was measured, not judged: there are no rules."
    assert view.status == "no_criteria"


def test_without_a_baseline_models_stand_side_by_side(evidence) -> None:
    models = tuple(replace(model, role="candidate") for model in evidence.models)
    view = _prepared(replace(evidence, models=models, comparisons=()))
    assert view.headline == "3 models were measured; without a baseline nothing was compared."
    assert view.baseline == ""
    assert len(view.primary.grid[0].cells) == 3
    assert not view.forests


def test_the_title_of_the_comparison_stands_unless_another_is_asked_for(evidence) -> None:
    titled = replace(evidence, settings={**evidence.settings, "title": "Nightly"})
    assert _prepared(titled).title == "Nightly"
    assert prepare(titled, (), ReportSettings(title="Mine")).title == "Mine"
    assert _prepared(evidence).title == "shop: model comparison"


def test_the_legend_counts_the_claims_that_were_adjusted_together(evidence) -> None:
    family = [c for c in evidence.comparisons if c.claim.family == "F3" and c.p_adjusted]
    text = " ".join(_prepared(evidence).legend)
    assert f"over the {len(family)} claims tested in family F3" in text


def test_a_compared_row_shows_the_means_of_the_leaderboard(evidence, decisions) -> None:
    view = _prepared(evidence, decisions)
    row, means_ = view.primary.groups[0].rows[0], view.leaderboard[0].cells
    assert (row.baseline.text, row.model.text) == (means_[0].text, means_[1].text)
    assert row.delta.mark == "c4"
