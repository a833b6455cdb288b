"""Sign flips and bootstrap of cluster sums, for many columns at once.

Results are the same to the bit whatever the number of threads, the chunk size, the order of
columns and which other columns there are: every column is turned into integers so small that all
sums are exact in float64, and random numbers belong to (row, cluster), never to a column.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import sparse

from pipeline.core.arrays import F64, I64, U8

_BITS: Final = 51  # the sum of absolute values stays below 2^51, twice it below 2^53
_TIE: Final = 1e-9  # relative tolerance within which two statistics are tied
_CHUNK_BYTES: Final = 8 * 2**20  # fits the processor's cache
_CHUNK_ROWS: Final = 512  # flips at a time, so that a block of signs fits the cache too
_BLOCK: Final = 256  # clusters at a time
_FULL: Final = 0.1  # share of clusters above which a dense product is faster than a sparse one
_FLIP_STREAM: Final = 1
_BOOTSTRAP_STREAM: Final = 2


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How many of ``total`` sign patterns give a sum as extreme as the one seen.

    Attributes:
        greater: (m,) at least as large.
        less: (m,) at most as large.
        both: (m,) at least as large in absolute value.
        total: (m,) patterns.
    """

    greater: I64
    less: I64
    both: I64
    total: I64


def quantise(column: F64) -> tuple[F64, float]:
    """A column as integers in float64 and their unit, a power of two: any sum of them is exact.

    >>> whole, unit = quantise(np.array([0.5, -0.25]))
    >>> (whole * unit).tolist()
    [0.5, -0.25]
    """
    exponent = _BITS - int(np.frexp(np.abs(column).sum())[1])
    return np.rint(np.ldexp(column, exponent)), float(np.ldexp(1.0, -exponent))


def _tolerance(column: F64) -> float:
    """Sums closer than this are tied; t and the sum order sign patterns alike."""
    return _TIE * max(abs(float(column.sum())), float(np.sqrt(np.square(column).sum())))


def exact_signflips(column: F64) -> Counts:
    """Counts over all 2^k sign patterns of a column's k non-zero entries.

    Entries of 0 do not change a sum, so leaving them out changes no share.

    Args:
        column: (G,) cluster sums.
    """
    values, _ = quantise(column)
    values = values[values != 0]
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    seen, tie = float(values.sum()), _tolerance(values)
    return Counts(
        np.array([(sums >= seen - tie).sum()]),
        np.array([(sums <= seen + tie).sum()]),
        np.array([(np.abs(sums) >= abs(seen) - tie).sum()]),
        np.array([len(sums)]),
    )


