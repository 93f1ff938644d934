"""One run of one MaxCut solver in a process of its own: what :mod:`benchmarks.max_cut_peers` starts.

Imports and compiles first, writes `ready`, waits for a line, and then has its time: from the graph in memory to a cut. The answer is
one line of JSON. Models are built within the time, by everybody.

    python -m benchmarks.max_cut_solvers foresolve G1 0 10
"""

from __future__ import annotations

import gc
import json
import math
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from benchmarks.gset import load, weights_of
from solvers.graphs.graph import Graph

# Sweeps of the first run of dwave-samplers' annealing; each later one has twice as many, the last what still fits.
FIRST_SWEEPS = 500
SHARE_THAT_FITS = 0.97

# Its default of a million restarts could be used up on a small graph.
MOST_RESTARTS = 2**31 - 1


class Answer(NamedTuple):
    """A cut, its value as the solver counts it, and an upper bound, if the solver proves one."""

    sides: np.ndarray | None
    claimed: float | None
    bound: float | None = None


Solve = Callable[[int, float], Answer]


def main() -> None:
    solver, name, seed, limit = sys.argv[1:]
    solve = PREPARED[solver](load(name).graph)
    gc.collect()
    print("ready", flush=True)
    sys.stdin.readline()
    started, started_cpu = time.monotonic(), time.process_time()
    answer = solve(int(seed), float(limit))
    seconds, cpu_seconds = time.monotonic() - started, time.process_time() - started_cpu
    line = {
        "sides": None if answer.sides is None else "".join(map(str, answer.sides.tolist())),
        "claimed": answer.claimed,
        "bound": answer.bound,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
    }
    print(json.dumps(line), flush=True)


def foresolve(graph: Graph) -> Solve:
    from solvers.graphs.max_cut import max_cut, warm

    def solve(seed: int, limit: float) -> Answer:
        result = max_cut(graph, time_limit=limit, seed=seed)
        return Answer(np.array(result.solution, np.int8), result.value, result.bound)

    warm()
    return solve


def dwave_tabu(graph: Graph) -> Solve:
    from dwave.samplers import TabuSampler

    ising = _ising_of(graph)

    def solve(seed: int, limit: float) -> Answer:
        until = time.monotonic() + limit
        model = ising()
        left = max(1, int(1000 * (until - time.monotonic())))
        found = TabuSampler().sample(model, num_reads=1, timeout=left, num_restarts=MOST_RESTARTS, seed=seed)
        return _spins_answer(graph, found)

    return solve


def dwave_annealing(graph: Graph) -> Solve:
    from dwave.samplers import SimulatedAnnealingSampler

    ising = _ising_of(graph)

    def solve(seed: int, limit: float) -> Answer:
        until = time.monotonic() + limit
        model = ising()
        rng = np.random.default_rng(seed)
        best: Any = None
        sweeps = FIRST_SWEEPS
        while sweeps >= 1:
            started = time.monotonic()
            found = SimulatedAnnealingSampler().sample(model, num_reads=1, num_sweeps=sweeps, seed=int(rng.integers(2**31)))
            if best is None or found.first.energy < best.first.energy:
                best = found
            now = time.monotonic()
            sweeps = min(2 * sweeps, math.floor(SHARE_THAT_FITS * (until - now) * sweeps / (now - started)))
        return _spins_answer(graph, best)

    return solve


def cp_sat(graph: Graph) -> Solve:
    from ortools.sat.python import cp_model

    def solve(seed: int, limit: float) -> Answer:
        until = time.monotonic() + limit
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
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = seed
        solver.parameters.max_time_in_seconds = max(0.0, until - time.monotonic())
        status = solver.solve(model)
        if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
            return Answer(None, None, None)
        found = np.array([solver.value(side) for side in sides], np.int8)
        return Answer(found, solver.objective_value, solver.best_objective_bound)

    return solve


def networkx_one_exchange(graph: Graph) -> Solve:
    import networkx as nx

    def solve(seed: int, limit: float) -> Answer:
        value, (side, _) = nx.approximation.one_exchange(_networkx_of(graph), seed=seed, weight="weight")
        return Answer(_indicator(graph, side), value)

    return solve


def networkx_random(graph: Graph) -> Solve:
    import networkx as nx

    def solve(seed: int, limit: float) -> Answer:
        until = time.monotonic() + limit
        listed = _networkx_of(graph)
        rng = np.random.default_rng(seed)
        best: tuple[float, Any] = (-math.inf, None)
        while best[1] is None or time.monotonic() < until:
            value, (side, _) = nx.approximation.randomized_partitioning(listed, seed=int(rng.integers(2**31)), weight="weight")
            if value > best[0]:
                best = value, side
        return Answer(_indicator(graph, best[1]), best[0])

    return solve


def _ising_of(graph: Graph) -> Callable[[], Any]:
    """Return the maker of the Ising model whose energy is the total weight less twice the cut."""
    import dimod

    def model() -> Any:
        pairs = (graph.edges[:, 0], graph.edges[:, 1], weights_of(graph).astype(np.float64))
        return dimod.BinaryQuadraticModel.from_numpy_vectors(np.zeros(graph.num_vertices), pairs, 0.0, dimod.SPIN)

    return model


def _spins_answer(graph: Graph, found: Any) -> Answer:
    sample, energy = found.first.sample, found.first.energy
    sides = np.array([sample[vertex] > 0 for vertex in range(graph.num_vertices)], np.int8)
    return Answer(sides, (weights_of(graph).sum() - energy) / 2)


def _networkx_of(graph: Graph) -> Any:
    import networkx as nx

    listed = nx.Graph()
    listed.add_nodes_from(range(graph.num_vertices))
    listed.add_weighted_edges_from(zip(*graph.edges.T.tolist(), weights_of(graph).tolist(), strict=True))
    return listed


def _indicator(graph: Graph, side: set[int]) -> np.ndarray:
    sides = np.zeros(graph.num_vertices, np.int8)
    sides[list(side)] = 1
    return sides


# Each imports what it needs, compiles, and returns the run itself.
PREPARED: dict[str, Callable[[Graph], Solve]] = {
    "foresolve": foresolve,
    "dwave-tabu": dwave_tabu,
    "dwave-annealing": dwave_annealing,
    "cp-sat": cp_sat,
    "networkx-one-exchange": networkx_one_exchange,
    "networkx-random": networkx_random,
}


if __name__ == "__main__":
    main()
