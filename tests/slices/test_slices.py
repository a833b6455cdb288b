from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
import yaml

from pipeline.core import registry
from pipeline.core.problems import SamepoolError
from pipeline.slices import assign

CONF = Path(__file__).parents[2] / "conf" / "slices"


def members(slices, name):
    if name in slices.query_names:
        return slices.query[:, slices.query_names.index(name)].astype(int).tolist()
    return slices.item[:, slices.item_names.index(name)].astype(int).tolist()


def one(pool, **spec):
    return members(assign(pool, {"s": spec}), "s")


def complaint(pool, **specs):
    with pytest.raises(SamepoolError) as caught:
        assign(pool, specs)
    return str(caught.value)


def test_all_is_always_there_and_first(pool):
    slices = assign(pool, {"f": {"kind": "column", "column": "gender", "value": "F"}})
    assert slices.query_names == ("all", "f")
    assert slices.item_names == ("all",)
    assert members(slices, "all") == [1, 1, 1, 1]
    assert slices.item.shape == (6, 1)
    assert slices.item.all()
    assert slices.names == ("all", "f")


def test_digest_is_of_the_definitions_alone(pool, make_pool):
    specs = {"long": {"where": "length > 3"}, "f": {"kind": "column", "column": "gender"}}
    first = assign(pool, specs)
    turned = assign(pool, dict(reversed(specs.items())))
    explicit = assign(pool, {**specs, "long": {"kind": "expression", "where": "length > 3"}})
    other = assign(pool, {**specs, "long": {"where": "length > 4"}})
    assert first.digest == turned.digest == explicit.digest
    assert first.digest != other.digest
    fewer = make_pool(pool.queries.slice(0, 2), pool.items)
    assert assign(fewer, specs).digest == first.digest


def test_null_takes_a_definition_away(pool):
    assert assign(pool, {"f": None}).names == ("all",)


def test_all_problems_are_collected(pool):
    text = complaint(
        pool,
        a={"where": "lenght > 1"},
        b={"kind": "colum", "column": "gender"},
        c={"kind": "range", "column": "gender", "min": 0},
        d="length > 1",
        e={"kind": "range", "column": "length", "minimum": 3, "min": 1},
        f={"max": 3},
    )
    assert "slices.defs.a.where: column 'lenght' is not in the pool's queries" in text
    assert "did you mean length?" in text
    assert "columns: big, empty, frequency, gender" in text
    assert "unknown kind 'colum' -> did you mean column?" in text
    assert "column 'gender' holds text, not numbers" in text
    assert "slices.defs.d is 'length > 1', not a definition" in text
    assert "unknown option slices.defs.e.minimum" in text
    assert "slices.defs.f has no kind" in text


@pytest.mark.parametrize("name", ["a.b", "a@b", "a/b", "-a", "", "ä", "a b"])
def test_names_are_plain(pool, name):
    assert "is not a plain name" in complaint(pool, **{name: {"where": "length > 1"}})


def test_reserved_and_untext_names(pool):
    assert "'all' is always there" in complaint(pool, all={"where": "length > 1"})
    with pytest.raises(SamepoolError, match="the name False is not text but bool -> quote it"):
        assign(pool, {False: {"where": "length > 1"}})


def test_two_slices_of_one_name(pool):
    specs = {"g": {"kind": "column", "column": "gender"}, "g_F": {"where": "length > 1"}}
    assert "two slices are called 'g_F'" in complaint(pool, **specs)


# column


def test_column_value_and_values(pool):
    assert one(pool, kind="column", column="gender", value="F") == [1, 0, 0, 0]
    assert one(pool, kind="column", column="gender", value="NO") == [0, 0, 0, 1]
    assert one(pool, kind="column", column="gender", values=["F", "M"]) == [1, 1, 0, 0]
    assert one(pool, kind="column", column="length", value=7) == [0, 1, 0, 0]
    assert one(pool, kind="column", column="vip", value=True) == [1, 0, 0, 1]
    assert one(pool, kind="column", column="kind", value="x") == [1, 0, 1, 0]


def test_a_value_that_no_row_has_makes_an_empty_slice(pool):
    assert one(pool, kind="column", column="gender", value="X") == [0, 0, 0, 0]
    assert one(pool, kind="column", column="empty", value="X") == [0, 0, 0, 0]


def test_column_over_items_is_an_item_slice(pool):
    slices = assign(
        pool, {"war": {"kind": "column", "column": "genre", "value": "war", "over": "items"}}
    )
    assert slices.item_names == ("all", "war")
    assert members(slices, "war") == [0, 1, 0, 1, 1, 0]
    assert slices.definitions["war"] == "items: genre is war"


def test_column_without_a_value_makes_one_slice_per_value(make_pool):
    queries = pa.table({"query_id": ["a", "b", "c"], "band": ["18 - 24", "50+", None]})
    pool = make_pool(queries, pa.table({"item_id": ["x"]}))
    slices = assign(pool, {"age": {"kind": "column", "column": "band"}})
    assert slices.query_names == ("all", "age_18_-_24", "age_50_")
    assert members(slices, "age_50_") == [0, 1, 0]


