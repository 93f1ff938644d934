"""Bundles of goods: vectors of quantities, and the mixed-radix order in which they are listed.

Good j has a supply c_j (`capacities`); a bundle is an integer vector x with 0 <= x_j <= c_j. Wherever all bundles are listed, bundle x has
the index sum_j x_j prod_{k<j} (c_k + 1): good 0 runs fastest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from solvers.operation import InvalidInput

Bundles = NDArray[np.int64]
"""One bundle per row, one good per column; a single bundle is a vector."""

MOST_GOODS = 500
MOST_UNITS = 1000
"""Of one good."""


def validate_capacities(capacities: ArrayLike, *, pointer: str = "/capacities") -> NDArray[np.int64]:
    """Return the supply of each good as whole numbers.

    Raises
    ------
    InvalidInput
        If there is no good or more than :data:`MOST_GOODS`, or if a supply is not a whole number from 1 to :data:`MOST_UNITS`.

    Examples
    --------
    >>> validate_capacities([1, 2.0]).tolist()
    [1, 2]
    """
    supply = _numbers(capacities, pointer)
    if supply.ndim != 1 or len(supply) == 0:
        raise InvalidInput("the supply must be a list of one number per good, and of at least one good", pointer=pointer)
    if len(supply) > MOST_GOODS:
        raise InvalidInput(f"there are {len(supply)} goods, but at most {MOST_GOODS} can be sold together", pointer=pointer)
    wrong = ~((supply >= 1) & (supply <= MOST_UNITS) & (supply == np.floor(supply)))
    if wrong.any():
        good = int(np.argmax(wrong))
        raise InvalidInput(
            f"the supply of good {good} is {supply[good]:g}, but it must be a whole number from 1 to {MOST_UNITS}",
            pointer=f"{pointer}/{good}",
        )
    return supply.astype(np.int64)


def validate_bundles(
    bundles: ArrayLike | Sequence[ArrayLike], capacities: NDArray[np.int64], *, pointer: str = "/bundles", member: str = ""
) -> Bundles:
    """Return some bundles as whole numbers, one per row.

    Parameters
    ----------
    bundles : array of shape (n, m)
    capacities : int array of shape (m,)
    pointer : str
        JSON pointer of the list.
    member : str
        Where in an item of the list its bundle is, such as ``/bundle``.

    Raises
    ------
    InvalidInput
        If a bundle has another length than there are goods, or a quantity that is no whole number from 0 to the supply.

    Examples
    --------
    >>> validate_bundles([[0, 1], [1, 2]], np.array([1, 2])).tolist()
    [[0, 1], [1, 2]]
    """
    if not isinstance(bundles, Sequence | np.ndarray):
        raise InvalidInput("the bundles must be a list", pointer=pointer)
    rows: list[Any] = list(bundles)
    n_goods = len(capacities)
    for index, row in enumerate(rows):
        if np.ndim(row) != 1 or len(row) != n_goods:
            raise InvalidInput(
                f"bundle {index} needs one quantity for each of {n_goods} goods", pointer=f"{pointer}/{index}{member}"
            )
    if not rows:
        return np.zeros((0, n_goods), dtype=np.int64)
    quantities = _numbers(rows, pointer)
    wrong = ~((quantities >= 0) & (quantities <= capacities) & (quantities == np.floor(quantities)))
    if wrong.any():
        index, good = (int(place) for place in np.argwhere(wrong)[0])
        raise InvalidInput(
            f"bundle {index} has {quantities[index, good]:g} of good {good}, but it must be a whole number from 0 to {capacities[good]}",
            pointer=f"{pointer}/{index}{member}/{good}",
        )
    return quantities.astype(np.int64)


def _numbers(values: ArrayLike, pointer: str) -> NDArray[np.float64]:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput("only lists of numbers of equal length can be read here", pointer=pointer) from error


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
