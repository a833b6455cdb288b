"""Random numbers without a state: a hash of a seed, a name and counters.

The counters go through the finaliser of SplitMix64 (Steele, Lea and Flood 2014) one after the
other: number k of a stream is the hash of its key plus k golden ratios. No number depends on
which others were asked for, or in what order.
"""

import hashlib
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from pipeline.core.arrays import F64, I64

U64: TypeAlias = NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def uniform(seed: int, name: str, *counters: NDArray[np.integer]) -> F64:
    """Numbers in (0, 1), one for each tuple of counters.

    Args:
        seed: of the world.
        name: what the numbers are for; each name is a stream of its own.
        counters: non-negative whole numbers of at least one dimension; they broadcast. Put the
            smallest arrays first: each counter costs one hash of all that stand before it.

    >>> whole = uniform(1, "x", np.arange(4)[:, None], np.arange(3))
    >>> bool((uniform(1, "x", np.arange(2, 4)[:, None], np.arange(3)) == whole[2:]).all())
    True
    """
    found = (_bits(seed, name, counters) >> np.uint64(11)).astype(np.float64)
    found += 0.5
    found *= 2.0**-53
    return found


def normal(seed: int, name: str, *counters: NDArray[np.integer]) -> F64:
    """Standard normal numbers, one for each tuple of counters; see :func:`uniform`."""
    found: F64 = ndtri(uniform(seed, name, *counters))
    return found


def shuffled(seed: int, name: str, n: int) -> I64:
    """The numbers 0..n-1 in random order."""
    return np.argsort(_bits(seed, name, (np.arange(n),)), kind="stable")


def _bits(seed: int, name: str, counters: tuple[NDArray[np.integer], ...]) -> U64:
    key = hashlib.sha256(f"{seed}\0{name}".encode()).digest()[:8]
    found: U64 = np.frombuffer(key, "<u8").astype(np.uint64)
    for counter in counters:
        step = (np.asarray(counter).astype(np.uint64) + np.uint64(1)) * _GOLDEN
        found = _mix(found + step)
    return found


def _mix(bits: U64) -> U64:
    """SplitMix64's finaliser, in place."""
    bits ^= bits >> np.uint64(30)
    bits *= _FIRST
    bits ^= bits >> np.uint64(27)
    bits *= _SECOND
    bits ^= bits >> np.uint64(31)
    return bits
