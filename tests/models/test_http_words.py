"""What an endpoint says is quoted without secrets, in whatever form and wherever it is cut off."""

import base64
import html
import json
from types import SimpleNamespace
from urllib.parse import quote_plus

import numpy as np
import pyarrow as pa
import pytest

from pipeline.core.problems import SamepoolError
from pipeline.models._http import lists
from pipeline.models._http.answer import Reader
from pipeline.models._http.status import after, judge
from pipeline.models._http.store import Answer
from pipeline.models._http.troubles import TroubleError
from pipeline.models._invocations import Asking, Server
from pipeline.models._secrets import read_auth, take

SECRET = 's3cr"et&pa\\ss/w0rd  +<AB>'
PARTS = ("s3cr", "et&amp;pa", "w0rd", "<AB>")


@pytest.fixture(params=["bearer", "basic"])
def scrub(request, monkeypatch):
    pair = {"bearer": SECRET, "basic": f"elastic:{SECRET}"}[request.param]
    monkeypatch.setenv("ES", pair)
    return take(read_auth({"kind": request.param, "env": "ES"})).scrub


FORMS = [
    str, html.escape, quote_plus, json.dumps, repr,
    lambda word: base64.b64encode(f"elastic:{word}".encode()).decode(),
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS[:-1])
@pytest.mark.parametrize("cut", [None, 14, 10, 8])
def test_a_secret_is_hidden_in_every_form_and_where_it_is_cut_off(scrub, form, cut):
    shown = scrub(f"got Bearer {form(SECRET)[:cut]} from elasticsearch")
    assert not any(part in shown for part in PARTS)
    assert shown.startswith("got Bearer ")
    assert shown.endswith("from elasticsearch")  # a user's name is no secret, nor a part of it


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("before", [0, 40, *range(60, 84), *range(276, 302)])
def test_no_quotation_is_cut_off_within_a_secret(monkeypatch, form, before):
    monkeypatch.setenv("ES", f"elastic:{SECRET}")
    scrub = take(read_auth({"kind": "basic", "env": "ES"})).scrub
    said = f"{'.' * before}{form(SECRET)}"
    refused = SimpleNamespace(status_code=400, reason="Bad", headers={}, text=said)
    moved = SimpleNamespace(status_code=302, reason="Found", headers={"Location": said})
    reader = Reader("hits", "id", "score", scrub=scrub)
    shown = []
    server = Server("http://h", "m", 1.0, scrub=scrub)
    with pytest.raises(SamepoolError) as caught:
        Asking(server, None, None, None)._read(said.encode())
    shown.append(str(caught.value))
    for attempt in (
        lambda: judge(refused, said.encode(), scrub),
        lambda: judge(moved, b"", scrub),
        lambda: reader.read(said.encode(), "text/html"),
        lambda: reader.read(json.dumps({"hits": said}).encode(), "application/json"),
    ):
        with pytest.raises(TroubleError) as caught:
            attempt()
        shown.append(scrub(str(caught.value)))
    hidden = (*PARTS, base64.b64encode(f"elastic:{SECRET}".encode()).decode()[:6])
    assert not [text for text in shown if any(part in text for part in hidden)]


def test_ids_that_became_numbers_are_no_items_of_the_pool(make_pool):
    pool = make_pool({"q1": {}}, {"0012": {}, "7": {}})
    answer = Answer(pa.array(["12", "7.0"], pa.string()), np.array([2.0, 1.0]), 1.0, 0.0)
    with pytest.raises(SamepoolError, match=r"2 item_ids were read as numbers .*`12` is `0012`"):
        lists.ranking(pool, "es", [answer], [])


def test_a_score_or_id_of_any_length_is_shown_in_a_few_words():
    reader = Reader("hits", "id", "score")
    long = b"9" * 5_000
    for entry in (b'{"id": "a", "score": %s}', b'{"id": %s, "score": "x"}', b'{"id": "a%s"}'):
        with pytest.raises(TroubleError) as caught:
            reader.read(b'{"hits": [%s]}' % (entry % long), "application/json")
        assert len(str(caught.value)) < 500


def test_scores_that_floats_cannot_tell_apart_are_refused():
    reader = Reader("hits", "id", "score")

    def read(*scores):
        hits = [{"id": str(place), "score": score} for place, score in enumerate(scores)]
        return reader.read(json.dumps({"hits": hits}).encode(), "")[1]

    assert read(2**60, 2**61, 2**61) == [2.0**60, 2.0**61, 2.0**61]
    with pytest.raises(TroubleError, match="scores up to 1152921504606846976, which as floats"):
        read(2**60, 2**60 + 1)


def test_a_wait_that_is_no_number_is_none():
    assert after("\xb2") is None
