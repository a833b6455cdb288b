"""Text scorers: scores by hand, the same bits everywhere, and what a pool without text is told."""

import math
import re
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from pipeline.core.problems import SamepoolError
from pipeline.core.registry import build
from pipeline.metrics import evaluate
from pipeline.models import Tools, _blocks, fits, rank
from pipeline.models._text_rank import unit

ROOT = Path(__file__).parents[2]
CRANFIELD = ROOT.parent / "shared" / "cases" / "cranfield"
EXTRA = {"bm25": "bm25s", "wordllama": "wordllama"}
KINDS = ("bm25", "tfidf", "lsa", "wordllama")
PLAIN = {"stemmer": "none", "stopwords": "none"}

# Three items of 2, 3 and 4 words.
ITEMS = {
    "a": {"text": "red fox"},
    "b": {"text": "red red hen"},
    "c": {"text": "brown dog brown fox"},
}


def model(kind, **options):
    if kind in EXTRA:
        pytest.importorskip(EXTRA[kind], reason=f"{EXTRA[kind]} is in an extra")
    return build("models", {"kind": kind, **options}, "models.mine")


@pytest.fixture
def found(make_pool, tools, as_dict):
    """Lists of a kind for queries and items that are written down."""

    def rank_texts(kind, queries, items=ITEMS, **options):
        pool = make_pool({f"q{i}": {"text": text} for i, text in enumerate(queries)}, items)
        lists = as_dict(model(kind, **options).rank(pool, tools).final, pool)
        return [lists.get(f"q{i}", {}) for i in range(len(queries))]

    return rank_texts


@pytest.fixture
def shop(make_pool):
    """A pool of 50 queries and 80 items of words drawn from a seed, some of them without text."""
    rng = np.random.default_rng(3)
    words = [f"w{i}" for i in range(60)]

    def text(low, high):
        return " ".join(rng.choice(words, rng.integers(low, high)))

    queries = {f"q{i:02}": {"text": text(1, 4) if i % 9 else None} for i in range(50)}
    items = {f"d{i:02}": {"text": text(1, 9) if i % 7 else None} for i in range(80)}
    return make_pool(queries, items, qrels={"q01": {"d01": 1.0}})


# Scores by hand


def test_bm25_by_hand(found):
    """N = 3 and the mean length is 3: score = sum of idf f / (f + k1 (1 - b + b l / 3))."""
    idf = {n: math.log(1 + (3 - n + 0.5) / (n + 0.5)) for n in (1, 2)}

    def part(n, f, length):
        return idf[n] * f / (f + 0.9 * (0.6 + 0.4 * length / 3))

    red_fox, brown_brown, nothing = found("bm25", ["red fox", "brown brown", "cat"], **PLAIN)
    assert red_fox == pytest.approx(
        {"a": part(2, 1, 2) + part(2, 1, 2), "b": part(2, 2, 3), "c": part(2, 1, 4)}, rel=1e-12
    )
    assert brown_brown == pytest.approx({"c": 2 * part(1, 2, 4)}, rel=1e-12)  # asked for twice
    assert nothing == {}


def test_bm25_by_other_methods(found):
    """Of one term that b has twice and a once, with k1 = 1 and b = 0."""
    options = {**PLAIN, "k1": 1, "b": 0}
    idf = {
        "robertson": math.log(1),  # (3 - 2 + .5) / 2.5 is below 1
        "atire": math.log(3 / 2),
        "bm25l": math.log(4 / 2.5),
        "bm25+": math.log(4 / 2),
    }
    assert found("bm25", ["red"], **options, method="robertson") == [{}]
    (atire,) = found("bm25", ["red"], **options, method="atire")
    assert atire == pytest.approx({"a": idf["atire"], "b": idf["atire"] * 4 / 3})
    (plus,) = found("bm25", ["red"], **options, method="bm25+", delta=1.0)
    assert plus == pytest.approx({"a": idf["bm25+"], "b": idf["bm25+"] * 4 / 3})
    (longer,) = found("bm25", ["red"], **options, method="bm25l", delta=0.5)
    none = 2 * 0.5 / 1.5  # what an item without the term would get
    expected = {"a": idf["bm25l"] * (3 / 2.5 - none), "b": idf["bm25l"] * (5 / 3.5 - none)}
    assert longer == pytest.approx(expected)


