import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from pipeline.core.evidence import Ledger
from pipeline.core.settings import ReportSettings
from pipeline.report import terminal
from pipeline.report._view import prepare

WIDTHS = [*range(76, 130, 6), 160]
BOLD = re.compile(r"\x1b\[1m[^\x1b]+")


def printed(evidence, decisions, width: int = 110, **options) -> str:
    console = Console(file=io.StringIO(), width=width, **options)
    terminal(evidence, decisions, console, ReportSettings())
    return console.file.getvalue()


def section(text: str, head: str) -> list[str]:
    """Lines of the blocks whose title begins with ``head``."""
    blocks = [block for block in text.split("\n\n") if block.lstrip("\n").startswith(head)]
    return [line for block in blocks for line in block.strip("\n").splitlines()]


def cleared(evidence):
    """The same where no model has anything to be alarmed about."""
    clear = Ledger(120, 119, 119, 0, 0, 0, 0, 0, 0)
    return replace(evidence, models=tuple(replace(m, ledger=clear) for m in evidence.models))


@pytest.mark.parametrize("width", WIDTHS)
def test_many_candidates_stand_in_one_row_a_slice(several, width) -> None:
    text = printed(*several, width)
    lines = section(text, "nDCG(gain=exp)@10: delta")
    tail = " ".join(line for line in lines if line.startswith("tail "))
    assert tail.count("-0.0148 c2 FAIL") == 2
    assert len(re.findall(r"\+0\.0020( {4})? unclear", tail)) == 2
    assert max(map(len, text.splitlines())) <= width
    assert "\u2026" not in text


def test_many_candidates_share_tables_evenly_where_the_width_asks_for_it(several) -> None:
    heads = [line for line in printed(*several, 80).splitlines() if line.startswith("slice ")]
    assert [head.split()[3:] for head in heads] == [["ce", "splade"], ["ce_distilled", "splade_v3"]]
    assert len([x for x in printed(*several, 120).splitlines() if x.startswith("slice ")]) == 1


def test_short_marks_are_explained(several) -> None:
    text = printed(*several, 160)
    assert {"?", "few", "unclear", "FAIL", "pass"} <= set(text.split())
    assert "? (inconclusive: no pass, and no proof that nothing got worse)" in text
    assert "few: too few non-zero deltas" in text
    assert "Intervals, p-values and W/T/L: report.html, comparisons.csv." in text


def test_notes_are_four_short_lines(several, evidence, decisions) -> None:
    for found in (several, (evidence, decisions)):
        notes = prepare(*found, ReportSettings()).brief
        assert len(notes) <= 4
        assert max(map(len, notes)) <= 120


def test_candidates_paired_on_other_queries_show_the_range_of_n_and_baseline(several) -> None:
    evidence, decisions = several
    compared = tuple(
        replace(c, n=99, baseline_mean=0.4711)
        if (c.claim.model, c.claim.rule, c.claim.slice) == ("splade_v3", "report", "all")
        else c
        for c in evidence.comparisons
    )
    text = printed(replace(evidence, comparisons=compared), decisions, 140)
    row = next(line for line in text.splitlines() if line.startswith("all "))
    assert "99 to 116  0.4711 to 0.4993" in row


def test_ledger_always_counts_and_gathers_what_no_model_has(evidence, decisions) -> None:
    text = "\n".join(section(printed(cleared(evidence), decisions, 120), "Ledger"))
    assert "120 asked, 119 judged" in text
    assert re.search(r"returned +119 +119 +119", text)
    assert re.search(r"missing \(score worst\) +0 +0 +0", text)
    assert re.search(r"Judged@10 +0\.2538 +0\.2529 c4 +0\.2538", text)
    assert (
        "none: constant scores, ties at the cutoff, ineligible in the top, rows outside the pool, "
        "unknown items returned"
    ) in text
    told = "\n".join(section(printed(evidence, decisions), "Ledger"))
    assert "none: ineligible in the top\n" in told
    assert re.search(r"rows outside the pool +0 +5 +0", told)


def test_ledger_has_rows_for_asked_and_judged_where_models_differ(evidence, decisions) -> None:
    odd = replace(evidence.models[2], ledger=Ledger(120, 100, 100, 0, 0, 0, 0, 0, 0))
    changed = replace(evidence, models=(*evidence.models[:2], odd))
    text = "\n".join(section(printed(changed, decisions), "Ledger"))
    assert re.search(r"asked +120 +120 +120\njudged +119 +119 +100", text)


def test_a_model_is_named_once_and_long_options_stay_on_one_line(evidence, decisions) -> None:
    options = ", ".join(f"option_{place}={place}" for place in range(30))
    same = replace(evidence.models[0], requested="bm25", resolved=f"bm25({options})")
    path = f"/data/{'long/' * 40}final-v7.trec"
    file = replace(evidence.models[2], requested=path, resolved=path)
    changed = replace(evidence, models=(same, evidence.models[1], file))
    lines = section(printed(changed, decisions), "pool")
    assert lines[2].startswith("baseline   bm25    bm25(option_0=0,")
    assert lines[2].endswith("...")
    assert lines[3] == "candidate  ce      models:/ranker@challenger -> models:/ranker/13"
    assert lines[4].endswith("final-v7.trec")
    assert len(lines) == 5


def test_nothing_is_bold_where_all_are_equal(evidence, decisions) -> None:
    options = {"force_terminal": True, "color_system": "standard"}
    first = evidence.scores[0]
    equal = tuple(replace(s, values=first.values, reason=first.reason) for s in evidence.scores)
    plain = printed(replace(evidence, scores=equal), decisions, **options)
    row = next(line for line in plain.splitlines() if "R@10" in line)
    assert not BOLD.search(row)
    told = printed(evidence, decisions, **options)
    assert BOLD.search(next(line for line in told.splitlines() if "R@10" in line))


def test_decisions_come_last_each_with_what_it_did_not_pass(evidence, decisions) -> None:
    lines = section(printed(evidence, decisions, 180), "Gate")
    assert [line.split()[0] for line in lines] == [
        "Gate",
        "FAIL",
        "FAIL",
        "INVALID",
        "INVALID",
        "inconclusive",
        "0",
    ]
    assert lines[1].endswith("ce      3 of 4 checks hold, 1 failed; largest p .980, after Holm 1")
    assert lines[2].startswith("  FAIL  tail_guard: nDCG(gain=exp)@10 on tail: -0.0148 [")


def test_a_single_decision_has_no_correction_over_candidates(evidence, decisions) -> None:
    text = printed(evidence, decisions[:1])
    assert "largest p .980" in text
    assert "after Holm" not in text


def test_many_open_verdicts_are_counted_not_listed(evidence, decisions) -> None:
    tail = decisions[0].verdicts[2]
    failed = replace(decisions[0], verdicts=(tail,) * 40)
    lines = section(printed(evidence, (failed,), 160), "Gate")
    assert lines[-2].strip() == "28 more in report.html"
    assert len(lines) == 16


def test_without_rules_there_is_one_sentence(evidence, decided) -> None:
    lines = printed(evidence, decided("no_criteria")).splitlines()
    assert lines[-1] == "ce was measured, not judged: there are no rules."
    assert "Gate" not in lines
