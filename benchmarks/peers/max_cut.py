"""Solvers of MaxCut: ours and its peers."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from benchmarks.instances import Members, cut_value, weights_of
from benchmarks.peers.annealing import annealed, dwave_sample, openjij_sample
from benchmarks.peers.exact_engines import Rows, solve_with_cp_sat, solve_with_highs
from benchmarks.peers.solver import Answer, Clock, Solve, Solver, members_of, repeated
from solvers.graphs.graph import Graph

# Its default of a million restarts could be used up on a small graph.
MOST_RESTARTS = 2**31 - 1

# At most this share of the time has one run of simulated bifurcation, so that both of its variants have theirs.
SHARE_OF_BIFURCATION = 0.45


def foresolve(graph: Graph) -> Solve:
    from solvers.graphs.max_cut import max_cut, warm

    def solve(seed: int, limit: float) -> Answer:
        result = max_cut(graph, time_limit=limit, seed=seed)
        return Answer(np.array(result.solution, np.int8), result.value, result.bound)

    warm()
    return solve


def dwave_tabu(graph: Graph) -> Solve:
    import dimod  # noqa: F401
    from dwave.samplers import TabuSampler

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        model = _ising(graph)
        left = max(1, int(1000 * clock.left))
        found = TabuSampler().sample(model, num_reads=1, timeout=left, num_restarts=MOST_RESTARTS, seed=seed)
        return _spins_answer(graph, found)

    return solve


def dwave_annealing(graph: Graph) -> Solve:
    import dwave.samplers  # noqa: F401

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        return _spins_answer(graph, annealed(dwave_sample(_ising(graph)), seed, clock))

    return solve


def openjij_annealing(graph: Graph) -> Solve:
    import openjij  # noqa: F401

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        return _spins_answer(graph, annealed(openjij_sample(_ising(graph)), seed, clock))

    return solve


def simulated_bifurcation(graph: Graph) -> Solve:
    import simulated_bifurcation
    import torch

    torch.set_num_threads(1)

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        torch.manual_seed(seed)
        couplings = torch.zeros((graph.num_vertices, graph.num_vertices))
        first, second = torch.from_numpy(graph.edges.astype(np.int64)).T
        couplings[first, second] = torch.from_numpy(weights_of(graph)).float()
        # Neither variant is better on all graphs.
        modes = itertools.cycle(("ballistic", "discrete"))
        timeout = SHARE_OF_BIFURCATION * clock.left

        def attempt() -> tuple[float, Members]:
            spins, _ = simulated_bifurcation.minimize(couplings, domain="spin", mode=next(modes), timeout=timeout, verbose=False)
            sides = (spins.numpy() > 0).astype(np.int8)
            return cut_value(graph, sides), sides

        value, sides = repeated(attempt, clock.left)
        return Answer(sides, value)

    return solve


def cp_sat(graph: Graph) -> Solve:
    from ortools.sat.python import cp_model

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        model = cp_model.CpModel()
        sides = [model.new_bool_var("") for _ in range(graph.num_vertices)]
        model.add(sides[0] == 0)
        separated = []
        for (u, v), weight in zip(graph.edges.tolist(), weights_of(graph).tolist(), strict=True):
            is_cut = model.new_bool_var("")
            separated.append(is_cut)
            if weight >= 0:
                model.add_bool_or(~is_cut, sides[u], sides[v])
                model.add_bool_or(~is_cut, ~sides[u], ~sides[v])
            else:
                model.add_bool_or(is_cut, ~sides[u], sides[v])
                model.add_bool_or(is_cut, sides[u], ~sides[v])
        model.maximize(cp_model.LinearExpr.weighted_sum(separated, weights_of(graph).tolist()))
        return solve_with_cp_sat(model, sides, seed, clock)

    return solve


def highs(graph: Graph) -> Solve:
    import highspy  # noqa: F401

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        return solve_with_highs(*_mixed_integer_cut(graph), maximise=True, size=graph.num_vertices, seed=seed, clock=clock)

    return solve


def one_exchange(graph: Graph) -> Solve:
    import networkx as nx

    def solve(seed: int, limit: float) -> Answer:
        value, (side, _) = nx.approximation.one_exchange(_networkx_of(graph), seed=seed, weight="weight")
        return Answer(members_of(side, graph.num_vertices), value)

    return solve


def randomized_partitioning(graph: Graph) -> Solve:
    import networkx as nx

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        listed = _networkx_of(graph)
        rng = np.random.default_rng(seed)

        def attempt() -> tuple[float, set[int]]:
            value, (side, _) = nx.approximation.randomized_partitioning(listed, seed=int(rng.integers(2**31)), weight="weight")
            return value, side

        value, side = repeated(attempt, clock.left)
        return Answer(members_of(side, graph.num_vertices), value)

    return solve


def _ising(graph: Graph) -> Any:
    """Return the Ising model whose energy is the total weight less twice the cut."""
    import dimod

    pairs = (graph.edges[:, 0], graph.edges[:, 1], weights_of(graph).astype(np.float64))
    return dimod.BinaryQuadraticModel.from_numpy_vectors(np.zeros(graph.num_vertices), pairs, 0.0, dimod.SPIN)


def _spins_answer(graph: Graph, found: Any) -> Answer:
    sample, energy = found.first.sample, found.first.energy
    sides = np.array([sample[vertex] > 0 for vertex in range(graph.num_vertices)], np.int8)
    return Answer(sides, (weights_of(graph).sum() - energy) / 2)


def _mixed_integer_cut(graph: Graph) -> tuple[np.ndarray, Rows]:
    """Return objective and rows: x per vertex, y per edge, y <= x_u + x_v and y <= 2 - x_u - x_v, or >= for a negative weight."""
    weights, count = weights_of(graph), len(graph.edges)
    cut = graph.num_vertices + np.arange(count)
    first, second = graph.edges.astype(np.int64).T
    is_positive, ones = weights >= 0, np.ones(count)
    # Weight >= 0: y - x_u - x_v <= 0 and y + x_u + x_v <= 2. Below: y - x_u + x_v >= 0 and y + x_u - x_v >= 0.
    signs = np.where(is_positive, -1.0, 1.0)
    coefficients = np.stack([np.stack([ones, -ones, signs]), np.stack([ones, ones, -signs])])
    upper = np.where(is_positive, np.array([[0.0], [2.0]]), np.inf)
    lower = np.where(is_positive, -np.inf, np.zeros((2, 1)))
    columns = np.broadcast_to(np.stack([cut, first, second]), (2, 3, count))
    rows = Rows(
        lower.ravel(),
        upper.ravel(),
        3 * np.arange(2 * count),
        columns.transpose(0, 2, 1).ravel().astype(np.int32),
        coefficients.transpose(0, 2, 1).ravel(),
    )
    return np.concatenate([np.zeros(graph.num_vertices), weights]), rows


def _networkx_of(graph: Graph) -> Any:
    import networkx as nx

    listed = nx.Graph()
    listed.add_nodes_from(range(graph.num_vertices))
    listed.add_weighted_edges_from(zip(*graph.edges.T.tolist(), weights_of(graph).tolist(), strict=True))
    return listed


SOLVERS = {
    "foresolve": Solver(foresolve, "foresolve", is_random=True),
    "dwave-annealing": Solver(dwave_annealing, "dwave-samplers", is_random=True),
    "dwave-tabu": Solver(dwave_tabu, "dwave-samplers", is_random=True),
    "openjij-annealing": Solver(openjij_annealing, "openjij", is_random=True),
    "simulated-bifurcation": Solver(simulated_bifurcation, "simulated-bifurcation", is_random=True),
    "cp-sat": Solver(cp_sat, "ortools"),
    "highs": Solver(highs, "highspy"),
    # It looks at no clock and shows no cut before its last.
    "networkx": Solver(one_exchange, "networkx", looks_at_clock=False, fallback="networkx-random"),
    "networkx-random": Solver(randomized_partitioning, "networkx"),
}
