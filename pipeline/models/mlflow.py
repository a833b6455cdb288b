"""A model of a registry, or a logged one: in this process, in one of its own, or on a server."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import pandas as pd
import pyarrow as pa

from pipeline.core.arrays import F64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, fault, raise_errors
from pipeline.core.run import Origin
from pipeline.kernels.digest import of_json
from pipeline.models import Model, Ranking, Registry, Tools
from pipeline.models import _secrets as secrets
from pipeline.models._answers import Output, Reader, of_loaded
from pipeline.models._http import checks
from pipeline.models._http.crew import Plan
from pipeline.models._invocations import BACKOFF, Server
from pipeline.models._outputs import wrong_output
from pipeline.models._pairs import Source, sources
from pipeline.models._scoring import Scoring


@dataclass(frozen=True, slots=True)
class Mlflow(Model):
    """Scores pairs with the model's ``predict`` on the pool's columns, larger is better.

    The pairs are the pool's candidates, else every query with all that it may be given. The
    columns are those of the model's signature, in its types: candidate features, and columns of
    queries and items; every unambiguous one where it has no signature.

    Attributes:
        uri: ``models:/name@alias``, ``models:/name/version``, ``models:/m-id`` or
            ``runs:/id/path``.
        output: a column or key of what ``predict`` returns; or a class of a classifier, scored by
            its probability (inprocess alone).
        env: ``inprocess``; ``virtualenv``, a process with the model's own requirements, made by
            MLflow; or ``uri``, a model server that runs already.
        endpoint: of ``env: uri``: address of the server, without ``/invocations``. It is trusted
            to serve the model that ``uri`` names.
        auth: of ``env: uri``: ``{kind: basic|bearer|apikey|header, env: VARIABLE}``.
        batch_rows: pairs given to the model at a time, at most.
        timeout: seconds a batch may take; in this process nothing can end it.
        retries: further attempts where the server is busy, broken or late.
        allow_ties: take scores that leave most pairs tied, such as labels.
    """

    recorded: ClassVar[bool] = True  # it was trained elsewhere, and cannot learn from other logs

    uri: str
    output: Output = None
    env: Literal["inprocess", "virtualenv", "uri"] = "inprocess"
    endpoint: str | None = None
    auth: Any = field(default_factory=dict)
    batch_rows: int = 10_000
    timeout: float = 300.0
    retries: int = 3
    allow_ties: bool = False

    def __post_init__(self) -> None:
        """Checks the options.

        Raises:
            ValueError: they do not go together, or a secret is among them.
        """
        if self.batch_rows < 1 or self.timeout <= 0:
            raise ValueError("batch_rows must be at least 1 and timeout above 0")
        if not 0 <= self.retries <= 100:
            raise ValueError("retries is a number from 0 to 100")
        if (self.env == "uri") != (self.endpoint is not None):
            raise ValueError("endpoint goes with env: uri: the address of the model server")
        checks.mapping(self.auth, "auth")  # not typed: a message would show the value
        if self.auth and self.env != "uri":
            raise ValueError("auth goes with env: uri")
        secrets.read_auth(self.auth)
        if self.endpoint is not None:
            checks.address(self.endpoint, "endpoint")
            secrets.refuse_literal(self.endpoint, option="endpoint")

    @property
    def _address(self) -> str:
        return str(self.endpoint).rstrip("/").removesuffix("/invocations").rstrip("/")

    def origin(self, name: str, requested: str, registry: Registry | None = None) -> Origin:
        """The exact version that the URI stands for now; an alias is followed once, here.

        Raises:
            SamepoolError: there is no registry, or no such model.
            UnreachableError: the registry does not answer.
        """
        found = self._registry(registry).resolve(self.uri)
        how = {"output": None if self.output is None else str(self.output), "env": self.env}
        if self.endpoint is not None:
            how["endpoint"] = self._address
        if self.allow_ties:  # lists that another comparison would refuse are none to reuse
            how["allow_ties"] = "true"
        digest = found.source_digest
        if how != {"output": None, "env": "inprocess"}:
            digest = of_json({"model": digest, **how})
        return replace(found, name=name, kind="mlflow", requested=requested, source_digest=digest)

    def fits(self, pool: Pool, origin: Origin, registry: Registry | None, /) -> Iterable[Problem]:
        """Columns that the pool lacks or has in another type, and an ``output`` that is none.

        Reads the model's signature alone, none of its code.
        """
        return self._inputs(pool, origin, self._registry(registry))[1]

    def _inputs(
        self, pool: Pool, origin: Origin, registry: Registry
    ) -> tuple[Mapping[str, Source], tuple[Problem, ...]]:
        """The columns to give the model, and what is wrong with them or with the credentials."""
        signature, who = registry.signature(origin), _who(origin)
        wanted, problems = sources(pool, signature, who)
        wrong = wrong_output(signature, self.output, self.env, who, allow_ties=self.allow_ties)
        auth = secrets.read_auth(self.auth)
        missing = secrets.missing(auth, self.endpoint or "", origin.name, "endpoint")
        return wanted, (*problems, *wrong, *missing)

    def rank(self, pool: Pool, tools: Tools) -> Ranking:
        """Lists of the best ``tools.keep_depth`` items of every query.

        Raises:
            SamepoolError: columns that the pool lacks, named before anything is scored; an answer
                that is not one finite number a row; scores that leave most pairs tied.
            UnreachableError: the registry or the endpoint does not answer.
        """
        registry, origin = self._registry(tools.registry), tools.origin
        if origin is None:
            raise fault("no_origin", f"{self.uri} is not resolved")
        wanted, problems = self._inputs(pool, origin, registry)
        raise_errors(problems)
        with self._opened(registry, origin, tools) as ask:
            work = Scoring(pool, tools, wanted, ask, _who(origin), self.batch_rows)
            final = work.lists()
        found = work.spread.problem(_who(origin), allowed=self.allow_ties)
        problems = raise_errors((found,) if found else ())
        return Ranking(final, None, pa.array([], pa.string()), problems=problems, complete=True)

    def _registry(self, registry: Registry | None) -> Registry:
        if registry is None:
            raise fault("no_registry", f"{self.uri}: there is no registry", "use tracking=mlflow")
        return registry

    @contextmanager
    def _opened(
        self, registry: Registry, origin: Origin, tools: Tools
    ) -> Iterator[Callable[[pd.DataFrame], F64]]:
        """The model, ready to be asked; what was started for it is ended when it is left."""
        who = _who(origin)
        plan = Plan(1, self.retries, BACKOFF, tools.seed)

        def pause(seconds: float, why: str) -> None:
            plain = why.translate({ord("["): "(", ord("]"): ")"})  # brackets would be markup
            label = f"{who}: asked again in {seconds:.0f} s: {plain}"
            for _ in tools.progress([slice(0, 1)], label):
                time.sleep(seconds)

        if self.env == "inprocess":
            with registry.load_model(origin) as loaded:
                yield of_loaded(loaded, who, self.output, labels=self.allow_ties)
        elif self.env == "uri":
            known = secrets.take(secrets.read_auth(self.auth))
            server = Server(self._address, who, self.timeout, known.headers, known.scrub)
            with server.asking(plan, pause) as ask:
                yield Reader(ask, who, self.output)
        else:
            with ExitStack() as stack:
                for _ in tools.progress([slice(0, 1)], f"{who}: environment and server"):
                    started = registry.serve_model(origin, self.timeout)
                    served = stack.enter_context(started)
                server = Server(served.url, who, self.timeout, ended=served.ended, ours=True)
                ask = stack.enter_context(server.asking(plan, pause))
                yield Reader(ask, who, self.output)


def _who(origin: Origin) -> str:
    """The model's name in messages, e.g. ``ranker v13``."""
    if origin.registered and origin.version:
        return f"{origin.registered} v{origin.version}"
    return origin.resolved


PLUGIN = Mlflow
