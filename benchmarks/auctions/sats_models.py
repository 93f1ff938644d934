"""The winner determination models of SATS, built for HiGHS: what one would solve without a method for each domain.

The formulations are those of SATS's value models for a general integer program, with the piecewise linear device and the big M of
its library; numbers are doubles and logarithms unrounded. Each function returns the welfare found, the bound, and what stopped
the search.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from auctions.domains import Gsvm, Instance, Lsvm, Mrvm, Srvm
from auctions.domains.gsvm_demand import synergy
from auctions.domains.integer_program import IntegerProgram
from auctions.domains.lsvm_table import around
from auctions.outcome import SearchLimits

Found = tuple[float, float, str | None]

# SATS caps numbers at this.
BIG = 536_870_910.0


def solve(instance: Instance, time_limit: float) -> Found:
    """Solve an instance of any of the four domains by SATS's own model."""
    models = {"GSVM": gsvm_model, "LSVM": lsvm_model, "SRVM": srvm_model, "MRVM": mrvm_model}
    return models[instance.domain](instance, time_limit)


def gsvm_model(instance: Gsvm, time_limit: float) -> Found:
    """A binary per bidder, licence and number of licences."""
    program = IntegerProgram()
    supply = defaultdict(list)
    for bidder in range(instance.n_bidders):
        goods = instance.candidates(bidder)
        most = len(goods)
        columns = np.array(
            [program.add_columns(synergy(np.arange(1, most + 1)) * instance.worth(bidder)[good], integer=True) for good in goods]
        )
        for row, good in enumerate(goods):
            supply[good] += columns[row].tolist()
            others = np.ones(columns.shape)
            others[row] -= np.arange(1, most + 1)
            program.add_row(columns, others.ravel(), lower=0.0)
        program.add_row(columns, 1.0, upper=float(instance.most_items(bidder)))
    for columns in supply.values():
        program.add_row(columns, 1.0, upper=1.0)
    return _solved(program, time_limit)


def lsvm_model(instance: Lsvm, time_limit: float) -> Found:
    """Binaries for "holds j in a component of at least t" and "holds the ends of a path of length c"."""
    program = IntegerProgram()
    n = instance.n_goods
    lengths = path_lengths(instance.rows, instance.columns)
    beside = [around(cell, instance.rows, instance.columns) for cell in range(n)]
    supply = defaultdict(list)
    for bidder in range(instance.n_bidders):
        cells = instance.cells(bidder)
        worth = dict(zip(cells, instance.worth(bidder).tolist(), strict=True))
        owner = instance.bidders[bidder]
        factor = [1 + owner.a / (100 * (1 + math.exp(owner.b - size))) for size in range(n + 1)]
        gains = np.array(factor[1:])
        # Of sizes t only one column of a cell is set: it says how large the component is at least.
        held = {cell: program.add_columns(gains * worth.get(cell, 0.0), integer=True).tolist() for cell in range(n)}
        paths = {
            (pair, length): program.add_columns([0.0], integer=True)[0] for pair, several in lengths.items() for length in several
        }
        for cell in range(n):
            if cell in worth:
                supply[cell] += held[cell]
            else:
                program.add_row(held[cell], 1.0, upper=0.0)
        for pair, several in lengths.items():
            of_pair = [paths[pair, length] for length in several]
            program.add_row(of_pair, 1.0, upper=1.0)
            one, other = pair
            ends = held[one] + held[other]
            program.add_row([*of_pair, *ends], [*[2.0] * len(of_pair), *[-1.0] * len(ends)], upper=0.0)
            near, far = (one, other) if len(beside[one]) <= len(beside[other]) else (other, one)
            for length in several:
                if length < 2:
                    continue
                steps = [
                    paths[key, length - 1]
                    for step in beside[near]
                    if step != far and (key := (min(step, far), max(step, far)), length - 1) in paths
                ]
                program.add_row([paths[pair, length], *steps], [1.0, *[-1.0] * len(steps)], upper=0.0)
        for cell in range(n):
            reached = [paths[pair, length] for pair, several in lengths.items() if cell in pair for length in several]
            program.add_row([*held[cell], *reached], [*np.arange(1.0, n + 1), *[-1.0] * len(reached)], upper=1.0)
    for columns in supply.values():
        program.add_row(columns, 1.0, upper=1.0)
    return _solved(program, time_limit)


