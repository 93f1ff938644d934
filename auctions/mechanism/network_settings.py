"""Which network a bidder gets and how it is trained: the domain's table by bidder type and phase, or this project's defaults."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.domain_tables import domain_constants
from auctions.mechanism.events import Phase
from auctions.networks.initialisation import Initialisation
from auctions.networks.training import TrainingOptions
from solvers.operation import InvalidInput

DEFAULTS: dict[str, dict[str, Any]] = {
    "demand": {
        "hidden_layer_sizes": [30],
        "skip_connection": True,
        "learning_rate": 0.01,
        "epochs": 30,
        "weight_decay": 1e-6,
        "cached_solution_frequency": 1,
        "clip_grad_norm": None,
    },
    "value": {
        "hidden_layer_sizes": [30],
        "skip_connection": True,
        "learning_rate": 1e-3,
        "epochs": 200,
        "weight_decay": 1e-5,
        "loss": "mae",
        "cached_solution_frequency": 10,
        "batch_size_vq": 1,
        "clip_grad_norm": 1.0,
    },
}
RENAMED = {"loss_vq": "loss"}
NOT_OF_TRAINING = ("hidden_layer_sizes", "skip_connection", "hpo_max_price_multiplier")
INITIALISATION = tuple(field.name for field in fields(Initialisation))
TRAINING = tuple(field.name for field in fields(TrainingOptions))


@dataclass(frozen=True)
class NetworkSettings:
    """The shape of a network, how it starts and how it is trained."""

    hidden_layer_sizes: tuple[int, ...]
    skip_connection: bool
    initialisation: Initialisation
    options: TrainingOptions


def network_settings(config: AuctionConfig, bidder_type: str | None, phase: Phase) -> NetworkSettings:
    """Return the network of a bidder in a phase.

    Raises
    ------
    InvalidInput
        If the auction's parameters change something that networks do not have.
    """
    kind = "value" if phase == "ml_vq" else "demand"
    constants = domain_constants(config.domain) if config.domain else None
    tables = {} if constants is None else constants[f"hyperparameters_{kind}_query_phase"]
    chosen = {RENAMED.get(name, name): value for name, value in tables.get(bidder_type, DEFAULTS[kind]).items()}
    changes = config.parameters.hyperparameters.get(kind, {})
    for name in changes:
        if name not in (*TRAINING, *INITIALISATION, "hidden_layer_sizes", "skip_connection"):
            raise InvalidInput(f"networks have no {name}", pointer=f"/parameters/hyperparameters/{kind}/{name}")
    chosen |= {"refresh": config.parameters.refresh} | changes
    return NetworkSettings(
        hidden_layer_sizes=tuple(chosen["hidden_layer_sizes"]),
        skip_connection=chosen["skip_connection"],
        initialisation=Initialisation(**{name: chosen[name] for name in INITIALISATION if name in chosen}),
        options=TrainingOptions(**{name: chosen[name] for name in TRAINING if name in chosen}),
    )
