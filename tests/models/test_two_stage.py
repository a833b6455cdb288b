"""Two stages: what the second is given, what is kept of what it returns, and who the pair is."""

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pytest

from pipeline.core.pool import UNKNOWN_TIME
from pipeline.core.problems import Problem, SamepoolError
from pipeline.core.registry import build
from pipeline.core.run import Lists, Origin
from pipeline.models import Model, Ranking, fits, rank, two_stage
from pipeline.models._encode import encode
from pipeline.models._shortlist import ranks, shortlist

QUERIES = {"q1": {"user_id": "u1", "issued_at": 9, "text": "x"}, "q2": {"user_id": "u2"}}
ITEMS = {i: {"pop": n, "text": i * 2} for n, i in enumerate("abcd")}


def made(**options):
    spec = {"kind": "two_stage", "retriever": "item_knn", "ranker": "popularity"}
    return build("models", {**spec, **options}, "models.two")


@dataclass
class Fake(Model):
    """Returns lists of (query, item, score), and remembers what it was given."""

    rows: list
    version: str | None = None
    live: bool = False

    def origin(self, name, requested, registry=None):
        registered = "shop" if self.version else None
        return Origin(name, "fake", requested, f"fake {name}", registered, self.version, None,
                      str(self.rows), live=self.live)  # fmt: skip

    def rank(self, pool, tools):
        self.pool, self.tools = pool, tools
        names = ("query_id", "item_id", "score")
        columns = dict(zip(names, map(list, zip(*self.rows, strict=True)), strict=True))
        encoded = encode(pool, [pa.table(columns)])
        return Ranking(encoded.lists[0], None, encoded.foreign, cost={"ms": np.ones(2)})


@pytest.fixture
def pair(monkeypatch):
    """A model of two fakes."""

    def make(first, second, **options):
        stages = {"retriever": first, "ranker": second}
        monkeypatch.setattr(two_stage.TwoStage, "_model", lambda _self, stage: stages[stage])
        return made(**options)

    return make


def test_final_orders_what_was_retrieved(world, tools, origin):
    model = made(depth=10, ranker={"kind": "trees", "min_rows": 5})
    run = rank(model, origin, world(seen="removed"), tools)
    retriever = build("models", {"kind": "item_knn"}, "models.knn")
    alone = rank(retriever, origin, world(seen="removed"), replace(tools, keep_depth=10))
    assert np.array_equal(run.retrieval.score, alone.final.score)
    assert np.array_equal(run.retrieval.item, alone.final.item)
    assert np.array_equal(run.final.query, run.retrieval.query)
    assert np.array_equal(run.final.item, run.retrieval.item)
    assert not np.array_equal(run.final.score, run.retrieval.score)
    assert run.problems == ()
    assert np.bincount(run.retrieval.query).min() >= 10


@pytest.mark.parametrize("ranker", ["trees", "popularity", "svd", "recent_popularity"])
def test_a_candidate_list_is_kept_to(world, tools, origin, as_dict, ranker):
    pairs = [(f"q{q:02d}", f"i{i:02d}") for q in range(40) for i in range(q % 7)]
    pool = world(candidates=pairs)
    run = rank(made(ranker=ranker, options={"trees": {"min_rows": 5}}), origin, pool, tools)
    found = as_dict(run.final, pool)
    assert {(q, i) for q, row in found.items() for i in row} == set(pairs)


def test_scores_are_those_of_the_ranker_alone(world, tools, origin, as_dict):
    pool = world(seen="removed")
    run = rank(made(depth=5, ranker="svd"), origin, pool, tools)
    alone = as_dict(rank(build("models", {"kind": "svd"}, "m"), origin, pool, tools).final, pool)
    retrieved = as_dict(run.retrieval, pool)
    expected = {q: {i: alone[q][i] for i in row} for q, row in retrieved.items()}
    found = as_dict(run.final, pool)
    assert {q: sorted(row.items()) for q, row in found.items()} == {
        q: sorted(row.items()) for q, row in expected.items()
    }


