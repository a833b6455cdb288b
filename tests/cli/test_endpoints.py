"""Search endpoints from the command line: a real server process, a real comparison."""

import json
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from pipeline.cli.main import main
from tests.endpoints.endpoint import Endpoint, serving

POOL = ["pool.qrels=qrels.trec", "pool.queries=queries.csv", "pool.labels=human"]
FILES = [*POOL, "baseline=bm25.trec", "candidates=es_new"]
BODY = 'body: {query: {match: {title: "{query_id}"}}}'
SECRET = "s3cr3t-hunter2"


@pytest.fixture(scope="module")
def server(shop: Path) -> Iterator[Endpoint]:
    """Answers as the run ce.trec does."""
    with serving("--run", str(shop / "ce.trec")) as found:
        yield found


@pytest.fixture
def endpoint(server: Endpoint) -> Endpoint:
    server.post("reset")
    return server


@pytest.fixture
def inside(here: Path, monkeypatch: Any, capfd: Any) -> Callable[..., tuple[int, str, str]]:
    """Calls the program in this process."""
    monkeypatch.chdir(here)

    def call(*words: str) -> tuple[int, str, str]:
        return main(words), *capfd.readouterr()

    return call


def model(endpoint: Endpoint, mode: str, more: str = "backoff: 0.01") -> str:
    return f'models.es_new={{kind: http, url: "{endpoint.url(mode)}", {BODY}, {more}}}'


def test_an_endpoint_against_a_run_file(samepool: Any, here: Path, endpoint: Endpoint) -> None:
    """The same lists from a file and from an endpoint give the same numbers; no secret stays."""
    words = [
        model(endpoint, "ok", "auth: {kind: apikey, env: ES_KEY}, version: build-7"),
        "models.es_new.headers={X-Tenant: shop}", "candidates=[es_new,ce.trec]", "out=out",
    ]  # fmt: skip
    done = samepool("compare", *FILES, *words, ES_KEY=SECRET)
    assert done.returncode == 0, done.stderr
    headers = endpoint.stats()["seen"][-1][1]
    assert (headers["Authorization"], headers["X-Tenant"]) == (f"ApiKey {SECRET}", "shop")
    models = {m["name"]: m for m in json.loads((here / "out/models.json").read_text())["models"]}
    assert models["es_new"]["kind"] == "http"
    assert models["es_new"]["resolved"] == f"POST {endpoint.url('ok')}, version build-7"
    values = pq.read_table(here / "out/per_query.parquet").to_pandas()
    values = values.sort_values(["metric", "item_slice", "query_id"])
    of = {name: part["value"].to_numpy() for name, part in values.groupby("model")}
    np.testing.assert_array_equal(of["es_new"], of["ce"])
    assert len(of["ce"]) >= 60
    assert not np.array_equal(of["bm25"], of["ce"])
    kept = [path for path in here.rglob("*") if path.is_file()]
    assert len(kept) > 30
    assert any("mlruns" in path.parts for path in kept)
    assert not [path for path in kept if SECRET.encode() in path.read_bytes()]
    assert SECRET not in done.stdout + done.stderr


def test_a_named_version_is_asked_once(inside: Any, endpoint: Endpoint) -> None:
    for _ in range(2):
        named = model(endpoint, "ok", "version: v1, probe: 5")
        code, _, error = inside("compare", *FILES, named, "tracking=none")
        assert code == 0, error
    assert sum(endpoint.stats()["asked"].values()) == 65


def test_failed_queries_are_not_scored_and_the_next_attempt_asks_them_alone(
    inside: Any, here: Path, endpoint: Endpoint
) -> None:
    endpoint.post("mode/some")
    words = ["compare", *FILES, model(endpoint, "live", "backoff: 0.001, probe: 0")]
    code, _, error = inside(*words, "tracking=none", "out=first")
    failed = [query for query, n in endpoint.stats()["asked"].items() if n == 4]
    assert code == 5
    assert f"es_new: {len(failed)} of 60 queries failed after 3 retries; not scored" in error
    assert "HTTP 503 Service Unavailable: no shard available" in error
    assert len(error.splitlines()) == 1
    (listed,) = (here / "outputs/.runs").glob("*.partial/failed.tsv")
    assert str(listed.relative_to(here)) in error
    assert [row.split("\t")[0] for row in listed.read_text().splitlines()[1:]] == sorted(failed)
    endpoint.post("reset")
    code, _, error = inside(*words, "tracking=none", "out=second")
    assert code == 0, error
    assert endpoint.stats()["asked"] == dict.fromkeys(failed, 1)
    assert not list((here / "outputs/.runs").glob("*.partial"))
    told = [p["text"] for p in json.loads(Path("second/comparison.json").read_text())["problems"]]
    assert any(f"{60 - len(failed)} of 60 answers are those of an attempt" in t for t in told)
    assert any("ms at the median" in text for text in told)
    endpoint.post("reset")  # complete lists of an index that nobody named are not kept
    assert inside(*words, "tracking=none", "out=third")[0] == 0
    assert sum(endpoint.stats()["asked"].values()) == 60


