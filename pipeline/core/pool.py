"""The evaluation pool: what every model is measured on."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from pipeline.core.arrays import F64, I32, I64, Bool
from pipeline.core.problems import Problem


@dataclass(frozen=True, slots=True, eq=False)
class Vocab:
    """Ids of the pool, sorted by their UTF-8 bytes, so that comparing codes compares ids.

    Attributes:
        queries: string array (Q,); a query's code is its place here.
        items: string array (I,); likewise. Items table, judged items and candidates together.
    """

    queries: pa.Array
    items: pa.Array


@dataclass(frozen=True, slots=True, eq=False)
class Judgments:
    """Relevance judgments in compressed rows: those of query q are query_ptr[q]:query_ptr[q+1].

    Attributes:
        query_ptr: (Q+1,) offsets.
        item: (J,) item codes, ascending within a query.
        grade: (J,) finite grades, larger is better; negative as the data has it.
        eligible: (J,) whether the item may be shown at the query's time.
    """

    query_ptr: I64
    item: I32
    grade: F64
    eligible: Bool


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """One row a query, in the order of the vocabulary.

    Attributes:
        query_id: string array (Q,).
        cluster: (Q,) cluster codes; queries of one user share one; a null user is its own.
        traffic: (Q,) how often the query is asked, >= 0; 1 where nothing is known.
        weight: (Q,) sampling weight, > 0; 1 without a sampling design.
        stratum: (Q,) stratum codes; 0 without a sampling design.
    """

    query_id: pa.Array
    cluster: I32
    traffic: F64
    weight: F64
    stratum: I32


UNKNOWN_TIME = -(2**63)
OPEN_END = 2**63 - 1


@dataclass(frozen=True, slots=True, eq=False)
class Times:
    """Times of queries and items in microseconds since 1970 UTC.

    Attributes:
        query: (Q,) when the query is asked: its issued_at, else the pool's as_of, else
            UNKNOWN_TIME.
        created: (I,) when the item came to be; UNKNOWN_TIME where undated.
        eligible_from: (I,) first moment it may be shown; UNKNOWN_TIME (always before) where open.
        eligible_until: (I,) first moment it may no longer be shown; OPEN_END where open.
    """

    query: I64
    created: I64
    eligible_from: I64
    eligible_until: I64


@dataclass(frozen=True, slots=True)
class Declared:
    """What the owner of the pool states about it.

    Attributes:
        labels: where grades come from: human, llm, click, purchase, rating, synthetic, unknown ...
        labels_reason: why labels that are not human may be used in a gate.
        as_of: ISO date and time of the snapshot, or None.
        catalogue: number of items that could be shown, or None where unknown.
        grades: smallest and largest grade of the scale, or None where not declared.
        sampling: words on how queries were chosen, or None.
        unit: ``query`` (a row is a distinct query) or ``request`` (a row is one request).
        seen: whether items in a query's log are out of its candidates (a recommender's habit).
        facts: anything else worth printing beside numbers.
    """

    labels: str = "unknown"
    labels_reason: str | None = None
    as_of: str | None = None
    catalogue: int | None = None
    grades: tuple[float, float] | None = None
    sampling: str | None = None
    unit: str = "query"
    seen: str = "kept"
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Pool:
    """The fixed pool. Every number carries its digest; other digest, no comparison.

    Attributes:
        name: what people call it.
        queries: one row a query in vocabulary order: query_id (string), optional text, user_id,
            issued_at (timestamp[us, UTC]), frequency, weight, stratum, and attribute columns.
        items: one row an item in vocabulary order: item_id, optional text, created_at,
            eligible_from, eligible_until (timestamp[us, UTC]), popularity, attributes. Items known
            only from judgments have a row of nulls.
        candidates: query_id, item_id and feature columns, sorted by both; None where any item of
            the catalogue may be returned.
        logs: past interactions that models may learn from: query_id, item_id, optional at
            (timestamp[us, UTC]), reward, user_id, position, click, propensity ...; may be None.
        judgments: the qrels.
        units: clusters and weights, a row a query.
        times: of queries and items.
        vocab: byte-sorted ids.
        declared: what the owner states.
        problems: warnings and notes met while loading.
        digest: SHA-256 over queries, items, qrels, candidates and declared facts.
        logs_digest: SHA-256 over logs; empty without logs. Enters no pool digest.
    """

    name: str
    queries: pa.Table
    items: pa.Table
    candidates: pa.Table | None
    logs: pa.Table | None
    judgments: Judgments
    units: Units
    times: Times
    vocab: Vocab
    declared: Declared
    problems: tuple[Problem, ...]
    digest: str
    logs_digest: str = ""