def test_what_the_ranker_is_given(make_pool, tools, pair):
    pool = make_pool(
        QUERIES, ITEMS, qrels={"q1": {"a": 3.0}}, candidates=[("q1", "a"), ("q1", "c")]
    )
    pool = replace(pool, candidates=pool.candidates.append_column("age", pa.array([7, 8])))
    first = Fake([("q1", "c", 2.0), ("q1", "b", 5.0), ("q1", "a", 2.0), ("q1", "d", 1.0)])
    second = Fake([("q1", "c", 9.0)])
    pair(
        first, second, depth=2, sees=["age", "retrieval_rank", "retrieval_score", "item_text"]
    ).rank(pool, tools)
    assert first.tools.keep_depth == 2
    assert second.pool.candidates.to_pylist() == [
        {"query_id": "q1", "item_id": "a", "age": 7, "retrieval_score": 2.0, "retrieval_rank": 3},
        {"query_id": "q1", "item_id": "b", "age": None,
         "retrieval_score": 5.0, "retrieval_rank": 1},
        {"query_id": "q1", "item_id": "c", "age": 8, "retrieval_score": 2.0, "retrieval_rank": 2},
    ]  # fmt: skip
    assert second.pool.queries.column_names == ["query_id"]
    assert second.pool.items.column_names == ["item_id", "text"]
    assert (second.pool.times.query == UNKNOWN_TIME).all()
    assert len(second.pool.judgments.item) == 0
    assert second.tools.keep_depth == 3


def test_by_default_all_is_seen_but_the_first_stage_s_scores(make_pool, tools, pair):
    pool = make_pool(QUERIES, ITEMS, candidates=[("q1", "a")])
    stale = pool.candidates.append_column("retrieval_score", pa.array([1.0]))
    second = Fake([("q1", "a", 9.0)])
    pair(Fake([("q1", "a", 2.0)]), second).rank(replace(pool, candidates=stale), tools)
    assert second.pool.candidates.column_names == ["query_id", "item_id"]
    assert second.pool.queries.equals(pool.queries)
    assert second.pool.items.equals(pool.items)
    pair(
        Fake([("q1", "b", 2.0)]), other := Fake([("q1", "b", 9.0)]), sees=["retrieval_score"]
    ).rank(replace(pool, candidates=stale), tools)
    assert other.pool.candidates["retrieval_score"].to_pylist() == [2.0]


def test_what_was_not_retrieved_or_not_ranked_is_counted(make_pool, tools, pair, origin, as_dict):
    pool = make_pool(QUERIES, ITEMS)
    first = Fake([("q1", "a", 3.0), ("q1", "b", 2.0), ("q2", "c", 1.0)])
    second = Fake([("q1", "b", 8.0), ("q1", "a", 7.0), ("q1", "d", 6.0), ("q1", "zz", 9.0)])
    run = rank(pair(first, second), origin, pool, tools)
    assert as_dict(run.final, pool) == {"q1": {"b": 8.0, "a": 7.0}}
    assert as_dict(run.retrieval, pool) == {"q1": {"a": 3.0, "b": 2.0}, "q2": {"c": 1.0}}
    texts = [str(problem) for problem in run.problems]
    assert any("the ranker left out 1 of 3 retrieved items" in text for text in texts)
    assert any("the ranker returned 2 items that were not retrieved" in text for text in texts)
    assert set(run.cost) == {"retriever_ms", "ranker_ms"}


def test_items_from_outside_the_pool_can_be_ordered(make_pool, tools, pair, origin, as_dict):
    pool = make_pool(QUERIES, ITEMS)
    first = Fake([("q1", "zz", 3.0), ("q1", "a", 2.0), ("q2", "aa", 1.0), ("q2", "zz", 1.0)])
    second = Fake([("q1", "a", 1.0), ("q1", "zz", 2.0), ("q2", "zz", 5.0), ("q2", "aa", 4.0)])
    run = rank(pair(first, second), origin, pool, tools)
    assert second.pool.items["item_id"].to_pylist() == ["a", "aa", "b", "c", "d", "zz"]
    assert second.pool.items["pop"].to_pylist() == [0, None, 1, 2, 3, None]
    assert second.pool.vocab.items.to_pylist() == second.pool.items["item_id"].to_pylist()
    assert as_dict(run.final, pool, run.foreign) == {
        "q1": {"a": 1.0, "zz": 2.0}, "q2": {"zz": 5.0, "aa": 4.0}
    }  # fmt: skip
    assert any("2 retrieved items are not in the pool" in str(p) for p in run.problems)


def test_trees_know_nothing_of_items_outside(make_pool, tools, monkeypatch):
    model = made(ranker="trees")
    first = Fake([("q1", "zz", 3.0)])
    model._models["retriever"] = first
    with pytest.raises(SamepoolError, match="the retriever returned `zz`, not in the pool"):
        model.rank(make_pool(QUERIES, ITEMS), tools)


