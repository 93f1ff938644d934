"""Choices: what each bidder may get, as rows of bundle and value, packed so that it takes a few instructions to see what still fits.

Every exact search of winner determination works on these rows. A bundle is packed into 64-bit words, one field per good with a guard bit
above it: with all guards set in what is left, one subtraction tells of all goods of a word whether they fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles

WORD_BITS = 62
"""Of 64, so that the fields of a word stay within what a signed number holds."""


@dataclass(frozen=True, slots=True)
class Packing:
    """How bundles are packed.

    Attributes
    ----------
    words, shifts : int arrays of shape (n_goods,)
        In which word and from which bit on the quantity of a good is kept.
    guards : uint array of shape (n_words,)
        The bit above each field.
    supply : uint array of shape (n_words,)
        All there is, packed.
    """

    words: NDArray[np.int64]
    shifts: NDArray[np.int64]
    guards: NDArray[np.uint64]
    supply: NDArray[np.uint64]

    @classmethod
    def of(cls, capacities: NDArray[np.int64]) -> Packing:
        """Return the packing for a supply."""
        words, shifts, word, bit = [], [], 0, 0
        widths = [int(capacity).bit_length() + 1 for capacity in capacities]
        for width in widths:
            if bit + width > WORD_BITS:
                word, bit = word + 1, 0
            words.append(word)
            shifts.append(bit)
            bit += width
        guards = np.zeros(word + 1, dtype=np.uint64)
        for good, width in enumerate(widths):
            guards[words[good]] |= np.uint64(1 << (shifts[good] + width - 1))
        packing = cls(np.array(words), np.array(shifts), guards, guards)
        return cls(packing.words, packing.shifts, guards, packing.pack(capacities[None])[0])

    def pack(self, bundles: Bundles) -> NDArray[np.uint64]:
        """Return bundles as rows of words."""
        packed = np.zeros((len(bundles), len(self.guards)), dtype=np.uint64)
        for good, (word, shift) in enumerate(zip(self.words, self.shifts, strict=True)):
            packed[:, word] |= bundles[:, good].astype(np.uint64) << np.uint64(shift)
        return packed


@dataclass(frozen=True, slots=True)
class Choices:
    """What each bidder may get; it gets exactly one of its rows.

    Attributes
    ----------
    capacities : int array of shape (n_goods,)
    starts : int array of shape (n_bidders + 1,)
        Bidder i has the rows from ``starts[i]`` to before ``starts[i + 1]``.
    bundles : int array of shape (n_rows, n_goods)
    values : float array of shape (n_rows,)
    packing : Packing
    packed : uint array of shape (n_rows, n_words)
    """

    capacities: NDArray[np.int64]
    starts: NDArray[np.int64]
    bundles: Bundles
    values: NDArray[np.float64]
    packing: Packing
    packed: NDArray[np.uint64]

    @classmethod
    def of(cls, bundles: Sequence[Bundles], values: Sequence[NDArray[np.float64]], capacities: NDArray[np.int64]) -> Choices:
        """Return the choices of some lists, one per bidder.

        Examples
        --------
        >>> nothing = np.zeros((1, 2), dtype=np.int64)
        >>> Choices.of([np.array([[1, 0], [0, 1]]), nothing], [np.array([3.0, 2.0]), np.zeros(1)], np.array([1, 1])).starts.tolist()
        [0, 2, 3]
        """
        packing = Packing.of(capacities)
        rows = np.concatenate([np.asarray(own, dtype=np.int64).reshape(-1, len(capacities)) for own in bundles])
        starts = np.concatenate(([0], np.cumsum([len(own) for own in values])))
        return cls(capacities, starts, rows, np.concatenate(values).astype(np.float64), packing, packing.pack(rows))

    @property
    def n_bidders(self) -> int:
        """How many bidders there are."""
        return len(self.starts) - 1

    @property
    def bidders(self) -> NDArray[np.int64]:
        """Whose each row is."""
        return np.repeat(np.arange(self.n_bidders), np.diff(self.starts))

    @property
    def scale(self) -> float:
        """The largest absolute value, which says what counts as a rounding error."""
        return float(np.abs(self.values).max(initial=0.0))

    def keep(self, rows: NDArray[np.bool_]) -> tuple[Choices, NDArray[np.int64]]:
        """Return the choices with only some rows, and which rows these were."""
        kept = np.flatnonzero(rows)
        starts = np.searchsorted(kept, self.starts)
        return Choices(self.capacities, starts, self.bundles[kept], self.values[kept], self.packing, self.packed[kept]), kept

    def with_only(self, bidder: int, rows: NDArray[np.bool_]) -> tuple[Choices, NDArray[np.int64]]:
        """Return the choices with one bidder's rows reduced to some of them, and which rows of all are kept."""
        mask = np.ones(len(self.values), dtype=bool)
        mask[self.starts[bidder] : self.starts[bidder + 1]] = rows
        return self.keep(mask)

    def losses(self, prices: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
        """Return by how much each row falls short of its bidder's best at some prices, and what these prices prove.

        The second number is W(p) = p.c + sum_i max_x (v_i(x) - p.x): no allocation is worth more.
        """
        utilities = self.values - self.bundles @ prices
        best = np.maximum.reduceat(utilities, self.starts[:-1])
        return np.repeat(best, np.diff(self.starts)) - utilities, float(prices @ self.capacities + best.sum())

    def rows_of(self, allocation: Bundles | None) -> NDArray[np.int64] | None:
        """Return the rows of an allocation; None if there is none, or if not all of its bundles are among the rows."""
        if allocation is None:
            return None
        rows = np.empty(self.n_bidders, dtype=np.int64)
        for bidder, bundle in enumerate(allocation):
            low, high = self.starts[bidder], self.starts[bidder + 1]
            same = np.flatnonzero((self.bundles[low:high] == bundle).all(axis=1))
            if len(same) == 0:
                return None
            rows[bidder] = low + same[0]
        return rows

    def welfare(self, chosen: NDArray[np.int64]) -> float:
        """Return what some rows, one per bidder, are worth together."""
        return float(self.values[chosen].sum())

    def fit_together(self, chosen: NDArray[np.int64]) -> bool:
        """Tell whether some rows, one per bidder, are within the supply."""
        return bool((self.bundles[chosen].sum(axis=0) <= self.capacities).all())


@njit(cache=True, nogil=True)
def fits(row, room, guards):  # type: ignore[no-untyped-def]
    """Tell whether a packed bundle fits into what is left."""
    for word in range(len(guards)):  # noqa: SIM110 - Numba compiles no generators
        if ((room[word] | guards[word]) - row[word]) & guards[word] != guards[word]:
            return False
    return True