def path_lengths(rows: int, columns: int) -> dict[tuple[int, int], list[int]]:
    """Return the lengths of the chordless paths between any two cells."""
    found: dict[tuple[int, int], set[int]] = defaultdict(set)
    beside = [set(around(cell, rows, columns)) for cell in range(rows * columns)]

    def extend(path: list[int]) -> None:
        found[min(path[0], path[-1]), max(path[0], path[-1])].add(len(path) - 1)
        for step in beside[path[-1]]:
            if step not in path and not beside[step] & set(path[:-1]):
                extend([*path, step])

    for cell in range(rows * columns):
        extend([cell])
    return {pair: sorted(several) for pair, several in found.items() if pair[0] != pair[1]}


def srvm_model(instance: Srvm, time_limit: float) -> Found:
    """Integer quantities, piecewise linear band values, and a big M for the factor between bands."""
    program = IntegerProgram()
    supply = defaultdict(list)
    n_bands = instance.n_goods
    for bidder in range(instance.n_bidders):
        owner = instance.bidders[bidder]
        (several,) = program.add_columns([0.0], integer=True).tolist()
        has = []
        for band, quantity in enumerate(instance.capacities.tolist()):
            threshold = owner.threshold[band]
            (units,) = program.add_columns([0.0], integer=True, upper=float(quantity)).tolist()
            (some,) = program.add_columns([0.0], integer=True).tolist()
            program.add_row([units, some], [1.0 / quantity, -1.0], upper=0.0)
            program.add_row([some, units], [1.0, -1.0], upper=0.0)
            supply[band].append(units)
            has.append(some)
            used = piecewise(program, units, [(0, 0.0), (threshold, float(threshold)), (quantity, float(threshold))])
            shares = [(n, (min(n, threshold) - 1) / min(n, threshold)) for n in range(1, threshold + 1)]
            share = piecewise(program, units, [(0, 0.0), *shares, (quantity, (threshold - 1) / threshold)])
            logs = [(n, math.log(n - threshold + 1)) for n in range(threshold + 1, quantity + 1)]
            beyond = piecewise(program, units, [(0, 0.0), (threshold, 0.0), *logs])
            base = owner.base_values[band]
            (multiplied,) = program.add_columns([owner.interband_synergy], integer=False, upper=BIG).tolist()
            (alone,) = program.add_columns([1.0], integer=False, upper=BIG).tolist()
            program.add_row([multiplied, several], [1.0, -BIG], upper=0.0)
            program.add_row(
                [multiplied, alone, used, share, beyond],
                [1.0, 1.0, -base, -base * owner.intraband_synergy[band], -base],
                lower=0.0,
                upper=0.0,
            )
        program.add_row([*has, several], [*[1.0 / n_bands] * n_bands, -1.0], upper=1.0 / 3.0)
        program.add_row([several, *has], [2.0, *[-1.0] * n_bands], upper=0.0)
    for band, columns in supply.items():
        program.add_row(columns, 1.0, upper=float(instance.capacities[band]))
    return _solved(program, time_limit)


