"""Run files: ids in and outside the pool, order, ranks, two stages, and every message."""

import gzip
import hashlib
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pipeline.core.problems import SamepoolError, UnreachableError, fault
from pipeline.core.run import Origin
from pipeline.models import Tools, fits, rank
from pipeline.models._encode import encode
from pipeline.models.run_file import RunFile

RUN = """\
q2 Q0 b 1 9.5 t
q2 Q0 zz 2 9.0 t
q2 Q0 a 3 8.0 t
q9 Q0 a 1 7.0 t
q1 Q0 zz 1 3.0 t
q1 Q0 yy 2 2.0 t
q1 Q0 c 3 1.0 t
"""


@pytest.fixture
def pool(make_pool):
    return make_pool({"q1": {}, "q2": {}, "q3": {}}, {"a": {}, "b": {}, "c": {}})


@pytest.fixture
def write(tmp_path):
    def write(text, name="bm25.trec"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


def ask(pool, path, **options):
    model = RunFile(path, **options)
    return rank(model, model.origin("bm25", path), pool, Tools())


def test_reads_lists_by_query_in_file_order(pool, write, as_dict):
    run = ask(pool, write(RUN))
    assert as_dict(run.final, pool, run.foreign) == {
        "q1": {"zz": 3.0, "yy": 2.0, "c": 1.0},
        "q2": {"b": 9.5, "zz": 9.0, "a": 8.0},
    }
    assert run.final.item.tolist() == [3, 4, 2, 1, 3, 0]
    assert run.final.given_rank.tolist() == [1, 2, 3, 1, 2, 3]
    assert run.foreign.to_pylist() == ["zz", "yy"]
    assert run.outside == 1
    assert run.retrieval is None
    assert run.problems == ()


def test_row_order_across_queries_is_no_matter(pool, write):
    lines = RUN.splitlines(keepends=True)
    mixed = "".join(lines[i] for i in (4, 0, 5, 1, 3, 6, 2))
    assert ask(pool, write(RUN)).digest == ask(pool, write(mixed, "mixed.trec")).digest


def test_the_format_is_no_matter(pool, write, tmp_path):
    rows = [line.split() for line in RUN.splitlines()]
    table = pa.table(
        {
            "query_id": [row[0] for row in rows],
            "item_id": [row[2] for row in rows],
            "score": [float(row[4]) for row in rows],
            "rank": pa.array([int(row[3]) for row in rows], pa.int32()),
        }
    )
    pq.write_table(table, tmp_path / "run.parquet")
    with gzip.open(tmp_path / "run.trec.gz", "wt") as stream:
        stream.write(RUN)
    digests = {
        ask(pool, path).digest
        for path in (write(RUN), str(tmp_path / "run.parquet"), str(tmp_path / "run.trec.gz"))
    }
    assert len(digests) == 1


@pytest.mark.parametrize("as_dictionary", [False, True])
def test_plain_and_dictionary_ids_encode_alike(pool, as_dictionary):
    """Chunks with dictionaries of their own, unused entries included."""
    query = pa.chunked_array([["q2", "q2"], ["q9"], ["q1", "q2"]])
    item = pa.chunked_array([["a", "x"], ["only-here"], ["y", "x2"]])
    if as_dictionary:
        query, item = (
            pa.chunked_array([chunk.dictionary_encode() for chunk in column.chunks])
            for column in (query, item)
        )
    table = pa.table({"query_id": query, "item_id": item, "score": [5.0, 4.0, 3.0, 2.0, 1.0]})
    found = encode(pool, [table])
    assert found.lists[0].query.tolist() == [0, 1, 1, 1]
    assert found.lists[0].item.tolist() == [3, 0, 4, 5]
    assert found.lists[0].score.tolist() == [2.0, 5.0, 4.0, 1.0]
    assert found.foreign.to_pylist() == ["y", "x", "x2"]
    assert found.outside == (1,)
    assert found.rows[0].tolist() == [3, 0, 1, 4]


def test_two_stages_share_foreign_ids(pool, write, as_dict):
    first = write("q1 Q0 ww 1 9 t\nq1 Q0 zz 2 8 t\nq1 Q0 yy 3 7 t\nq1 Q0 c 4 6 t\n", "first.trec")
    run = ask(pool, write("q1 Q0 zz 1 2 t\nq1 Q0 c 2 1 t\n"), retrieval=first)
    assert run.foreign.to_pylist() == ["zz", "ww", "yy"]
    assert as_dict(run.final, pool, run.foreign) == {"q1": {"zz": 2.0, "c": 1.0}}
    assert as_dict(run.retrieval, pool, run.foreign) == {
        "q1": {"ww": 9.0, "zz": 8.0, "yy": 7.0, "c": 6.0}
    }
    assert run.problems == ()


def test_no_query_in_common_is_an_error_with_both_sides(pool, write):
    text = "".join(f"{q} Q0 a 1 1.0 t\n" for q in range(50))
    with pytest.raises(SamepoolError, match="0 of 50 query ids match: run has `0`, pool has `q1`"):
        ask(pool, write(text))


def test_a_retrieval_run_of_other_queries_is_an_error(pool, write):
    first = write("7 Q0 a 1 1.0 t\n", "first.trec")
    with pytest.raises(SamepoolError, match=r"first.trec: 0 of 1 query ids match"):
        ask(pool, write(RUN), retrieval=first)


def test_no_item_in_common_is_a_warning(pool, write):
    (problem,) = ask(pool, write("q1 Q0 A 1 1.0 t\n")).problems
    assert (problem.code, problem.severity) == ("no_item_matches", "warning")
    assert "run has `A`, pool has `a`" in problem.text


def test_an_item_twice_is_named_with_its_lines(pool, write):
    path = write("q9 Q0 a 1 9 t\nq2 Q0 a 1 9 t\nq1 Q0 b 1 5 t\nq2 Q0 zz 2 8 t\nq2 Q0 a 3 7 t\n")
    with pytest.raises(SamepoolError) as caught:
        ask(pool, path)
    (problem,) = caught.value.problems
    assert problem.examples == ("query `q2` lists `a` more than once: line 2, line 5",)
    assert problem.file == path


def test_nan_is_named_with_its_line(pool, write):
    with pytest.raises(SamepoolError, match=r"bm25.trec:line 2: .*query 'q1', item 'b' is NaN"):
        ask(pool, write("q1 Q0 a 1 2.0 t\nq1 Q0 b 2 nan t\n"))


def test_a_rank_against_the_score_is_a_warning(pool, write):
    (problem,) = ask(pool, write("q1 Q0 a 1 1.0 t\nq1 Q0 b 2 2.0 t\n")).problems
    assert problem.code == "rank_against_score"
    assert problem.severity == "warning"


def test_a_missing_file_names_its_neighbours(write, tmp_path):
    write(RUN, "bm25.trec")
    with pytest.raises(SamepoolError) as caught:
        RunFile(str(tmp_path / "bm52.trec"), str(tmp_path / "gone" / "x.trec")).origin("m", "m")
    one, two = caught.value.problems
    assert one.fix == f"did you mean {tmp_path / 'bm25.trec'}?"
    assert two.fix == f"there is no folder {tmp_path / 'gone'}"
    with pytest.raises(SamepoolError, match="holds no file of a like name"):
        RunFile(str(tmp_path / "zzzzzzzz")).origin("m", "m")


def test_an_unknown_format_is_an_error(pool, write):
    with pytest.raises(SamepoolError, match="unknown format 'trek'"):
        ask(pool, write(RUN), format="trek")


def test_an_origin_is_the_bytes_of_its_files(write):
    one, copy, other = write(RUN), write(RUN, "copy.trec"), write(RUN + "\n", "other.trec")

    def digest(path, **more):
        return RunFile(path, **more).origin("m", "m").source_digest

    assert digest(one) == digest(copy)
    others = {
        digest(one),
        digest(other),
        digest(one, retrieval=other),
        digest(other, retrieval=one),
    }
    assert len(others) == 4
    origin = RunFile(one).origin("bm25", "what I wrote")
    assert (origin.kind, origin.path, origin.requested) == ("run_file", one, "what I wrote")


@pytest.mark.parametrize("which", ["bm25.trec", "ce.trec"])
def test_a_file_written_anew_meanwhile_is_no_list_of_the_first(pool, write, which):
    path, first = write(RUN, "ce.trec"), write(RUN)
    model = RunFile(path, retrieval=first)
    origin = model.origin("ce", path)
    assert len(rank(model, origin, pool, Tools(origin=origin)).final.query) == 6
    write(RUN.replace("8.0", "10.0"), which)
    with pytest.raises(SamepoolError, match="was written anew while the comparison was under way"):
        rank(model, origin, pool, Tools(origin=origin))


def test_encodes_many_rows_like_a_loop(make_pool):
    """Random rows in random order against plain Python."""
    rng = np.random.default_rng(5)
    pool = make_pool({f"q{i}": {} for i in range(8)}, {f"i{i}": {} for i in range(20)})
    query = [f"q{i}" for i in rng.integers(0, 11, 2_000)]
    item = [f"i{i}" for i in rng.integers(0, 60, 2_000)]
    score = rng.random(2_000)
    found = encode(pool, [pa.table({"query_id": query, "item_id": item, "score": score})])
    queries, items = pool.vocab.queries.to_pylist(), pool.vocab.items.to_pylist()
    expected = [
        (q, i, s)
        for known in queries
        for q, i, s in zip(query, item, score, strict=True)
        if q == known
    ]
    names = items + found.foreign.to_pylist()
    got = found.lists[0]
    rows = zip(got.query, got.item, got.score, strict=True)
    assert [(queries[q], names[i], s) for q, i, s in rows] == expected
    first_seen = dict.fromkeys(i for _, i, _ in expected if i not in items)
    assert list(first_seen) == found.foreign.to_pylist()


def test_paths_that_are_no_run_files(tmp_path):
    (tmp_path / "loop.trec").symlink_to("loop.trec")
    paths = ["/dev/null", str(tmp_path), str(tmp_path / "loop.trec"), str(tmp_path / ("x" * 300))]
    for path, text in zip(
        paths, ["is a device", "is a folder", "is a symbolic link that", "is too long"], strict=True
    ):
        with pytest.raises(SamepoolError) as caught:
            RunFile(path).origin("m", "m")
        (problem,) = caught.value.problems
        assert problem.text.startswith(text)
        assert "did you mean" not in str(problem)


def test_judgments_given_as_a_run(pool, write):
    with pytest.raises(SamepoolError, match="this looks like judgments, not a run"):
        ask(pool, write("q1 0 a 1\n"))
    with pytest.raises(SamepoolError, match="this looks like judgments, not a run"):
        ask(pool, write("query_id,item_id,grade\nq1,a,1\n", "qrels.csv"))


@pytest.mark.parametrize("name", ["query_id", "item_id"])
def test_empty_ids_are_errors(pool, tmp_path, name):
    columns = {"query_id": ["q1", "q1"], "item_id": ["a", "b"], "score": [2.0, 1.0]}
    columns[name] = [None, columns[name][1]]
    pq.write_table(pa.table(columns), tmp_path / "run.parquet")
    with pytest.raises(SamepoolError, match=f"run.parquet:row 1: {name} is empty"):
        ask(pool, str(tmp_path / "run.parquet"))


@pytest.mark.parametrize("name", ["query_id", "item_id"])
def test_padded_ids_of_the_pool_are_errors(pool, write, name):
    text = "query_id,item_id,score\nq1,a,3\nq1,b,2\n"
    bad = text.replace("q1,b", " q1,b" if name == "query_id" else "q1,b ")
    with pytest.raises(SamepoolError, match=f"run.csv:line 3: {name} '.*' has white space around"):
        ask(pool, write(bad, "run.csv"))
    assert ask(pool, write(text + "q1, zz,1\n", "run.csv")).foreign.to_pylist() == [" zz"]


POOL_DIGEST = "77b0" * 16
SOURCE = "5" * 64


class Registry:
    """One version; an alias of it; nothing else."""

    def __init__(self, error=None, **other):
        self.error, self.other = error, other

    def resolve(self, uri):
        if self.error:
            raise self.error
        number = {"models:/ranker/13": "13", "models:/ranker@champion": "12"}[uri]
        values = {"model_id": "m-1", "source_digest": SOURCE, **self.other}
        return Origin("", "mlflow", uri, f"models:/ranker/{number}", "ranker", number, **values)


@pytest.fixture
def scored(write, tmp_path):
    """A run and the least that a job may say of it; parts may be replaced, or taken away."""
    path = write(RUN)

    def say(name="bm25.trec.manifest.json", **parts):
        said = {
            "schema": 1,
            "model": {"registered": "ranker", "version": "13", "source_digest": SOURCE},
            "pool": {"digest": POOL_DIGEST},
            "run": {"sha256": hashlib.sha256(RUN.encode()).hexdigest()},
            **parts,
        }
        said = {key: value for key, value in said.items() if value != "taken away"}
        (tmp_path / name).write_text(json.dumps(said))
        return path

    return say


def of_version(path, registry=None, **options):
    return RunFile(path, **options).origin("bm25", "as asked", registry or Registry())


def test_a_run_stands_for_the_version_that_its_manifest_names(scored, tmp_path):
    path = scored()
    digests = {RunFile(path).origin("m", "m", Registry()).source_digest}
    for options in ({}, {"version": "models:/ranker/13"}):
        origin = of_version(path, **options)
        assert (origin.kind, origin.path, origin.requested) == ("run_file", path, "as asked")
        assert (origin.registered, origin.version, origin.model_id) == ("ranker", "13", "m-1")
        assert origin.resolved == "models:/ranker/13"
        digests.add(origin.source_digest)
    (tmp_path / "bm25.trec.manifest.json").rename(tmp_path / "mine.json")
    alone = of_version(path)
    assert alone.registered is None
    assert digests == {alone.source_digest}  # that of the bytes, whatever they stand for
    assert of_version(path, manifest=str(tmp_path / "mine.json")).registered == "ranker"


def test_a_job_may_write_numbers_capitals_and_keys_of_its_own(scored):
    run = {"sha256": hashlib.sha256(RUN.encode()).hexdigest().upper(), "gpu": "A100"}
    model = {"registered": "ranker", "version": 13, "model_id": "m-1"}
    assert of_version(scored(run=run, model=model, job=17)).version == "13"


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"model": "taken away"}, "model: field required"),
        ({"pool": "taken away"}, "pool: field required"),
        ({"run": {}}, "run.sha256: field required"),
        ({"schema": 2}, "schema is 2, and 1 is what this version reads"),
        ({"schema": 1, "model": {"registered": "", "version": "1"}}, "registered: '': this is no"),
        ({"schema": 1, "model": {"registered": "a\nb", "version": "1"}}, "this is no name"),
        ({"schema": 1, "pool": {"digest": "x" * 999}}, r"digest: 'x{96}\.\.\.: this is no SHA-256"),
        ({"schema": "taken away"}, "schema is None"),
        ({"pool": {"digest": "77b0"}}, "pool.digest: '77b0': this is no SHA-256"),
        ({"model": {"registered": "ranker", "version": "13"}}, "neither model_id nor source_dig"),
        ({"run": {"sha256": "0" * 64}}, "edited after it was stamped: SHA-256 "),
        (
            {"model": {"registered": "ranker", "version": "13", "model_id": "m-2"}},
            "13 is not the one that .* was stamped for: model_id m-1 in the registry, m-2 in",
        ),
    ],
)
def test_what_is_wrong_with_a_manifest_is_named(scored, parts, words):
    with pytest.raises(SamepoolError, match=words):
        of_version(scored(**parts))


