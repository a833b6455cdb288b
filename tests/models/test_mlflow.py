"""Models of a registry, without one: inputs, answers, ties and batches, on a stand-in."""

import json
import ssl
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.problems import SamepoolError, UnreachableError
from pipeline.core.registry import build
from pipeline.core.run import Origin
from pipeline.core.signature import Column, Signature
from pipeline.models import Tools, fits, mlflow, rank
from pipeline.models._answers import Reader, of_loaded
from pipeline.models._casts import MisfitError, cast
from pipeline.models._scoring import best
from pipeline.models._ties import FEW, Spread
from pipeline.models.mlflow import Mlflow
from tests.endpoints.endpoint import self_signed


class Registry:
    """A model that is a function, with a signature."""

    def __init__(self, predict, *columns, classes=None, proba=None, method="predict"):
        named = tuple(Column(*c) if isinstance(c, tuple) else Column(c, "double") for c in columns)
        self.asked_for = Signature(named or None)
        self.model = SimpleNamespace(predict=predict, classes=classes, proba=proba, method=method)
        self.loads = 0

    def resolve(self, uri):
        return Origin("", "", uri, "models:/ranker/13", "ranker", "13", source_digest="d")

    def signature(self, origin):
        return self.asked_for

    @contextmanager
    def load_model(self, origin):
        self.loads += 1
        yield self.model


@pytest.fixture
def pool(make_pool):
    """Two queries, three items, all pairs but one listed as candidates with a feature."""
    made = make_pool(
        {"q1": {"length": 3, "lang": "no"}, "q2": {"length": 5, "lang": "se"}},
        {"a": {"price": 1.0, "stock": 4}, "b": {"price": 2.0, "stock": None},
         "c": {"price": 4.0, "stock": 2}},
        candidates=[("q1", "a"), ("q1", "b"), ("q1", "c"), ("q2", "a"), ("q2", "c")],
    )  # fmt: skip
    feature = pa.array([0.1, 0.2, 0.3, 0.4, 0.5])
    return replace(made, candidates=made.candidates.append_column("bm25", feature))


def scored(model, registry, pool, as_dict, **tools):
    origin = model.origin("m", "m", registry)
    run = rank(model, origin, pool, Tools(origin=origin, registry=registry, **tools))
    return as_dict(run.final, pool)


def refused(model, registry, pool, as_dict):
    with pytest.raises(SamepoolError) as caught:
        scored(model, registry, pool, as_dict)
    return str(caught.value)


URI = "models:/ranker/13"
THERE = {"env": "uri", "endpoint": "http://127.0.0.1:9"}


def test_scores_are_of_exactly_the_candidates_with_their_features(pool, as_dict):
    seen = []

    def predict(table):
        seen.append(table)
        return table["bm25"] * 10 + table["price"] + table["length"]

    registry = Registry(predict, "bm25", "price", ("length", "long"), ("bonus", "double", False))
    found = scored(Mlflow(URI, batch_rows=2), registry, pool, as_dict)
    assert found == {
        "q1": {"a": 5.0, "b": 7.0, "c": 10.0},
        "q2": {"a": 10.0, "c": 14.0},
    }
    assert [len(table) for table in seen] == [2, 2, 1]  # across queries
    assert [str(t) for t in seen[0].dtypes] == ["float64", "float64", "int64"]


@pytest.mark.parametrize("batch_rows", [1, 2, 3, 100])
def test_without_candidates_every_pair_is_scored(pool, as_dict, batch_rows):
    registry = Registry(lambda t: t["price"] - t["query_length"], "price", "query_length")
    found = scored(Mlflow(URI, batch_rows=batch_rows), registry, replace(pool, candidates=None),
                   as_dict, keep_depth=2)  # fmt: skip
    assert found == {"q1": {"b": -1.0, "c": 1.0}, "q2": {"b": -3.0, "c": -1.0}}


def test_no_candidates_at_all_are_no_lists(pool, as_dict):
    registry = Registry(None, "price")
    none = replace(pool, candidates=pool.candidates.slice(0, 0))
    assert scored(Mlflow(URI), registry, none, as_dict) == {}


