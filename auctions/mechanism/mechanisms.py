"""The mechanisms, each a sequence of phases.

CCA is the clock alone. ML-CCA goes on with prices that networks choose (Soumalias, Weissteiner, Heiss, Seuken, AAAI 2024). MLCA asks
values only, of random bundles and then of those the networks choose (Weissteiner et al., IJCAI 2022); BOCA chooses them by an upper bound
on what they may be worth (Weissteiner et al., AAAI 2023). MLHCA is all of it in turn (Soumalias, Heiss, Weissteiner, Seuken, ICML 2025).
"""

from __future__ import annotations

from auctions.mechanism.bridge_bid import BridgeBid
from auctions.mechanism.budget import Mechanism
from auctions.mechanism.clock import Clock
from auctions.mechanism.initial_values import InitialValues
from auctions.mechanism.ml_demand import MlDemandQueries
from auctions.mechanism.phases import AuctionPhase
from auctions.mechanism.value_queries import ValueQueries

PHASES: dict[Mechanism, tuple[AuctionPhase, ...]] = {
    "cca": (Clock(),),
    "ml_cca": (Clock(), MlDemandQueries()),
    "mlca": (InitialValues(), ValueQueries()),
    "boca": (InitialValues(), ValueQueries()),
    "mlhca": (Clock(), MlDemandQueries(), BridgeBid(), ValueQueries()),
}


def phases_of(mechanism: Mechanism) -> tuple[AuctionPhase, ...]:
    """Return the phases of a mechanism in their order."""
    return PHASES[mechanism]