def test_items_without_text_are_no_part_of_the_collection(found):
    more = ITEMS | {"d": {"text": None}, "e": {"text": "  "}}
    for kind, options in (("bm25", PLAIN), ("tfidf", PLAIN), ("lsa", PLAIN), ("wordllama", {})):
        assert found(kind, ["red fox"], more, **options) == found(kind, ["red fox"], **options)


def test_tfidf_by_hand(found):
    """Weights f (1 + ln(4 / (1 + n))); red and fox stand in two items, hen, brown, dog in one."""
    common, single = 1 + math.log(4 / 3), 1 + math.log(2)
    (lists,) = found("tfidf", ["red fox"], **PLAIN, sublinear=False)
    b = 2 * common / math.hypot(2 * common, single)
    c = common / math.sqrt(common**2 + 5 * single**2)
    assert lists == pytest.approx({"a": 1.0, "b": b / math.sqrt(2), "c": c / math.sqrt(2)})
    (lists,) = found("tfidf", ["red"], **PLAIN)
    b = (1 + math.log(2)) * common
    assert lists == pytest.approx({"a": math.sqrt(0.5), "b": b / math.hypot(b, single)})
    assert found("tfidf", ["the cat"], ITEMS) == [{}]


def test_lsa_of_all_factors_is_tfidf(shop, tools, as_dict):
    """In the whole space cosines are those of TF-IDF, over what the query shares with the items."""
    tfidf = as_dict(model("tfidf").rank(shop, tools).final, shop)
    lsa = as_dict(model("lsa", dimensions=500).rank(shop, tools).final, shop)
    assert set(lsa) == set(tfidf)
    for query, scores in lsa.items():
        assert {item for item, score in scores.items() if score > 1e-6} == set(tfidf[query])
        for item, score in tfidf[query].items():
            assert scores[item] == pytest.approx(score, abs=1e-6)


def test_lsa_finds_what_shares_no_word(found):
    items = {
        "a": {"text": "car engine"},
        "b": {"text": "automobile engine"},
        "c": {"text": "apple pie"},
        "d": {"text": "apple tart"},
    }
    (lists,) = found("lsa", ["car"], items, dimensions=2)
    assert lists["b"] > 0.9
    assert max(lists["c"], lists["d"]) < 0.1
    assert found("bm25", ["car"], items)[0].keys() == {"a"}


def test_wordllama_is_the_cosine_of_its_own_embeddings(found):
    texts = [row["text"] for row in ITEMS.values()]
    wordllama = pytest.importorskip("wordllama", reason="wordllama is in an extra")
    lists = found("wordllama", ["a small dog", "crimson"])
    place = Path(wordllama.__file__).parent
    own = wordllama.WordLlama.load(cache_dir=place, disable_download=True)
    expected = own.embed(["a small dog", "crimson"], norm=True) @ own.embed(texts, norm=True).T
    assert [list(scores) for scores in lists] == [["a", "b", "c"]] * 2
    np.testing.assert_allclose([[*s.values()] for s in lists], expected, atol=1e-3)
    assert max(lists[0], key=lists[0].get) == "c"
    assert max(lists[1], key=lists[1].get) == "b"


def test_stemming_and_stopwords_are_options(found):
    items = {"a": {"text": "the foxes"}, "b": {"text": "les renards"}}
    assert found("bm25", ["the fox"], items) == [{"a": pytest.approx(0.38941, abs=1e-5)}]
    assert found("bm25", ["fox"], items, stemmer="none") == [{}]
    assert found("bm25", ["the"], items) == [{}]
    assert found("bm25", ["the"], items, stopwords="none")[0].keys() == {"a"}
    french = {"stemmer": "french", "stopwords": "french"}
    assert found("bm25", ["les renard"], items, **french)[0].keys() == {"b"}
    assert found("tfidf", ["fox"], items) == [{}]
    assert found("tfidf", ["fox"], items, stemmer="english")[0].keys() == {"a"}


