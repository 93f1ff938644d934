"""Monotone value networks evaluated by their formula, and drawn at random, without the package's own."""

from __future__ import annotations

from typing import Any

import numpy as np

from auctions.bundles import all_bundles

Network = dict[str, Any]


def values_of(network: Network, bundles: np.ndarray | None = None) -> np.ndarray:
    """The value of some bundles, or of all in mixed-radix order."""
    quantities = all_bundles(network["capacities"]) if bundles is None else bundles
    signal = quantities / np.array(network["capacities"])
    for layer in network["layers"]:
        signal = np.clip(signal @ np.array(layer["weight"]).T + np.array(layer["bias"]), 0, layer["cutoff"])
    values = signal @ np.array(network["output_weight"])
    return values if network["skip_weight"] is None else values + quantities @ np.array(network["skip_weight"])


def random_network(
    rng: np.random.Generator, capacities: list[int], layers: tuple[int, ...] = (8,), *, skip: bool = False
) -> Network:
    n_inputs = n_goods = len(capacities)
    made = []
    for n_units in layers:
        weight = np.where(rng.random((n_units, n_inputs)) < 0.6, rng.uniform(0, 4 / n_inputs, (n_units, n_inputs)), 0.0)
        made.append({"weight": weight, "bias": -rng.uniform(0, 0.3, n_units), "cutoff": rng.uniform(0, 1, n_units)})
        n_inputs = n_units
    return {
        "capacities": capacities,
        "layers": made,
        "output_weight": rng.uniform(0, 2 / n_inputs, n_inputs),
        "skip_weight": rng.uniform(0, 0.2, n_goods) if skip else None,
    }
