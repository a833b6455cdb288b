"""pool=synthetic: a pool like any other, whose truth is known."""

import numpy as np
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.kernels.simulate import Simulation, World
from pipeline.pool import load

SMALL = {"n_queries": 300, "n_items": 400, "depth": 30, "sessions": 200}


def made(**options):
    return load({"kind": "synthetic", **SMALL, **options})


def grades(pool):
    query = np.repeat(np.arange(len(pool.vocab.queries)), np.diff(pool.judgments.query_ptr))
    pairs = zip(query.tolist(), pool.judgments.item.tolist(), strict=True)
    return dict(zip(pairs, pool.judgments.grade.tolist(), strict=True))


def truth(pool):
    world = Simulation(World.of_json(pool.declared.facts["simulation"]))
    known = world.truth(np.arange(len(pool.vocab.queries)))
    row, place = np.nonzero(known.item >= 0)
    pairs = zip(row.tolist(), known.item[row, place].tolist(), strict=True)
    return dict(zip(pairs, known.grade[row, place].tolist(), strict=True))


@pytest.fixture(scope="module")
def pool():
    return made()


def test_the_same_seed_is_the_same_pool_and_another_is_not(pool):
    again, other = made(), made(seed=1)
    assert (again.digest, again.logs_digest) == (pool.digest, pool.logs_digest)
    assert other.digest != pool.digest
    assert other.logs_digest != pool.logs_digest


@pytest.mark.parametrize(
    "option",
    [
        {"plant": [{"system": "s1", "stage": "ranking", "size": 0.1}]},
        {"systems": {"s0": {"retrieval": 0.5, "ranking": 0.6}}},
        {"zipf": 0.9},
        {"alike": 0.4},
        {"noise": 0.2},
    ],
    ids=lambda option: next(iter(option)),
)
def test_whatever_changes_an_answer_changes_the_digest(pool, option):
    assert made(**option).digest != pool.digest


def test_it_has_all_tables_in_order(pool):
    assert pool.vocab.queries[7].as_py() == "q007"
    assert pool.vocab.items[7].as_py() == "i007"
    assert pool.queries.column_names == [
        "query_id", "user_id", "issued_at", "frequency", "group", "device",
    ]  # fmt: skip
    assert set(pool.queries["group"].to_pylist()) == {"a", "b", "c"}
    assert "eligible_until" in pool.items.column_names
    assert set(pool.items["category"].to_pylist()) == {f"c{n:02}" for n in range(20)}
    assert len(np.unique(pool.units.cluster)) < 75
    assert pool.logs.num_rows == 2000
    assert [p.code for p in pool.problems] == ["nothing_relevant"]
    assert pool.judgments.eligible.all()


def test_declared_facts_hold_what_is_to_be_expected():
    plant = {"system": "s1", "stage": "retrieval", "where": {"group": "b"}, "size": 0.5}
    systems = {"s0": {"retrieval": 0.6, "ranking": 0.7}, "s1": {"retrieval": 0.8, "ranking": 0.7}}
    declared = made(systems=systems, plant=[plant]).declared
    assert declared.labels == "synthetic"
    assert declared.labels_reason
    assert declared.facts["expected_recall"] == {
        "s0": {"planted": 0.6, "elsewhere": 0.6},
        "s1": {"planted": 0.4, "elsewhere": 0.8},
    }
    assert declared.facts["simulation"]["plants"] == [plant | {"gain": 0.0}]
    assert declared.facts["clicks"]["eta"] == 1.0


def test_all_relevant_items_are_judged_and_no_other_is_relevant(pool):
    judged, real = grades(pool), truth(pool)
    assert {pair: grade for pair, grade in judged.items() if grade > 0} == real
    assert len(judged) > 2 * len(real)  # what is not relevant too: first places of systems
    assert set(grades(made(judged_depth=0))) == set(real)


def test_pooled_judgments_are_the_first_places_of_some_systems(pool):
    real = truth(pool)
    one = grades(made(judged="pooled", judged_depth=5, pooled_from=["s0"]))
    both = grades(made(judged="pooled", judged_depth=5))
    per_query = np.bincount([query for query, _ in one], minlength=300)
    assert set(per_query) == {5}
    assert set(one) < set(both)
    assert all(grade == real.get(pair, 0) for pair, grade in both.items())
    assert not set(real) <= set(both)


def test_noise_moves_grades_by_one(pool):
    clean, noisy = grades(pool), grades(made(noise=0.3))
    assert clean.keys() == noisy.keys()
    moved = np.array([noisy[pair] - clean[pair] for pair in clean])
    ends = np.array([grade in {0, 3} for grade in clean.values()])
    assert set(moved.tolist()) == {-1.0, 0.0, 1.0}
    n = (~ends).sum()
    assert abs((moved[~ends] != 0).mean() - 0.3) < 4 * np.sqrt(0.21 / n)
    assert abs((moved[ends] != 0).mean() - 0.15) < 4 * np.sqrt(0.13 / ends.sum())


