"""Search endpoints: what is sent, what is read, what happens when one misbehaves."""

import datetime as dt
import json
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.pool import Pool
from pipeline.core.problems import SamepoolError, UnreachableError
from pipeline.core.registry import build
from pipeline.core.run import Run
from pipeline.models import Tools, fits, rank
from pipeline.models._http import rounds
from pipeline.models._http.answer import Reader
from pipeline.models._http.crew import LONGEST_WAIT, Plan
from pipeline.models._http.request import Template, asks
from pipeline.models._http.status import after
from pipeline.models._http.store import Store
from pipeline.models._http.troubles import AwayError, GarbledError, MistakeError
from pipeline.models._secrets import read_auth, take
from tests.endpoints.endpoint import Endpoint, self_signed, serving

BODY = {"query": {"match": {"title": "{query_id}"}}}
QUICK = {"timeout": 10, "deadline": 20, "backoff": 0.01, "probe": 0}
LIMITS = {  # of the modes that are slow on purpose; a busy machine must not look like one
    "nap": {"timeout": 0.5},
    "asleep": {"timeout": 0.4},
    "drip": {"timeout": 5, "deadline": 1},
    "headers": {"timeout": 5, "deadline": 1},
}
SECRET = "hunter2+/x"


@pytest.fixture(scope="module")
def server() -> Iterator[Endpoint]:
    with serving() as found:
        yield found


@pytest.fixture
def endpoint(server: Endpoint) -> Endpoint:
    """The same process for all tests, with nothing asked yet."""
    server.post("reset")
    return server


@pytest.fixture
def pool(make_pool) -> Pool:
    queries = {
        f"q{i:03}": {"text": f"shoes {i}", "price": i + 0.5, "lang": "no"} for i in range(24)
    }
    return make_pool(queries, {f"d{i}": {} for i in range(10)})


def http(url: str, **options: Any) -> Any:
    found = {"kind": "http", "url": url, "body": BODY, **QUICK, **options}
    return build("models", {k: v for k, v in found.items() if v is not ...}, "models.es_new")


@pytest.fixture
def ask(endpoint: Endpoint, pool: Pool) -> Callable[..., Run]:
    """The run of an endpoint that behaves in some way."""

    def call(mode: str, scratch: Path | None = None, seed: int = 0, **options: Any) -> Run:
        model = http(endpoint.url(mode), **LIMITS.get(mode, {}), **options)
        origin = model.origin("es_new", "es_new")
        return rank(model, origin, pool, Tools(scratch=scratch, seed=seed, origin=origin))

    return call


def texts(run: Run) -> list[str]:
    return [problem.text for problem in run.problems if problem.severity != "note"]


# What is sent.


def test_a_whole_placeholder_keeps_its_type_and_one_in_text_is_text() -> None:
    body = {"a": "{n}", "b": ["{t} costs {n}", "{flag}"], "{n}": "{{n}} {when}", "v": "{v}", "c": 1}
    template = Template("http://h/x/{t}?k={n}", {"q": "{t}", "f": ["{n}", True]}, body)
    values = {"n": 5, "t": 'a "b"/é&', "flag": True, "when": "2026", "v": [0.5, 1]}
    ask = template.fill("q1", values)
    assert json.loads(ask.body or b"") == {
        "a": 5, "b": ['a "b"/é& costs 5', True], "{n}": "{n} 2026", "v": [0.5, 1], "c": 1,
    }  # fmt: skip
    coded = "a%20%22b%22%2F%C3%A9%26"
    assert ask.url == f"http://h/x/{coded}?k=5&q=a+%22b%22%2F%C3%A9%26&f=5&f=true"


@settings(max_examples=40)
@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(codec="utf-8")))
def test_whatever_a_column_holds_stays_one_value(whole: str, part: str) -> None:
    template = Template("http://h/", {}, {"a": "{x}", "b": "<{y}>", "z": "{{x}}"})
    ask = template.fill("q", {"x": whole, "y": part})
    assert json.loads(ask.body or b"") == {"a": whole, "b": f"<{part}>", "z": "{x}"}