def test_candidates_in_any_order_are_scored_with_their_own_features(pool, as_dict):
    registry = Registry(lambda t: t["bm25"], "bm25")
    mixed = replace(pool, candidates=pool.candidates.take(pa.array([4, 1, 3, 0, 2])))
    expected = {"q1": {"a": 0.1, "b": 0.2, "c": 0.3}, "q2": {"a": 0.4, "c": 0.5}}
    assert scored(Mlflow(URI, batch_rows=2), registry, mixed, as_dict) == expected


def test_everything_wrong_with_the_columns_is_named_before_the_model_is_loaded(pool):
    registry = Registry(
        None, "price_z", "lang", ("stock", "long"), ("price", "integer"), ("id", "string", False)
    )
    model = Mlflow(URI)
    origin = model.origin("m", URI, registry)
    texts = [str(p) for p in fits(model, origin, replace(pool, candidates=None), registry)]
    assert len(texts) == 3  # of items, prices are whole: they fit 32 bits
    for text, parts in zip(texts, [
        ("ranker v13 needs the column 'price_z', which the pool lacks", "did you mean price"),
        ("wants 'lang' as double; queries.lang holds text (e.g. 'no', 'se')",),
        ("wants 'stock' as long; items.stock lacks 1 of 3 values, and a long cannot be missing",),
    ], strict=True):  # fmt: skip
        assert all(part in text for part in parts), text
    assert registry.loads == 0


def test_only_listed_items_need_values(pool):
    listed = pool.candidates.filter(pa.array([True, False, True, True, True]))  # not b
    registry = Registry(None, ("stock", "long"))
    model = Mlflow(URI)
    origin = model.origin("m", URI, registry)
    assert not fits(model, origin, replace(pool, candidates=listed), registry)
    assert len(fits(model, origin, pool, registry)) == 1


def test_inputs_without_names_are_refused(pool):
    registry = Registry(None)
    registry.asked_for = Signature(unnamed=True)
    model = Mlflow(URI)
    (problem,) = fits(model, model.origin("m", URI, registry), pool, registry)
    assert "inputs have no names" in str(problem)


CASTS = [
    ([1, 2], "double", [1.0, 2.0], "float64"),
    ([1.0, 2.0], "long", [1, 2], "int64"),
    ([1, 2], "integer", [1, 2], "int32"),
    ([0.1, None], "float", [np.float32(0.1), np.nan], "float32"),
    ([True, False], "double", [1.0, 0.0], "float64"),
    ([0, 1], "boolean", [False, True], "bool"),
    ([12, 13], "string", ["12", "13"], None),
    ([None, None], "double", [np.nan, np.nan], "float64"),
]


@pytest.mark.parametrize(("values", "kind", "expected", "dtype"), CASTS)
def test_values_get_the_signature_s_type(values, kind, expected, dtype):
    found = cast(pa.chunked_array([values]), kind)
    assert dtype is None or str(found.dtype) == dtype
    np.testing.assert_array_equal(found.to_numpy(), np.array(expected))


MISFITS = [
    ([0.5, 1.0], "long", r"no long \(e.g. 0.5\)"),
    ([2**40], "integer", "no integer"),
    ([2**60 + 1], "double", "no double"),
    (["a"], "float", "holds text"),
    (["a"], "binary", r"holds text \(e.g. 'a'\)"),
    ([1.0, 1e39], "float", r"too large for a float \(e.g. 1e\+39\)"),
    ([1, None], "integer", "lacks 1 of 2 values"),
    ([True, None], "boolean", "lacks 1"),
    ([2, 1], "boolean", "other numbers than 0 and 1"),
    ([0.5], "string", "holds numbers"),
    (["2026-01-01"], "datetime", "holds text"),
]


@pytest.mark.parametrize(("values", "kind", "message"), MISFITS)
def test_what_would_be_changed_is_refused(values, kind, message):
    with pytest.raises(MisfitError, match=message):
        cast(pa.chunked_array([values]), kind)


