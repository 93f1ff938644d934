r"""A network in a mixed-integer program that maximises it.

A unit's value z = min(t, max(0, y)) only ever raises the objective, for all weights above it are non-negative. So its upper side,
:math:`z \le t` and :math:`z \le \max(0, y)`, would be enough. The lower side of units that bend downwards only would cost a binary column
and is left out; that of the others is kept, for branching on whether a unit is saturated makes HiGHS several times faster. With
L <= y <= U, a unit's sums for the empty and the greatest bundle, the columns are z, a = [the unit is on] if L < 0, and
b = [it is saturated] if L < 0 and t < U.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.domains.integer_program import IntegerProgram
from auctions.networks.architecture import Architecture, Vector

LEAST_WEIGHT = 1e-8
"""Smaller weights are left out: with 4e-11 among them HiGHS has been seen to run for ever. They cannot move a value by 1e-6."""


class UnitColumns(NamedTuple):
    """Where the units of a layer are in a program.

    Attributes
    ----------
    values : int64 array
        Columns of z.
    on, full : int64 array
        Columns of a and b; -1 where a unit needs none.
    """

    values: NDArray[np.int64]
    on: NDArray[np.int64]
    full: NDArray[np.int64]


def add_network(
    program: IntegerProgram,
    architecture: Architecture,
    parameters: Vector,
    quantities: NDArray[np.int64],
    most: Bundles,
    factor: float = 1.0,
) -> list[UnitColumns]:
    """Add factor * w_out . z^K to the objective, with all that it depends on; return where the units are.

    Parameters
    ----------
    program : IntegerProgram
    architecture, parameters
    quantities : int64 array of shape (m,)
        Columns of the bundle. Their own coefficients in the objective must hold the skip connection already.
    most : int64 array of shape (m,)
        The greatest bundle that they may form.
    factor : float
    """
    capacities = np.asarray(architecture.capacities, dtype=np.float64)
    layers = list(architecture.layers(parameters))
    below, low, high = quantities, np.zeros(len(capacities)), most / capacities
    columns: list[UnitColumns] = []
    for k, layer in enumerate(layers):
        worth = factor * architecture.output_weight(parameters) if k == len(layers) - 1 else np.zeros(len(layer.bias))
        weight = np.where(layer.weight < LEAST_WEIGHT, 0.0, layer.weight)
        least, greatest = low @ weight + layer.bias, high @ weight + layer.bias
        ceiling = np.minimum(layer.cutoff, np.maximum(0.0, greatest))
        slopes = weight / capacities[:, None] if k == 0 else weight
        values = np.concatenate(
            [program.add_columns([gain], integer=False, upper=top) for gain, top in zip(worth, ceiling.tolist(), strict=True)]
        )
        units = UnitColumns(values, np.full(len(values), -1), np.full(len(values), -1))
        for h in np.flatnonzero((ceiling > 0) & (least < layer.cutoff)).tolist():
            inputs = np.flatnonzero(slopes[:, h])
            terms, coefficients = np.append(below[inputs], values[h]), np.append(-slopes[inputs, h], 1.0)  # z - y + bias
            _add_unit(
                program,
                units,
                h,
                terms,
                coefficients,
                float(layer.bias[h]),
                float(layer.cutoff[h]),
                float(least[h]),
                float(greatest[h]),
            )
        columns.append(units)
        below, low, high = values, np.minimum(layer.cutoff, np.maximum(0.0, least)), ceiling
    return columns


def _add_unit(
    program: IntegerProgram,
    units: UnitColumns,
    h: int,
    terms: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    bias: float,
    cutoff: float,
    least: float,
    greatest: float,
) -> None:
    z = units.values[h]
    if least >= 0:
        program.add_row(terms, coefficients, lower=bias if greatest <= cutoff else -np.inf, upper=bias)
        return
    units.on[h] = on = program.add_columns([0.0], integer=True)[0]
    program.add_row([z, on], [1.0, -min(cutoff, greatest)], upper=0.0)
    program.add_row(np.append(terms, on), np.append(coefficients, -least), upper=bias - least)
    if greatest <= cutoff:
        program.add_row(terms, coefficients, lower=bias)
        return
    units.full[h] = full = program.add_columns([0.0], integer=True)[0]
    program.add_row([z, full], [1.0, -cutoff], lower=0.0)
    program.add_row(np.append(terms, full), np.append(coefficients, greatest - cutoff), lower=bias)
    program.add_row([full, on], [1.0, -1.0], upper=0.0)


def forbid(program: IntegerProgram, quantities: NDArray[np.int64], bundle: Bundles, most: Bundles) -> None:
    """Forbid one bundle: some good must be at least one unit above it, or one below."""
    taken = bundle > 0
    if (most <= 1).all():
        free = ~taken & (most > 0)
        program.add_row(
            np.concatenate((quantities[taken], quantities[free])),
            np.concatenate((np.ones(taken.sum()), -np.ones(free.sum()))),
            upper=float(taken.sum() - 1),
        )
        return
    marks: list[int] = []
    for good, (held, top) in enumerate(zip(bundle.tolist(), most.tolist(), strict=True)):
        if held < top:
            above = program.add_columns([0.0], integer=True)[0]
            program.add_row([quantities[good], above], [1.0, -(held + 1.0)], lower=0.0)
            marks.append(above)
        if held > 0:
            under = program.add_columns([0.0], integer=True)[0]
            program.add_row([quantities[good], under], [1.0, top - held + 1.0], upper=float(top))
            marks.append(under)
    program.add_row(marks, 1.0, lower=1.0)


def point_of(
    program: IntegerProgram,
    architecture: Architecture,
    parameters: Vector,
    quantities: NDArray[np.int64],
    columns: list[UnitColumns],
    bundle: Bundles,
) -> NDArray[np.float64]:
    """Return the point of a program with nothing forbidden that a bundle stands for."""
    point = np.zeros(program.n_columns)
    point[quantities] = bundle
    below = bundle / np.asarray(architecture.capacities)
    for layer, units in zip(architecture.layers(parameters), columns, strict=True):
        sums = below @ np.where(layer.weight < LEAST_WEIGHT, 0.0, layer.weight) + layer.bias
        below = np.minimum(layer.cutoff, np.maximum(0.0, sums))
        point[units.values] = below
        point[units.on[units.on >= 0]] = (sums > 0)[units.on >= 0]
        point[units.full[units.full >= 0]] = (sums >= layer.cutoff)[units.full >= 0]
    return point