def test_columns_of_every_type_become_json(make_pool) -> None:
    queries = {"q1": {"n": 3, "f": 0.5, "on": True, "issued_at": 1.5, "tags": ["a", "b"]}}
    names = ("n", "f", "on", "issued_at", "tags", "size", "candidates")
    body = {name: f"{{{name}}}" for name in names}
    pool = make_pool(queries, {"d1": {}, "d2": {}}, candidates=[("q1", "d2"), ("q1", "d1")])
    (ask,) = asks(Template("http://h/", {}, body), pool, 7)
    assert json.loads(ask.body) == {
        "n": 3, "f": 0.5, "on": True, "issued_at": "1970-01-02T12:00:00Z", "tags": ["a", "b"],
        "size": 7, "candidates": ["d1", "d2"],
    }  # fmt: skip


def test_what_elasticsearch_is_sent(ask, endpoint) -> None:
    ask("ok", size=50, headers={"X-Tenant": "shop"})
    stats = endpoint.stats()
    path, headers = stats["seen"][-1]
    assert stats["bodies"][-1] == {
        "size": 50, "_source": False, "track_total_hits": False,
        "query": {"match": {"title": stats["bodies"][-1]["query"]["match"]["title"]}},
    }  # fmt: skip
    assert path == "/ok/_search"
    assert headers["X-Tenant"] == "shop"
    assert headers["Content-Type"] == headers["Accept"] == "application/json"
    assert stats["asked"] == {f"q{i:03}": 1 for i in range(24)}


def test_an_id_of_the_source_is_asked_for(endpoint) -> None:
    model = http(endpoint.url("ok"), id="_source.sku", body=json.dumps(BODY))
    assert model._template().body["_source"] == ["sku"]
    assert model._template().body["query"] == BODY["query"]


# What is read.


def test_ids_and_scores_of_an_answer(ask, pool, as_dict) -> None:
    run = ask("ok", size=3)
    found = as_dict(run.final, pool, run.foreign)
    assert list(found) == [f"q{i:03}" for i in range(24)]
    assert found["q007"] == {"d0": 10.25, "d1": 9.25, "d2": 8.25}
    assert set(run.cost) == {"client_latency_ms"}
    assert (run.cost["client_latency_ms"] > 0).all()
    assert texts(run) == []


def test_solr_by_get(ask, pool, as_dict, endpoint) -> None:
    solr = {
        "template": "json", "method": "GET", "body": ..., "items": "response.docs", "id": "id",
        "score": "score", "total": "response.numFound", "size": 4,
        "params": {"q": "{query_id}", "rows": "{size}", "wt": "json"},
        "partial": {"responseHeader.partialResults": True},
    }  # fmt: skip
    run = ask("solr", **solr)
    assert as_dict(run.final, pool)["q003"] == {f"d{i}": 10.25 - i for i in range(4)}
    assert endpoint.stats()["seen"][-1][0].endswith("&rows=4&wt=json")
    with pytest.raises(UnreachableError, match=r"responseHeader\.partialResults is true"):
        ask("solr", **solr | {"params": {"q": "partial1", "x": "{query_id}"}})


def test_vespa_leaves_the_list_out_where_nothing_matches(ask, pool, as_dict) -> None:
    vespa = {
        "template": "json", "items": "root.children", "id": "fields.doc_id", "score": "relevance",
        "body": {"query": "{query_id}", "hits": "{size}"}, "size": 2,
        "partial": {"root.coverage.full": False},
    }  # fmt: skip
    with pytest.raises(SamepoolError, match=r"q001`: the answer has no list at root.children: "):
        ask("vespa", **vespa)
    run = ask("vespa", **vespa, total="root.fields.totalCount")
    assert len(as_dict(run.final, pool)) == 21  # q001, q011 and q021 have none
    assert texts(run) == ["model es_new: 3 of 24 queries have no results"]


def test_ids_keep_the_digits_that_were_sent(ask, pool, as_dict) -> None:
    run = ask("numbers", template="json", items="list", id="n", score="s")
    assert as_dict(run.final, pool, run.foreign)["q000"] == {"10": 2.0, "1e5": 1.5, "0012": 1.0}
    assert any("none of the items returned is in the pool" in text for text in texts(run))