@pytest.mark.parametrize("text", ["{", "[1]", "null", "\xff", "[" * 100_000])
def test_a_manifest_that_is_no_object_of_json(write, text, tmp_path):
    (tmp_path / "bm25.trec.manifest.json").write_bytes(text.encode("latin-1"))
    with pytest.raises(SamepoolError, match=r"bm25.trec.manifest.json: (this is no JSON|schema)"):
        of_version(write(RUN))


def test_run_and_retrieval_the_wrong_way_round_are_told_as_such(scored, write):
    first = write(RUN + "\n", "first.trec")
    path = scored(retrieval={"sha256": hashlib.sha256((RUN + "\n").encode()).hexdigest()})
    assert of_version(path, retrieval=first).version == "13"
    with pytest.raises(SamepoolError) as caught:
        of_version(first, retrieval=path, manifest=f"{path}.manifest.json")
    texts = [problem.text.rpartition(" has as ")[2] for problem in caught.value.problems]
    assert texts == ["the retrieval", "the run"]


def test_a_version_must_be_the_one_that_was_stamped(scored, tmp_path):
    path = scored()
    with pytest.raises(SamepoolError, match="stamped for models:/ranker/13, and models:/ranker@ch"):
        of_version(path, version="models:/ranker@champion")
    with pytest.raises(SamepoolError, match=r"source digest 666.* in the registry, 555"):
        of_version(path, Registry(source_digest="6" * 64))
    with pytest.raises(SamepoolError, match="there is no manifest"):
        of_version(path, manifest=str(tmp_path / "gone.json"))
    (tmp_path / "bm25.trec.manifest.json").unlink()
    with pytest.raises(SamepoolError, match=r"samepool stamp run=.*bm25.trec version=models:/rank"):
        of_version(path, version="models:/ranker/13")


