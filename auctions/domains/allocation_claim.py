"""From the allocation that a method found to what every method returns: values recomputed, a bound that holds, the status."""

from __future__ import annotations

import time
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.bundles import Bundles
from auctions.outcome import AllocationResult, StoppedBy, relative_gap


class Valued(Protocol):
    """Bidders who value bundles."""

    @property
    def n_bidders(self) -> int: ...

    def values(self, bidder: int, bundles: ArrayLike) -> NDArray[np.float64]: ...


def claim(
    instance: Valued,
    allocation: Bundles,
    *,
    method: str,
    started: float,
    gap: float,
    bound: float | None = None,
    stopped_by: StoppedBy | None = None,
) -> AllocationResult:
    """Return an allocation with its values by the instance itself.

    Parameters
    ----------
    allocation : array of shape (n_bidders, n_goods)
    method : str
    started : float
        :func:`time.perf_counter` when the search began.
    gap : float
        Relative gap up to which the allocation counts as optimal.
    bound : float, optional
        None if the method is exact by itself: then the welfare is the bound.
    stopped_by : str, optional
    """
    values = np.array([instance.values(bidder, allocation[bidder : bidder + 1])[0] for bidder in range(instance.n_bidders)])
    welfare = float(values.sum())
    highest = welfare if bound is None else max(bound, welfare)
    return AllocationResult(
        allocation=allocation,
        values=values,
        welfare=welfare,
        bound=highest,
        status="optimal" if relative_gap(highest, welfare) <= gap else "feasible",
        stopped_by=stopped_by,
        method=method,
        seconds=time.perf_counter() - started,
    )
