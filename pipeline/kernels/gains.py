"""Gains, discounts and ideal lists: what nDCG and the attribution of its losses share."""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pipeline.core.arrays import F64, I64
from pipeline.kernels.order import places

Gain: TypeAlias = Literal["exp", "linear", "identity"]


def gain(grade: F64, kind: Gain) -> F64:
    """What an item of a grade is worth; negative grades are worth nothing.

    Args:
        grade: finite grades.
        kind: ``exp``: 2^grade - 1 (Burges et al. 2005); ``linear``: the grade (Jarvelin and
            Kekalainen 2002); ``identity``: the same, for gains given directly.

    Returns:
        Gains >= 0, infinite where 2^grade is too large for a double.

    >>> gain(np.array([3.0, 0.0, -1.0]), "exp")
    array([7., 0., 0.])
    >>> gain(np.array([3.0, 0.0, -1.0]), "linear")
    array([3., 0., 0.])
    """
    positive: F64 = np.maximum(grade, 0.0)
    if kind != "exp":
        return positive
    with np.errstate(over="ignore"):
        exponential: F64 = np.exp2(positive) - 1.0
    return exponential


def discounted(gains: F64, rank: NDArray[np.integer[Any]]) -> F64:
    """Gains divided by log2(rank + 1), ranks from 1.

    >>> discounted(np.array([7.0, 3.0]), np.array([1, 3]))
    array([7. , 1.5])
    """
    value: F64 = gains / np.log2(rank + 1.0)
    return value


def ideal(query: NDArray[np.integer[Any]], grade: F64) -> tuple[F64, I64]:
    """The best order of each query's grades.

    Args:
        query: (M,) query codes, ascending.
        grade: (M,) grades.

    Returns:
        (M,) grades, descending within a query, and (M,) their places from 1. The query codes
        stand as they were given.

    >>> ideal(np.array([0, 0, 1]), np.array([2.0, 3.0, 1.0]))
    (array([3., 2., 1.]), array([1, 2, 1]))
    """
    return grade[np.lexsort((-grade, query))], places(query)


def total(query: NDArray[np.integer[Any]], value: F64, n: int) -> F64:
    """Sum of the values of each of n queries, added in the order given.

    >>> total(np.array([0, 0, 2]), np.array([1.0, 2.0, 5.0]), 3)
    array([3., 0., 5.])
    """
    return np.bincount(query, weights=value, minlength=n).astype(np.float64, copy=False)
