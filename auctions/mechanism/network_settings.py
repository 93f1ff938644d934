"""Which network a bidder gets and how it is trained, with what the auction's parameters change of it."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Literal

from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.events import Phase
from auctions.networks.architecture import MOST_LAYERS, MOST_NEURONS
from auctions.networks.hyperparameters import Hyperparameters, hyperparameters, upper_bound_options
from auctions.networks.initialisation import Initialisation
from auctions.networks.training import TrainingOptions
from auctions.networks.upper_bound_network import UpperBoundOptions
from solvers.operation import InvalidInput

SHAPE = ("hidden_layer_sizes", "skip_connection")
START = tuple(field.name for field in fields(Initialisation))
NAMED = ("loss", "refresh", "scheme")
TRAINING = tuple(field.name for field in fields(TrainingOptions))


def network_settings(config: AuctionConfig, bidder_type: str | None, phase: Phase) -> Hyperparameters:
    """Return the network of a bidder in a phase.

    Raises
    ------
    InvalidInput
        If the auction's parameters change something that networks do not have, or to what they cannot be.
    """
    kind: Literal["demand", "value"] = "value" if phase == "ml_vq" else "demand"
    # A domain whose table does not know all the bidders' types is treated as one without a table.
    domain = config.domain if config.scales is not None else None
    settings = hyperparameters(domain, bidder_type, kind)
    changes = config.parameters.hyperparameters.get(kind, {})
    pointer = f"/parameters/hyperparameters/{kind}"
    for name in changes:
        if name not in (*SHAPE, *START, *TRAINING):
            raise InvalidInput(f"networks have no {name}", pointer=f"{pointer}/{name}")
        if not _is_of_its_kind(name, changes[name]):
            raise InvalidInput(f"{changes[name]!r} is no {name}", pointer=f"{pointer}/{name}")
    try:
        return Hyperparameters(
            tuple(changes.get("hidden_layer_sizes", settings.hidden_layer_sizes)),
            changes.get("skip_connection", settings.skip_connection),
            replace(
                settings.options,
                **({"refresh": config.parameters.refresh} | {name: changes[name] for name in TRAINING if name in changes}),
            ),
            replace(settings.initialisation, **{name: changes[name] for name in START if name in changes}),
        )
    except InvalidInput as fault:
        raise InvalidInput(fault.detail, pointer=pointer + (fault.pointer or "")) from None


def _is_of_its_kind(name: str, value: Any) -> bool:
    """Tell whether a value is of the kind that a setting has; whether it is within its range is for the networks to say."""
    if name == "hidden_layer_sizes":
        sizes = value if isinstance(value, list | tuple) else None
        return sizes is not None and len(sizes) <= MOST_LAYERS and all(type(n) is int and 1 <= n <= MOST_NEURONS for n in sizes)
    if name == "cutoff_range":
        return isinstance(value, list | tuple) and len(value) == 2 and all(type(end) in (int, float) for end in value)
    if name == "skip_connection":
        return isinstance(value, bool)
    if name in NAMED:
        return isinstance(value, str)
    if name == "clip_grad_norm" and value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool)


def upper_bound_settings(config: AuctionConfig, bidder_type: str | None) -> UpperBoundOptions:
    """Return BOCA's networks of a bidder."""
    domain = config.domain if config.scales is not None else None
    return upper_bound_options(domain, bidder_type, config.parameters.epoch_factor)