def test_logs_can_be_left_out_and_are_before_their_query(pool):
    assert made(sessions=0).logs is None
    asked = dict(zip(pool.queries["query_id"].to_pylist(), pool.times.query.tolist(), strict=True))
    rows = zip(
        pool.logs["query_id"].to_pylist(), pool.logs["at"].cast("int64").to_pylist(), strict=True
    )
    assert all(at < asked[query] for query, at in rows)


def test_systems_are_counted_named_or_twins():
    counted = made(n_models=4).declared.facts["simulation"]["systems"]
    assert list(counted) == ["s0", "s1", "s2", "s3"]
    assert counted["s0"] == {"retrieval": 0.7, "ranking": 0.7}
    assert counted["s3"] == {"retrieval": 0.85, "ranking": 0.8}
    assert list(made(n_models=1).declared.facts["simulation"]["systems"]) == ["s0"]
    named = {"old": {"retrieval": 0.5, "ranking": 0.6}, "twin": {"same_as": "old"}}
    found = made(systems=named).declared.facts["simulation"]["systems"]
    assert found["twin"] == found["old"] == {"retrieval": 0.5, "ranking": 0.6}


PLANT = {"system": "s1", "stage": "retrieval", "size": 0.5}
WRONG = {
    "there is no system 's9'; there are: s0, s1": {"plant": [PLANT | {"system": "s9"}]},
    "size is 1.5; it is a share, from 0 to 1": {"plant": [PLANT | {"size": 1.5}]},
    "size is -0.5": {"plant": [PLANT | {"size": -0.5}]},
    "gain is 2": {"plant": [PLANT | {"gain": 2}]},
    "no attribute 'grup'; did you mean group?": {"plant": [PLANT | {"where": {"grup": "b"}}]},
    "where.group: no 'z'; there are: a, b, c": {"plant": [PLANT | {"where": {"group": "z"}}]},
    "where.category: no 'c3'; did you mean": {"plant": [PLANT | {"where": {"category": ["c3"]}}]},
    "where.new_items: no 'yes'": {"plant": [PLANT | {"where": {"new_items": "yes"}}]},
    "pool.plant[0].stage": {"plant": [PLANT | {"stage": "retrival"}]},
    "unknown option pool.plant[0].sise -> did you mean size": {"plant": [PLANT | {"sise": 1}]},
    "pool.plant[1]: 3 is no failure to plant": {"plant": [PLANT, 3]},
    "two failures in its retrieval stage": {"plant": [PLANT, PLANT]},
    "with depth 30 it must be 120 or more": {"n_items": 100},
    "depth is 5 and must hold them": {"depth": 5},
    "n_queries is 0; it goes from 1 to 100,000,000": {"n_queries": 0},
    "n_users is 0": {"n_users": 0},
    "n_categories is 900": {"n_categories": 900},
    "seed is -1": {"seed": -1},
    "zipf is 4; it goes from 0 to 3": {"zipf": 4},
    "new_share is 1.2; it goes from 0 to 1": {"new_share": 1.2},
    "new_days is 0": {"new_days": 0},
    "nothing_relevant is 1": {"nothing_relevant": 1},
    "give each group a share above 0": {"groups": {"a": 0}},
    "judged_depth is 31; it goes from 0 to the depth, 30": {"judged_depth": 31},
    "judged_depth is 0; it goes from 1": {"judged": "pooled", "judged_depth": 0},
    "shown is 0": {"shown": 0},
    "sessions is -1": {"sessions": -1},
    "noise is 2; it goes from 0 to 1": {"noise": 2},
    "shuffled is -1": {"shuffled": -1},
    "eta is -1": {"eta": -1},
    "click_noise is 0.9 and trust 0.3": {"click_noise": 0.9, "trust": 0.3},
    "pooled_from: there is no system 'so'": {"pooled_from": ["so"]},
    "logged_by: there is no system 'S1'; did you mean s1?": {"logged_by": "S1"},
    "systems and n_models are both set": {"n_models": 2, "systems": {"a": {"same_as": "b"}}},
    "n_models is 0": {"n_models": 0},
    "pool.systems.a: 3 is no system": {"systems": {"a": 3}},
    "give both retrieval and ranking": {"systems": {"a": {"retrieval": 0.5}}},
    "give no others": {"systems": {"a": {"retrieval": 0.5, "same_as": "b"}}},
    "pool.systems.a.same_as: 'b' is no system": {"systems": {"a": {"same_as": "b"}}},
    "pool.systems.a: ranking is 0.2": {"systems": {"a": {"retrieval": 0.5, "ranking": 0.2}}},
    "pool.systems.a: retrieval is 7": {"systems": {"a": {"retrieval": 7, "ranking": 0.6}}},
}


@pytest.mark.parametrize(("message", "options"), WRONG.items(), ids=list(WRONG))
def test_what_cannot_be_is_refused(message, options):
    with pytest.raises(SamepoolError) as caught:
        made(**options)
    assert message in str(caught.value)
    assert caught.value.exit_code == 2