def test_the_order_of_the_list_is_taken_only_where_that_is_said(ask, pool, as_dict) -> None:
    plain = {"template": "json", "items": "list", "id": "n", "size": 2}
    run = ask("bare", **plain, order="given", body={"q": "{query_id}", "size": "{size}"})
    assert as_dict(run.final, pool)["q000"] == {"d0": -1.0, "d1": -2.0}
    with pytest.raises(SamepoolError, match=r"no number at s: it has n .*order=given"):
        ask("bare", **plain, score="s")
    assert as_dict(ask("null", order="given", size=2).final, pool)["q000"] == {"d0": -1, "d1": -2}


READ = [
    (b'{"l": [{"i": "a", "s": 1}, {"i": 7, "s": -2.5e0}]}', (["a", "7"], [1.0, -2.5])),
    (b'\xef\xbb\xbf{"l": []}', ([], [])),
    (b'{"l": [{"i": "a", "s": 1e999}]}', "the score 1e999"),
    (b'{"l": [{"i": "a", "s": Infinity}]}', "the score Infinity"),
    (b'{"l": [{"i": "a", "s": "1"}]}', 'no number at s: s is "1"'),
    (b'{"l": [{"i": "a", "s": true}]}', "no number at s: s is true"),
    (b'{"l": [{"i": null, "s": 1}]}', "result 1 has no id at i: i is null"),
    (b'{"l": [{"i": "", "s": 1}]}', "no id at i"),
    (b'{"l": ["a"]}', 'no id at i: it is "a"'),
    (b'{"l": {"x": 1, "y": 2}}', "no list at l: l has x, y"),
    (b'{"l": 3}', "no list at l: l is 3"),
    (b"[1, 2]", "no list at l: it is a list of 2"),
    (b'{"l": [{"i": "\\ud800", "s": 1}]}', "no Unicode"),
    (b'{"l": [{"i": "a", "s": 1}, {"i": "b", "s": 1}, {"i": "a", "s": 2}]}', "lists 'a' twice"),
]


@pytest.mark.parametrize(("payload", "expected"), READ)
def test_reading(payload: bytes, expected: Any) -> None:
    reader = Reader("l", "i", "s")
    if isinstance(expected, tuple):
        assert reader.read(payload, "") == expected
    else:
        with pytest.raises(MistakeError, match=expected):
            reader.read(payload, "")


@pytest.mark.parametrize("payload", [b"", b" \n", b"{", b"\xff", b"[" * 100_000, b"<p>", b"{} {}"])
def test_what_is_no_json_is_garbled(payload: bytes) -> None:
    with pytest.raises(GarbledError):
        Reader("l", "i", "s").read(payload, "text/html")


def test_a_partial_answer_is_none() -> None:
    reader = Reader("l", "i", None, partial={"a.b": 0, "done": False}, partial_above=("bad",))
    assert reader.read(b'{"l": [], "a": {"b": 1}, "done": true, "bad": 0}', "") == ([], [])
    for part in (b'"a": {"b": 0}', b'"done": false', b'"bad": 2'):
        with pytest.raises(AwayError, match="a partial answer"):
            reader.read(b'{"l": [], ' + part + b"}", "")


# What is done about trouble.


@pytest.mark.parametrize("mode", ["flaky", "reset", "torn", "timed", "nap", "packed"])
def test_passing_trouble_leaves_no_trace(ask, same, mode: str) -> None:
    same(ask(mode, concurrency=24) if mode != "timed" else ask(mode, size=1), ask_ok(ask, mode))


def ask_ok(ask: Any, mode: str) -> Run:
    return ask("ok", size=1) if mode == "timed" else ask("ok")


def test_busy_is_waited_out(ask, same, endpoint) -> None:
    start = time.monotonic()
    run = ask("busy")
    assert time.monotonic() - start > 2.0  # Retry-After: 1, though the back-off is shorter
    asked = endpoint.stats()["asked"]
    assert [query for query, n in asked.items() if n > 1] == ["q000", "q005"]
    same(run, ask("ok"))


