"""Phase 3: one question about the value of what each bidder would win.

Once every bidder has told the exact value of its bundle in an allocation, no later outcome can be less efficient than that allocation.
"""

from __future__ import annotations

from dataclasses import dataclass

from auctions.mechanism.events import Event, Phase, PhaseEnded, Planned
from auctions.mechanism.settlement import winning_allocation
from auctions.mechanism.state import AuctionState
from auctions.mechanism.value_rounds import next_planned_round
from auctions.mechanism.workbench import Workbench


@dataclass(frozen=True, slots=True)
class BridgeBid:
    """The phase of the bridge bid."""

    name: Phase = "bridge"

    def next_event(self, state: AuctionState, workbench: Workbench) -> Event:
        """Ask for the value of the bundles that win by the bids so far."""
        if not state.config.counts.bridge_bid or state.rounds_of(self.name):
            return PhaseEnded(self.name, "all rounds asked")
        if not any(plan.phase == self.name for plan in state.plans):
            allocation = winning_allocation(state, workbench).allocation.tolist()
            return Planned(self.name, (tuple(tuple(bundle) if any(bundle) else None for bundle in allocation),))
        return next_planned_round(state, self.name) or PhaseEnded(self.name, "nothing to ask")
