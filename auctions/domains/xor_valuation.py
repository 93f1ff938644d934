"""Valuations by XOR bids: a bundle is worth the best bid that it contains."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles, Limits
from auctions.domains.integer_program import IntegerProgram
from auctions.domains.ranking import best


class XorValuation:
    """A bidder's XOR bids.

    Parameters
    ----------
    bundles : array of shape (n, m)
    bids : array of shape (n,)
        What is bid for each, at least 0.

    Examples
    --------
    >>> XorValuation(np.array([[1, 0], [1, 1]]), np.array([2.0, 5.0])).values(np.array([[0, 1], [1, 0], [1, 1]])).tolist()
    [0.0, 2.0, 5.0]
    """

    kind: ClassVar[str] = "xor"
    monotone: ClassVar[bool] = True

    def __init__(self, bundles: Bundles, bids: NDArray[np.float64]) -> None:
        self.bundles = bundles
        self.bids = bids

    def values(self, bundles: Bundles) -> NDArray[np.float64]:
        """Return what each bundle is worth."""
        worth = np.zeros(len(bundles))
        for bundle, bid in zip(self.bundles, self.bids.tolist(), strict=True):
            np.maximum(worth, bid, out=worth, where=(bundles >= bundle).all(axis=1))
        return worth

    def best_bundles(self, prices: NDArray[np.float64], limits: Limits, k: int) -> Bundles:
        """Return the k best of its own bundles and the empty one."""
        candidates = np.unique(np.concatenate([self.bundles, np.zeros((1, len(prices)), dtype=np.int64)]), axis=0)
        candidates = candidates[limits.admits(candidates)]
        worth = self.values(candidates)
        return candidates[best(worth, worth - candidates @ prices, k, candidates.__getitem__)]

    def add_to(self, program: IntegerProgram, limits: Limits) -> tuple[NDArray[np.int64], Bundles]:
        """Add a column per bid; return the columns and what each brings."""
        admitted = limits.admits(self.bundles)
        columns = program.add_columns(self.bids[admitted], integer=True)
        program.add_row(columns, 1.0, upper=1.0)
        return columns, self.bundles[admitted]

    def highest(self) -> float:
        """Return a bound on every bundle's value."""
        return float(self.bids.max(initial=0.0))

    def to_dict(self) -> dict[str, Any]:
        """Return the bids as JSON."""
        bids = zip(self.bundles.tolist(), self.bids.tolist(), strict=True)
        return {"kind": self.kind, "bids": [{"bundle": bundle, "value": value} for bundle, value in bids]}
