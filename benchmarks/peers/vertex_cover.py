"""Solvers of the vertex cover problem: ours, and those peers that are asked for covers; the others are asked for independent sets."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.exact_engines import rows_of_ones, solve_with_cp_sat, solve_with_highs
from benchmarks.peers.solver import Answer, Clock, Solve, Solver, members_of, own_answer
from solvers.graphs.graph import Graph


def foresolve(graph: Graph) -> Solve:
    from solvers.graphs.vertex_cover import vertex_cover
    from solvers.graphs.vertex_problems import warm

    def solve(seed: int, limit: float) -> Answer:
        return own_answer(vertex_cover(graph, time_limit=limit, seed=seed), graph.num_vertices)

    warm()
    return solve


def cp_sat(graph: Graph) -> Solve:
    from ortools.sat.python import cp_model

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        model = cp_model.CpModel()
        chosen = [model.new_bool_var("") for _ in range(graph.num_vertices)]
        for u, v in graph.edges.tolist():
            model.add_bool_or(chosen[u], chosen[v])
        model.minimize(sum(chosen))
        return solve_with_cp_sat(model, chosen, seed, clock)

    return solve


def highs(graph: Graph) -> Solve:
    import highspy  # noqa: F401

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        rows = rows_of_ones(graph.edges.tolist(), 1.0, np.inf)
        objective = np.ones(graph.num_vertices)
        return solve_with_highs(objective, rows, maximise=False, size=graph.num_vertices, seed=seed, clock=clock)

    return solve


def networkx(graph: Graph) -> Solve:
    import networkx as nx

    def solve(seed: int, limit: float) -> Answer:
        listed = nx.Graph(graph.edges.tolist())
        found = nx.approximation.min_weighted_vertex_cover(listed)
        # It is at most twice as large as a smallest one.
        return Answer(members_of(found, graph.num_vertices), len(found), len(found) / 2)

    return solve


SOLVERS = {
    "foresolve": Solver(foresolve, "foresolve", is_random=True),
    "cp-sat": Solver(cp_sat, "ortools"),
    "highs": Solver(highs, "highspy"),
    "networkx": Solver(networkx, "networkx", looks_at_clock=False),
}