def test_columns_are_joined_and_white_space_and_accents_are_one(make_pool, tools, as_dict):
    items = {
        "a": {"title": "fox", "body": None},
        "b": {"title": None, "body": "red\r\nfox"},
        "c": {"title": "Senegal", "body": "cafe\u0301"},
    }
    pool = make_pool({"q1": {"text": "Red Fox"}, "q2": {"text": "caf\u00e9"}}, items)
    bm25 = model("bm25", item_text=["title", "body"])
    lists = as_dict(bm25.rank(pool, tools).final, pool)
    assert {query: set(scores) for query, scores in lists.items()} == {
        "q1": {"a", "b"},
        "q2": {"c"},
    }


def test_what_a_query_has_no_answer_to(found):
    """No text, or no known word: an empty list, never an order of equals."""
    for kind in ("bm25", "tfidf", "lsa"):
        assert found(kind, [None, "", "!?", "zebra", "fox"])[:4] == [{}] * 4
    answers = found("wordllama", [None, " ", "zebra"])
    assert answers[:2] == [{}] * 2
    assert set(answers[2]) == {"a", "b", "c"}


def test_words_that_no_item_has(found):
    only = {"a": {"text": "the of"}, "b": {"text": "!"}}
    for kind in ("bm25", "tfidf", "lsa"):
        assert found(kind, ["the fox"], only) == [{}]


# The same bits, and only what may be returned


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_bits_whatever_blocks_and_threads(kind, shop, tools, origin, same, monkeypatch):
    options = {"dimensions": 12} if kind == "lsa" else {}
    whole = rank(model(kind, **options), origin, shop, tools)
    assert len(whole.final.query)
    for cells, threads in ((1, 1), (97, 2), (333, 1)):
        monkeypatch.setattr(_blocks, "CELLS", cells)
        with threadpool_limits(limits=threads):
            same(whole, rank(model(kind, **options), origin, shop, tools))


_DIGESTS = """
from pipeline.core.registry import build
from pipeline.core.run import Origin
from pipeline.models import Tools, rank
from pipeline.pool import load

tables = {name: f"{name}.csv" for name in ("queries", "items", "qrels")}
pool = load({"kind": "files", **tables})
for kind in ("bm25", "tfidf", "lsa"):
    model = build("models", {"kind": kind, "stemmer": "english"}, "m")
    print(rank(model, Origin("m", kind, "m", "m"), pool, Tools()).digest)
"""


def test_the_same_bits_in_every_process(tmp_path):
    """Sets of words have another order in each process; sums must not."""
    pytest.importorskip("bm25s", reason="bm25s is in an extra")
    rng = np.random.default_rng(5)
    texts = [" ".join(f"word{w}s" for w in rng.integers(0, 40, 8)) for _ in range(50)]
    for name, column, part in (("queries", "query_id", texts[:20]), ("items", "item_id", texts)):
        lines = [f"{column},text", *(f"x{i},{text}" for i, text in enumerate(part))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "qrels.csv").write_text("query_id,item_id,grade\nx1,x1,1\n")
    told = set()
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", _DIGESTS], cwd=tmp_path, text=True, check=True,
            capture_output=True, env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        told.add(done.stdout)
    (digests,) = told
    assert len(set(digests.split())) == 3