FIRST = [
    ("down", 5, "HTTP 503 Service Unavailable: no shard available, after 1 retry; 24 of 24"),
    ("asleep", 5, "no answer within 0.4 s (timeout)"),
    ("drip", 5, "no whole answer within 1 s (deadline)"),
    ("headers", 5, "no whole answer within 1 s (deadline)"),
    ("shards", 5, "a partial answer: _shards.failed is 1"),
    ("html", 2, "of type text/html that is no JSON (Expecting value): '<html><title>Please log"),
    ("cut", 2, "is no JSON (Unterminated string"),
    ("empty", 2, "an empty answer"),
    ("latin", 2, "an answer that is not UTF-8 at byte"),
    ("huge", 2, "an answer of more than 50 MB"),
    ("twice", 2, "query `q000`: the answer lists 'd1' twice"),
    ("nan", 2, "result 'd1' has the score NaN"),
    ("null", 2, "no number at _score: _score is null"),
    ("other", 2, "no list at hits.hits: it has results, total"),
    ("window", 2, "HTTP 400 Bad Request: Result window is too large, from + size must be"),
    ("locked", 2, "HTTP 401 Unauthorized: [31mno right for None -> set auth"),
    ("moved", 2, "HTTP 302, a redirect to http://127.0.0.1:9/elsewhere -> redirects are not"),
]


@pytest.mark.parametrize(("mode", "code", "message"), FIRST, ids=[mode for mode, *_ in FIRST])
def test_what_is_wrong_with_all_is_told_after_one(ask, endpoint, mode, code, message) -> None:
    with pytest.raises(SamepoolError) as caught:
        ask(mode, retries=1)
    assert message in str(caught.value)
    assert str(caught.value).startswith(f"model es_new: http://127.0.0.1:{endpoint.port}/{mode}/")
    assert caught.value.exit_code == code
    assert "\x1b" not in str(caught.value)
    assert list(endpoint.stats()["asked"]) == ["q000"]
    away = mode in {"html", "cut", "empty", "latin"} or code == 5
    assert endpoint.stats()["asked"]["q000"] == 1 + away  # a mistake is not asked again


@pytest.mark.parametrize(
    ("url", "message"),
    [("http://127.0.0.1:1/x/_search", "refused"), ("http://nobody.invalid/_search", "host name")],
)
def test_no_connection_is_told_at_once(pool, url, message) -> None:
    model, start = http(url, backoff=60), time.monotonic()
    with pytest.raises(UnreachableError, match=f"{message}.*24 of 24 queries are not answered"):
        rank(model, model.origin("m", "m"), pool, Tools())
    assert time.monotonic() - start < 10


def test_a_query_that_is_refused_is_named_and_the_others_are_kept(ask, endpoint, tmp_path) -> None:
    with pytest.raises(SamepoolError, match="query `q007`: HTTP 400 Bad Request: cannot parse"):
        ask("picky", tmp_path / "s", concurrency=1)
    kept = Store(tmp_path / "s").read()
    assert {f"q{i:03}" for i in range(7)} <= set(kept)
    assert "q007" not in kept


def test_nothing_is_silently_short_and_nothing_is_asked_twice(ask, endpoint, same, tmp_path):
    folder = tmp_path / "key.partial"
    endpoint.post("mode/some")
    with pytest.raises(UnreachableError) as caught:
        ask("live", folder, retries=2)
    bad = {query: n for query, n in endpoint.stats()["asked"].items() if n > 1}
    assert set(bad.values()) == {3}
    text = str(caught.value)
    assert text.startswith(
        f"model es_new: {len(bad)} of 24 queries failed after 2 retries; not scored (e.g. `"
    )
    assert f"{24 - len(bad)} answers are kept" in text
    assert f"all that failed: {folder / 'failed.tsv'}" in text
    rows = (folder / "failed.tsv").read_text().splitlines()
    assert [row.split("\t")[:2] for row in rows[1:]] == [[q, "3"] for q in sorted(bad)]
    with (folder / "answers.jsonl").open("a") as stream:
        stream.write('{"query": "q000", "items": ["d1"], "sc')  # cut off by a kill
    endpoint.post("reset")
    run = ask("live", folder)
    assert endpoint.stats()["asked"] == dict.fromkeys(bad, 1)
    (note,) = [p.text for p in run.problems if p.code == "answers_reused"]
    assert f"{24 - len(bad)} of 24 answers are those of an attempt that was cut off" in note
    same(run, ask("ok"))
    assert len(Store(folder).read()) == 24  # the torn line spoilt none after it