@pytest.mark.parametrize(
    ("answer", "output"),
    [
        ([1.0, 2.0], None),
        (np.array([[1], [2]]), None),
        (pd.DataFrame({"s": [1, 2]}), None),
        (pd.DataFrame({"s": [1, 2], "t": [3, 4]}), "s"),
        ({"s": np.array([1, 2]), "t": 0}, "s"),
        ([{"s": 1, "t": 3}, {"s": 2, "t": 3}], "s"),
        (pd.Series([True, False]) * -1 + 2, None),
        (pd.Series([1.0, 2.0], index=[7, 3]), None),
        (np.array([np.float32(1), np.int8(2)], dtype=object), None),
        (pd.Series([1, 2], dtype="Int64"), None),
    ],
)
def test_answers_of_all_forms(answer, output):
    read = Reader(lambda _: answer, "m", output)
    assert sorted(read(pd.DataFrame({"x": [0, 0]}))) == [1.0, 2.0]


@pytest.mark.parametrize(
    ("answer", "output", "message"),
    [
        (["good", "bad"], None, "returns 'good', not a number: a label is no score"),
        ([1.0], None, r"shape \(1,\) for 2 rows"),
        (pd.DataFrame({"a": [1, 2], "b": [1, 2]}), None, "2 outputs: a, b -> say .* output: b"),
        (pd.DataFrame({"price": [1, 2]}), "prize", "no output 'prize' -> did you mean price"),
        ([[0.1, 0.9], [0.2, 0.8]], "1", "2 numbers a row and nothing names them"),
        ([1.0, 2.0], "1", "one value a row, so there is no output '1'"),
        ([[1.0], [1.0, 2.0]], None, "not a number"),
        (pd.Series([1.0, 2.0], index=[1, 0]), None, "rows that it was given in another order"),
        (pd.DataFrame({"s": [1.0, 2.0]}).sort_values("s", ascending=False), None, "another order"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), None, "not a number"),
        (pd.to_timedelta([1, 2], unit="s").to_numpy(), None, "not a number"),
        (np.array([1j, 2j]), None, "complex128, not a number"),
        (np.array([2**60, 2**60 + 1]), None, "whole numbers up to 1152921504606846977"),
    ],
)
def test_answers_that_are_no_scores_are_refused(answer, output, message):
    with pytest.raises(SamepoolError, match=message):
        Reader(lambda _: answer, "m", output)(pd.DataFrame({"x": [0, 0]}))


def test_a_missing_value_of_a_nullable_column_is_nan():
    answer = pd.Series([1.0, None], dtype="Float64")
    assert np.isnan(Reader(lambda _: answer, "m")(pd.DataFrame({"x": [0, 0]}))).tolist() == [
        False,
        True,
    ]


def test_a_classifier_scores_by_a_class_or_not_at_all():
    table = pd.DataFrame({"x": [0, 0]})
    chances = np.array([[0.1, 0.9], [0.4, 0.6]])
    loaded = Registry(lambda _: [2, 2], classes=(1, 2), proba=lambda _: chances).model
    assert of_loaded(loaded, "m", 1, labels=False)(table).tolist() == [0.1, 0.4]
    assert of_loaded(loaded, "m", "2", labels=False)(table).tolist() == [0.9, 0.6]
    assert of_loaded(loaded, "m", None, labels=True)(table).tolist() == [2, 2]
    with pytest.raises(SamepoolError, match=r"m is a classifier of 1, 2.*output: 2 scores by"):
        of_loaded(loaded, "m", None, labels=False)
    with pytest.raises(SamepoolError, match="no output '3' -> there are: 1, 2"):
        of_loaded(loaded, "m", 3, labels=False)
    loaded = Registry(lambda _: chances, classes=("a", "b"), method="predict_proba").model
    assert of_loaded(loaded, "m", "a", labels=False)(table).tolist() == [0.1, 0.4]
    loaded = Registry(lambda _: [1, 1], classes=(0, 1)).model
    with pytest.raises(SamepoolError, match="without probabilities"):
        of_loaded(loaded, "m", 1, labels=False)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda t: t["price"].where(t["price"] < 4), "NaN for 2 of the 5 pairs asked, first q1/c"),
        (lambda t: 1 / (t["price"] - 1), "NaN or infinity for 2 of the 5 pairs asked, first q1/a"),
        (lambda t: t["price"] * 0 + 7, "constant: it gave one score to 5 pairs"),
        (lambda t: t["length"] * 1.0, "constant: it gave one score a query to 5 pairs"),
    ],
)
def test_scores_that_order_nothing_are_refused(pool, as_dict, value, message):
    registry = Registry(value, "price", "length")
    assert f"ranker v13 {message}" in refused(Mlflow(URI), registry, pool, as_dict).replace(
        "scored ", ""
    ).replace("is constant", "constant")


