"""Sign flips of cluster sums; for the gate, the worse of that and the bootstrap-t."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from pipeline.core.arrays import F64
from pipeline.core.comparison import Claim
from pipeline.kernels import resample
from pipeline.significance import PValue, at_zero
from pipeline.significance._pairs import Column
from pipeline.significance._student import of_claim, p_value

_COARSE = 0.005  # below this a reported p-value is computed again with the gate's flips


@dataclass(frozen=True, slots=True)
class ClusterSignflip:
    """Randomisation test of paired differences, with users rather than queries as units.

    The statistic is t, which orders sign patterns as the sum does. A claim about a margin other
    than 0 is tested by the cluster t instead: shifted flips are not valid there. Claims of the
    gate take the larger of that p-value and the cluster bootstrap-t's, because either alone
    promotes too often when few large losses hide among many small wins.

    Attributes:
        flips: Monte Carlo flips for what is only reported; resamples of the bootstrap-t.
        gate_flips: flips for claims of the gate, and for what is reported where p < .005: the
            smallest p that ``flips`` can give would not survive Holm over many columns.
        exact_up_to: non-zero clusters up to which all sign patterns are enumerated.
    """

    flips: int = 9_999
    gate_flips: int = 99_999
    exact_up_to: int = 16

    def p_values(
        self, columns: Sequence[Column], asked: Sequence[tuple[int, Claim]], seed: int
    ) -> tuple[PValue, ...]:
        """One p-value for each claim."""
        jobs = {(place, self._flips(claim)): None for place, claim in asked if at_zero(claim)}
        # Tens of thousands of small products: threads that wait for each other at every one of
        # them take ten times as long where another process has the processor too.
        with threadpool_limits(limits=1):
            flipped = self._flip(columns, list(jobs), seed)
            resampled = self._bootstrap(columns, asked, seed)
        found = []
        for place, claim in asked:
            if at_zero(claim):
                best = flipped[place, self._flips(claim)].of(claim)
            else:
                spread = columns[place].spread
                assert spread is not None
                best = PValue(p_value(claim, spread), f"cluster t, {spread.df} df")
            if place in resampled and claim.family == "F1":
                best = _worse(best, resampled[place], claim)
            found.append(best)
        return tuple(found)

    def _flips(self, claim: Claim) -> int:
        return self.gate_flips if claim.family == "F1" else self.flips

    def _flip(
        self, columns: Sequence[Column], jobs: Sequence[tuple[int, int]], seed: int
    ) -> dict[tuple[int, int], "_Flipped"]:
        found = {
            (place, flips): _Flipped(resample.exact_signflips(columns[place].sums), 0, exact=True)
            for place, flips in jobs
            if columns[place].n_nonzero <= self.exact_up_to
        }
        fine = max(self.flips, self.gate_flips)
        few = {job: job[1] for job in jobs if job not in found and job[1] < fine}
        found |= _sample(columns, few, seed)
        # All that need the most flips together, because drawing so many signs takes long.
        most = {job: fine for job in jobs if job not in found or found[job].too_coarse(fine)}
        return found | _sample(columns, most, seed)

    def _bootstrap(
        self, columns: Sequence[Column], asked: Sequence[tuple[int, Claim]], seed: int
    ) -> dict[int, "_Resampled"]:
        places = list(dict.fromkeys(place for place, claim in asked if claim.family == "F1"))
        if not places:
            return {}
        mine = [columns[place] for place in places]
        sums = _table(mine, [column.sums for column in mine])
        sizes = _table(mine, [column.sizes for column in mine])
        stars = resample.bootstrap_t(sums, sizes, self.flips, seed)
        return {place: _Resampled(columns[place], stars[:, at]) for at, place in enumerate(places)}


def _sample(
    columns: Sequence[Column], jobs: Mapping[tuple[int, int], int], seed: int
) -> dict[tuple[int, int], "_Flipped"]:
    """Random flips, as many as each job says."""
    if not jobs:
        return {}
    mine = [columns[place] for place, _ in jobs]
    table = _table(mine, [column.sums for column in mine])
    counts = resample.signflips(table, np.array(list(jobs.values())), seed)
    return {job: _Flipped(counts, at, exact=False) for at, job in enumerate(jobs)}


def _table(columns: Sequence[Column], values: Sequence[F64]) -> sparse.csc_array:
    """(G, m) one value a cluster and column; in slices nearly all are 0."""
    ends = np.cumsum([0, *(len(column.clusters) for column in columns)])
    rows = np.concatenate([column.clusters for column in columns])
    shape = (columns[0].groups, len(columns))
    return sparse.csc_array((np.concatenate(values), rows, ends), shape=shape)


@dataclass(frozen=True, slots=True, eq=False)
class _Flipped:
    counts: resample.Counts
    at: int
    exact: bool

    def too_coarse(self, flips: int) -> bool:
        """Whether more flips would help: a p-value this small must survive Holm over hundreds."""
        counts, at = self.counts, self.at
        total = int(counts.total[at])
        hits = min(int(part[at]) for part in (counts.greater, counts.less, counts.both))
        return not self.exact and total < flips and (hits + 1) / (total + 1) < _COARSE

    def of(self, claim: Claim) -> PValue:
        """The share of sign patterns as extreme; a random sample counts the one seen too."""
        by_side = {
            "greater": self.counts.greater,
            "less": self.counts.less,
            "two-sided": self.counts.both,
        }
        hits, total = int(by_side[claim.side][self.at]), int(self.counts.total[self.at])
        if self.exact:
            return PValue(hits / total, f"exact cluster sign-flip, {total:,} patterns")
        return PValue((hits + 1) / (total + 1), f"cluster sign-flip, {total:,} flips")


@dataclass(frozen=True, slots=True, eq=False)
class _Resampled:
    column: Column
    stars: F64

    def one_sided(self, null: float, side: float) -> float:
        spread = self.column.spread
        assert spread is not None
        assert spread.se
        seen = (side * spread.mean - null) / spread.se
        # A draw without spread counts against the claim.
        return self._share(~(side * self.stars < seen))

    def two_sided(self) -> float:
        spread = self.column.spread
        assert spread is not None
        assert spread.se
        return self._share(~(np.abs(self.stars) < abs(spread.mean) / spread.se))

    def _share(self, hits: np.ndarray) -> float:
        return (int(hits.sum()) + 1) / (len(self.stars) + 1)


def _worse(best: PValue, resampled: _Resampled, claim: Claim) -> PValue:
    other = of_claim(claim, resampled.one_sided, resampled.two_sided)
    method = f"larger p of {best.method} and cluster bootstrap-t, {len(resampled.stars):,} draws"
    return PValue(max(best.p, other), method)


PLUGIN = ClusterSignflip