def test_kept_answers_keep_their_latency_and_old_ones_are_a_warning(ask, tmp_path) -> None:
    line = {"query": "q003", "items": ["d1"], "scores": [0.1], "ms": 1234.5, "at": 0}
    lines = ["null", '{"query": 3}', json.dumps(line | {"items": []}), json.dumps(line)]
    (tmp_path / "answers.jsonl").write_text("\n".join(lines) + "\n")
    run = ask("ok", tmp_path)
    assert run.cost["client_latency_ms"][3] == 1234.5
    assert any("1 of 24 answers are those of an attempt" in text for text in texts(run))


def test_one_that_goes_away_is_not_asked_for_ever(ask, endpoint, monkeypatch) -> None:
    monkeypatch.setattr(rounds, "GIVE_UP", 5)
    with pytest.raises(UnreachableError, match=r"5 of 24 .*5 failed in a row, so 18 were not"):
        ask("later", concurrency=1, retries=0)


def test_no_more_at_a_time_than_allowed(ask, endpoint) -> None:
    start = time.monotonic()
    ask("slow", concurrency=3)
    assert endpoint.stats()["most"] == 3
    assert 24 * 0.15 / 3 <= time.monotonic() - start < 24 * 0.15  # and no fewer either


def test_an_interrupt_ends_the_threads_at_once(endpoint, pool, tmp_path) -> None:
    model = http(endpoint.url("slow"), concurrency=2, timeout=30)
    origin = model.origin("m", "m")

    def steps(all_steps, _label):
        for count, step in enumerate(all_steps):
            if count == 5:
                endpoint.post("mode/asleep")
                raise KeyboardInterrupt
            yield step

    before, start = threading.active_count(), time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        rank(model, origin, pool, Tools(scratch=tmp_path, progress=steps))
    assert threading.active_count() <= before
    assert time.monotonic() - start < 4
    assert 6 <= len(Store(tmp_path).read()) < 24


def test_what_cannot_be_kept_is_a_warning(ask, tmp_path) -> None:
    (tmp_path / "file").touch()
    run = ask("ok", tmp_path / "file" / "x")
    assert [text for text in texts(run) if "were not kept" in text]


def test_the_back_off_doubles_is_seeded_and_ends() -> None:
    plan = Plan(4, 3, 0.5, 7)
    for attempt in range(4):
        wait = plan.wait(3, attempt)
        assert 0.25 * 2**attempt <= wait <= 0.5 * 2**attempt
        assert wait == Plan(1, 9, 0.5, 7).wait(3, attempt)
    assert plan.wait(3, 0) != plan.wait(4, 0)
    assert plan.wait(3, 30) == LONGEST_WAIT


@pytest.mark.parametrize(("value", "least", "most"), [("7", 7, 7), ("soon", None, None)])
def test_retry_after(value, least, most) -> None:
    assert after(value) == least
    later = dt.datetime.now(dt.UTC) + dt.timedelta(seconds=90)
    seconds = after(later.strftime("%a, %d %b %Y %H:%M:%S GMT"))
    assert 85 < (seconds or 0) <= 90


# Whether answers change.


def test_probes_find_answers_that_change(ask, endpoint) -> None:
    run = ask("moving", probe=20, seed=3)
    (problem,) = [p for p in run.problems if p.code == "unstable"]
    asked = endpoint.stats()["asked"]
    assert sum(asked.values()) == 24 + 20
    assert problem.severity == "warning"
    changed = [query for query in asked if asked[query] == 2 and crc32(query.encode()) % 2]
    assert problem.text == f"model es_new: {len(changed)} of 20 probes changed order"
    assert 0 < len(changed) < 20
    assert "preference=_local" in problem.fix
    endpoint.post("reset")
    with pytest.raises(SamepoolError, match="of 20 probes changed order") as caught:
        ask("moving", probe=20, require_stable=True)
    assert caught.value.exit_code == 2