def test_nothing_in_common_is_an_error(make_pool, tools, pair):
    model = pair(Fake([("q1", "a", 3.0)]), Fake([("q1", "b", 8.0)]))
    with pytest.raises(
        SamepoolError, match="returned none of 1 retrieved items; it returned 1 oth"
    ):
        model.rank(make_pool(QUERIES, ITEMS), tools)


@pytest.mark.parametrize("rows", [[("q1", "a", np.nan)], [("q1", "a", 1.0), ("q1", "a", 2.0)]])
def test_a_stage_whose_lists_are_unsound_is_named(make_pool, tools, pair, rows):
    good = [("q1", "a", 3.0)]
    for first, second, stage in ((rows, good, "retriever"), (good, rows, "ranker")):
        with pytest.raises(SamepoolError, match=f"{stage}'s list"):
            pair(Fake(first), Fake(second)).rank(make_pool(QUERIES, ITEMS), tools)


def test_each_stage_has_a_folder_and_an_origin_of_its_own(make_pool, tools, pair, tmp_path):
    first, second = Fake([("q1", "a", 3.0)]), Fake([("q1", "a", 3.0)])
    model = pair(first, second)
    tools = replace(tools, origin=model.origin("two", "two"), scratch=tmp_path)
    model.rank(make_pool(QUERIES, ITEMS), tools)
    assert first.tools.scratch == tmp_path / "retriever"
    assert second.tools.scratch == tmp_path / "ranker"
    assert (first.tools.origin.name, second.tools.origin.name) == ("two.retriever", "two.ranker")


def test_parts_are_those_that_were_resolved(make_pool, tools, pair):
    pool = make_pool(QUERIES, ITEMS)
    first, second = Fake([("q1", "a", 3.0)]), Fake([("q1", "a", 3.0)], version="4")
    whole = pair(first, second).origin("two", "two")
    assert [part.name for part in whole.parts] == ["two.retriever", "two.ranker"]
    second.version = "5"  # an alias moved meanwhile
    model = pair(first, second)
    assert fits(model, whole, pool, None) == ()
    model.rank(pool, replace(tools, origin=whole))
    assert (first.tools.origin, second.tools.origin) == whole.parts
    assert second.tools.origin.version == "4"


def test_without_parts_both_are_resolved_at_once(make_pool, tools, pair, origin):
    pool = make_pool(QUERIES, ITEMS)
    first, second = Fake([("q1", "a", 3.0)]), Fake([("q1", "a", 3.0)])
    model = pair(first, second)
    assert fits(model, origin, pool, None) == ()
    model.rank(pool, replace(tools, origin=origin))
    assert (first.tools.origin.name, second.tools.origin.name) == ("mine.retriever", "mine.ranker")


def test_the_pair_is_the_ranker_s_version_and_both_parts(pair):
    origin = pair(Fake([1]), Fake([2], version="4")).origin("two", "two")
    assert (origin.registered, origin.version) == ("shop", "4")
    assert (
        origin.resolved
        == "two_stage(retriever=fake two.retriever, ranker=fake two.ranker, depth=500)"
    )
    digests = {
        pair(Fake([1]), Fake([2], version="4"), **options).origin("x", "x").source_digest
        for options in ({}, {"depth": 9}, {"sees": []}, {"sees": ["pop"]})
    }
    assert len(digests | {pair(Fake([2]), Fake([1])).origin("x", "x").source_digest}) == 5
    assert origin.source_digest in digests
    assert pair(Fake([1], live=True), Fake([2])).origin("two", "two").live
    assert pair(Fake([1]), Fake([2], live=True)).origin("two", "two").live
    assert not origin.live


def test_fits_asks_both_and_knows_what_the_ranker_will_see(make_pool, pair):
    class Picky(Fake):
        def fits(self, pool, origin, registry):
            self.seen = pool
            return []

    pool = make_pool(QUERIES, ITEMS, candidates=[("q1", "a")])
    first, second = Picky([1]), Picky([2])
    model = pair(first, second, sees=["retrieval_rank", "pop"])
    assert fits(model, model.origin("two", "two"), pool, None) == ()
    assert first.seen is pool
    assert second.seen.candidates.column_names == ["query_id", "item_id", "retrieval_rank"]
    assert second.seen.items.column_names == ["item_id", "pop"]
    model = pair(first, second, sees=["retrival_rank"])
    (problem,) = fits(model, model.origin("two", "two"), pool, None)
    assert "sees 'retrival_rank'" in problem.text
    assert problem.fix.startswith("did you mean retrieval_rank")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 0}, "models.two: depth must be at least 1, not 0"),
        ({"retriever": {"kind": "item_kn"}}, "two_stage retriever: unknown kind 'item_kn'"),
        ({"ranker": "treez"}, "two_stage ranker: unknown kind 'treez' -> did you mean trees"),
        ({"retriever": {"neighbours": 3}}, "two_stage retriever has no kind"),
        ({"retriever": {"kind": "svd", "shrink": 3}}, "retriever.shrink.*replaces all of them"),
        ({"retriever": "trees"}, "trees orders what a retriever found, and cannot be the retr"),
        ({"options": {"svdd": {}}}, "options are by kind, and 'svdd' is none; did you mean svd"),
        ({"ranker": "trees", "sees": ["pop"]}, "sees is not for trees"),
        ({"ranker": None}, "models.two.ranker is not set"),
    ],
)
def test_options_of_both_stages_are_checked(options, words):
    with pytest.raises(SamepoolError, match=words):
        made(**options)


