"""Random numbers of an auction, each stream known by what it is for.

A stream is a counter-based generator (Philox) whose key and counter hold the auction's seed, the phase, the round and the bidder. No
draw therefore depends on what was drawn before, in which order bidders were treated or where an auction was interrupted.
"""

from __future__ import annotations

import numpy as np

PHASE_CODES = {"cca": 1, "ml_dq": 2, "bridge": 3, "ml_vq": 4, "initial_vq": 5}

AUCTIONEER = -1
"""Stands in the place of the bidder for the draws that concern them all."""


def stream(seed: int, phase: str, round_number: int, bidder: int = AUCTIONEER) -> np.random.Generator:
    """Return the generator of one bidder, or of the auctioneer, in one round.

    Examples
    --------
    >>> stream(7, "ml_dq", 21, 0).random() == stream(7, "ml_dq", 21, 0).random()
    True
    >>> stream(7, "ml_dq", 21, 0).random() == stream(7, "ml_dq", 21).random()
    False
    """
    # The lower half of the counter stays free: it is what counts the draws.
    return np.random.Generator(
        np.random.Philox(key=[seed, PHASE_CODES[phase]], counter=[0, 0, round_number, bidder - AUCTIONEER])
    )
