"""Unordered pairs of vertices, grouped in the order in which each first appears."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LARGEST_POSITION = 2**31 - 1
"""Edges hold 32-bit positions, so that two of them fit one 64-bit key."""


class Pairs(NamedTuple):
    """Listed pairs and the distinct ones among them.

    Attributes
    ----------
    rows : int64 array of shape (listed,)
        For every listed pair the rank of the distinct pair that it is, in order of first appearance.
    firsts : int64 array of shape (distinct,)
        Where each distinct pair is listed first; increasing.
    """

    rows: npt.NDArray[np.int64]
    firsts: npt.NDArray[np.int64]


def first_appearances(u: npt.NDArray[np.int64], v: npt.NDArray[np.int64]) -> Pairs:
    """Group the pairs {u, v}, in either direction.

    Parameters
    ----------
    u, v : int64 array of shape (listed,)
        Not negative.

    Notes
    -----
    One sort of 64-bit keys: O(m log m).

    Examples
    --------
    >>> first_appearances(np.array([5, 1, 2]), np.array([2, 3, 5]))
    Pairs(rows=array([0, 1, 0]), firsts=array([0, 1]))
    """
    if not len(u):
        return Pairs(np.zeros(0, np.int64), np.zeros(0, np.int64))
    low, high = np.minimum(u, v), np.maximum(u, v)
    if int(high.max()) > LARGEST_POSITION:
        both = np.unique(np.concatenate([low, high]), return_inverse=True)[1]
        low, high = both[: len(low)], both[len(low) :]
    keys = (low << 32) | high
    order = np.argsort(keys)
    keys = keys[order]
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    if len(begins) == len(keys):
        every = np.arange(len(keys))
        return Pairs(every, every)

    firsts = np.minimum.reduceat(order, begins)
    by_appearance = np.argsort(firsts)
    rank = np.empty_like(by_appearance)
    rank[by_appearance] = np.arange(len(begins))
    rows = np.empty_like(order)
    rows[order] = np.repeat(rank, np.diff(begins, append=len(keys)))
    return Pairs(rows, firsts[by_appearance])
