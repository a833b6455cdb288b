"""A search endpoint that misbehaves on demand; a process of its own, on a free port of loopback.

The first part of the path says how it behaves: ``/flaky/_search``. What is searched for is the
query's id. ``GET /stats`` tells what it was asked; ``POST /reset`` forgets it; ``POST /mode/NAME``
sets what ``/live/_search`` does. ``--run RUN.trec`` answers with the lists of a run, else every
query has ten items, ``d0`` first. ``--cert FILE`` speaks TLS.
"""

import gzip
import json
import re
import ssl
import sys
import threading
import time
import zlib
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

LOCK = threading.Lock()
STATE = {
    "mode": "ok",
    "now": 0,
    "most": 0,
    "asked": Counter(),
    "bodies": [],
    "seen": [],
    "epoch": 0,
}
RUN: dict[str, list[tuple[str, float]]] = {}


def listed(query: str, size: int = 10) -> list[tuple[str, float]]:
    if RUN:
        return RUN.get(query, [])[:size]
    return [(f"d{place}", 10.0 - place + len(query) / 16) for place in range(min(size, 10))]


def answer(hits: list[tuple[str, float]], **more: object) -> bytes:
    whole = {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 2, "successful": 2, "skipped": 0, "failed": 0},
        "hits": {"max_score": None, "hits": [{"_id": i, "_score": s} for i, s in hits]},
        **more,
    }
    return json.dumps(whole).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def log_message(self, *_: object) -> None:
        """Says nothing."""

    def do_GET(self) -> None:
        if self.path == "/stats":
            shown = STATE | {"asked": dict(STATE["asked"])}
            return self.reply(json.dumps(shown).encode())
        return self.handle_search(b"")

    def do_POST(self) -> None:
        payload = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path == "/reset":
            with LOCK:
                STATE.update(mode="ok", now=0, most=0, asked=Counter(), bodies=[], seen=[])
                STATE["epoch"] += 1  # what still sleeps belongs to the one before
            return self.reply(b"{}")
        if self.path.startswith("/mode/"):
            STATE["mode"] = self.path.rpartition("/")[2]
            return self.reply(b"{}")
        return self.handle_search(payload)

    def handle_search(self, payload: bytes) -> None:
        mode = urlsplit(self.path).path.split("/")[1]
        found = json.loads(payload) if payload else {}
        words = parse_qs(urlsplit(self.path).query)
        query = find(words.get("q", [])) or "".join(words.get("q", [])) or find(found)
        size = int(words.get("rows", [found.get("size", found.get("hits", 10))])[0])
        with LOCK:
            STATE["asked"][query] += 1
            STATE["now"] += 1
            STATE["most"] = max(STATE["most"], STATE["now"])
            STATE["bodies"] = [*STATE["bodies"][-4:], found]
            STATE["seen"] = [*STATE["seen"][-4:], [self.path, dict(self.headers)]]
            times, epoch = STATE["asked"][query], STATE["epoch"]
        mode = STATE["mode"] if mode == "live" else mode
        try:
            getattr(self, f"mode_{mode}")(query, size, times)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True
        finally:
            with LOCK:
                STATE["now"] -= epoch == STATE["epoch"]

    def reply(self, payload: bytes, status: int = 200, **headers: str) -> None:
        head = {"Content-Type": "application/json", "Content-Length": str(len(payload))}
        self.send_response(status)
        for name, value in (head | {k.replace("_", "-"): v for k, v in headers.items()}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)
        self.wfile.flush()

    def mode_ok(self, query: str, size: int, times: int) -> None:
        self.reply(answer(listed(query, size)))

    mode_products = mode_ok

    def mode_busy(self, query: str, size: int, times: int) -> None:
        if times > 1 or query not in {"q000", "q005"}:
            return self.mode_ok(query, size, times)
        return self.reply(b'{"error": "slow down"}', 429, Retry_After="1")

    def mode_flaky(self, query: str, size: int, times: int) -> None:
        if times > 2:
            return self.mode_ok(query, size, times)
        return self.reply(b"oops", 500)

    def mode_down(self, query: str, size: int, times: int) -> None:
        self.reply(b"no shard available", 503)

    def mode_some(self, query: str, size: int, times: int) -> None:
        """Some queries never get an answer; the first one does."""
        bad = zlib.crc32(query.encode()) % 5 == 0 and not query.endswith("000")
        self.mode_down(query, size, times) if bad else self.mode_ok(query, size, times)

    def mode_later(self, query: str, size: int, times: int) -> None:
        """Only the first query is answered."""
        first = query.endswith("000")
        self.mode_ok(query, size, times) if first else self.mode_down(query, size, times)

    def mode_slow(self, query: str, size: int, times: int) -> None:
        time.sleep(0.15)
        self.mode_ok(query, size, times)

    def mode_asleep(self, query: str, size: int, times: int) -> None:
        time.sleep(30)

    def mode_nap(self, query: str, size: int, times: int) -> None:
        if times == 1:
            time.sleep(1.0)
        self.mode_ok(query, size, times)

    def mode_drip(self, query: str, size: int, times: int) -> None:
        """Never silent, never done."""
        self.send_response(200)
        self.send_header("Content-Length", "100000")
        self.end_headers()
        for _ in range(300):
            self.wfile.write(b" ")
            self.wfile.flush()
            time.sleep(0.1)

    def mode_headers(self, query: str, size: int, times: int) -> None:
        """Drips before the body."""
        for byte in b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 300:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            time.sleep(0.1)

    def mode_reset(self, query: str, size: int, times: int) -> None:
        if times > 1:
            return self.mode_ok(query, size, times)
        self.close_connection = True
        return self.connection.close()

    def mode_torn(self, query: str, size: int, times: int) -> None:
        """Ends before the length that it told."""
        if times > 1:
            return self.mode_ok(query, size, times)
        payload = answer(listed(query, size))
        self.send_response(200)
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload[:20])
        self.close_connection = True
        return None

    def mode_cut(self, query: str, size: int, times: int) -> None:
        self.reply(answer(listed(query, size))[:40])

    def mode_html(self, query: str, size: int, times: int) -> None:
        self.reply(b"<html><title>Please log in</title></html>", Content_Type="text/html")

    def mode_empty(self, query: str, size: int, times: int) -> None:
        self.reply(b"")

    def mode_latin(self, query: str, size: int, times: int) -> None:
        self.reply(answer([("caf\u00e9", 1.0)]).decode("unicode_escape").encode("latin-1"))

    def mode_huge(self, query: str, size: int, times: int) -> None:
        spaces = gzip.compress(b" " * 1_000_000)  # members of one file, so nothing takes long
        self.reply(gzip.compress(b"[") + 60 * spaces, Content_Encoding="gzip")

    def mode_packed(self, query: str, size: int, times: int) -> None:
        self.reply(gzip.compress(answer(listed(query, size))), Content_Encoding="gzip")

    def mode_nothing(self, query: str, size: int, times: int) -> None:
        self.reply(answer([]))

    def mode_timed(self, query: str, size: int, times: int) -> None:
        self.reply(answer(listed(query, size)[:1], timed_out=times < 3))

    def mode_shards(self, query: str, size: int, times: int) -> None:
        self.reply(answer(listed(query, size)[:1], _shards={"total": 2, "failed": 1}))

    def mode_moving(self, query: str, size: int, times: int) -> None:
        hits = listed(query, size)
        if zlib.crc32(query.encode()) % 2 and times > 1:
            hits = [(hits[-1 - place][0], score) for place, (_, score) in enumerate(hits)]
        self.reply(answer(hits))

    def mode_drifting(self, query: str, size: int, times: int) -> None:
        """The same order, other scores."""
        self.reply(answer([(item, score + times / 8) for item, score in listed(query, size)]))

    def mode_ties(self, query: str, size: int, times: int) -> None:
        """Equal scores, in another order each time."""
        hits = [(item, 1.0) for item, _ in listed(query, size)]
        self.reply(answer(hits[times % 3 :] + hits[: times % 3]))

    def mode_twice(self, query: str, size: int, times: int) -> None:
        self.reply(answer([*listed(query, size), ("d1", 0.5)]))

    def mode_nan(self, query: str, size: int, times: int) -> None:
        self.reply(answer([("d1", float("nan"))]))

    def mode_null(self, query: str, size: int, times: int) -> None:
        """As under ``sort``."""
        self.reply(answer([(item, None) for item, _ in listed(query, size)]))

    def mode_other(self, query: str, size: int, times: int) -> None:
        self.reply(b'{"results": [{"key": "d1", "points": 2}], "total": 1}')

    def mode_window(self, query: str, size: int, times: int) -> None:
        reason = "Result window is too large, from + size must be less than or equal to: [10000]"
        error = {"root_cause": [{"reason": reason}], "reason": "all shards failed"}
        self.reply(json.dumps({"error": error, "status": 400}).encode(), 400)

    def mode_picky(self, query: str, size: int, times: int) -> None:
        """Refuses one query alone."""
        if query.endswith("7"):
            return self.reply(b'{"error": {"reason": "cannot parse"}}', 400)
        return self.mode_ok(query, size, times)

    def mode_locked(self, query: str, size: int, times: int) -> None:
        said = f"\x1b[31mno right for {self.headers.get('Authorization')}"
        self.reply(said.encode(), 401)

    def mode_moved(self, query: str, size: int, times: int) -> None:
        self.reply(b"", 302, Location="http://ann:pw@127.0.0.1:9/elsewhere")

    def mode_solr(self, query: str, size: int, times: int) -> None:
        docs = [{"id": i, "score": s} for i, s in listed(query, size)]
        head = {"status": 0, "partialResults": query.startswith("partial")}
        found = {"responseHeader": head, "response": {"numFound": len(docs), "docs": docs}}
        self.reply(json.dumps(found).encode())

    def mode_vespa(self, query: str, size: int, times: int) -> None:
        hits = [{"relevance": s, "fields": {"doc_id": i}} for i, s in listed(query, size)]
        hits = [] if query.endswith("1") else hits
        root = {"fields": {"totalCount": len(hits)}, "coverage": {"full": True}}
        self.reply(json.dumps({"root": root | ({"children": hits} if hits else {})}).encode())

    def mode_numbers(self, query: str, size: int, times: int) -> None:
        self.reply(b'{"list": [{"n": 10, "s": 2}, {"n": 1e5, "s": 1.5}, {"n": "0012", "s": 1}]}')

    def mode_bare(self, query: str, size: int, times: int) -> None:
        self.reply(json.dumps({"list": [{"n": i} for i, _ in listed(query, size)]}).encode())


def find(part: object) -> str:
    """The query's id, wherever the body has it."""
    if isinstance(part, str):
        return found[0] if (found := re.search(r"q\d+", part)) else ""
    inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    return next((found for value in inside if (found := find(value))), "")


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_: object) -> None:
        """Clients that go away are part of the game."""


def main() -> None:
    given = dict(zip(sys.argv[1::2], sys.argv[2::2], strict=True))
    if "--run" in given:
        for line in Path(given["--run"]).read_text().splitlines():
            query, _, item, _, score, _ = line.split()
            RUN.setdefault(query, []).append((item, float(score)))
    server = Server(("127.0.0.1", 0), Handler)
    if "--cert" in given:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(given["--cert"])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print(server.server_port, flush=True)  # noqa: T201
    server.serve_forever()


if __name__ == "__main__":
    main()