def test_one_slice_per_number_and_boolean(pool):
    slices = assign(pool, {"n": {"kind": "column", "column": "frequency"}})
    assert slices.query_names == ("all", "n_1", "n_4", "n_10")
    slices = assign(pool, {"v": {"kind": "column", "column": "vip"}})
    assert slices.query_names == ("all", "v_false", "v_true")


def test_values_that_share_a_plain_name_are_an_error(make_pool):
    queries = pa.table({"query_id": ["a", "b"], "band": ["18+", "18?"]})
    pool = make_pool(queries, pa.table({"item_id": ["x"]}))
    assert "two slices are called 'age_18_'" in complaint(
        pool, age={"kind": "column", "column": "band"}
    )


def test_column_complaints(pool):
    spec = {"kind": "column", "column": "gender"}
    assert "quote the value: YAML reads NO" in complaint(pool, s={**spec, "value": False})
    assert "text values are quoted" in complaint(pool, s={**spec, "value": 5})
    assert "give value or values, not both" in complaint(
        pool, s={**spec, "value": "F", "values": []}
    )
    assert "use values for a list" in complaint(pool, s={**spec, "value": ["F"]})
    many = {"kind": "column", "column": "frequency", "max_values": 2}
    assert "has 3 values, too many slices" in complaint(pool, s=many)
    assert "kind: window" in complaint(pool, s={"kind": "column", "column": "issued_at"})
    assert "integers beyond 2^53" in complaint(pool, s={"kind": "column", "column": "big"})


# share


def shares(make_pool, values, **spec):
    queries = pa.table({"query_id": [f"{n:02}" for n in range(len(values))], "frequency": values})
    return one(make_pool(queries, pa.table({"item_id": ["x"]})), kind="share", **spec)


def test_share_of_traffic(make_pool):
    values = [5, 1, 1, 3]
    assert shares(make_pool, values, top=0.5) == [1, 0, 0, 0]
    assert shares(make_pool, values, top=0.51) == [1, 0, 0, 1]
    assert shares(make_pool, values, bottom=0.5) == [0, 1, 1, 1]
    assert shares(make_pool, values, bottom=0.2) == [0, 1, 1, 0]
    assert shares(make_pool, values, bottom=0.21) == [0, 1, 1, 1]


def test_quantile_by_queries(make_pool):
    values = [5, 1, 2, 3]
    assert shares(make_pool, values, top=0.25, of="queries") == [1, 0, 0, 0]
    assert shares(make_pool, values, top=0.26, of="queries") == [1, 0, 0, 1]
    assert shares(make_pool, values, bottom=0.25, of="queries") == [0, 1, 0, 0]


def test_equal_values_never_straddle_an_edge(make_pool):
    values = [2, 2, 2, 2, 1]
    assert shares(make_pool, values, top=0.3) == [1, 1, 1, 1, 0]
    assert shares(make_pool, values, bottom=0.1) == [0, 0, 0, 0, 1]
    assert shares(make_pool, values, bottom=0.3) == [1, 1, 1, 1, 1]
    assert shares(make_pool, [3, 3, 3], top=0.1) == [1, 1, 1]
    assert shares(make_pool, [3, 3, 3], bottom=0.1) == [1, 1, 1]


def test_cold_queries_are_the_rare_ones_however_many_they_are(make_pool):
    assert shares(make_pool, [0, 0, 0, 5], bottom=0.33, of="queries") == [1, 1, 1, 0]


def test_share_reached_but_for_rounding_is_reached(make_pool):
    assert shares(make_pool, [1.0] * 10, top=0.3, of="queries") == [1] * 10
    values = [float(n) for n in range(10, 0, -1)]
    assert shares(make_pool, values, bottom=0.9, of="queries") == [0] + [1] * 9


def test_queries_without_a_value_are_on_neither_side(make_pool):
    assert shares(make_pool, [4, None, 1], top=0.5) == [1, 0, 0]
    assert shares(make_pool, [4, None, 1], bottom=0.2) == [0, 0, 1]
    assert shares(make_pool, pa.array([None, None], pa.int64()), top=0.5) == [0, 0]


def test_share_complaints(make_pool):
    with pytest.raises(SamepoolError, match="negative values"):
        shares(make_pool, [-1, 1], top=0.5)
    with pytest.raises(SamepoolError, match="either top or bottom"):
        shares(make_pool, [1], top=0.5, bottom=0.5)
    with pytest.raises(SamepoolError, match="shares between 0 and 1"):
        shares(make_pool, [1], top=20)


# range, window


def test_range_is_half_open(pool):
    assert one(pool, kind="range", column="length", min=3, max=7) == [1, 0, 1, 0]
    assert one(pool, kind="range", column="length", min=7) == [0, 1, 0, 0]
    assert one(pool, kind="range", column="length", max=6) == [1, 0, 0, 0]
    assert "give min, max or both" in complaint(pool, s={"kind": "range", "column": "length"})
    backwards = {"kind": "range", "column": "length", "min": 3, "max": 3}
    assert "min 3 is not below max 3" in complaint(pool, s=backwards)


