"""What an auction's answers prove of it, with nobody's values known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from auctions.certificates import certified_efficiency, efficiency_of_round
from auctions.mechanism.answer_graph import contradiction, demand_answers_of, value_answers_of
from auctions.mechanism.state import AuctionState, Round


@dataclass(frozen=True, slots=True)
class Certificates:
    """What truthful answers would prove.

    Attributes
    ----------
    certified_efficiency : float, optional
        The allocation has at least this share of the largest welfare; None if answers contradict each other or prove nothing.
    welfare_bound, optimum_bound : float, optional
        Below and above what the two are worth.
    best_round : dict, optional
        The demand round whose answers fit within the supply and have the largest provable efficiency, as `round` and `efficiency`.
    conflicts : list of dict
        Per bidder whose answers no monotone value explains: `bidder`, and the `cycle` of steps that shows it.
    """

    certified_efficiency: float | None
    welfare_bound: float | None
    optimum_bound: float | None
    best_round: dict[str, Any] | None
    conflicts: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """Return the certificates as JSON values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def certificates_of(state: AuctionState, allocation: ArrayLike) -> Certificates:
    """Return what the answers so far prove of an allocation."""
    conflicts = []
    for bidder in range(state.config.n_bidders):
        cycle = contradiction(state, bidder)
        if cycle is not None:
            conflicts.append({"bidder": bidder, "cycle": [_step(edge) for edge in cycle]})
    rounds = [round_ for round_ in state.rounds if _is_complete(round_)]
    proven = None
    if not conflicts:
        proven = certified_efficiency(
            [demand_answers_of(bidder) for bidder in state.bidders],
            [value_answers_of(bidder) for bidder in state.bidders],
            [(round_.prices, round_.answers) for round_ in rounds if round_.prices is not None],  # type: ignore[misc]
            allocation,
            state.config.capacities,
        )
    optimum = proven.optimum_bound if proven is not None and np.isfinite(proven.optimum_bound) else None
    return Certificates(
        certified_efficiency=None if proven is None or optimum is None else proven.efficiency,
        welfare_bound=None if proven is None else proven.welfare_bound,
        optimum_bound=optimum,
        best_round=_best_round(state, rounds),
        conflicts=conflicts,
    )


def _best_round(state: AuctionState, rounds: list[Round]) -> dict[str, Any] | None:
    shares = [
        (share, round_.number)
        for round_ in rounds
        if not round_.is_null
        and (share := efficiency_of_round(round_.prices, round_.answers, state.config.capacities)) is not None  # type: ignore[arg-type]
    ]
    if not shares:
        return None
    share, number = max(shares, key=lambda entry: (entry[0], -entry[1]))
    return {"round": number, "efficiency": share}


def _is_complete(round_: Round) -> bool:
    return round_.kind == "dq" and not round_.is_open and all(answer is not None for answer in round_.answers)


def _step(edge: Any) -> dict[str, Any]:
    return {
        "from": list(edge.source),
        "to": list(edge.target),
        "length": edge.length,
        "answer": {"kind": edge.answer.kind, "number": edge.answer.number},
    }