OUTPUTS = [  # what the file says, options, what is wrong
    ({"outputs": (), "returns": "labels"}, {}, "labels are no scores -> output: CLASS"),
    ({"outputs": (), "returns": "probabilities"}, {}, "probabilities are no scores -> output: CL"),
    ({"outputs": (), "returns": "labels"}, {"output": 1}, None),
    ({"outputs": (), "returns": "labels"}, {"allow_ties": True}, None),
    ({"outputs": (), "returns": "labels"}, THERE, "it returns labels, not a score -> log the"),
    ({"returns": "labels"}, THERE, "it returns labels, not a score -> log the score itself"),
    ({"outputs": ()}, {**THERE, "output": 1}, "there is no output 1: its answer names no columns"),
    ({"outputs": ()}, {**THERE, "output": "yes"}, "there is no output 'yes'"),
    ({}, {**THERE, "output": 1}, "there is no output 1"),
    ({}, {**THERE, "output": "score"}, None),  # nothing is known
    ({}, THERE, None),
    ({"outputs": ()}, THERE, None),
    ({"outputs": (), "returns": "labels"}, {**THERE, "allow_ties": True}, None),
    ({"outputs": (), "returns": "probabilities"}, {**THERE, "allow_ties": True}, "probabilities,"),
    ({"outputs": ("a", "b")}, {**THERE, "output": "b"}, None),
    ({"outputs": ("a", "b")}, {**THERE, "output": "bb"}, "no output 'bb' -> did you mean b"),
    ({"outputs": ("a", "b")}, THERE, "returns 2 outputs: a, b -> say which"),
    ({"outputs": ("a",)}, THERE, None),
]


@pytest.mark.parametrize(("known", "options", "message"), OUTPUTS)
def test_an_output_that_is_none_is_told_before_anything_is_scored(pool, known, options, message):
    registry = Registry(None)
    registry.asked_for = Signature((Column("price", "double"),), **known)
    model = Mlflow(URI, **options)
    found = [str(p) for p in fits(model, model.origin("m", URI, registry), pool, registry)]
    assert len(found) == (message is not None), found
    assert message is None or message in found[0]


def test_labels_are_refused_unless_allowed():
    query = np.repeat(np.arange(60, dtype=np.int32), 10)
    score = (np.arange(600) % 3 > 0).astype(float)
    spread = Spread()
    for block in (slice(0, 300), slice(300, 600)):
        spread.add(query[block], score[block])
    problem = spread.problem("ranker v13", allowed=False)
    assert problem.severity == "error"
    assert "ranker v13 gave 2 distinct scores for 600 pairs" in problem.text
    assert "allow_ties: true" in problem.fix
    assert spread.problem("m", allowed=True).severity == "warning"


@given(st.integers(1, 30), st.integers(1, 12), st.integers(1, 40), st.integers(0, 9))
def test_the_rule_is_the_one_that_is_documented(n_queries, n_items, n_values, seed):
    rng = np.random.default_rng(seed)
    score = rng.integers(n_values, size=(n_queries, n_items)).astype(float)
    spread = Spread()
    spread.add(np.repeat(np.arange(n_queries, dtype=np.int32), n_items), score.ravel())
    same = (score[:, :, None] == score[:, None, :]).sum(axis=2) > 1
    few = len(np.unique(score)) <= FEW and same.mean() > 0.5
    constant = (score == score[:, :1]).all()
    expected = n_items > 1 and (few or constant)
    assert (spread.problem("m", allowed=False) is not None) == expected


def test_few_pairs_that_are_told_apart_are_fine():
    spread = Spread()
    spread.add(np.array([0, 0, 1, 1, 2], np.int32), np.array([1.0, 2.0, 2.0, 1.0, 1.0]))
    assert spread.problem("m", allowed=False) is None