def test_probes_tell_scores_from_order_and_ties_from_neither(ask) -> None:
    run = ask("drifting", probe=5)
    assert "model es_new: 5 of 5 probes changed scores, none its order" in texts(run)
    assert "unstable" not in {problem.code for problem in ask("ties", probe=20).problems}


# Before anything is asked.

WRONG = [
    ({"url": "localhost:9200/x/_search"}, "is no address"),
    ({"url": "ftp://h/_search"}, "is no address"),
    ({"url": "http://h/products"}, "http://HOST:PORT/INDEX/_search"),
    ({"url": "http://{text}/_search"}, "placeholders stand behind the host"),
    ({"url": "http://h/_search?size=5"}, "is the option size"),
    ({"url": "http://h:x/_search"}, "url is no address"),
    ({"url": f"http://ann:{SECRET}@h/_search"}, "url is no address"),
    ({"url": f"ann:{SECRET}@h/_search"}, "url is no address"),
    ({"url": "http://ann:hunter2@h/_search"}, "url holds a user or a password"),
    ({"url": f"http://h/_search?api_key={SECRET}"}, "url: api_key looks like a secret"),
    ({"params": {"access_token": SECRET}}, "params: access_token looks like a secret"),
    ({"headers": {"Authorization": f"Basic {SECRET}"}}, "headers: Authorization looks like"),
    ({"headers": {"X-Api-Key": SECRET}}, "headers: X-Api-Key looks like a secret"),
    ({"headers": {"Cookie": SECRET}}, "headers: Cookie looks like a secret"),
    ({"headers": f"Authorization: {SECRET}"}, "headers is a mapping"),
    ({"auth": SECRET}, "auth is a mapping"),
    ({"params": SECRET}, "params is a mapping"),
    ({"headers": {"X": "a\nb"}}, "cannot be sent as a header"),
    ({"auth": {"kind": "bearer", "token": SECRET}}, "auth has no token"),
    ({"auth": {"kind": "basic", "env": "X", "password": 12345678}}, "auth has no password"),
    ({"auth": {"kind": "bearer", "env": SECRET}}, "auth.env names a variable"),
    ({"auth": {"kind": "digest", "env": "X"}}, "auth.kind is one of basic, bearer, apikey"),
    ({"auth": {"kind": "header", "env": "X"}}, "auth.header goes with"),
    ({"auth": {"kind": "bearer", "env": "X", "user": "u"}}, "auth.user goes with"),
    ({"body": '{"size": {size}}'}, "body is no JSON"),
    ({"body": {"query": {"text": None}}}, 'YAML reads {text} as a mapping; quote it: "{text}"'),
    ({"body": {"query": float("nan")}}, "JSON cannot hold"),
    ({"body": {"size": 10, "query": {}}}, "is the option size"),
    ({"body": ...}, "give the query"),
    ({"body": "3"}, "body is a mapping"),
    ({"method": "GET"}, "with GET use params"),
    ({"template": "json"}, "needs the paths of the list"),
    ({"template": "json", "items": "a", "id": "b"}, "set score to its path, or order=given"),
    ({"template": "json", "items": "a", "id": "b", "score": "c", "order": "given"}, "reads no"),
    ({"size": 0}, "size is a number from 1"),
    ({"retries": -1}, "retries is a number from 0"),
    ({"timeout": 0}, "timeout is a number from 0.001"),
    ({"template": "solr"}, "input should be 'elasticsearch' or 'json'"),
]


@pytest.mark.parametrize(("options", "message"), WRONG, ids=[str(o)[:50] for o, _ in WRONG])
def test_options_that_make_no_sense(options, message) -> None:
    with pytest.raises(SamepoolError) as caught:
        http(**{"url": "http://h/_search", **options})
    assert message in str(caught.value)
    assert "hunter2" not in str(caught.value)
    assert "12345678" not in str(caught.value)