def test_options_are_for_stages_of_their_kind_alone():
    options = {"item_knn": {"neighbours": 3, "shrink": 1.0}, "trees": {"leaves": 4}}
    model = made(retriever={"kind": "item_knn", "shrink": 2.0}, options=options)
    first = model._models["retriever"]
    assert (first.neighbours, first.shrink) == (3, 2.0)
    assert made(retriever="svd", options=options)._models["retriever"].factors == 50


def test_a_retriever_s_options_are_part_of_the_identity():
    one = made().origin("two", "two")
    two = made(retriever={"kind": "item_knn", "neighbours": 51}).origin("two", "two")
    assert one.source_digest != two.source_digest


def test_ranks_break_ties_by_descending_id():
    query = np.array([0, 0, 0, 1], np.int32)
    item = np.array([5, 2, 9, 1], np.int32)
    assert ranks(query, item, np.array([1.0, 3.0, 1.0, 0.0])).tolist() == [3, 1, 2, 1]


def test_a_shortlist_of_nothing_has_its_columns(make_pool):
    pool = make_pool({}, {})
    empty = Lists(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0))
    found = shortlist(pool, empty, pool.vocab.items, ["retrieval_score"])
    assert found.pool.candidates.column_names == ["query_id", "item_id", "retrieval_score"]
    assert found.kept(empty)[1] == 0


def test_no_match_is_an_answer_where_both_were_asked_for_all(make_pool, tools, pair):
    class Asked(Fake):
        def rank(self, pool, tools):
            return replace(super().rank(pool, tools), complete=True)

    pool = make_pool(QUERIES, ITEMS)
    one, both = [("q1", "a", 3.0)], [("q1", "a", 3.0), ("q2", "b", 1.0)]
    for first, second, complete in (
        (Asked(one), Asked(one), True),
        (Asked(one), Fake(one), True),  # nothing was retrieved for q2
        (Asked(both), Fake(one), False),  # the ranker does not know q2
        (Asked(both), Asked(one), True),
        (Fake(one), Asked(one), False),
    ):
        assert pair(first, second).rank(pool, tools).complete is complete


def test_a_column_of_the_first_stage_must_be_named(make_pool, pair):
    class Needs(Fake):
        def fits(self, pool, origin, registry):
            known = pool.candidates.column_names
            lacking = [n for n in ("retrieval_score", "age") if n not in known]
            return [Problem("missing_input", "error", f"x needs {n!r}", "fix") for n in lacking]

    pool = make_pool(QUERIES, ITEMS)
    model = pair(Fake([1]), Needs([2]))
    first, second = fits(model, model.origin("two", "two"), pool, None)
    assert "name it in sees" in first.fix
    assert second.fix == "fix"
    model = pair(Fake([1]), Needs([2]), sees=["retrieval_score"])
    assert len(fits(model, model.origin("two", "two"), pool, None)) == 1


def test_the_shorter_limit_of_its_stages_is_its_own():
    def limit(size):
        found = {"url": "http://h/_search", "body": {"q": "{text}"}, "size": size}
        return {"kind": "http", **found}

    def most(retriever, ranker):
        options = {"kind": "two_stage", "retriever": retriever, "ranker": ranker}
        return build("models", options, "m").at_most

    knn = {"kind": "item_knn"}
    assert most(knn, "popularity") is None
    assert most(limit(3), "popularity") == most("popularity", limit(3)) == 3
    assert most(limit(7), limit(5)) == 5
    inner = {"kind": "two_stage", "retriever": limit(4), "ranker": "popularity"}
    assert most(inner, limit(9)) == 4
