"""XOR bids drawn at random, and what can be said of them by trying everything."""

from __future__ import annotations

import itertools

import numpy as np

Bids = list[list[tuple[list[int], float]]]


def random_bids(seed: int, capacities: list[int], n_bidders: int, n_bids: int, *, cents: bool = True) -> Bids:
    rng = np.random.default_rng(seed)
    n_goods = len(capacities)
    worth = rng.uniform(1, 10, (n_bidders, n_goods))
    bids: Bids = []
    for bidder in range(n_bidders):
        own = []
        for _ in range(n_bids):
            bundle = np.where(rng.random(n_goods) < rng.uniform(0.2, 0.7), rng.integers(0, np.array(capacities) + 1), 0)
            value = float(bundle @ worth[bidder]) * rng.uniform(0.8, 1.3)
            if bundle.any():
                own.append((bundle.tolist(), round(value, 2) if cents else value))
        bids.append(own)
    return bids


def welfare_by_trying_all(bids: Bids, capacities: list[int], excluded: int | None = None) -> float:
    """The largest sum of bids, by going through the bidders and all that is left for each."""

    def best(bidder: int, room: tuple[int, ...]) -> float:
        if bidder == len(bids):
            return 0.0
        value = best(bidder + 1, room)
        if bidder == excluded:
            return value
        for bundle, offer in bids[bidder]:
            if all(wanted <= left for wanted, left in zip(bundle, room, strict=True)):
                rest = tuple(left - wanted for wanted, left in zip(bundle, room, strict=True))
                value = max(value, offer + best(bidder + 1, rest))
        return value

    return best(0, tuple(capacities))


def coalitions(n_bidders: int) -> list[tuple[int, ...]]:
    return [c for size in range(1, n_bidders + 1) for c in itertools.combinations(range(n_bidders), size)]