@given(st.lists(st.lists(st.floats(-9, 9), min_size=7, max_size=7), min_size=2, max_size=6))
@settings(max_examples=60, deadline=None)
def test_products_of_unit_vectors_are_exact(rows):
    """Whatever the order of the sum: that is why BLAS may add as it likes."""
    vectors = unit(np.array(rows))
    for one in vectors:
        for two in vectors:
            exact = math.fsum(one * two)
            assert exact == sum(one * two) == sum((one * two)[::-1]) == one @ two


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_is_rankable_is_returned(kind, make_pool, tools, as_dict):
    queries = {"q1": {"text": "red fox", "issued_at": 10}, "q2": {"text": "red", "issued_at": 1}}
    items = {key: {**row, "eligible_from": 5 if key == "b" else 0} for key, row in ITEMS.items()}
    pool = make_pool(queries, items)
    lists = as_dict(
        model(kind, **({} if kind == "wordllama" else PLAIN)).rank(pool, tools).final, pool
    )
    assert set(lists["q1"]) == {"a", "b", "c"}
    assert "b" not in lists["q2"]
    fixed = make_pool(queries, items, candidates=[("q1", "a"), ("q2", "b"), ("q2", "c")])
    lists = as_dict(
        model(kind, **({} if kind == "wordllama" else PLAIN)).rank(fixed, tools).final, fixed
    )
    assert set(lists["q1"]) == {"a"}
    assert set(lists["q2"]) == ({"b", "c"} if kind in {"lsa", "wordllama"} else {"b"})
    few = as_dict(model(kind).rank(pool, replace(tools, keep_depth=1)).final, pool)
    assert len(few["q1"]) == 1


