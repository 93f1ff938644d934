"""The mixed-integer program of a monotone value network as its papers state it: both sides of every unit."""

from __future__ import annotations

import numpy as np

from auctions.domains.integer_program import IntegerProgram
from auctions.networks.architecture import Architecture, Vector
from auctions.outcome import SearchLimits

UNLIMITED = SearchLimits()


def published_demand(
    architecture: Architecture, parameters: Vector, prices: Vector, search: SearchLimits = UNLIMITED
) -> tuple[np.ndarray, float]:
    """The bundle of highest M(x) - p.x, and the proven bound of that utility."""
    program = IntegerProgram()
    skip = architecture.skip_weight(parameters)
    gains = -prices if skip is None else skip - prices
    capacities = np.array(architecture.capacities, dtype=float)
    quantities = np.concatenate(
        [program.add_columns([gain], integer=True, upper=top) for gain, top in zip(gains, capacities, strict=True)]
    )
    add_published_network(program, architecture, parameters, quantities)
    solution = program.maximise(search)
    return np.rint(solution.columns[quantities]).astype(np.int64), solution.bound


def add_published_network(
    program: IntegerProgram, architecture: Architecture, parameters: Vector, quantities: np.ndarray, factor: float = 1.0
) -> None:
    """Add factor * w_out . z^K to the objective, with all that it depends on."""
    capacities = np.array(architecture.capacities, dtype=float)
    below, low, high = quantities, np.zeros(len(capacities)), np.ones(len(capacities))
    layers = list(architecture.layers(parameters))
    for k, layer in enumerate(layers):
        worth = factor * architecture.output_weight(parameters) if k == len(layers) - 1 else np.zeros(len(layer.bias))
        weight = np.where(layer.weight < 1e-8, 0.0, layer.weight)
        slopes = weight / capacities[:, None] if k == 0 else weight
        least, most = low @ weight + layer.bias, high @ weight + layer.bias
        columns = []
        for h, (bias, cutoff) in enumerate(zip(layer.bias.tolist(), layer.cutoff.tolist(), strict=True)):
            z = int(program.add_columns([worth[h]], integer=False, upper=cutoff)[0])
            add_unit(program, z, below, slopes[:, h], bias, cutoff, float(least[h]), float(most[h]))
            columns.append(z)
        below = np.array(columns)
        low, high = (np.minimum(layer.cutoff, np.maximum(0.0, sums)) for sums in (least, most))


def add_unit(
    program: IntegerProgram, z: int, below: np.ndarray, slopes: np.ndarray, bias: float, cutoff: float, least: float, most: float
) -> None:
    """z = min(t, max(0, y)) with y = slopes . below + bias between `least` and `most`."""
    terms, coefficients = [z, *below.tolist()], [1.0, *(-slopes).tolist()]  # z - (y - bias)

    def beside(column: int, coefficient: float) -> tuple[list[int], list[float]]:
        return [*terms, column], [*coefficients, coefficient]

    if most <= 0 or cutoff == 0:
        program.add_row([z], 1.0, upper=0.0)
    elif least >= cutoff:
        program.add_row([z], 1.0, lower=cutoff)
    elif least >= 0 and most <= cutoff:
        program.add_row(terms, coefficients, lower=bias, upper=bias)
    elif least >= 0:
        full = int(program.add_columns([0.0], integer=True)[0])
        program.add_row(terms, coefficients, upper=bias)
        program.add_row([z, full], [1.0, -(cutoff - least)], lower=least)
        program.add_row(*beside(full, most - cutoff), lower=bias)
    elif most <= cutoff:
        on = int(program.add_columns([0.0], integer=True)[0])
        program.add_row([z, on], [1.0, -most], upper=0.0)
        program.add_row(*beside(on, -least), upper=bias - least)
        program.add_row(terms, coefficients, lower=bias)
    else:
        on, full = program.add_columns([0.0, 0.0], integer=True).tolist()
        program.add_row([z, on], [1.0, -cutoff], upper=0.0)
        program.add_row(*beside(on, -least), upper=bias - least)
        program.add_row([z, full], [1.0, -cutoff], lower=0.0)
        program.add_row(*beside(full, most - cutoff), lower=bias)
        program.add_row([full, on], [1.0, -1.0], upper=0.0)