def test_a_retrieval_is_verified_too(scored, write):
    first = write(RUN + "\n", "first.trec")
    digest = hashlib.sha256((RUN + "\n").encode()).hexdigest()
    with pytest.raises(SamepoolError, match="says nothing of it as the retrieval of"):
        of_version(scored(), retrieval=first)
    with pytest.raises(SamepoolError, match=r"first.trec: was edited after it was stamped"):
        of_version(scored(retrieval={"sha256": "0" * 64}), retrieval=first)
    assert of_version(scored(retrieval={"sha256": digest}), retrieval=first).version == "13"


def test_without_a_registry_a_run_stands_for_itself_unless_asked(scored):
    path = scored()
    off = Registry(fault("tracking_off", "tracking=none"))
    assert of_version(path, off).registered is None
    with pytest.raises(SamepoolError, match=r"bm25.trec: tracking=none"):
        of_version(path, off, version="models:/ranker/13")
    with pytest.raises(UnreachableError, match="away"):
        of_version(path, Registry(UnreachableError(fault("away", "away").problems)))


def test_a_run_of_another_pool_is_an_error(scored, pool):
    model = RunFile(scored())
    (other, note) = fits(model, of_version(model.path), pool, None)
    assert (other.code, other.severity) == ("other_pool", "error")
    assert "made for pool @77b077b0, and this is pool tiny@" in other.text
    assert (note.code, note.severity) == ("stands_for", "note")
    same = replace(pool, digest=POOL_DIGEST)
    assert fits(model, of_version(model.path), same, None) == (note,)
    off = of_version(model.path, Registry(fault("tracking_off", "tracking=none")))
    (warning,) = fits(model, off, same, None)
    assert (warning.code, warning.severity) == ("not_verified", "warning")
    named = RunFile(model.path, version="models:/ranker/13")
    assert fits(named, of_version(model.path), same, None) == ()


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        ("q1 Q0 12 1 2 t", "item_ids were read as numbers on their way .*`12` is `0012` in"),
        ("q1 Q0 12.0 1 2 t", "`12.0` is `0012` in the pool"),
        ("q1 Q0 07 1 2 t", "`07` is `7` in the pool"),
        ("7 Q0 0012 1 2 t", "query_ids were read as numbers .*`7` is `007` in the pool"),
        ("q1 Q0 0012 1 2 t\n7 Q0 0012 1 2 t", "1 query_ids were read as numbers"),
    ],
)
def test_ids_that_became_numbers_are_errors(make_pool, write, ids, text):
    pool = make_pool({"q1": {}, "007": {}}, {"0012": {}, "7": {}, "a": {}})
    with pytest.raises(SamepoolError, match=text):
        ask(pool, write(f"{ids}\n"))


def test_ids_that_are_numbers_are_left_alone(make_pool, write):
    pool = make_pool({"1": {}, "01": {}}, {"0012": {}, "12": {}})
    text = "1 Q0 12 1 9 t\n01 Q0 0012 1 9 t\n2 Q0 12 1 8 t\n1 Q0 13 2 8 t\n1 Q0 120 3 7 t\n"
    assert ask(pool, write(text)).foreign.to_pylist() == ["13", "120"]


def test_equal_scores_everywhere_are_a_warning(pool, write):
    (problem,) = ask(pool, write("q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 2 t\n")).problems
    assert (problem.code, problem.severity) == ("constant_scores", "warning")
    assert "all its scores are equal, in each of 1 queries" in problem.text
    told = "q1 Q0 a 1 1 t\nq1 Q0 b 2 1 t\nq2 Q0 a 1 2 t\nq2 Q0 b 2 1 t\n"
    assert ask(pool, write(told)).problems == ()
    assert ask(pool, write("q1 Q0 a 1 1 t\nq2 Q0 b 1 1 t\n")).problems == ()
