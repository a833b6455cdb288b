"""The simulated world is what it says it is: every stated chance is met, nothing else moves."""

import json
from dataclasses import replace

import numpy as np
import pytest

from pipeline.kernels.simulate import (
    AS_OF,
    Clicks,
    Plant,
    Sessions,
    Simulation,
    System,
    World,
    answers,
    expected_recall,
    truth,
)
from pipeline.kernels.simulate.draws import normal, shuffled, uniform

DAY = 86_400_000_000
WORLD = World(
    seed=5,
    n_queries=3000,
    n_items=1000,
    n_users=800,
    zipf=1.0,
    user_zipf=0.7,
    item_zipf=0.5,
    relevant=4,
    nothing_relevant=0.05,
    groups={"a": 0.6, "b": 0.4},
    n_categories=10,
    taste=0.5,
    new_share=0.3,
    new_days=20,
    windows=0.2,
    depth=20,
    alike=0.5,
    systems={"s0": System(0.7, 0.75), "s1": System(0.9, 0.6), "twin": System(0.7, 0.75)},
)
NEW_B = {"group": "b", "new_items": True}
ALL = np.arange(WORLD.n_queries)


def drawn(world=WORLD, queries=ALL):
    made = Simulation(world)
    return made, made.truth(queries)


def recall(found, known):
    """(B,) share of the relevant items that were retrieved; NaN where there are none."""
    n = (known.grade > 0).sum(axis=1)
    return np.where(n > 0, (found.grade > 0).sum(axis=1) / np.maximum(n, 1), np.nan)


def near(value, expected, se, limit=4.0):
    assert abs(value - expected) < limit * se, (value, expected, (value - expected) / se)


@pytest.fixture(scope="module")
def whole():
    made, known = drawn()
    return made, known, {name: answers(made, name, known) for name in WORLD.systems}


def test_numbers_are_uniform_normal_and_of_their_own_stream():
    found = uniform(1, "x", np.arange(300)[:, None], np.arange(300))
    counts = np.histogram(found, 50, (0, 1))[0]
    assert ((counts - 1800) ** 2 / 1800).sum() < 95  # chi-square with 49 df: p about 1e-4
    assert 0 < found.min() < found.max() < 1
    drawn = normal(1, "x", np.arange(90_000))
    near(drawn.mean(), 0, 1 / 300)
    near(drawn.var(), 1, np.sqrt(2) / 300)
    others = (uniform(2, "x", np.arange(90_000)), uniform(1, "y", np.arange(90_000)))
    for other in others:
        near(np.corrcoef(uniform(1, "x", np.arange(90_000)), other)[0, 1], 0, 1 / 300)
    near(np.corrcoef(found[:-1].ravel(), found[1:].ravel())[0, 1], 0, 1 / 300)
    assert sorted(shuffled(3, "x", 50)) == list(range(50))


def test_a_number_depends_on_its_own_counters_alone():
    whole = uniform(1, "x", np.arange(50)[:, None], np.arange(7))
    assert (
        uniform(1, "x", np.arange(20, 30)[:, None], np.array([6, 2])) == whole[20:30, [6, 2]]
    ).all()


def test_frequencies_follow_zipf():
    found = np.sort(Simulation(WORLD).frequency())[::-1]
    assert found[0] == 3000
    assert found[-1] == 1
    rank = np.arange(1, 101)
    assert np.polyfit(np.log(rank), np.log(found[:100]), 1)[0] == pytest.approx(-1, abs=0.01)
    flat = Simulation(replace(WORLD, zipf=0.0)).frequency()
    assert (flat == 1).all()


def test_users_groups_and_devices_have_their_shares(whole):
    asks = whole[1].asks
    queries = np.bincount(asks.user, minlength=800)
    assert queries[:80].mean() > 3 * queries[400:].mean()  # 1^-.7 and on: sizes are skewed
    of_user = np.full(800, -1)
    of_user[asks.user] = asks.group
    assert (of_user[asks.user] == asks.group).all()  # a user has one group
    known = of_user[of_user >= 0]
    near((known == 1).mean(), 0.4, np.sqrt(0.24 / len(known)))
    near((asks.device == 0).mean(), 0.6, np.sqrt(0.24 / 3000))


def test_new_items_are_new_to_every_query_and_no_others_are():
    made, known = drawn(replace(WORLD, n_items=20_000))
    items, asked = made.items, known.asks.asked
    near(items.new.mean(), 0.3, np.sqrt(0.21 / 20_000))
    assert asked.min() >= AS_OF - 7 * DAY
    assert asked.max() < AS_OF
    oldest, youngest = asked.max() - items.created, asked.min() - items.created
    assert (oldest[items.new] <= 20 * DAY).all()
    assert (youngest[items.new] >= 0).all()
    assert (youngest[~items.new] > 20 * DAY).all()
    limited = items.end < 2**62
    near(limited.mean(), 0.2, np.sqrt(0.16 / 20_000))
    assert (items.end > items.start).all()