def test_plain_names_are_no_secrets() -> None:
    params = {"author": "x", "max_tokens": 3, "sort_key": "y", "keyboard": 1}
    assert http("http://h/_search?preference=_local&monkey=1", params=params)


def problems_of(model: Any, pool: Pool) -> list[str]:
    return [str(problem) for problem in fits(model, model.origin("es", "es"), pool, None)]


def test_columns_that_the_pool_lacks_are_named_before_anything_is_sent(make_pool, pool) -> None:
    url = "http://127.0.0.1:1/_search"
    (found,) = problems_of(http(url, body={"q": "{txet} {lang}"}), pool)
    assert "model es: {txet} is no column of the queries -> did you mean text?" in found
    gaps = make_pool({"q1": {"text": "a"}, "q2": {"text": None}, "q3": {}}, {"d": {}})
    (found,) = problems_of(http(url, body={"q": "{text}"}), gaps)
    assert "{text} is empty for 2 queries, first `q2`" in found
    (found,) = problems_of(http(url, body={"q": "shoes"}), pool)
    assert "every query would be asked alike" in found
    (found,) = problems_of(http(url, body={"q": "{text}", "in": "{candidates}"}), pool)
    assert "{candidates} needs the pool's candidates" in found
    lists = make_pool({"q1": {"tags": ["a"]}}, {"d": {}})
    (found,) = problems_of(http(url, body={"q": "in {tags}"}), lists)
    assert "{tags} is a list and stands inside text" in found
    plain = {"template": "json", "items": "l", "id": "i", "score": "s"}
    (found,) = problems_of(http(url, **plain, body={"q": "{text}"}), pool)
    assert "does not say how many items are wanted" in found
    assert problems_of(http(url, body={"q": "{text}"}), pool) == []


def test_items_outside_the_candidates_that_were_sent(endpoint, make_pool) -> None:
    queries = {f"q{i:03}": {} for i in range(3)}
    pairs = [(query, f"d{i}") for query in queries for i in range(10)]
    model = http(endpoint.url("ok"), body={"q": "{query_id}", "in": "{candidates}"})
    pool = make_pool(queries, {f"d{i}": {} for i in range(12)}, candidates=pairs)
    assert len(rank(model, model.origin("m", "m"), pool, Tools()).final.query) == 30
    assert endpoint.stats()["bodies"][-1]["in"] == [f"d{i}" for i in range(10)]
    pool = make_pool(queries, {f"d{i}": {} for i in range(12)}, candidates=pairs[:-1])
    with pytest.raises(SamepoolError, match="query `q002`: `d9` is not among the candidates"):
        rank(model, model.origin("m", "m"), pool, Tools())


def test_no_item_at_all_is_an_error(ask) -> None:
    with pytest.raises(SamepoolError, match="all 24 answers are empty"):
        ask("nothing")


# Which model it is.


def test_what_makes_another_model() -> None:
    def digest(**options: Any) -> str:
        return str(http("http://h/_search", **options).origin("m", "m").source_digest)

    plain = digest()
    others = {"size": 5}, {"body": {"q": "{text}"}}, {"version": "v2"}, {"order": "given"}
    for options in (*others, {"require_stable": True}):  # lists that it would refuse are not reused
        assert digest(**options) != plain
    for options in ({"retries": 9}, {"concurrency": 9}, {"probe": 9}, {"timeout": 9}):
        assert digest(**options) == plain


def test_all_code_that_asks_is_part_of_what_a_model_is(monkeypatch) -> None:
    read = []
    monkeypatch.setattr("pipeline.models.http.of_file", lambda path: str(read.append(path)))
    http("http://h/_search").origin("m", "m")
    names = {Path(path).name for path in read}
    assert {"http.py", "_secrets.py", "client.py", "status.py", "answer.py"} <= names


def test_only_a_named_version_stands_still() -> None:
    assert http("http://h/_search").origin("m", "m").live
    origin = http("http://h/_search", version="products-2026-02").origin("m", "m")
    assert not origin.live
    assert origin.resolved == "POST http://h/_search, version products-2026-02"


# Credentials.

