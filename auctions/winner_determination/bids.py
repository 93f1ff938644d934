"""XOR bids: a list per bidder, of which at most one can win."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import Bundles, validate_bundles, validate_capacities
from solvers.operation import InvalidInput


class Bid(NamedTuple):
    """What a bidder offers for a bundle."""

    bundle: Sequence[int]
    value: float


BidLists = Sequence[Sequence[Bid | tuple[Sequence[int], float]]]
"""The bids of each bidder; whole lists of bids exclude each other within a bidder, not between bidders."""


@dataclass(frozen=True, slots=True)
class XorBids:
    """The bids of all bidders as arrays, each bundle at most once per bidder, none empty.

    Attributes
    ----------
    capacities : int array of shape (n_goods,)
    bundles : tuple of int arrays of shape (n_bids, n_goods)
        One per bidder.
    values : tuple of float arrays of shape (n_bids,)
    """

    capacities: NDArray[np.int64]
    bundles: tuple[Bundles, ...]
    values: tuple[NDArray[np.float64], ...]

    @classmethod
    def of(cls, bids: BidLists | XorBids, capacities: ArrayLike, *, pointer: str = "/bids") -> XorBids:
        """Return checked bids.

        Of several bids on one bundle the highest is kept, in the place of the first. A bid of 0 on the empty bundle says nothing.

        Raises
        ------
        InvalidInput
            If there is no bidder, or a bid is negative, not finite, above the supply, or more than 0 for nothing.

        Examples
        --------
        >>> bids = XorBids.of([[Bid([1, 0], 3.0), Bid([1, 0], 5.0)], []], [1, 1])
        >>> bids.bundles[0].tolist(), bids.values[0].tolist()
        ([[1, 0]], [5.0])
        """
        supply = validate_capacities(capacities)
        if isinstance(bids, XorBids):
            if not np.array_equal(bids.capacities, supply):
                raise InvalidInput("the bids were made for another supply", pointer="/capacities")
            return bids
        if len(bids) == 0:
            raise InvalidInput("there must be at least one bidder, if with an empty list of bids", pointer=pointer)
        lists = [_checked(own, supply, f"{pointer}/{bidder}") for bidder, own in enumerate(bids)]
        return cls(supply, tuple(bundles for bundles, _ in lists), tuple(values for _, values in lists))

    @property
    def n_bidders(self) -> int:
        """How many bidders there are, those without bids included."""
        return len(self.bundles)

    def without(self, *bidders: int) -> XorBids:
        """Return the bids with those of some bidders taken away; the others keep their places."""
        kept = [
            np.zeros(len(values), bool) if i in bidders else np.ones(len(values), bool) for i, values in enumerate(self.values)
        ]
        return self._keep(kept)

    def undominated(self) -> XorBids:
        """Return the bids without those for which the same bidder offers at least as much for no more goods.

        Examples
        --------
        >>> XorBids.of([[([1, 1], 3.0), ([1, 0], 3.0), ([0, 1], 0.0)]], [1, 1]).undominated().bundles[0].tolist()
        [[1, 0]]
        """
        return self._keep([_undominated(bundles, values) for bundles, values in zip(self.bundles, self.values, strict=True)])

    def value_of(self, bidder: int, bundle: ArrayLike) -> float:
        """Return what a bidder offers for exactly this bundle: 0 if nothing."""
        same = (self.bundles[bidder] == np.asarray(bundle)).all(axis=1)
        return float(self.values[bidder][same].max(initial=0.0))

    def _keep(self, kept: Sequence[NDArray[np.bool_]]) -> XorBids:
        return XorBids(
            self.capacities,
            tuple(bundles[mask] for bundles, mask in zip(self.bundles, kept, strict=True)),
            tuple(values[mask] for values, mask in zip(self.values, kept, strict=True)),
        )


def _checked(
    bids: Sequence[Bid | tuple[Sequence[int], float]], supply: NDArray[np.int64], pointer: str
) -> tuple[Bundles, NDArray[np.float64]]:
    try:
        offered, prices = [bundle for bundle, _ in bids], np.array([value for _, value in bids], dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInput("each bid needs a bundle and a value that is a number", pointer=pointer) from error
    bundles = validate_bundles(offered, supply, pointer=pointer, member="/bundle")
    wrong = ~(np.isfinite(prices) & (prices >= 0))
    if wrong.any():
        bid = int(np.argmax(wrong))
        raise InvalidInput(f"a bid is {prices[bid]:g}, but must be finite and not negative", pointer=f"{pointer}/{bid}/value")
    is_empty = ~bundles.any(axis=1)
    if (prices[is_empty] > 0).any():
        bid = int(np.argmax(is_empty & (prices > 0)))
        raise InvalidInput("a bid on the empty bundle must be 0", pointer=f"{pointer}/{bid}/value")
    bundles, prices = bundles[~is_empty], prices[~is_empty]
    if len(prices) == 0:
        return bundles, prices
    _, first, same = np.unique(bundles, axis=0, return_index=True, return_inverse=True)
    highest = np.full(len(first), -np.inf)
    np.maximum.at(highest, same.ravel(), prices)
    order = np.argsort(first)
    return bundles[first[order]], highest[order]


@njit(cache=True, nogil=True)
def _undominated(bundles, values):  # type: ignore[no-untyped-def]
    kept = values > 0
    for k in range(len(values)):
        for other in range(len(values)):
            if not kept[k]:
                break
            if other == k or not kept[other] or values[other] < values[k]:
                continue
            covered = True
            for good in range(bundles.shape[1]):
                if bundles[other, good] > bundles[k, good]:
                    covered = False
                    break
            if covered:
                kept[k] = False
    return kept
