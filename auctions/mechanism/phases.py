"""What a phase of an auction is."""

from __future__ import annotations

from typing import Protocol

from auctions.mechanism.events import Event, Phase
from auctions.mechanism.state import AuctionState
from auctions.mechanism.workbench import Workbench


class AuctionPhase(Protocol):
    """A part of an auction that decides what to ask next.

    `next_event` is a pure function of the configuration and the log: it returns a round to open, a plan of several rounds, or the end of
    the phase.
    """

    @property
    def name(self) -> Phase: ...

    def next_event(self, state: AuctionState, workbench: Workbench) -> Event: ...