@given(st.integers(1, 9), st.integers(0, 999))
def test_the_best_are_kept_with_all_that_tie(keep, seed):
    rng = np.random.default_rng(seed)
    query = np.sort(rng.integers(4, size=30)).astype(np.int32)
    score = rng.integers(5, size=30).astype(float)
    kept = set(best(query, score, keep))
    for place in range(30):
        above = np.count_nonzero((query == query[place]) & (score > score[place]))
        assert (place in kept) == (above < keep)


def test_identity_holds_what_determines_the_scores(pool):
    registry = Registry(None)
    options = [
        {}, {"output": 1}, {"output": "b"}, {"env": "virtualenv"},
        {"env": "uri", "endpoint": "http://a"}, {"env": "uri", "endpoint": "http://b/invocations"},
        {"allow_ties": True},
    ]  # fmt: skip
    digests = [Mlflow(URI, **o).origin("m", URI, registry).source_digest for o in options]
    assert len(set(digests)) == len(options)
    assert digests[0] == "d"  # as the registry has it
    effort = Mlflow(URI, batch_rows=7, timeout=1)
    assert effort.origin("m", URI, registry).source_digest == "d"
    same = Mlflow(URI, env="uri", endpoint="http://b/").origin("m", URI, registry)
    assert same.source_digest == digests[5]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_rows": 0}, "batch_rows"),
        ({"env": "uri"}, "endpoint goes with env: uri"),
        ({"endpoint": "http://x"}, "endpoint goes with env: uri"),
        ({"env": "uri", "endpoint": "host:80"}, "endpoint='host:80' is no address"),
        ({"env": "uri", "endpoint": "http://me:hunter2@x"}, "^endpoint holds a user or a password"),
        ({"env": "uri", "endpoint": "me:hunter2@x:80"}, "endpoint is no address"),
        ({"env": "uri", "endpoint": "http://x/?api_key=hunter2"}, "endpoint: api_key looks like"),
        ({"auth": {"kind": "bearer", "env": "T"}}, "auth goes with env: uri"),
    ],
)
def test_options_that_do_not_go_together(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        Mlflow(URI, **options)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("auth", ["hunter2secret", ["hunter2secret"], {"kind": "hunter2secret"}])
def test_a_secret_in_the_wrong_place_is_not_shown(auth):
    options = {"kind": "mlflow", "uri": URI, "env": "uri", "endpoint": "http://x", "auth": auth}
    with pytest.raises(SamepoolError, match="auth") as caught:
        build("models", options, "models.m")
    assert "hunter2" not in str(caught.value)


class Model(BaseHTTPRequestHandler):
    """A model server that answers as its script says, then with the sum of each row."""

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, dict(self.headers), body))
        status, answer = self.server.script.pop(0) if self.server.script else (200, None)
        if answer is None:
            rows = body["dataframe_split"]["data"]
            answer = json.dumps({"predictions": [sum(v or 0 for v in row) for row in rows]})
        self.send_response(status)
        self.end_headers()
        with suppress(OSError):  # nobody listens any more
            for part in answer if answer.isspace() else [answer]:
                self.wfile.write(part.encode())
                time.sleep(0.05 * answer.isspace())

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(mlflow, "BACKOFF", 0.001)
    running = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    running.script, running.seen = [], []
    running.url = f"http://127.0.0.1:{running.server_port}"
    thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield running
    running.shutdown()
    thread.join()
    running.server_close()


def at(server, **more):
    return Mlflow(URI, env="uri", endpoint=server.url, **more)


def test_a_server_is_sent_batches_and_credentials(pool, as_dict, server, monkeypatch):
    monkeypatch.setenv("RANKER_TOKEN", "s3cret")
    registry = Registry(None, "price", ("length", "long"), ("bm25", "double"))
    model = at(server, batch_rows=3, auth={"kind": "bearer", "env": "RANKER_TOKEN"})
    found = scored(model, registry, pool, as_dict)
    assert found["q2"] == {"a": 6.4, "c": 9.5}
    path, headers, body = server.seen[0]
    assert path == "/invocations"
    assert headers["Authorization"] == "Bearer s3cret"
    assert body == {"dataframe_split": {
        "columns": ["price", "length", "bm25"],
        "data": [[1.0, 3, 0.1], [2.0, 3, 0.2], [4.0, 3, 0.3]],
    }}  # fmt: skip
    assert len(server.seen) == 2
    monkeypatch.delenv("RANKER_TOKEN")
    assert "RANKER_TOKEN is not set" in refused(model, registry, pool, as_dict)