def test_relevant_items_differ_may_be_shown_and_are_as_many_as_stated(whole):
    made, known, _ = whole
    real = known.item >= 0
    n = real.sum(axis=1)
    near((n == 0).mean(), 0.05, np.sqrt(0.05 * 0.95 / 3000))
    some = n[n > 0]
    assert (some.min(), some.max()) == (1, 7)
    near(some.mean(), 4, 2 / np.sqrt(len(some)))
    assert ((known.grade > 0) == real).all()
    for grade, share in ((1, 0.5), (2, 0.3), (3, 0.2)):
        near((known.grade[real] == grade).mean(), share, np.sqrt(0.25 / real.sum()))
    ordered = np.sort(known.item, axis=1)
    assert not ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any()
    asked = np.broadcast_to(known.asks.asked[:, None], real.shape)[real]
    assert (made.items.start[known.item[real]] <= asked).all()
    assert (asked < made.items.end[known.item[real]]).all()


def test_popular_items_and_favourites_are_relevant_more_often(whole):
    made, known, _ = whole
    real = known.item >= 0
    times = np.bincount(known.item[real], minlength=1000)
    popular = np.argsort(-made.items.weight)
    assert times[popular[:100]].mean() > 2 * times[popular[500:]].mean()
    category = made.items.category[known.item]
    pairs = real[:, 0] & real[:, 1]
    same = (category[:, 0] == category[:, 1])[pairs].mean()
    assert same > 0.25  # taste .5: .25 + .75 / 10; without taste .1


def test_lists_hold_each_item_once_and_only_what_may_be_shown(whole):
    made, known, found = whole
    for one in found.values():
        assert one.item.shape == (3000, 20)
        real = one.item >= 0
        assert real.mean() > 0.999
        ordered = np.sort(one.item, axis=1)
        assert not ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] >= 0)).any()
        assert made._shown(known.asks, np.maximum(one.item, 0))[real].all()
        match = (one.item[:, :, None] == known.item[:, None, :]) & real[:, :, None]
        assert (one.grade == (match * known.grade[:, None, :]).max(axis=2)).all()


def test_recall_at_the_depth_is_the_knob(whole):
    _, known, found = whole
    for name, quality in WORLD.systems.items():
        values = recall(found[name], known)
        values = values[~np.isnan(values)]
        near(values.mean(), quality.retrieval, values.std() / np.sqrt(len(values)))
        assert expected_recall(WORLD, name) == (quality.retrieval, quality.retrieval)


def test_ranking_is_the_chance_to_put_grade_1_above_what_is_not_relevant(whole):
    _, _, found = whole
    for name, quality in WORLD.systems.items():
        one = found[name]
        none = (one.grade == 0) & (one.item >= 0)
        below = (one.final[:, :, None] > one.final[:, None, :]) & none[:, None, :]
        chance = below.sum(axis=2) / np.maximum(none.sum(axis=1), 1)[:, None]
        values = chance[one.grade == 1]
        near(values.mean(), quality.ranking, values.std() / np.sqrt(len(values)))


def test_twins_have_luck_of_their_own_and_no_true_difference(whole):
    _, known, found = whole
    delta = recall(found["twin"], known) - recall(found["s0"], known)
    delta = delta[~np.isnan(delta)]
    assert (delta != 0).mean() > 0.3
    near(delta.mean(), 0, delta.std() / np.sqrt(len(delta)))
    final = (found["twin"].final - found["s0"].final).mean(axis=1)
    near(final.mean(), 0, final.std() / np.sqrt(len(final)))


def test_alike_is_the_correlation_of_luck(whole):
    _, known, found = whole
    same = found["s0"].item == found["twin"].item
    none = same & (found["s0"].grade == 0)
    one, two = found["s0"].final[none], found["twin"].final[none]
    near(np.corrcoef(one, two)[0, 1], 0.5, 0.75 / np.sqrt(none.sum()))
    same_luck = replace(WORLD, alike=1.0)
    world = Simulation(same_luck)
    assert (answers(world, "s0", known).item == answers(world, "twin", known).item).all()


@pytest.mark.parametrize("stage", ["retrieval", "ranking"])
def test_a_plant_moves_its_slice_and_nothing_else(whole, stage):
    made, known, found = whole
    plant = Plant("s1", stage, 0.6, NEW_B)
    world = Simulation(replace(WORLD, plants=(plant,)))
    other = world.truth(ALL)
    inside = made.planted(plant, known)
    assert inside.any()
    rows = inside.any(axis=1)
    for name in ("item", "grade", "near"):
        assert (getattr(known, name) == getattr(other, name)).all()
    after = answers(world, "s1", other)
    for part in ("item", "grade", "first", "final"):
        assert (getattr(after, part)[~rows] == getattr(found["s1"], part)[~rows]).all()
        assert (getattr(answers(world, "s0", other), part) == getattr(found["s0"], part)).all()
    number = {"retrieval": 1, "ranking": 0}[stage]
    assert (after.item[rows] != found["s1"].item[rows]).any() == bool(number)
    kept, n = _held(after, known, inside, stage)
    before, _ = _held(found["s1"], known, inside, stage)
    near(kept / before, 0.4, np.sqrt(0.24 / before))
    outside = (known.item >= 0) & ~inside
    assert _held(after, known, outside, stage) == _held(found["s1"], known, outside, stage)
    assert n > 300


