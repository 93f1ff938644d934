"""The first value queries of MLCA and BOCA: random bundles, the full bundle among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from auctions.bundles import Limits, all_bundles, count_bundles
from auctions.mechanism.events import Asked, Bundle, Event, Phase, PhaseEnded, Planned
from auctions.mechanism.random_streams import stream
from auctions.mechanism.state import AuctionState
from auctions.mechanism.value_rounds import next_planned_round
from auctions.mechanism.workbench import Workbench

LARGEST_LIST = 2**18  # bundles that are listed to draw from; from more of them draws are unlikely to repeat
DRAWS_PER_BUNDLE = 100


@dataclass(frozen=True, slots=True)
class InitialValues:
    """The phase of random value queries."""

    name: Phase = "initial_vq"

    def next_event(self, state: AuctionState, workbench: Workbench) -> Event:
        """Plan all rounds at first, then open them one after the other."""
        config = state.config
        if not any(plan.phase == self.name for plan in state.plans) and config.counts.n_initial_value_queries:
            drawn = [
                random_bundles(
                    config.capacities,
                    bidder.limits,
                    config.counts.n_initial_value_queries,
                    stream(config.seed, self.name, 0, index),
                )
                for index, bidder in enumerate(config.bidders)
            ]
            rounds = max(map(len, drawn))
            return Planned(self.name, tuple(tuple(own[r] if r < len(own) else None for own in drawn) for r in range(rounds)))
        round_: Asked | None = next_planned_round(state, self.name)
        return PhaseEnded(self.name, "all asked") if round_ is None else round_


def random_bundles(capacities: tuple[int, ...], limits: Limits, n_bundles: int, rng: np.random.Generator) -> list[Bundle]:
    """Return different bundles that a bidder may have, none empty: everything first, if it may, the others uniform.

    Fewer are returned if there are no more. Where there are too many to list them and `max_items` binds, what is drawn beyond it is left
    out at random, so that small bundles are rarer than in a uniform draw.

    Examples
    --------
    >>> random_bundles((1, 1), Limits(max_items=1), 5, np.random.default_rng(0))
    [(1, 0), (0, 1)]
    """
    everything = tuple(int(quantity) for quantity in limits.quantities(capacities))
    chosen: dict[Bundle, None] = {}
    if any(everything) and limits.admits(np.array(everything)):
        chosen[everything] = None
    if count_bundles(everything) <= LARGEST_LIST:
        bundles = all_bundles(everything)
        bundles = bundles[limits.admits(bundles) & bundles.any(axis=1)]
        candidates = bundles[rng.permutation(len(bundles))[:n_bundles]].tolist()
        chosen.update(dict.fromkeys(map(tuple, candidates)))
    else:
        most = np.array(everything)
        for _ in range(DRAWS_PER_BUNDLE * n_bundles):
            if len(chosen) == n_bundles:
                break
            bundle = rng.integers(0, most + 1)
            excess = 0 if limits.max_items is None else int(bundle.sum()) - limits.max_items
            if excess > 0:
                units = np.repeat(np.arange(len(most)), bundle)
                bundle -= np.bincount(rng.choice(units, size=excess, replace=False), minlength=len(most))
            if bundle.any():
                chosen[tuple(bundle.tolist())] = None
    return list(chosen)[:n_bundles]
