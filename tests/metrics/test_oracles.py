"""Agreement with ir_measures and pytrec_eval, value by value."""

import ir_measures
import numpy as np
import pytest
import pytrec_eval

from pipeline.metrics import parse

ZERO = {"no_relevant": "zero"}


def generated(seed, ties):
    """Qrels and a run with unjudged items, missing queries and queries with nothing relevant."""
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(40)]
    qrels, run = {}, {}
    for number in range(30):
        judged = rng.choice(items, size=rng.integers(1, 25), replace=False)
        top = 1 if number % 7 == 0 else 4  # every seventh query has nothing relevant
        grades = {str(item): int(rng.integers(0, top)) for item in judged}
        if top > 1 and number % 5 == 0:
            grades |= {"d0": -1, "d1": 1}
        qrels[f"q{number}"] = grades
        if number % 6:
            returned = rng.choice(items, size=rng.integers(1, 35), replace=False)
            scores = rng.integers(0, 6, returned.size) if ties else rng.permutation(returned.size)
            run[f"q{number}"] = dict(zip(map(str, returned), map(float, scores), strict=True))
    run["outside"] = {"d1": 1.0}
    return qrels, run


def ours(case, qrels, run, name, **conventions):
    column = case(qrels, run, conventions=ZERO | conventions).column(name)
    return {query: value for query, (value, _) in column.items()}


TREC = {
    "nDCG(gain=linear)": "ndcg",
    "nDCG(gain=linear)@5": "ndcg_cut_5",
    "P@5": "P_5",
    "R@5": "recall_5",
    "R": "set_recall",
    "AP": "map",
    "AP@5": "map_cut_5",
    "RR": "recip_rank",
    "Success@5": "success_5",
}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", TREC)
def test_pytrec_eval(case, name, ties):
    for seed in range(3):
        qrels, run = generated(seed, ties)
        family = TREC[name].replace("_5", ".5")
        theirs = pytrec_eval.RelevanceEvaluator(qrels, {family}).evaluate(run)
        found = ours(case, qrels, run, name)
        assert len(theirs) < len(found)
        for query, value in found.items():
            assert value == pytest.approx(theirs.get(query, {}).get(TREC[name], 0.0), abs=1e-9)


def test_gain_exp_is_linear_gain_of_the_powers(case):
    qrels, run = generated(1, ties=True)
    powers = {
        query: {item: 2 ** max(grade, 0) - 1 for item, grade in grades.items()}
        for query, grades in qrels.items()
    }
    theirs = pytrec_eval.RelevanceEvaluator(powers, {"ndcg_cut.5"}).evaluate(run)
    for query, value in ours(case, qrels, run, "nDCG@5").items():
        assert value == pytest.approx(theirs.get(query, {}).get("ndcg_cut_5", 0.0), abs=1e-9)


# RR@k and Judged order ties by ascending id in ir_measures, all others by descending id.
IR_MEASURES = {
    "nDCG(dcg='log2')@5": "id_desc",
    "nDCG": "id_desc",
    "P@5": "id_desc",
    "P(rel=2)@5": "id_desc",
    "R@5": "id_desc",
    "R(rel=2)@5": "id_desc",
    "AP": "id_desc",
    "AP(rel=2)@5": "id_desc",
    "RR": "id_desc",
    "RR(rel=2)": "id_desc",
    "Success(rel=3)@5": "id_desc",
    "RR@5": "id_asc",
    "RR(rel=2)@5": "id_asc",
    "Judged@5": "id_asc",
}


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("name", IR_MEASURES)
def test_ir_measures(case, name, ties):
    measure = ir_measures.parse_measure(name)
    name = "nDCG(gain=linear)" if name == "nDCG" else name  # its default gain differs from ours
    for seed in range(3):
        qrels, run = generated(seed + 10, ties)
        found = ours(case, qrels, run, name, ties=IR_MEASURES.get(name, "id_desc"))
        theirs = {m.query_id: m.value for m in ir_measures.iter_calc([measure], qrels, run)}
        assert theirs.keys() >= found.keys() or "Judged" in name
        for query, value in found.items():
            assert value == pytest.approx(theirs.get(query, 0.0), abs=1e-9)


@pytest.mark.parametrize(
    "name", [name for name in IR_MEASURES if "nDCG" not in name and "Judged" not in name]
)
def test_the_label_means_the_same_there(name):
    assert str(ir_measures.parse_measure(parse(name).label)) == str(ir_measures.parse_measure(name))
