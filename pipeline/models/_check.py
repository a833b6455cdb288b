"""What must hold of every list, whichever model made it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from pipeline.core.arrays import F64, I32, I64, Bool
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, SamepoolError, Severity
from pipeline.core.run import Lists, Origin
from pipeline.models._encode import within

_SHOWN = 3
Place: TypeAlias = Callable[[int], tuple[str | None, str]]


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """Turns codes and rows back into what messages name.

    Attributes:
        origin: which model.
        pool: whose queries and items the codes are.
        foreign: string array of items outside the pool.
        place: the file and line of a row, where rows come from a file.
    """

    origin: Origin
    pool: Pool
    foreign: pa.Array
    place: Place | None = None

    @property
    def n_queries(self) -> int:
        """Query codes are below this."""
        return len(self.pool.vocab.queries)

    @property
    def n_items(self) -> int:
        """Item codes, foreign ones included, are below this."""
        return len(self.pool.vocab.items) + len(self.foreign)

    def pair(self, query: int, item: int) -> tuple[str, str]:
        """The query id and the item id of two codes."""
        inside = len(self.pool.vocab.items)
        ids, place = (
            (self.pool.vocab.items, item) if item < inside else (self.foreign, item - inside)
        )
        return self.pool.vocab.queries[query].as_py(), ids[place].as_py()

    def keys(self, lists: Lists) -> I64:
        """(N,) one number a pair of query and item, ordered by query and then by item."""
        return lists.query.astype(np.int64) * self.n_items + lists.item

    def unkey(self, keys: I64) -> list[tuple[str, str]]:
        """The ids behind such numbers."""
        return [self.pair(*divmod(int(key), self.n_items)) for key in keys]

    def problem(
        self, code: str, text: str, fix: str, severity: Severity = "error", **more: object
    ) -> Problem:
        """A problem of this model, with the file that it came from."""
        file = self.place(0)[0] if self.place else self.origin.path
        return Problem(
            code,
            severity,
            f"model {self.origin.name}: {text}",
            fix,
            file,
            **more,  # type: ignore[arg-type]
        )


def check(lists: Lists, what: str, book: Book) -> tuple[Lists, tuple[Problem, ...]]:
    """The lists with the types that they are promised to have, and what is wrong with them.

    Args:
        lists: as the model returned them.
        what: ``list`` or ``retrieval list``, for messages.
        book: names behind the codes.

    Raises:
        SamepoolError: arrays of different lengths, codes out of range or queries out of order.
            These are defects of the model's code, and nothing else can be read past them.
    """
    _whole(lists, what, book)
    rank = lists.given_rank
    typed = Lists(
        query=lists.query.astype(np.int32, copy=False),
        item=lists.item.astype(np.int32, copy=False),
        score=lists.score.astype(np.float64, copy=False),
        given_rank=None if rank is None else rank.astype(np.int32, copy=False),
    )
    problems = (*_finite(typed, what, book), *_once(typed, what, book))
    odd = _in_rank_order(typed, what, book)
    if what == "list":  # candidates are often only a set
        odd = (*odd, *_constant(typed, book))
    return typed, problems or odd


def _whole(lists: Lists, what: str, book: Book) -> None:
    shapes = {"query": lists.query.shape, "item": lists.item.shape, "score": lists.score.shape}
    if lists.given_rank is not None:
        shapes["given_rank"] = lists.given_rank.shape
    n = len(lists.query)
    if any(shape != (n,) for shape in shapes.values()):
        raise _defect(book, f"its {what} has columns of different lengths: {shapes}")
    if n and (lists.query[1:] < lists.query[:-1]).any():
        raise _defect(book, f"query codes of its {what} do not ascend")
    for name, codes, limit in (
        ("query", lists.query, book.n_queries),
        ("item", lists.item, book.n_items),
    ):
        if n and (codes.min() < 0 or codes.max() >= limit):
            worst = int(codes.min() if codes.min() < 0 else codes.max())
            raise _defect(book, f"{name} code {worst} of its {what} is not in 0..{limit - 1}")


def _defect(book: Book, text: str) -> SamepoolError:
    fix = "this is a defect of the model's code"
    return SamepoolError([book.problem("bad_codes", text, fix)])


def _finite(lists: Lists, what: str, book: Book) -> tuple[Problem, ...]:
    bad = np.flatnonzero(~np.isfinite(lists.score))
    if not bad.size:
        return ()
    examples = tuple(
        f"{'/'.join(book.pair(lists.query[i], lists.item[i]))} = {lists.score[i]}"
        for i in bad[:_SHOWN]
    )
    text = f"{bad.size:,} scores of its {what} are NaN or infinite"
    fix = "every score must be a finite number; leave out what cannot be scored"
    return (book.problem("score_not_finite", text, fix, examples=examples, count=int(bad.size)),)


def _once(lists: Lists, what: str, book: Book) -> tuple[Problem, ...]:
    keys = book.keys(lists)
    if not (keys[1:] <= keys[:-1]).any():
        return ()
    ordered = np.sort(keys)
    again = ordered[1:][ordered[1:] == ordered[:-1]]
    if not again.size:
        return ()
    examples = tuple(_twice(key, keys, book) for key in np.unique(again)[:_SHOWN])
    text = f"{again.size:,} items stand more than once in one query's {what}"
    fix = "list each item once a query"
    return (book.problem("item_twice", text, fix, examples=examples, count=int(again.size)),)


def _twice(key: np.int64, keys: I64, book: Book) -> str:
    ((query, item),) = book.unkey(np.array([key]))
    text = f"query `{query}` lists `{item}` more than once"
    if book.place is None:
        return text
    places = [book.place(int(row))[1] for row in np.flatnonzero(keys == key)[:_SHOWN]]
    return f"{text}: {', '.join(places)}"


def _constant(lists: Lists, book: Book) -> tuple[Problem, ...]:
    """A warning where no query tells one item from another."""
    same = lists.query[1:] == lists.query[:-1]
    if not same.any() or (same & (lists.score[1:] != lists.score[:-1])).any():
        return ()
    queries = np.unique(lists.query[1:][same])
    text = f"all its scores are equal, in each of {queries.size:,} queries"
    fix = "its order is the tie rule's alone; check that the model returns scores, not labels"
    return (book.problem("constant_scores", text, fix, "warning", count=int(queries.size)),)


def _in_rank_order(lists: Lists, what: str, book: Book) -> tuple[Problem, ...]:
    """A warning where a stated rank says one thing and the score another."""
    if lists.given_rank is None:
        return ()
    query, rank, score = lists.query, lists.given_rank, lists.score
    against = _against(query, rank, score)
    if not against.any():
        return ()
    queries = np.unique(query[1:][against])
    example = f"query `{book.pool.vocab.queries[int(queries[0])].as_py()}`"
    text = f"the rank column of its {what} contradicts the scores in {queries.size:,} queries"
    fix = "lists are ordered by score; write scores that fall as ranks rise"
    return (
        book.problem(
            "rank_against_score",
            text,
            fix,
            "warning",
            examples=(example,),
            count=int(queries.size),
        ),
    )


def _against(query: I32, rank: I32, score: F64) -> Bool:
    """(N-1,) whether a row outscores the row one rank above it in the same query."""
    same = query[1:] == query[:-1]
    if (same & (rank[1:] < rank[:-1])).any():
        order = np.lexsort((rank, query))
        rank, score = rank[order], score[order]
    found: Bool = same & (rank[1:] > rank[:-1]) & (score[1:] > score[:-1])
    return found


def beyond(final: Lists, retrieval: Lists, book: Book) -> tuple[Problem, ...]:
    """A warning where the final list holds what was never retrieved."""
    keys = book.keys(final)
    lost = keys[~within(keys, np.sort(book.keys(retrieval)))]
    if not lost.size:
        return ()
    text = f"{lost.size:,} items of its list are not in its retrieval list"
    fix = "what retrieval lost cannot be told from what ranking lost; name the list it ranked"
    examples = tuple("/".join(pair) for pair in book.unkey(np.sort(lost)[:_SHOWN]))
    return (
        book.problem(
            "not_retrieved", text, fix, "warning", examples=examples, count=int(lost.size)
        ),
    )


def costs(cost: Mapping[str, F64], book: Book) -> tuple[Problem, ...]:
    """Errors for cost columns that are not one number a query."""
    fix = "this is a defect of the model's code"
    return tuple(
        book.problem(
            "bad_cost", f"cost {name} has shape {values.shape}, not ({book.n_queries},)", fix
        )
        for name, values in cost.items()
        if values.shape != (book.n_queries,)
    )
