"""The trees: what trains them, what they see, and what must not."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.models import Tools
from pipeline.models._features import best_of_list, features
from pipeline.models._interactions import read
from pipeline.models._training import training, wanted_rows

DAY = 86_400_000_000


def ranked_by_trees(retriever="item_knn", **options):
    ranker = {"kind": "trees", "min_rows": 5, **options}
    spec = {"kind": "two_stage", "retriever": retriever, "ranker": ranker}
    return build("models", spec, "models.two")


def test_the_ranker_learns_what_the_logs_say(make_pool, tools, as_dict):
    """People always go for the red item next, which the retriever cannot know."""
    rng = np.random.default_rng(3)
    items = {f"i{i:02d}": {"colour": ["red", "blue"][i % 2]} for i in range(40)}
    logs = []
    for user in range(80):
        reds, blues = rng.permutation(20)[:10] * 2, rng.permutation(20)[:4] * 2 + 1
        order = [*reds[:4], *blues, *reds[4:]] if user % 2 else [*blues, *reds]
        logs += [
            {"user_id": f"u{user}", "item_id": f"i{i:02d}", "at": float(at)}
            for at, i in enumerate(order)
        ]
    queries = {f"q{u:02d}": {"user_id": f"u{u}", "issued_at": 50} for u in range(80)}
    pool = make_pool(queries, items, logs, seen="removed")
    ranking = ranked_by_trees("popularity", tags="colour").rank(pool, tools)
    first = [max(row, key=row.get) for row in as_dict(ranking.final, pool).values()]
    assert np.mean([int(item[1:]) % 2 == 0 for item in first]) > 0.9


def test_training_holds_out_what_came_last(make_pool):
    logs = [
        {"user_id": "u1", "item_id": item, "at": at, "reward": reward}
        for item, at, reward in [
            ("e", 5, 1),
            ("a", 1, 1),
            ("b", 2, 1),
            ("d", 4, 1),
            ("c", 3, 1),
            ("f", 9, 0),
        ]
    ] + [{"user_id": "u2", "item_id": "a", "at": 7, "reward": 1}]
    pool = make_pool(
        {"q1": {"user_id": "u1", "issued_at": 20}},
        {i: {} for i in "abcdef"},
        logs,
        qrels={"q1": {"f": 1.0}},
    )
    taught = training(pool, read(pool, "test"), 0.4, None, 100, 0)
    assert taught.pool.queries["query_id"].to_pylist() == ["000000000000"]
    assert taught.pool.times.query.tolist() == [4 * DAY]
    past = [(r["user_id"], r["item_id"]) for r in taught.pool.logs.to_pylist()]
    assert sorted(past) == [
        ("000000000000", "a"),
        ("000000000000", "b"),
        ("000000000000", "c"),
        ("000000000001", "a"),
    ]
    wanted = wanted_rows(taught.wanted, np.zeros(6, np.int32), np.arange(6, dtype=np.int32))
    assert wanted.tolist() == [False, False, False, True, True, False]
    assert len(taught.pool.judgments.item) == 0
    assert taught.pool.candidates is None


def test_training_takes_no_more_people_than_told(world):
    pool = world()
    taught = training(pool, read(pool, "test"), 0.2, None, 7, 0)
    assert len(taught.pool.queries) == 7
    again = training(pool, read(pool, "test"), 0.2, None, 7, 0)
    assert taught.pool.queries.equals(again.pool.queries)
    other = training(pool, read(pool, "test"), 0.2, None, 7, 1)
    assert not taught.pool.queries.equals(other.pool.queries)


def test_features_by_hand(make_pool):
    logs = [
        {"user_id": "u1", "item_id": "a", "at": 1.0},
        {"user_id": "u1", "item_id": "b", "at": 6.0},
        {"user_id": "u2", "item_id": "a", "at": 8.0},
    ]
    items = {
        "a": {"created_at": 2, "genres": "war, drama"},
        "b": {"genres": "drama"},
        "c": {"created_at": 12, "genres": None},
    }
    pool = make_pool({"q1": {"user_id": "u1", "issued_at": 10}}, items, logs)
    score = np.array([2.0, 4.0, -1.0])
    found = build("models", {"kind": "popularity"}, "m").rank(pool, Tools()).final
    lists = replace(found, score=score)
    known = features(pool, 3.0, "genres")
    table = known.of(lists, best_of_list(lists), slice(None))
    log2, log3 = np.log(2), np.log(3)
    expected = [
        [2.0, 0.5, log3, log2, 8.0, log3, 0.5 * 0.25 + 0.5 * 0.75],
        [4.0, 1.0, log2, 0.0, np.nan, log3, 0.75],
        [-1.0, -0.25, 0.0, 0.0, -2.0, log3, 0.0],
    ]
    np.testing.assert_allclose(table, expected)


def test_tags_may_be_lists(make_pool):
    logs = [{"user_id": "u1", "item_id": "b", "at": 1}]
    items = {"a": {"genres": ["war", "sad film"]}, "b": {"genres": ["sad film"]}, "c": {}}
    pool = make_pool({"q1": {"user_id": "u1"}}, items, logs)
    known = features(pool, 3.0, "genres")
    assert known.tags.tolist() == [[0.5, 0.5], [1.0, 0.0], [0.0, 0.0]]
    assert known.taste[known.person[0]].tolist() == [1.0, 0.0]


def test_errors_name_what_is_missing(world, make_pool, tools):
    with pytest.raises(SamepoolError, match=r"items have no column 'genre' .*did you mean genres"):
        ranked_by_trees(tags="genre").rank(world(), tools)
    with pytest.raises(SamepoolError, match="trees model learns from logs, and pool tiny has"):
        build("models", {"kind": "trees"}, "m").rerank(
            make_pool({"q": {}}, {"a": {}}), None, None, tools
        )
    logs = [{"user_id": "u1", "item_id": "a", "at": 1}]
    short = make_pool({"q": {"issued_at": 5}}, {"a": {}}, logs)
    with pytest.raises(SamepoolError, match="nobody in the logs of pool tiny has 5 dated inter"):
        ranked_by_trees().rank(short, tools)


def test_nothing_found_is_nothing_learnt(make_pool, tools):
    """Ten people met the same five items last; the retriever can only return two others."""
    logs = [
        {"user_id": f"u{u}", "item_id": f"i{i}", "at": i} for u in range(10) for i in range(5)
    ] + [{"user_id": "u0", "item_id": item, "at": 0} for item in ("x", "y")]
    items = {**{f"i{i}": {} for i in range(5)}, "x": {"pop": 2}, "y": {"pop": 1}}
    pool = make_pool({"q": {"user_id": "u1", "issued_at": 9}}, items, logs)
    model = ranked_by_trees({"kind": "item_column", "column": "pop"})
    with pytest.raises(SamepoolError, match="of 10 held-out interactions the retriever found none"):
        model.rank(pool, tools)


def test_what_was_liked_little_is_held_out_but_not_wanted(world):
    pool = world()
    log = read(pool, "test")
    every = training(pool, log, 0.2, None, 100, 0)
    liked = training(pool, log, 0.2, 4.0, 100, 0)
    assert liked.pool.logs.equals(every.pool.logs)
    assert 0 < liked.wanted.nnz < every.wanted.nnz
    rows = zip(log.person, log.item, log.reward, strict=True)
    good = {(person, item) for person, item, reward in rows if reward >= 4}
    people = [int(person) for person in liked.pool.queries["query_id"].to_pylist()]
    query, item = liked.wanted.nonzero()
    assert {(people[q], i) for q, i in zip(query, item, strict=True)} <= good


def test_alone_they_say_what_they_need(world, tools, origin):
    alone = build("models", {"kind": "trees"}, "models.trees")
    (problem,) = alone.fits(world(), origin, None)
    assert problem.severity == "error"
    with pytest.raises(SamepoolError, match="retrieve nothing themselves -> "):
        alone.rank(world(), tools)


def test_a_retriever_must_answer_for_the_past():
    with pytest.raises(SamepoolError, match="kind run_file cannot answer for the past"):
        ranked_by_trees({"kind": "run_file", "path": "x"})


def test_options_are_checked():
    for options, words in (
        ({"leafs": 3}, "unknown option two_stage ranker.leafs.*did you mean leaves"),
        ({"leaves": 1}, "leaves at least 2"),
        ({"held_out": 1.0}, "held_out must lie between 0 and 1, not 1.0"),
        ({"negatives": 0}, "negatives, train_people and window_days must be above 0"),
    ):
        with pytest.raises(SamepoolError, match=words):
            ranked_by_trees(**options)