def signflips(
    columns: sparse.csc_array, flips: I64, seed: int, chunk_rows: int | None = None
) -> Counts:
    """Counts over random sign patterns shared by all columns; the identity is not among them.

    Row b of the sign matrix is the same for every column and every number of flips. Time grows
    with the clusters that any column has, and with the non-zero entries of all columns: a slice
    costs what it holds, not what the pool holds.

    Args:
        columns: (G, m) cluster sums, nothing or 0 where a cluster has no part in a column. G is
            the number of clusters of the pool: the signs of a row depend on it.
        flips: (m,) rows that each column uses.
        seed: of the sign matrix.
        chunk_rows: rows at a time; by memory where unset. Changes no result.
    """
    values, seen, tie = _whole(columns)
    groups, m = values.shape
    words = -(-groups // 64)
    step = chunk_rows or max(8, min(_CHUNK_ROWS, _CHUNK_BYTES // (words + m)))
    generator = np.random.Generator(np.random.PCG64([seed, _FLIP_STREAM]))
    counts = np.zeros((3, m), dtype=np.int64)
    start = 0
    # A stretch of rows ends where a column stops, so that all its columns use all of its rows.
    for end in np.unique(flips):
        active = np.flatnonzero(flips > start)
        stretch = _Stretch.of(values[:, active])
        for first in range(start, int(end), step):
            bits = _signs(generator, min(step, int(end) - first), words)
            for places, sums in stretch.sums(bits):
                among = active[places]
                found = 2 * sums - seen[among, None]
                counts[:, among] += _extreme(found, seen[among, None], tie[among, None])
        start = int(end)
    return Counts(counts[0], counts[1], counts[2], flips)


def _whole(columns: sparse.csc_array) -> tuple[sparse.csc_array, F64, F64]:
    """Columns as integers without zeros, (m,) sums seen, and (m,) what is tied."""
    values = columns.astype(np.float64)
    m = values.shape[1]
    seen, tie = np.zeros(m), np.zeros(m)
    for at, (low, high) in enumerate(itertools.pairwise(values.indptr)):
        whole, _ = quantise(values.data[low:high])
        values.data[low:high] = whole
        seen[at], tie[at] = whole.sum(), _tolerance(whole)
    values.eliminate_zeros()
    return values, seen, tie


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Some clusters' part in the sums.

    Attributes:
        rows: (K,) clusters.
        full: (D, K) values of the columns that most clusters have part in.
        thin: (m - D, K) values of the other columns; only what is not 0 costs time.
    """

    rows: I64
    full: F64
    thin: sparse.csr_array


@dataclass(frozen=True, slots=True, eq=False)
class _Stretch:
    """Columns, ready to be multiplied by signs, a block of clusters at a time.

    Attributes:
        full: (D,) places of the columns that most clusters have part in.
        thin: (m - D,) places of the others.
        blocks: all clusters that any column has.
    """

    full: I64
    thin: I64
    blocks: tuple[_Block, ...]

    @classmethod
    def of(cls, values: sparse.csc_array) -> "_Stretch":
        """Sorts columns by how many of the clusters in use they have."""
        used = np.unique(values.indices).astype(np.int64)
        shares = np.diff(values.indptr) / max(1, len(used))
        full, thin = np.flatnonzero(shares > _FULL), np.flatnonzero(shares <= _FULL)
        by_row = values.tocsr()
        blocks = []
        for first in range(0, len(used), _BLOCK):
            rows = used[first : first + _BLOCK]
            mine = by_row[rows].tocsc()
            dense = np.ascontiguousarray(mine[:, full].toarray().T)
            blocks.append(_Block(rows, dense, mine[:, thin].T.tocsr()))
        return cls(full, thin, tuple(blocks))

    def sums(self, bits: U8) -> Iterator[tuple[I64, F64]]:
        """Places of columns, and the (columns, rows) sums of their values where the sign is +."""
        rows = bits.shape[1]
        full, thin = np.zeros((len(self.full), rows)), np.zeros((len(self.thin), rows))
        for block in self.blocks:
            plus = _unpacked(bits, block.rows)
            if len(full):
                full += block.full @ plus
            if block.thin.nnz:
                thin += block.thin @ plus
        yield self.full, full
        yield self.thin, thin


def _signs(generator: np.random.Generator, rows: int, words: int) -> U8:
    """(8 words, rows) random bits, eight clusters a byte; chunks of any size draw the same."""
    drawn = generator.integers(0, 2**64, size=(rows, words), dtype=np.uint64)
    return np.ascontiguousarray(drawn.astype("<u8", copy=False).view(np.uint8).T)


def _unpacked(bits: U8, clusters: I64) -> F64:
    """(K, rows) 1 where a cluster's sign is +, else 0."""
    plus = bits[clusters >> 3]
    plus >>= (clusters & 7).astype(np.uint8)[:, None]
    plus &= 1
    signs: F64 = plus.astype(np.float64)
    return signs


def _extreme(sums: F64, seen: F64, tie: F64) -> I64:
    greater = (sums >= seen - tie).sum(axis=1)
    less = (sums <= seen + tie).sum(axis=1)
    both = (np.abs(sums) >= np.abs(seen) - tie).sum(axis=1)
    return np.stack([greater, less, both])


def bootstrap_t(
    sums: sparse.csc_array,
    sizes: sparse.csc_array,
    resamples: int,
    seed: int,
    chunk_rows: int | None = None,
) -> F64:
    """Studentised statistics t* = (mean* - mean) / se* of resampled clusters, by column.

    Clusters of the pool are drawn with replacement, the same for all columns; mean and se are
    those of :func:`pipeline.kernels.intervals.cluster_mean` on the drawn clusters. NaN where the
    draw has no spread.

    Args:
        sums: (G, m) cluster sums.
        sizes: (G, m) observations a cluster.
        resamples: number B of resamples.
        seed: of the draws.
        chunk_rows: rows at a time; by memory where unset. Changes no result.

    Returns:
        (B, m) statistics.
    """
    groups, m = sums.shape
    some = (sizes > 0).astype(np.float64)
    parts = [sums, sizes, sums**2, sums * sizes, sizes**2, some]
    table, scale = _exact_under_weights(sparse.csc_array(sparse.hstack(parts, format="csc")))
    seen = table.sum(axis=0) * scale  # exact too, so that the order of rows cannot matter
    mean = seen[:m] / seen[m : 2 * m]
    shares = np.diff(table.indptr) / max(1, groups)
    full, thin = np.flatnonzero(shares > _FULL), np.flatnonzero(shares <= _FULL)
    dense, slight = np.ascontiguousarray(table[:, full].toarray().T), table[:, thin].T.tocsr()
    generator = np.random.Generator(np.random.PCG64([seed, _BOOTSTRAP_STREAM]))
    step = chunk_rows or max(16, _CHUNK_BYTES // (16 * groups + 48 * m))
    found = np.empty((resamples, m))
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        weights = _weights(generator, rows, groups)
        drawn = np.empty((6 * m, rows))
        drawn[full] = dense @ weights
        drawn[thin] = slight @ weights
        drawn *= scale[:, None]
        found[start : start + rows] = _studentised(drawn.T.reshape(rows, 6, m), mean)
    return found


def _exact_under_weights(table: sparse.csc_array) -> tuple[sparse.csc_array, F64]:
    """Columns as integers whose sums under weights that add up to G are exact, and their units."""
    scale = np.ones(table.shape[1])
    for at, (low, high) in enumerate(itertools.pairwise(table.indptr)):
        part = table.data[low:high]
        exponent = _BITS - int(np.frexp(np.abs(part).max(initial=0.0) * table.shape[0])[1])
        table.data[low:high] = np.rint(np.ldexp(part, exponent))
        scale[at] = np.ldexp(1.0, -exponent)
    return table, scale


def _weights(generator: np.random.Generator, rows: int, groups: int) -> F64:
    """(G, rows) how often a cluster is drawn."""
    drawn = (generator.random((rows, groups)) * groups).astype(np.int64)
    drawn += np.arange(rows)[:, None] * groups
    counts = np.bincount(drawn.ravel(), minlength=rows * groups)
    return np.ascontiguousarray(counts.reshape(rows, groups).T, dtype=np.float64)


def _studentised(drawn: F64, mean: F64) -> F64:
    d, n, dd, dn, nn, groups = (drawn[:, part] for part in range(6))
    with np.errstate(divide="ignore", invalid="ignore"):
        star = d / n
        spread = dd - 2 * star * dn + star**2 * nn
        spread = np.where(spread > 1e-12 * dd, spread, np.nan)
        se = np.sqrt(groups / (groups - 1) * spread) / n
        return np.asarray((star - mean) / se)