def test_reuse_false_asks_all_anew(inside: Any, endpoint: Endpoint) -> None:
    endpoint.post("mode/some")
    words = ["compare", *FILES, model(endpoint, "live", "retries: 0, probe: 0"), "tracking=none"]
    assert inside(*words)[0] == 5
    endpoint.post("reset")
    assert inside(*words, "engine.reuse=false")[0] == 0
    assert sum(endpoint.stats()["asked"].values()) == 60


def test_answers_that_change_are_told(inside: Any, endpoint: Endpoint) -> None:
    words = ["compare", *FILES, "tracking=none"]
    code, out, error = inside(*words, model(endpoint, "moving", "probe: 20"))
    assert code == 0
    assert "of 20 probes changed order" in out + error
    assert "preference=_local" in out + error
    endpoint.post("reset")
    code, _, error = inside(*words, model(endpoint, "moving", "require_stable: true"))
    assert code == 2
    assert "error: model es_new: " in error
    assert "of 20 probes changed order" in error


def test_check_and_refused_comparisons_send_nothing(inside: Any, endpoint: Endpoint) -> None:
    right = model(endpoint, "ok")
    assert inside("check", *FILES, right, "tracking=none")[0] == 0
    deep = "metrics.names=[nDCG@10,R@2000]"
    code, _, error = inside("compare", *FILES, right, "tracking=none", deep)
    assert code == 2
    assert "model es_new returns at most 1,000 items a query, and R@2000 looks at 2,000" in error
    for more, text in (
        ("auth: {kind: bearer, env: NO_SUCH_KEY}", "variable NO_SUCH_KEY is not set"),
        (f"headers: {{Authorization: {SECRET}}}", "headers: Authorization looks like a secret"),
        (f"params: {{q: '{{txet}}', token: {SECRET}}}", "params: token looks like a secret"),
        ("params: {q: '{txet}'}", "{txet} is no column of the queries -> did you mean text?"),
        ("sise: 3", "unknown option models.es_new.sise -> did you mean size?"),
    ):
        code, _, error = inside("compare", *FILES, model(endpoint, "ok", more), "tracking=none")
        assert code == 2
        assert text in error
        assert SECRET not in error
        assert len(error.splitlines()) == 1
    assert endpoint.stats()["asked"] == {}


def start(here: Path, environment: dict[str, str], words: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        ["samepool", "compare", *words],
        cwd=here, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def wait_for(endpoint: Endpoint, n: int) -> None:
    limit = time.monotonic() + 60
    while len(endpoint.stats()["asked"]) < n:
        assert time.monotonic() < limit
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_was_answered_before_a_kill_is_not_asked_again(
    inside: Any, here: Path, environment: dict[str, str], endpoint: Endpoint, number: int
) -> None:
    endpoint.post("mode/slow")
    words = [*FILES, model(endpoint, "live", "probe: 0, concurrency: 2"), "tracking=none"]
    process = start(here, environment, words)
    wait_for(endpoint, 12)
    endpoint.post("mode/asleep")
    sent = time.monotonic()
    process.send_signal(number)
    _, error = process.communicate(timeout=60)
    assert "Traceback" not in error
    (log,) = (here / "outputs/.runs").glob("*.partial/answers.jsonl")
    kept = {json.loads(line)["query"] for line in log.read_text().splitlines()}
    assert len(kept) >= 9
    if number == signal.SIGINT:
        assert process.returncode == 130
        assert time.monotonic() - sent < 5
        return
    endpoint.post("reset")
    code, _, error = inside("compare", *words)
    assert code == 0, error
    asked = endpoint.stats()["asked"]
    assert set(asked) == {f"q{i:03}" for i in range(60)} - kept
    assert set(asked.values()) == {1}