def test_window(pool):
    assert one(pool, kind="window", since="1970-01-11", until="1970-01-21") == [0, 1, 0, 0]
    assert one(pool, kind="window", since="1970-01-11T01:00:00+01:00") == [0, 1, 1, 0]
    assert one(pool, kind="window", until="1970-01-01T00:00:00Z") == [0, 0, 0, 0]
    assert "'soon' is not a date" in complaint(pool, s={"kind": "window", "since": "soon"})
    assert "give since, until or both" in complaint(pool, s={"kind": "window"})
    text = {"kind": "window", "column": "gender", "since": "1970-01-01"}
    assert "holds text, not times" in complaint(pool, s=text)
    backwards = {"kind": "window", "since": "1970-01-02", "until": "1970-01-01"}
    assert "is not before until" in complaint(pool, s=backwards)


# item_age, cross


def test_item_age_counts_what_it_cannot_date(pool):
    slices = assign(pool, {"new": {"kind": "item_age", "days": 5}})
    # a: x is 0 days old, z undated; b: x 10, y 5 days; c: y 15 days; d has no time
    assert members(slices, "new") == [1, 0, 0, 1, 0, 0]
    assert slices.undated == {"new": 2}
    assert one(pool, kind="item_age", days=10, min_days=6) == [0, 0, 1, 0, 0, 0]


def test_an_item_that_does_not_exist_yet_is_not_new(make_pool):
    queries, items = pa.table({"query_id": ["a"]}), pa.table({"item_id": ["x"]})
    pool = make_pool(queries, items, asked=[0], created=[1])
    assert one(pool, kind="item_age", days=90) == [0]


def test_item_age_without_any_dates_is_an_error(make_pool):
    pool = make_pool(pa.table({"query_id": ["a"]}), pa.table({"item_id": ["x"]}))
    assert "no judgment has both" in complaint(pool, s={"kind": "item_age", "days": 90})
    assert "0 <= min_days <= days" in complaint(pool, s={"kind": "item_age", "days": -1})


def test_cross_with_an_item_slice_is_a_crossing(pool):
    specs = {
        "f_new": {"kind": "cross", "of": ["new", "g_F"]},
        "g": {"kind": "column", "column": "gender"},
        "new": {"kind": "item_age", "days": 5},
    }
    slices = assign(pool, specs)
    assert slices.crossings == {"f_new": ("g_F", "new")}
    assert slices.split("f_new") == ("g_F", "new")
    assert "g_F (gender is F)" in slices.definitions["f_new"]


def test_cross_of_query_slices_is_their_intersection(pool):
    specs = {
        "long": {"where": "length >= 6"},
        "often": {"where": "frequency == 1"},
        "both": {"kind": "cross", "of": ["long", "often"]},
        "b": {"where": "gender == 'M'"},
        "three": {"kind": "cross", "of": ["both", "b"]},
    }
    slices = assign(pool, specs)
    assert members(slices, "both") == [0, 1, 1, 0]
    assert members(slices, "three") == [0, 1, 0, 0]


def test_cross_complaints(pool):
    base = {
        "long": {"where": "length >= 6"},
        "new": {"kind": "item_age", "days": 5},
        "old": {"kind": "item_age", "days": 50, "min_days": 5},
    }

    def of(*names):
        return complaint(pool, **base, s={"kind": "cross", "of": list(names)})

    assert "there is no slice 'lnog' before this one -> did you mean long?" in of("lnog", "new")
    assert "both item slices" in of("new", "old")
    assert "are not two different slices" in of("long", "long")
    assert "no slice 'all'" in of("all", "new")
    crossed = {"kind": "cross", "of": ["long", "new"]}
    text = complaint(pool, **base, c=crossed, d={"kind": "cross", "of": ["c", "long"]})
    assert "'c' is itself a crossing" in text


def test_every_kind_is_known():
    known = {"column", "cross", "expression", "item_age", "range", "share", "window"}
    assert set(registry.kinds("slices")) == known


@pytest.mark.parametrize("path", sorted(CONF.glob("*.yaml")), ids=lambda path: path.stem)
def test_presets_build_on_a_pool_with_their_columns(path, make_pool):
    queries = pa.table(
        {
            "query_id": ["a", "b", "c"],
            "frequency": [3, 2, 1],
            "gender": ["F", "M", "M"],
            "age_band": ["0-24", "25-34", "35+"],
            "occupation": ["artist", "other", "other"],
            "group": ["a", "b", "c"],
            "words": [1, 2, 3],
            "first_year": [2017, 2018, 2019],
        }
    )
    items = pa.table({"item_id": ["x"], "has_comment": [True]})
    pool = make_pool(queries, items, asked=[0, 0, 0], created=[0])
    slices = assign(pool, yaml.safe_load(path.read_text())["defs"])
    assert np.array_equal(slices.query[:, 0], [True] * 3)
    assert len(slices.names) <= 12