def _held(one, known, mask, stage):
    """Relevant items under the mask that a stage did not fail, and how many there are."""
    match = (known.item[:, :, None] == one.item[:, None, :]) & mask[:, :, None]
    if stage == "ranking":
        match &= (one.final > -10)[:, None, :]
    return int(match.any(axis=2).sum()), int(mask.sum())


def test_a_gain_lifts_everything_else():
    plant = Plant("s0", "retrieval", 0.5, {"device": ["phone"]}, gain=0.2)
    world = replace(WORLD, plants=(plant, Plant("s0", "ranking", 0.0, {"group": "a"}, gain=0.1)))
    made, known = drawn(world)
    found = answers(made, "s0", known)
    assert expected_recall(world, "s0") == (pytest.approx(0.35), pytest.approx(0.9))
    values = recall(found, known)
    for device, expected in ((0, 0.35), (1, 0.9)):
        some = values[(known.asks.device == device) & ~np.isnan(values)]
        near(some.mean(), expected, some.std() / np.sqrt(len(some)))
    b = known.asks.group == 1
    lift = found.final[b][found.grade[b] == 1].mean()
    near(lift, np.sqrt(2) * 1.0364, 1 / np.sqrt((found.grade[b] == 1).sum()))  # quantile of .85


def test_category_plants_strike_their_category():
    made, known = drawn()
    mask = made.planted(Plant("s0", "retrieval", 1.0, {"category": ["c3", "c7"]}), known)
    assert set(made.items.category[known.item[mask]]) == {3, 7}
    assert (
        mask.sum() == (np.isin(made.items.category[known.item], [3, 7]) & (known.item >= 0)).sum()
    )


@pytest.mark.parametrize("size", [1, 7, 1024])
def test_the_same_bits_whatever_the_blocks(whole, size):
    made, known, found = whole
    for start in (0, 1000, 2999):
        rows = ALL[start : start + size]
        part = made.truth(rows)
        one = answers(made, "s1", part)
        for name in ("item", "grade", "first", "final"):
            assert (getattr(one, name) == getattr(found["s1"], name)[rows]).all()
        assert (part.item == known.item[rows]).all()


def test_blocks_cover_all_queries(monkeypatch):
    monkeypatch.setattr(truth, "_CELLS", 10_000)
    blocks = Simulation(WORLD).blocks()
    assert len(blocks) > 10
    assert np.concatenate([ALL[block] for block in blocks]).tolist() == ALL.tolist()


def test_clicks_follow_place_and_relevance():
    made = Simulation(WORLD)
    model = Clicks(eta=0.8, noise=0.15, trust=0.2)
    log = Sessions.draw(made, model, "s1", (30_000, 5), 0.4)
    assert len(log.session) == pytest.approx(150_000, abs=200)
    assert (np.bincount(log.session)[:-1] <= 5).all()
    # grades by pair, from the truth of the queries met
    grade = np.zeros(len(log.item))
    known = made.truth(log.query)
    for column in range(known.item.shape[1]):
        hit = known.item[:, column] == log.item
        grade[hit] = known.grade[hit, column]
    for place in range(1, 6):
        here = log.position == place
        seen = (1 / place) ** 0.8
        assert log.propensity[here] == pytest.approx(seen)
        for value in (0, 1, 2):
            rows = here & (grade == value)
            noise = 0.15 + 0.2 / place
            chance = seen * (noise + (1 - noise) * (2.0**value - 1) / 7)
            near(log.click[rows].mean(), chance, np.sqrt(chance * (1 - chance) / rows.sum()))
    near(log.shuffled.mean(), 0.4, np.sqrt(0.24 / 30_000))
    top = (log.position == 1, log.position == 5)
    first, last = ((grade[mask & ~log.shuffled] > 0).mean() for mask in top)
    assert first > last + 0.05  # as ranked
    first, last = ((grade[mask & log.shuffled] > 0).mean() for mask in top)
    near(first - last, 0, np.sqrt(2 * 0.25 / (log.shuffled.sum() / 5)))  # in random order
    assert (log.at < known.asks.asked).all()
    assert (log.at >= made.items.created[log.item]).all()


def test_sessions_follow_traffic():
    made = Simulation(WORLD)
    log = Sessions.draw(made, Clicks(), "s0", (20_000, 1), 0.0)
    share = made.frequency() / made.frequency().sum()
    top = np.argsort(-share)[:5]
    for query in top:
        near((log.query == query).mean(), share[query], np.sqrt(share[query] / 20_000))


def test_a_world_survives_json_with_sorted_keys():
    world = replace(
        WORLD, groups={"z": 0.6, "b": 0.4}, plants=(Plant("s1", "ranking", 0.2, NEW_B),)
    )
    again = World.of_json(json.loads(json.dumps(world.as_json(), sort_keys=True)))
    assert again.as_json() == world.as_json()
    assert list(again.groups) == list(world.groups) == ["b", "z"]
    assert again.plants == world.plants