CODED = "Basic YW5uOmh1bnRlcjIrL3g="  # base64 of ann:hunter2+/x
BASIC = {"kind": "basic", "env": "ES"}
AUTH = [
    (BASIC, f"ann:{SECRET}", "Authorization", CODED),
    (BASIC | {"user": "ann"}, SECRET, "Authorization", CODED),
    ({"kind": "bearer", "env": "ES"}, SECRET, "Authorization", f"Bearer {SECRET}"),
    ({"kind": "apikey", "env": "ES"}, f"{SECRET}\n", "Authorization", f"ApiKey {SECRET}"),
    ({"kind": "header", "env": "ES", "header": "X-Key"}, SECRET, "X-Key", SECRET),
]


@pytest.mark.parametrize(("auth", "value", "header", "sent"), AUTH, ids=lambda v: str(v)[:24])
def test_credentials_arrive_and_never_come_back(
    ask, endpoint, monkeypatch, auth, value, header, sent
) -> None:
    monkeypatch.setenv("ES", value)
    ask("ok", auth=auth)
    assert endpoint.stats()["seen"][-1][1][header] == sent
    with pytest.raises(SamepoolError) as caught:
        ask("locked", auth=auth)
    shown = str(caught.value)
    assert "no right for" in shown
    assert SECRET not in shown
    assert CODED.split()[1] not in shown
    assert SECRET not in repr(take(read_auth(auth)))


@pytest.mark.parametrize(
    ("value", "message"),
    [(None, "is not set"), (" ", "is not set"), ("no-colon", "USER:PASSWORD"), ("a\nb", "no hea")],
)
def test_a_missing_variable_is_told_before_anything_is_asked(
    pool, monkeypatch, value, message
) -> None:
    monkeypatch.delenv("ES", raising=False)
    if value is not None:
        monkeypatch.setenv("ES", value)
    (found,) = problems_of(http("https://h/_search", auth=BASIC), pool)
    assert "the environment variable ES" in found
    assert message in found


def test_credentials_in_the_clear_are_a_warning(pool, monkeypatch) -> None:
    monkeypatch.setenv("ES", "ann:pw")
    (found,) = problems_of(http("http://search.shop/_search", auth=BASIC), pool)
    assert "credentials are sent to search.shop unencrypted -> write https://" in found
    for url in ("http://localhost:9200/_search", "http://[::1]:9200/_search", "https://h/_search"):
        assert problems_of(http(url, auth=BASIC), pool) == []


def test_the_environments_proxy_is_used_and_its_netrc_is_not(
    endpoint, pool, monkeypatch, tmp_path
) -> None:
    (tmp_path / "netrc").write_text("default login ann password hunter2\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{endpoint.port}")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    model = http("http://shop.invalid/ok/_search")
    assert len(rank(model, model.origin("m", "m"), pool, Tools()).final.query) == 240
    path, headers = endpoint.stats()["seen"][-1]
    assert path == "http://shop.invalid/ok/_search"
    assert "Authorization" not in headers


def test_a_certificate_is_checked(make_pool, tmp_path) -> None:
    cert = tmp_path / "cert.pem"
    cert.write_bytes(self_signed())
    pool = make_pool({"q000": {}, "q001": {}}, {"d0": {}})
    with serving("--cert", str(cert)) as endpoint:
        url = endpoint.url("ok").replace("http:", "https:")
        model = http(url, timeout=5, deadline=10)
        with pytest.raises(SamepoolError, match=r"certificate cannot be verified.*ca_bundle"):
            rank(model, model.origin("m", "m"), pool, Tools())
        model = http(url, timeout=5, deadline=10, ca_bundle=str(cert))
        assert len(rank(model, model.origin("m", "m"), pool, Tools()).final.query) == 20
        drip = {"url": url.replace("/ok/", "/drip/"), **LIMITS["drip"]}
        late = http(**drip, ca_bundle=str(cert), retries=0)
        with pytest.raises(UnreachableError, match=r"no whole answer within 1 s"):
            rank(late, late.origin("m", "m"), pool, Tools())
    gone = http(url, ca_bundle=str(tmp_path / "nowhere.pem"))
    with pytest.raises(SamepoolError, match="is no file"):
        gone.origin("m", "m")
