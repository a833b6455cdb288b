"""Recorded results of trec_eval on real runs and on edge cases."""

import gzip
import json
from pathlib import Path

import pytest

SHARED = Path(__file__).parents[3] / "shared" / "cases"
EDGE, HARD = SHARED / "edge", SHARED / "dl_hard_passage"
RUNS = ("bm25", "bm25+bert_zs_", "bm25+rm3", "bm25+rm3+bert_zs_", "bm25+rm3+t5_zs_", "bm25+t5_zs_")

# What these conventions can say without a profile: not -l2, and not the cases of the reader.
EDGE_CASES = {
    "tie_desc_docid": {},
    "tie_numeric_ids": {},
    "tie_unicode": {},
    "missing_query": {},
    "zero_relevant": {},
    "short_list": {},
    "gaps_ap_cut": {},
    "neg_grade_bpref": {},
    "rel_level_2_ndcg": {"relevant_from": 2.0},
    "leading_zero_ids": {},
}
NAMES = {
    "AP": "map",
    "AP@2": "map_cut_2",
    "P@2": "P_2",
    "R@2": "recall_2",
    "RR": "recip_rank",
    "P@1": "P_1",
    "P@5": "P_5",
    "R@5": "recall_5",
    "nDCG(gain=linear)": "ndcg",
    "nDCG(gain=linear)@10": "ndcg_cut_10",
    "Success@1": "success_1",
}

# The recorded values of DL-Hard are those of trec_eval -l 2: grades below 2 are not relevant.
HARD_NAMES = {
    "nDCG(gain=linear)@10": "ndcg_cut_10",
    "nDCG(gain=linear)": "ndcg",
    "P@10": "P_10",
    "R@100": "recall_100",
    "AP": "map",
    "AP@10": "map_cut_10",
    "RR": "recip_rank",
    "Success@5": "success_5",
}


def table(lines, key, item, value):
    """Rows of a TREC file as a dictionary of dictionaries."""
    found = {}
    for line in lines:
        row = line.split()
        found.setdefault(row[key], {})[row[item]] = float(row[value])
    return found


def read(path):
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8") as stream:
        return stream.read().splitlines()


@pytest.mark.skipif(not EDGE.is_dir(), reason="the shared edge cases are not there")
@pytest.mark.parametrize("name", EDGE_CASES)
def test_edge_cases(case, name):
    folder = EDGE / name
    qrels = table(read(folder / "qrels"), 0, 2, 3)
    run = table(read(folder / "run"), 0, 2, 4)
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert expected["ours"]["outcome"] == "values"
    for precision, version in (("float32", "9.0.8 -c"), ("float64", "10.0 -c")):
        recorded = expected["results"][version]["values"]["all"]
        conventions = {"no_relevant": "zero", "precision": precision, **EDGE_CASES[name]}
        scores = case(qrels, run, conventions=conventions).scores(*NAMES)
        means = dict(zip(NAMES, scores.values.mean(axis=0), strict=True))
        compared = {ours: theirs for ours, theirs in NAMES.items() if theirs in recorded}
        assert len(compared) >= 3
        for ours, theirs in compared.items():
            assert f"{means[ours]:.4f}" == recorded[theirs], (ours, version)


@pytest.mark.skipif(not EDGE.is_dir(), reason="the shared edge cases are not there")
def test_grades_may_be_real_numbers(case):
    folder = EDGE / "float_grades"
    qrels, run = table(read(folder / "qrels"), 0, 2, 3), table(read(folder / "run"), 0, 2, 4)
    assert case(qrels, run).scores("nDCG(gain=linear)@10").values.mean() == 1.0


@pytest.mark.skipif(not HARD.is_dir(), reason="the shared DL-Hard runs are not there")
@pytest.mark.parametrize("name", RUNS)
def test_dl_hard(case, name):
    qrels = table(read(HARD / "dl_hard-passage.qrels"), 0, 2, 3)
    run = table(read(HARD / f"{name}.run.gz"), 0, 2, 4)
    scores = case(qrels, run, conventions={"no_relevant": "zero", "relevant_from": 2.0}).scores(
        *HARD_NAMES
    )
    recorded = [line.split() for line in read(HARD / f"{name}.run.eval")]
    places = {query: place for place, query in enumerate(sorted(qrels))}
    for (ours, theirs), values in zip(HARD_NAMES.items(), scores.values.T, strict=True):
        rows = {row[1]: float(row[2]) for row in recorded if row[0] == theirs}
        assert rows.keys() == {*places, "all"}
        for query, place in places.items():
            assert values[place] == pytest.approx(rows[query], abs=5.001e-5), (ours, query)
        assert f"{values.mean():.4f}" == f"{rows['all']:.4f}", ours
