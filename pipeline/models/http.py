"""A search endpoint: Elasticsearch, OpenSearch, or any that answers with a list in JSON."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qsl, urlsplit

from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.core.redact import redact_uris
from pipeline.core.run import Origin
from pipeline.kernels.digest import of_file, of_json, of_parts
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models import _secrets as secrets
from pipeline.models._http import checks, lists
from pipeline.models._http.answer import Reader
from pipeline.models._http.client import Wire
from pipeline.models._http.crew import Crew, Plan
from pipeline.models._http.request import CANDIDATES, Template, asks
from pipeline.models._http.rounds import Rounds
from pipeline.models._http.store import Store

_EFFORT = frozenset(  # how it is asked; determines no score, and not whether lists are refused
    (
        "concurrency", "timeout", "deadline", "retries", "backoff", "probe", "ca_bundle",
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Http(Model):
    """Asks an endpoint once for every query, and takes ids and scores from the answer.

    ``"{COLUMN}"`` in url, params and body stands for a column of the query (``{query_id}`` and
    ``{text}`` too), ``{size}`` for the items wanted, ``{candidates}`` for the query's candidates.

    Attributes:
        url: address of the search.
        template: ``elasticsearch`` (OpenSearch as well): the body is that of ``_search``, ids and
            scores are where it has them; or ``json``: ``items``, ``id`` and ``score`` say where.
        method: GET or POST.
        body: a mapping, or JSON in text.
        params: added to the address.
        items: path of the list in the answer, dots between keys.
        id: path of the id within an entry of the list.
        score: path of the score within an entry.
        total: path of the number of matches; where that is 0 the list may be absent.
        partial: path -> value by which an answer says that it is not whole.
        order: ``score``, or ``given``: the order of the list is all there is.
        size: items wanted a query.
        version: what the index is called or was built from; with it lists are reused, without it
            they are asked for anew by each comparison.
        concurrency: requests at a time.
        timeout: seconds without a sign of life.
        deadline: seconds for a whole answer.
        retries: further attempts on 429, 5xx, timeouts and broken connections.
        backoff: seconds before the second attempt, at most; doubles.
        probe: queries asked again at the end, to see whether answers change.
        require_stable: whether changed answers are an error.
        headers: further headers; no secrets.
        auth: ``{kind: basic|bearer|apikey|header, env: VARIABLE}``.
        ca_bundle: file of certificates to trust.
    """

    url: str
    template: Literal["elasticsearch", "json"] = "elasticsearch"
    method: Literal["GET", "POST"] = "POST"
    body: Any = None
    params: Any = field(default_factory=dict)
    items: str | None = None
    id: str | None = None
    score: str | None = None
    total: str | None = None
    partial: dict[str, Any] = field(default_factory=dict)
    order: Literal["score", "given"] = "score"
    size: int = 1_000
    version: str | None = None
    concurrency: int = 4
    timeout: float = 10.0
    deadline: float = 60.0
    retries: int = 3
    backoff: float = 0.5
    probe: int = 20
    require_stable: bool = False
    headers: Any = field(default_factory=dict)
    auth: Any = field(default_factory=dict)
    ca_bundle: str | None = None

    def __post_init__(self) -> None:
        """Checks what can be known without a pool.

        Raises:
            ValueError: options that do not go together, or a secret among them.
        """
        checks.address(self.url)
        for name in ("params", "headers", "auth"):  # not typed: a message would show the value
            checks.mapping(getattr(self, name), name)
        secrets.refuse_literal(self.url, self.params, self.headers)
        secrets.read_auth(self.auth)
        checks.numbers(asdict(self))
        body = checks.body(self.body, self.method)
        checks.placed(self.params, "params")
        if self.template == "elasticsearch":
            asked = [*self.params, *(name for name, _ in parse_qsl(urlsplit(self.url).query))]
            checks.elasticsearch(self.url, body, asked, self.method)
        else:
            checks.generic(self.items, self.id, self.score, self.order)

    @property
    def at_most(self) -> int:
        """Items a query that it can return."""
        return self.size

    def origin(self, name: str, requested: str, _registry: Registry | None = None) -> Origin:
        """The address and all that is sent to it; live, unless a version is named.

        Raises:
            SamepoolError: the file of certificates is missing.
        """
        if self.ca_bundle is not None and not Path(self.ca_bundle).expanduser().is_file():
            text = f"model {name}: ca_bundle={self.ca_bundle} is no file"
            raise fault("no_ca_bundle", text, "name a file of certificates in PEM")
        options = {key: value for key, value in asdict(self).items() if key not in _EFFORT}
        here = Path(__file__)
        helpers = [here.with_name("_secrets.py"), *sorted((here.parent / "_http").glob("*.py"))]
        code = {path.name: of_file(str(path)) for path in (here, *helpers)}
        parts = {"kind": "http", "options": of_json(options), "code": of_parts(code)}
        return Origin(
            name=name,
            kind="http",
            requested=requested,
            resolved=f"{self.method} {redact_uris(self.url)}"
            + (f", version {self.version}" if self.version else ""),
            version=self.version,
            source_digest=of_parts(parts),
            live=self.version is None,
        )

    def fits(self, pool: Pool, origin: Origin, _registry: Registry | None, /) -> Iterable[Problem]:
        """Columns and variables that are missing; nothing is sent."""
        yield from secrets.missing(secrets.read_auth(self.auth), self.url, origin.name)
        yield from checks.columns(self._template().names(), pool, origin.name)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """The endpoint's lists.

        Raises:
            SamepoolError: it refuses a query, or its answers cannot be understood.
            UnreachableError: it left queries without an answer.
        """
        origin = tools.origin or self.origin("http", "http")
        raise_errors(self.fits(pool, origin, tools.registry))
        known = secrets.take(secrets.read_auth(self.auth))
        store = Store(tools.scratch)
        plan = Plan(self.concurrency, self.retries, self.backoff, tools.seed)
        reader = replace(self._reader(), scrub=known.scrub)
        crew = Crew(self._wire(known), plan, reader, store.keep)
        wanted = asks(self._template(), pool, self.size)
        rounds = Rounds(origin.name, wanted, crew, store, plan, known.scrub, tools.progress)
        answers = rounds.answers()
        raise_errors(rounds.probe(answers, self.probe, strict=self.require_stable))
        if CANDIDATES in wanted.template.names():
            lists.only_candidates(answers, wanted, origin.name)
        return lists.ranking(pool, origin.name, answers, rounds.problems)

    def _template(self) -> Template:
        body = checks.body(self.body, self.method)
        if self.template == "elasticsearch":
            path = self.id or "_id"
            fields = [path.removeprefix("_source.")] if path.startswith("_source.") else False
            body = {"size": "{size}", "_source": fields, "track_total_hits": False, **body}
        return Template(self.url, self.params, body)

    def _reader(self) -> Reader:
        score = None if self.order == "given" else self.score
        if self.template == "json":
            return Reader(str(self.items), str(self.id), score, self.total, self.partial)
        return Reader(
            items=self.items or "hits.hits",
            id=self.id or "_id",
            score=None if self.order == "given" else self.score or "_score",
            partial={"timed_out": True, **self.partial},
            partial_above=("_shards.failed", "_clusters.skipped"),
        )

    def _wire(self, known: secrets.Secrets) -> Wire:
        headers = {name: str(value) for name, value in self.headers.items()} | {**known.headers}
        bundle = self.ca_bundle and str(Path(self.ca_bundle).expanduser())
        return Wire(self.method, headers, self.timeout, self.deadline, bundle, known.scrub)


PLUGIN = Http
