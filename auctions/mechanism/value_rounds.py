"""Rounds of value queries that were planned together."""

from __future__ import annotations

from auctions.mechanism.events import Asked, Bundle, Phase
from auctions.mechanism.state import AuctionState


def next_planned_round(state: AuctionState, phase: Phase) -> Asked | None:
    """Return the next round of the plan in which somebody who takes part has a question; None if there is none."""
    for bundles in state.planned:
        asked = tuple(bundle is not None and bidder.active for bundle, bidder in zip(bundles, state.bidders, strict=True))
        if any(asked):
            return Asked(phase, "vq", None, bundles, asked)
    return None


def closed_bundles(state: AuctionState, bidder: int) -> list[Bundle]:
    """Return the bundles that a bidder is not to be asked about again.

    They are those whose value it has told, or has been asked for twice in vain, and with `forbid="all"` those it has demanded too.
    """
    record = state.bidders[bidder]
    closed = dict.fromkeys(answer.bundle for answer in record.value_answers)
    closed.update(dict.fromkeys(bundle for bundle in record.missed_bundles if record.missed_bundles.count(bundle) > 1))
    if state.config.parameters.forbid == "all" or state.config.mechanism in ("mlca", "boca"):
        closed.update(dict.fromkeys(answer.bundle for answer in record.demand_answers))
    return list(closed)
