"""Strata by share of traffic, and how a sample is spread over them. Exact arithmetic."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from pipeline.core.problems import fault
from pipeline.pool._result import Stratum


def stratify(
    groups: Sequence[tuple[float, int]], shares: Mapping[str, Fraction]
) -> tuple[Stratum, ...]:
    """Cuts frequencies into strata; equal frequencies stay together.

    The first stratum ends with the frequency at which its share of the traffic is reached, as in a
    slice ``share`` with ``top``. Below it, a frequency that lies across an edge goes to the lower
    stratum, as with ``bottom``: so the last stratum holds at least its share, unless the first
    has taken all.

    Args:
        groups: (frequency, number of queries), by frequency, largest first; frequency >= 0.
        shares: stratum -> share of the traffic, most frequent first; they add up to 1.

    Returns:
        A stratum each, in the order of ``shares``; some may be empty.
    """
    total = sum((Fraction(f) * n for f, n in groups), Fraction(0))
    if not total:  # nothing is known of traffic: each query counts once
        groups_weight = [Fraction(n) for _, n in groups]
        total = sum(groups_weight, Fraction(0))
    else:
        groups_weight = [Fraction(f) * n for f, n in groups]
    edges, reached = [], Fraction(0)
    for share in shares.values():
        reached += share
        edges.append(reached * total)
    found: dict[str, list[tuple[float, int, Fraction]]] = {name: [] for name in shares}
    names, done = list(shares), Fraction(0)
    for (frequency, n), weight in zip(groups, groups_weight, strict=True):
        start, done = done, done + weight
        place = 0 if start < edges[0] else sum(edge < done for edge in edges[:-1])
        found[names[place]].append((frequency, n, weight))
    return tuple(_stratum(name, members, total) for name, members in found.items())


def _stratum(name: str, members: list[tuple[float, int, Fraction]], total: Fraction) -> Stratum:
    if not members:
        return Stratum(name)
    return Stratum(
        name=name,
        queries=sum(n for _, n, _ in members),
        low=members[-1][0],
        high=members[0][0],
        traffic=float(sum((w for _, _, w in members), Fraction(0)) / total),
    )


def allocate(
    strata: Sequence[Stratum], n: int | None, how: str | Mapping[str, int]
) -> tuple[Stratum, ...]:
    """The strata with the number of queries to sample from each.

    Args:
        strata: with their sizes.
        n: of the sample; None or more than there are: all.
        how: ``equal`` (what a small stratum lacks goes to the others), ``proportional`` (to the
            number of queries, at least one each), or stratum -> number (cut to its size).

    Raises:
        SamepoolError: a stratum of some queries would get none: no weight could stand for it.
    """
    total = sum(s.queries for s in strata)
    n = total if n is None else min(n, total)
    if not isinstance(how, str):
        taken = {s.name: min(how[s.name], s.queries) for s in strata}
    elif how == "equal":
        taken = _equal(strata, n)
    else:
        taken = _proportional(strata, n)
    for stratum in strata:
        if stratum.queries and not taken[stratum.name]:
            text = f"stratum {stratum.name} has {stratum.queries:,} queries and would get none"
            fix = "sample more, or give strata with fewer parts: weights cannot stand for it"
            raise fault("empty_stratum", text, fix)
    return tuple(replace(s, taken=taken[s.name]) for s in strata)


def _equal(strata: Sequence[Stratum], n: int) -> dict[str, int]:
    taken = {}
    by_size = sorted((s for s in strata), key=lambda s: s.queries)
    for place, stratum in enumerate(by_size):
        taken[stratum.name] = min(stratum.queries, n // (len(by_size) - place))
        n -= taken[stratum.name]
    return taken


def _proportional(strata: Sequence[Stratum], n: int) -> dict[str, int]:
    """Largest remainders, after one for each stratum that has any."""
    total = sum(s.queries for s in strata)
    exact = {s.name: Fraction(n * s.queries, total) for s in strata if s.queries}
    taken = {name: max(1, int(share)) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: int(exact[name]) - exact[name])
    for name in by_remainder[: max(0, n - sum(taken.values()))]:
        taken[name] += 1
    while sum(taken.values()) > n and max(taken.values()) > 1:
        taken[max(taken, key=lambda name: taken[name])] -= 1
    if sum(taken.values()) > n:  # more strata than queries
        taken |= dict.fromkeys(list(taken)[n:], 0)
    return {s.name: taken.get(s.name, 0) for s in strata}