def test_wordllama_asks_no_network(found, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert len(found("wordllama", ["fox"])[0]) == 3


# What is said before anything is scored


def said(kind, pool, origin, **options):
    return [str(problem) for problem in fits(model(kind, **options), origin, pool, None)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_pool_without_text_is_told_so(kind, make_pool, origin):
    pool = make_pool({"q1": {}}, {"a": {"titel": "red fox", "price": 2}, "b": {"titel": None}})
    assert said(kind, pool, origin) == [
        (
            f"kind {kind} reads column 'text' of queries, and there is none"
            " -> give the pool a table of queries with their texts: pool.queries=FILE"
        ),
        (
            f"kind {kind} reads column 'text' of items, and there is none"
            " -> set item_text; there are: price, titel"
        ),
    ]
    found = said(kind, pool, origin, query_text="query_id", item_text=["title", "price"])
    assert found == [
        (
            f"kind {kind} reads column 'title' of items, and there is none"
            " -> set item_text; did you mean titel?"
        ),
        (
            f"kind {kind}: column 'price' of items holds int64, not text"
            " -> set item_text to a column of text"
        ),
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_that_are_all_empty_are_told_before_and_while_scoring(kind, make_pool, origin, tools):
    pool = make_pool({"q1": {"text": "fox"}}, {"a": {"text": None}, "b": {"text": None}})
    with pytest.raises(SamepoolError, match=r"column 'text' of items, and no row holds any text"):
        rank(model(kind), origin, pool, tools)
    blank = make_pool({"q1": {"text": " "}}, {"a": {"text": "fox"}})
    (line,) = said(kind, blank, origin)
    assert line.endswith(
        "of queries, and no row holds any text -> set query_text to another column"
    )


@pytest.mark.parametrize(
    ("kind", "module", "package", "options"),
    [
        ("bm25", "bm25s", "bm25s", {}),
        ("bm25", "Stemmer", "PyStemmer", {}),
        ("wordllama", "wordllama", "wordllama", {}),
        ("tfidf", "Stemmer", "PyStemmer", {"stemmer": "english"}),
        ("lsa", "Stemmer", "PyStemmer", {"stemmer": "english"}),
    ],
)
def test_a_missing_extra_is_one_line(kind, module, package, options, make_pool, tools, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    found = build("models", {"kind": kind, **options}, "models.mine")
    line = rf"^kind {kind} needs {package} -> pip install 'samepool\[text\]'$"
    with pytest.raises(SamepoolError, match=line):
        found.origin("mine", "mine", None)
    with pytest.raises(SamepoolError, match=line):
        found.rank(make_pool({"q1": {"text": "fox"}}, ITEMS), tools)


def test_plain_tfidf_and_lsa_need_no_extra(found, monkeypatch):
    for module in ("bm25s", "Stemmer", "wordllama"):
        monkeypatch.setitem(sys.modules, module, None)
    for kind in ("tfidf", "lsa"):
        assert found(kind, ["red"])[0]
        assert model(kind).origin("m", "m", None).source_digest


@pytest.mark.parametrize(
    ("kind", "options", "line"),
    [
        ("bm25", {"k1": -1}, "k1 and delta must be at least 0"),
        ("bm25", {"b": 1.5}, "b must be between 0 and 1"),
        ("bm25", {"method": "okapi"}, "okapi"),
        ("bm25", {"item_text": []}, "item_text names no column"),
        ("tfidf", {"query_text": ""}, "query_text names no column"),
        ("lsa", {"dimensions": 0}, "dimensions must be at least 1"),
        ("wordllama", {"item_text": ["title", ""]}, "item_text names no column"),
        ("wordllama", {"dimensions": 64}, "unknown option models.mine.dimensions"),
    ],
)
def test_options_have_a_range(kind, options, line):
    with pytest.raises(SamepoolError, match=line):
        build("models", {"kind": kind, **options}, "models.mine")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ({"stemmer": "englsh"}, "there is no stemmer for 'englsh' -> did you mean english"),
        ({"stopwords": "germn"}, "there are no stopwords for 'germn' -> did you mean german"),
    ],
)
def test_languages_have_names(options, line):
    with pytest.raises(SamepoolError, match=line):
        model("bm25", **options).origin("mine", "mine", None)


def test_origins_differ_by_options():
    specs = [
        ("bm25", {}), ("bm25", {"k1": 1.2}), ("bm25", {"item_text": "title"}), ("tfidf", {}),
        ("tfidf", {"stemmer": "english"}), ("lsa", {}), ("lsa", {"seed": 1}), ("wordllama", {}),
    ]  # fmt: skip
    digests = {model(kind, **o).origin("m", "m", None).source_digest for kind, o in specs}
    assert len(digests) == len(specs)


# Real data


@pytest.fixture(scope="module")
def cranfield():
    """Texts of 1,400 abstracts and 225 questions, and their graded judgments."""
    if not CRANFIELD.exists():
        pytest.skip("the Cranfield collection is not here")

    def records(name):
        text = (CRANFIELD / name).read_text(encoding="utf-8", errors="replace")
        for record in re.split(r"^\.I ", text, flags=re.MULTILINE)[1:]:
            number, rest = record.split("\n", 1)
            fields = re.split(r"^\.([TABW])\s*$", rest, flags=re.MULTILINE)
            yield number.strip(), dict(zip(fields[1::2], fields[2::2], strict=True))

    items = {n: {"title": f.get("T"), "text": f.get("W")} for n, f in records("cran.all.1400")}
    # Judgments number the questions from 1 on, in their order.
    asked = enumerate(records("cran.qry"), start=1)
    queries = {str(i): {"text": fields["W"]} for i, (_, fields) in asked}
    qrels: dict[str, dict[str, float]] = {}
    for line in (CRANFIELD / "cranqrel").read_text().splitlines():
        query, item, code = line.split()[:3]
        qrels.setdefault(query, {})[item] = max(0.0, 5 - float(code)) if float(code) > 0 else 0.0
    return queries, items, qrels


@pytest.mark.parametrize(
    ("kind", "measured"), [("bm25", 0.352), ("tfidf", 0.347), ("lsa", 0.387), ("wordllama", 0.330)]
)
def test_cranfield_gives_what_the_libraries_give(kind, measured, cranfield, make_pool, as_dict):
    """nDCG@10 of each library used by itself, measured apart from this code."""
    queries, items, qrels = cranfield
    pool = make_pool(queries, items)
    found = model(kind, item_text=["title", "text"]).rank(pool, Tools(keep_depth=10))
    run = as_dict(found.final, pool)
    value = evaluate(qrels, run, ["nDCG(gain=linear)@10"])["nDCG(gain=linear)@10"]
    assert value == pytest.approx(measured, abs=0.01)
