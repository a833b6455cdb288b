"""What holds of the stages of a pair: sound lists, costs told apart, and what is said of them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from pipeline.core.arrays import F64
from pipeline.core.pool import Pool
from pipeline.core.problems import Problem, collect, fault, raise_errors
from pipeline.core.run import Lists, Origin
from pipeline.models import Ranking, _check
from pipeline.models._shortlist import RANK, SCORE, Shortlist

PARTS = ("retriever", "ranker")
_Made = TypeVar("_Made")


def both(make: Callable[[str], _Made]) -> tuple[_Made, _Made]:
    """What is made for each of the two stages, given its name.

    Raises:
        SamepoolError: what is wrong with either, together.
    """
    problems: list[Problem] = []
    first, second = (collect(problems, partial(make, stage)) for stage in PARTS)
    raise_errors(problems)
    assert first is not None
    assert second is not None
    return first, second


def of_merge(problem: Problem, stage: str) -> Problem:
    """An unknown option may be left over from a kind that an override was meant to replace."""
    if problem.code != "unknown_option" or "did you mean" in problem.fix:
        return problem
    words = f"an override keeps the options it does not name: '~models.NAME.{stage}'"
    fix = f"{problem.fix}; {words} '+models.NAME.{stage}={{kind: KIND}}' replaces all of them"
    return replace(problem, fix=fix)


def of_sight(problem: Problem) -> Problem:
    """A ranker may lack a column of the first stage's only because nobody named it."""
    lacking = [name for name in (SCORE, RANK) if f"{name!r}" in problem.text]
    if problem.code != "missing_input" or not lacking:
        return problem
    fix = "it is the first stage's: name it in sees, with all else that the ranker is to see"
    return replace(problem, fix=fix)


def requested(spec: Mapping[str, Any]) -> str:
    """What the user wrote, or nearly so."""
    return str(spec.get("uri") or spec.get("path") or spec.get("call") or spec["kind"])


def sound(ranking: Ranking, stage: str, pool: Pool, origin: Origin) -> Lists:
    """A stage's lists, checked: codes in order and in range, finite scores, items once a query.

    What is merely odd is told when the lists of the whole are checked.
    """
    place = ranking.places[0] if ranking.places else None
    book = _check.Book(origin, pool, ranking.foreign, place)
    lists, problems = _check.check(ranking.final, f"{stage}'s list", book)
    raise_errors(problems)
    return lists


def known(ranking: Ranking) -> Lists:
    """The lists of a retriever whose ranker needs features: of items of the pool alone."""
    if len(ranking.foreign):
        text = f"two_stage: the retriever returned `{ranking.foreign[0]}`, not in the pool"
        raise fault("foreign_item", text, "only items of the pool have features to rank by")
    return ranking.final


def costs(first: Ranking, second: Ranking | None) -> dict[str, F64]:
    """Cost columns of both, told apart: what one of them does not state cannot be added up."""
    of_first = {f"retriever_{name}": values for name, values in first.cost.items()}
    of_second = {} if second is None else second.cost
    return of_first | {f"ranker_{name}": values for name, values in of_second.items()}


def said(
    who: str, given: Shortlist, first: Ranking, final: Lists, beyond: int
) -> tuple[Problem, ...]:
    """How the ranker's lists differ from what was retrieved.

    Raises:
        SamepoolError: they have nothing in common.
    """
    retrieved, found = len(given.keys), []
    if retrieved and not len(final.query):
        text = f"{who}: the ranker returned none of {retrieved:,} retrieved items"
        text = f"{text}; it returned {beyond:,} others"
        raise fault("nothing_ranked", text, "the two must name the same queries and items")
    if beyond:
        text = f"{who}: the ranker returned {beyond:,} items that were not retrieved: left out"
        found.append(Problem("not_retrieved", "note", text))
    if left := retrieved - len(final.query):
        text = f"{who}: the ranker left out {left:,} of {retrieved:,} retrieved items"
        fix = "they are not shown to anybody; if that is not meant, let it score them"
        found.append(Problem("not_ranked", "warning", text, fix))
    if strange := len(first.foreign):
        text = f"{who}: {strange:,} retrieved items are not in the pool's items"
        text = f"{text}: all that the ranker could see of them is their ids"
        found.append(Problem("unknown_items", "note", text))
    return tuple(found)
