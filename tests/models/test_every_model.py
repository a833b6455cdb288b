"""What holds for every kind that learns: nothing forbidden returned, nothing leaked, same bits."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from threadpoolctl import threadpool_limits

from pipeline.core.pool import Judgments
from pipeline.core.registry import build
from pipeline.models import _blocks, _identity, _pairwise, rank, trees, two_stage

SPECS = {
    "popularity": {},
    "recent_popularity": {"window_days": 20},
    "item_knn": {"neighbours": 8},
    "svd": {"factors": 6},
    "two_stage": {
        "retriever": {"kind": "item_knn"},
        "ranker": {"kind": "trees", "min_rows": 5, "tags": "genres"},
        "depth": 12,
    },
    "item_column": {"column": "created_at"},
}
PAIRS = [(f"q{q:02d}", f"i{i:02d}") for q in range(40) for i in range(q % 9)]


@pytest.fixture(params=SPECS)
def model(request):
    return build("models", {"kind": request.param, **SPECS[request.param]}, "models.mine")


def test_the_same_bits_whatever_the_blocks(world, model, tools, origin, same, monkeypatch):
    whole = rank(model, origin, world(seen="removed"), tools)
    listed = rank(model, origin, world(candidates=PAIRS), tools)
    for cells in (1, 97, 333):
        monkeypatch.setattr(_blocks, "CELLS", cells)
        monkeypatch.setattr(_blocks, "PAIRS", cells)
        monkeypatch.setattr(_pairwise, "ENTRIES", cells)
        monkeypatch.setattr(trees, "_ROWS", cells)
        same(whole, rank(model, origin, world(seen="removed"), tools))
        same(listed, rank(model, origin, world(candidates=PAIRS), tools))


def test_the_same_bits_for_candidates_as_for_the_catalogue(world, model, tools, as_dict):
    """Trees apart: what their retriever finds teaches them."""
    every = [(f"q{q:02d}", f"i{i:02d}") for q in range(40) for i in range(30)]
    whole = as_dict(model.rank(world(), tools).final, world())
    assert as_dict(model.rank(world(candidates=every), tools).final, world()) == whole
    pairs = [pair for n, pair in enumerate(every) if n % 7 == 0]
    some = as_dict(model.rank(world(candidates=pairs), tools).final, world())
    assert {(q, i) for q, row in some.items() for i in row} <= set(pairs)
    if type(model) is not two_stage.TwoStage:
        assert all(score == whole[q][i] for q, row in some.items() for i, score in row.items())


def test_the_same_bits_whatever_the_threads(world, model, tools, origin, same):
    whole = rank(model, origin, world(), tools)
    for threads in (1, 2):
        with threadpool_limits(limits=threads):
            same(whole, rank(model, origin, world(), tools))


def test_the_same_bits_whatever_the_order_of_the_logs(world, model, tools, origin, same):
    pool = world()
    order = np.random.default_rng(1).permutation(len(pool.logs))
    shuffled = replace(pool, logs=pool.logs.take(pa.array(order)))
    same(rank(model, origin, pool, tools), rank(model, origin, shuffled, tools))


def test_judgments_change_no_score(world, model, tools, origin, same):
    pool = world()
    n, grades = len(pool.vocab.queries), np.random.default_rng(2)
    shuffled = replace(
        pool,
        judgments=Judgments(
            np.arange(n + 1),
            grades.integers(0, 30, n).astype(np.int32),
            grades.uniform(0, 3, n),
            np.ones(n, dtype=np.bool_),
        ),
    )
    same(rank(model, origin, pool, tools), rank(model, origin, shuffled, tools))


def test_what_was_seen_is_never_returned(world, model, tools, origin):
    pool = world(seen="removed")
    met = {(row["user_id"], row["item_id"]) for row in pool.logs.to_pylist()}
    user, item = pool.queries["user_id"].to_pylist(), pool.vocab.items.to_pylist()
    run = rank(model, origin, pool, tools)
    returned = {(user[q], item[i]) for q, i in zip(run.final.query, run.final.item, strict=True)}
    assert returned
    assert not returned & met


def test_what_is_not_eligible_is_never_returned(world, model, tools, origin):
    pool = world()
    late = np.zeros(30, dtype=np.int64)
    late[::3] = pool.times.query.max()
    times = replace(pool.times, eligible_from=late)
    run = rank(model, origin, replace(pool, times=times), tools)
    asked = times.query[run.final.query]
    assert (late[run.final.item] <= asked).all()
    assert (late[run.final.item] > 0).any()  # some queries are late enough


def test_an_origin_knows_kind_options_and_code(model):
    origin = model.origin("mine", "what I wrote")
    kind = type(model).__module__.rpartition(".")[2]
    assert (origin.name, origin.kind, origin.requested) == ("mine", kind, "what I wrote")
    assert origin.resolved.startswith(f"{kind}(")
    assert origin == model.origin("mine", "what I wrote")
    assert len(origin.source_digest) == 64


def test_origins_differ_between_kinds_and_options():
    models = [build("models", {"kind": k, **o}, "m") for k, o in SPECS.items()]
    models.append(build("models", {"kind": "svd", "factors": 7}, "m"))
    assert len({model.origin("m", "m").source_digest for model in models}) == len(models)


def test_other_code_is_another_model(monkeypatch, tmp_path):
    model = build("models", {"kind": "svd"}, "m")
    before = model.origin("m", "m").source_digest
    (tmp_path / "_blocks.py").write_text("changed = True")
    monkeypatch.setattr(_identity, "__file__", str(tmp_path / "_identity.py"))
    assert model.origin("m", "m").source_digest != before
