"""Sizes and training options of the networks, per domain, type of bidder and phase.

The tables of GSVM, LSVM, SRVM and MRVM are facts of the public ML-CCA, MLHCA and BOCA repositories (`domain_constants.json` and
`boca_constants.json` in `auctions/data/`), found there by random search on instances 1 to 100. Every other domain has one setting for all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from auctions.networks.initialisation import CUSTOM, Initialisation
from auctions.networks.training import TrainingOptions
from auctions.networks.upper_bound_loss import Weights
from auctions.networks.upper_bound_network import UpperBoundOptions
from solvers.operation import InvalidInput

Phase = Literal["demand", "value"]


@dataclass(frozen=True, slots=True)
class Hyperparameters:
    """Everything that a network's training needs to know beside the answers.

    Attributes
    ----------
    hidden_layer_sizes : tuple of int
    skip_connection : bool
    options : TrainingOptions
    initialisation : Initialisation
    """

    hidden_layer_sizes: tuple[int, ...]
    skip_connection: bool
    options: TrainingOptions
    initialisation: Initialisation = CUSTOM


PUBLISHED_AS_THEY_ARE = (
    "skip_connection", "trainable_cutoffs", "epochs", "batch_size", "n_aug", "learning_rate", "weight_decay", "dropout",
    "dropout_decay_per_epoch", "clip_grad_norm",
)  # fmt: skip

OWN_DEFAULTS: dict[Phase, Hyperparameters] = {
    "demand": Hyperparameters((30,), True, TrainingOptions(epochs=30, learning_rate=0.01, weight_decay=1e-6)),
    "value": Hyperparameters(
        (30,),
        True,
        TrainingOptions(epochs=200, learning_rate=1e-3, weight_decay=1e-5, cached_solution_frequency=10, clip_grad_norm=1.0),
    ),
}


def hyperparameters(domain: str | None, bidder_type: str | None, phase: Phase) -> Hyperparameters:
    """Return the settings for a bidder.

    Parameters
    ----------
    domain : str, optional
        Such as "gsvm"; a domain without a table, or None, has the project's own defaults.
    bidder_type : str, optional
        Such as "regional"; needed where the domain has a table. Capitals, blanks and underscores do not matter.
    phase : {"demand", "value"}
        Whether the next questions are demand queries or value queries.

    Raises
    ------
    InvalidInput
        If the domain has no such type.

    Examples
    --------
    >>> hyperparameters("lsvm", "regional", "demand").hidden_layer_sizes
    (30,)
    >>> hyperparameters("cats", None, "value").options.epochs
    200
    """
    if phase not in ("demand", "value"):
        raise InvalidInput(f"{phase!r} is neither demand nor value", pointer="/phase")
    table = _table("domain_constants.json").get(_plain(domain))
    if table is None:
        return OWN_DEFAULTS[phase]
    entry = _of_type(table[f"hyperparameters_{phase}_query_phase"], domain, bidder_type)
    return Hyperparameters(
        tuple(entry["hidden_layer_sizes"]),
        entry["skip_connection"],
        TrainingOptions(
            epochs=entry["epochs"],
            learning_rate=entry["learning_rate"],
            weight_decay=entry["weight_decay"],
            loss=entry.get("loss_vq", "mae"),
            cached_solution_frequency=entry["cached_solution_frequency"],
            batch_size_vq=entry.get("batch_size_vq", 1),
            clip_grad_norm=entry["clip_grad_norm"],
        ),
    )


def upper_bound_options(domain: str | None, bidder_type: str | None, epoch_factor: float = 1.0) -> UpperBoundOptions:
    """Return the published settings of the mean and the upper network.

    GSVM, of which nothing is published, has those of LSVM by type of bidder, and any other domain those of LSVM's regional bidders.

    Examples
    --------
    >>> upper_bound_options("mrvm", "local").hidden_layer_sizes
    (64,)
    """
    tables = _table("boca_constants.json")
    if _plain(domain) in tables:
        entry = _of_type(tables[_plain(domain)], domain, bidder_type)
    else:
        entry = _of_type(tables["lsvm"], domain, bidder_type if _plain(domain) == "gsvm" else "regional")
    return UpperBoundOptions(
        hidden_layer_sizes=tuple(entry["hidden_layer_sizes"]),
        weights=Weights(
            entry["mean_loss_smooth_l1_beta"], entry["pi_sqr"], entry["pi_exp"], entry["pi_above_mean"], entry["c_exp"]
        ),
        initialisation=Initialisation(init_E=entry["init_E"], init_Var=entry["init_Var"]),
        epoch_factor=epoch_factor,
        **{name: entry[name] for name in PUBLISHED_AS_THEY_ARE},
    )


@cache
def _table(name: str) -> dict[str, Any]:
    """Return the domains of a file, their names in small letters."""
    document = json.loads(files("auctions").joinpath("data", name).read_text("utf-8"))
    return {domain.lower(): constants for domain, constants in document["domains"].items()}


def _of_type(entries: dict[str, Any], domain: str | None, bidder_type: str | None) -> dict[str, Any]:
    by_name: dict[str, dict[str, Any]] = {_plain(name): entry for name, entry in entries.items()}
    try:
        return by_name[_plain(bidder_type)]
    except KeyError:
        raise InvalidInput(
            f"{domain} has no bidders of type {bidder_type!r}, but {', '.join(entries)}", pointer="/bidder_type"
        ) from None


def _plain(name: str | None) -> str:
    return "" if name is None else name.lower().replace("_", "").replace(" ", "").replace("-", "")