def mrvm_model(instance: Mrvm, time_limit: float) -> Found:
    """Integer quantities, piecewise linear capacities and values, and a big M for the factor of national bidders."""
    program = IntegerProgram()
    world = instance.world
    n_regions, n_bands = len(world.regions), len(world.bands)
    everything = instance.capacities[None]
    scale = max(float(instance.values(bidder, everything)[0]) for bidder in range(instance.n_bidders)) / 1e4
    largest = 1e4
    supply = defaultdict(list)
    for bidder in range(instance.n_bidders):
        owner = instance.bidders[bidder]
        weights = instance.region_weights(bidder)
        omegas = []
        held = []
        for region in range(n_regions):
            customers = owner.beta[region] * world.regions[region].population
            capacities = []
            of_region = []
            for band, lots in enumerate(world.lots):
                (units,) = program.add_columns([0.0], integer=True, upper=float(lots)).tolist()
                supply[region * n_bands + band].append(units)
                of_region.append(units)
                points = list(enumerate(world.band_capacities[band].tolist()))
                capacities.append(piecewise(program, units, points))
            held.append(of_region)
            full = world.full_capacity
            (capacity,) = program.add_columns([0.0], integer=False, upper=full * (1 + 1e-9)).tolist()
            program.add_row([capacity, *capacities], [1.0, *[-1.0] * n_bands], lower=0.0, upper=0.0)
            places = [0.0, owner.z_low[region] * customers, owner.z_high[region] * customers, full * (1 + 1e-9)]
            heights = [0.0, 0.27 * owner.alpha, 0.73 * owner.alpha, owner.alpha]
            per_customer = piecewise(program, capacity, list(zip(places, heights, strict=True)))
            gain = 0.0 if instance.is_national(bidder) else float(weights[region])
            (omega,) = program.add_columns([gain], integer=False, upper=largest).tolist()
            program.add_row([omega, per_customer], [1.0, -customers / scale], lower=0.0, upper=0.0)
            omegas.append(omega)
        if not instance.is_national(bidder):
            continue
        levels = instance.levels(bidder).tolist()
        covered = program.add_columns(np.zeros(n_regions), integer=True).tolist()
        for region in range(n_regions):
            program.add_row([covered[region], *held[region]], [1.0, *[-1.0] * n_bands], upper=0.0)
            total = float(sum(world.lots))
            program.add_row([*held[region], covered[region]], [*[1.0] * n_bands, -total], upper=0.0)
        for level, factor in enumerate(levels):
            (chosen,) = program.add_columns([0.0], integer=True).tolist()
            (gained,) = program.add_columns([factor], integer=False, upper=largest).tolist()
            count = float(n_regions)
            if level < len(levels) - 1:
                program.add_row([*covered, chosen], [*[1.0] * n_regions, count], upper=2 * count - level)
                program.add_row([*covered, chosen], [*[1.0] * n_regions, -count], lower=-float(level))
            else:
                program.add_row([*covered, chosen], [*[1.0] * n_regions, count], upper=2 * count - level)
                program.add_row([*covered, chosen], [*[1.0] * n_regions, count - 1], lower=count - 1)
            program.add_row([gained, chosen], [1.0, -largest], upper=0.0)
            program.add_row([gained, *omegas], [1.0, *[-1.0] * n_regions], upper=0.0)
    for good, columns in supply.items():
        program.add_row(columns, 1.0, upper=float(instance.capacities[good]))
    welfare, bound, stopped_by = _solved(program, time_limit)
    return scale * welfare, scale * bound, stopped_by


def piecewise(program: IntegerProgram, x: int, points: list[tuple[float, float]]) -> int:
    """Add y = f(x) for the piecewise linear f through the points, with a binary and a part of x per piece; return y's column."""
    points = [point for place, point in enumerate(points) if place == 0 or point[0] > points[place - 1][0]]
    (y,) = program.add_columns([0.0], integer=False, upper=max(height for _, height in points)).tolist()
    pieces = program.add_columns(np.zeros(len(points) - 1), integer=True).tolist()
    parts = program.add_columns(np.zeros(len(points) - 1), integer=False, upper=points[-1][0]).tolist()
    coefficients = {y: 1.0}
    for piece, part, (x0, y0), (x1, y1) in zip(pieces, parts, points, points[1:], strict=False):
        program.add_row([part, piece], [1.0, -x0], lower=0.0)
        program.add_row([part, piece], [1.0, -x1], upper=0.0)
        slope = (y1 - y0) / (x1 - x0)
        coefficients[piece] = slope * x0 - y0
        coefficients[part] = -slope
    program.add_row(list(coefficients), list(coefficients.values()), lower=0.0, upper=0.0)
    program.add_row(pieces, 1.0, lower=1.0, upper=1.0)
    program.add_row([*parts, x], [*[1.0] * len(parts), -1.0], lower=0.0, upper=0.0)
    return y


def _solved(program: IntegerProgram, time_limit: float) -> Found:
    found = program.maximise(SearchLimits(gap=1e-6, time_limit=time_limit))
    welfare = 0.0 if found.columns is None else program.objective_of(found.columns)
    return welfare, found.bound, found.stopped_by
