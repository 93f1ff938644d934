"""Bundles of goods: vectors of quantities, and the mixed-radix order in which they are listed.

Good j has a supply c_j (`capacities`); a bundle is an integer vector x with 0 <= x_j <= c_j. Wherever all bundles are listed, bundle x has
the index sum_j x_j prod_{k<j} (c_k + 1): good 0 runs fastest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bundles = NDArray[np.int64]
"""One bundle per row, one good per column; a single bundle is a vector."""


def count_bundles(capacities: ArrayLike) -> int:
    """Return how many bundles there are, the empty one included.

    Examples
    --------
    >>> count_bundles([1, 2])
    6
    """
    return math.prod(int(capacity) + 1 for capacity in np.asarray(capacities).tolist())


def strides(capacities: ArrayLike) -> NDArray[np.int64]:
    """Return by how much a bundle's index grows with one more unit of each good."""
    radices = np.asarray(capacities, dtype=np.int64) + 1
    return np.concatenate(([1], np.cumprod(radices[:-1])))


def bundles_at(indices: ArrayLike, capacities: ArrayLike) -> Bundles:
    """Return the bundles of the given indices.

    Examples
    --------
    >>> bundles_at([0, 1, 5], [1, 2]).tolist()
    [[0, 0], [1, 0], [1, 2]]
    """
    radices = np.asarray(capacities, dtype=np.int64) + 1
    return np.asarray(indices, dtype=np.int64)[..., None] // strides(capacities) % radices


def indices_of(bundles: ArrayLike, capacities: ArrayLike) -> NDArray[np.int64]:
    """Return the index of each bundle in mixed-radix order.

    Examples
    --------
    >>> indices_of([[1, 0], [1, 2]], [1, 2]).tolist()
    [1, 5]
    """
    return np.asarray(bundles, dtype=np.int64) @ strides(capacities)


def all_bundles(capacities: ArrayLike) -> Bundles:
    """Return every bundle, shape (:func:`count_bundles`, m), in mixed-radix order."""
    return bundles_at(np.arange(count_bundles(capacities)), capacities)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a bidder may hold at most; None where nothing limits it.

    Attributes
    ----------
    max_items : int, optional
        Units in total.
    goods : tuple of bool, optional
        Which goods it may hold at all.
    caps : tuple of int, optional
        Units per good.

    Examples
    --------
    >>> Limits(max_items=2).admits(np.array([[1, 1, 0], [1, 1, 1]])).tolist()
    [True, False]
    """

    max_items: int | None = None
    goods: tuple[bool, ...] | None = None
    caps: tuple[int, ...] | None = None

    def quantities(self, capacities: ArrayLike) -> NDArray[np.int64]:
        """Return the most units of each good, `max_items` aside."""
        most = np.array(capacities, dtype=np.int64)
        if self.caps is not None:
            most = np.minimum(most, self.caps)
        return most if self.goods is None else np.where(self.goods, most, 0)

    def admits(self, bundles: Bundles) -> NDArray[np.bool_]:
        """Tell of each bundle whether the bidder may hold it."""
        fits = np.ones(bundles.shape[:-1], dtype=bool)
        if self.max_items is not None:
            fits &= bundles.sum(axis=-1) <= self.max_items
        if self.caps is not None:
            fits &= (bundles <= np.asarray(self.caps)).all(axis=-1)
        if self.goods is not None:
            fits &= (bundles[..., ~np.asarray(self.goods)] == 0).all(axis=-1)
        return fits