def test_what_passes_is_tried_again(pool, as_dict, server):
    server.script[:] = [(429, "slow"), (503, "busy")]
    assert scored(at(server), Registry(None, "price", "bm25"), pool, as_dict)["q1"]["c"] == 4.3
    assert len(server.seen) == 3


def test_whoever_waits_is_told_why(pool, as_dict, server):
    labels = []

    def progress(steps, label):
        labels.append(label)
        return iter(steps)

    server.script[:] = [(503, "warming [/up]")]
    scored(at(server), Registry(None, "price", "bm25"), pool, as_dict, progress=progress)
    assert "ranker v13: asked again in 0 s: HTTP 503 Service Unavailable: warming (/up)" in labels


def test_the_environments_certificates_hold(pool, as_dict, server, monkeypatch, tmp_path):
    cert = tmp_path / "cert.pem"
    cert.write_bytes(self_signed())
    secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    secure.load_cert_chain(cert)
    server.socket = secure.wrap_socket(server.socket, server_side=True)
    model = Mlflow(URI, env="uri", endpoint=server.url.replace("http:", "https:"))
    names = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE")
    for name in names:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(SamepoolError, match=r"certificate cannot.*REQUESTS_CA_BUNDLE=FILE"):
        scored(model, Registry(None, "price", "bm25"), pool, as_dict)
    for name in names:
        with monkeypatch.context() as patch:
            patch.setenv(name, str(cert))
            assert scored(model, Registry(None, "price", "bm25"), pool, as_dict)["q1"]["c"] == 4.3


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ([(400, '{"message": "Failed to  enforce schema"}')], "HTTP 400 Bad Request: Failed to en"),
        ([(401, "who?")], "HTTP 401 Unauthorized: who\\? -> set auth"),
        ([(302, "")], "HTTP 302, a redirect"),
        ([(200, "<html>")], "answered without predictions: <html>"),
        ([(200, '{"predictions": [1, 2]}')], r"shape \(2,\) for 5 rows"),
        ([(200, '{"predictions": [1, null, 2, 3, 4]}')], "NaN for 1 of the 5 pairs.*first q1/b"),
        ([(200, '{"predictions": ["x", "y", "x", "y", "x"]}')], "returns 'x', not a number"),
    ],
)
def test_a_wrong_answer_is_an_error(pool, as_dict, server, script, message):
    server.script[:] = script
    with pytest.raises(SamepoolError, match=message) as caught:
        scored(at(server), Registry(None, "price"), pool, as_dict)
    assert caught.value.exit_code == 2
    assert len(server.seen) == 1


def test_a_server_that_is_away_or_stays_busy_is_unreachable(pool, as_dict, server):
    server.script[:] = [(503, "busy")] * 3
    away = "did not answer: HTTP 503 Service Unavailable: busy, after 3 attempts"
    with pytest.raises(UnreachableError, match=away):
        scored(at(server, retries=2), Registry(None, "price"), pool, as_dict)
    assert len(server.seen) == 3


@pytest.mark.parametrize(
    ("endpoint", "why"),
    [("http://127.0.0.1:9", "connection refused"), ("http://nobody.invalid", "host name is not")],
)
def test_a_server_that_was_never_reached_is_told_at_once(pool, as_dict, monkeypatch, endpoint, why):
    monkeypatch.setattr(mlflow, "BACKOFF", 60)
    model = Mlflow(URI, env="uri", endpoint=endpoint)
    with pytest.raises(UnreachableError, match=f"ranker v13: {endpoint} did not answer:.*{why}"):
        scored(model, Registry(None, "price"), pool, as_dict)


def test_a_server_that_dawdles_is_cut_at_its_timeout(pool, as_dict, server):
    server.script[:] = [(200, " " * 60)]  # a byte now and then, so that it is never silent
    model = at(server, timeout=0.5, retries=0)
    with pytest.raises(UnreachableError, match=r"no whole answer within 0\.5 s"):
        scored(model, Registry(None, "price"), pool, as_dict)
