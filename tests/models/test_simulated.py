"""Systems of a simulated pool: the lists that the pool was drawn with, and no others."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from pipeline.core.pool import UNKNOWN_TIME
from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.kernels.simulate import Plant, Simulation, System, World, answers, truth
from pipeline.models import fits, rank, simulated

N, ITEMS = 60, 90
WORLD = World(
    seed=3,
    n_queries=N,
    n_items=ITEMS,
    n_users=20,
    zipf=1.0,
    user_zipf=0.5,
    item_zipf=0.5,
    relevant=3,
    nothing_relevant=0.1,
    groups={"a": 0.5, "b": 0.5},
    n_categories=5,
    taste=0.5,
    new_share=0.3,
    new_days=20,
    windows=0.2,
    depth=20,
    alike=0.5,
    systems={"s0": System(0.7, 0.75), "s1": System(0.9, 0.6)},
    plants=(Plant("s1", "retrieval", 0.5, {"group": "b"}),),
)


@pytest.fixture
def pool(make_pool):
    """A pool that has the world's ids and facts; what else it holds no system reads."""
    queries = {f"q{number:02}": {} for number in range(N)}
    found = make_pool(queries, {f"i{number:02}": {} for number in range(ITEMS)})
    return replace(found, declared=replace(found.declared, facts={"simulation": WORLD.as_json()}))


@pytest.fixture
def system():
    def make(name="s1", **options):
        return build("models", {"kind": "simulated", "system": name, **options}, "models.mine")

    return make


def test_both_lists_are_the_worlds(pool, system, origin, tools, as_dict):
    run = rank(system(), origin, pool, tools)
    made = Simulation(WORLD)
    found = answers(made, "s1", made.truth(np.arange(N)))
    expected = [
        {f"i{i:02}": s for i, s in zip(*row, strict=True) if i >= 0}
        for row in zip(found.item.tolist(), found.final.tolist(), strict=True)
    ]
    assert list(as_dict(run.final, pool).values()) == expected
    assert (run.retrieval.item == run.final.item).all()
    assert run.retrieval.score.tolist() == found.first[found.item >= 0].tolist()
    assert not run.problems


def test_the_same_bits_whatever_the_blocks(pool, system, origin, tools, same, monkeypatch):
    whole = rank(system(), origin, pool, tools)
    for cells in (1, 97, 3000):
        monkeypatch.setattr(truth, "_CELLS", cells)
        same(whole, rank(system(), origin, pool, tools))


def test_a_part_of_the_pool_gets_the_same_lists(make_pool, pool, system, origin, tools, as_dict):
    """Ids say which queries of the world these are: a sample keeps its lists."""
    some = [f"q{number:02}" for number in (3, 4, 17, 59)]
    part = make_pool({query: {} for query in some}, {f"i{n:02}": {} for n in range(ITEMS) if n % 3})
    part = replace(part, declared=pool.declared)
    whole = as_dict(rank(system(), origin, pool, tools).final, pool)
    found = as_dict(rank(system(), origin, part, tools).final, part)
    assert list(found) == some
    for query in some:
        assert found[query] == {i: s for i, s in whole[query].items() if int(i[1:]) % 3}


def test_depth_keeps_the_first_stages_best(pool, system, origin, tools):
    whole = rank(system(), origin, pool, tools)
    cut = rank(system(depth=5), origin, pool, tools)
    assert (np.bincount(cut.final.query, minlength=N) == 5).all()
    for query in range(N):
        best = np.argsort(-whole.retrieval.score[whole.retrieval.query == query])[:5]
        kept = set(whole.final.item[whole.final.query == query][best].tolist())
        assert kept == set(cut.final.item[cut.final.query == query].tolist())


def test_an_origin_knows_system_depth_and_the_simulators_code(system, monkeypatch, tmp_path):
    one = system().origin("mine", "mine")
    assert one.resolved == "simulated(system=s1, depth=None)"
    others = [system("s0"), system(depth=3)]
    assert one.source_digest not in {m.origin("mine", "mine").source_digest for m in others}
    (tmp_path / "changed.py").write_text("x = 1")
    monkeypatch.setattr(simulated.simulate, "__file__", str(tmp_path / "__init__.py"))
    assert system().origin("mine", "mine").source_digest != one.source_digest


def test_other_pools_and_unknown_systems_are_told_before_scoring(make_pool, pool, system, origin):
    plain = make_pool({"q1": {}}, {"i1": {}})
    (problem,) = fits(system(), origin, plain, None)
    assert "the pool tiny is not simulated -> kind simulated answers on pool=synthetic" in str(
        problem
    )
    (problem,) = fits(system("s2"), origin, pool, None)
    assert "has no system 's2' -> there are: s0, s1" in str(problem)
    assert fits(system(), origin, pool, None) == ()
    broken = replace(pool.declared, facts={"simulation": {"seed": 3}})
    (problem,) = fits(system(), origin, replace(pool, declared=broken), None)
    assert "a simulation that cannot be" in str(problem)


@pytest.mark.parametrize("strange", ["q99", "qx", "17"])
def test_ids_of_something_else_are_refused(make_pool, pool, system, origin, tools, strange):
    part = make_pool({strange: {}}, {f"i{number:02}": {} for number in range(ITEMS)})
    with pytest.raises(SamepoolError, match=f"`{strange}` is no id of the simulation"):
        rank(system(), origin, replace(part, declared=pool.declared), tools)


def test_depth_is_at_least_one():
    with pytest.raises(SamepoolError, match="depth is 0"):
        build("models", {"kind": "simulated", "system": "s0", "depth": 0}, "models.mine")


def test_nothing_but_ids_and_facts_is_read(pool, system, origin, tools, same):
    times = replace(pool.times, query=np.full(N, UNKNOWN_TIME), created=np.arange(ITEMS))
    other = replace(pool, times=times, logs=pa.table({"item_id": ["i01"], "query_id": ["q01"]}))
    same(rank(system(), origin, pool, tools), rank(system(), origin, other, tools))
