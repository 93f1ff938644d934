"""Solvers of the independent set problem: ours and its peers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.instances import Members
from benchmarks.peers.annealing import annealed, dwave_sample
from benchmarks.peers.exact_engines import rows_of_ones, solve_with_cp_sat, solve_with_highs
from benchmarks.peers.solver import Answer, Clock, Solve, Solver, members_of, own_answer, repeated
from solvers.graphs.graph import Graph

# What an edge within the set costs in the quadratic form, where a member is worth 1: the default of dwave-networkx.
PENALTY = 2.0

# cliquematch takes a limit of 0 as none.
SHORTEST_LIMIT = 0.01

Groups = Callable[[Graph], list[list[int]]]
"""Groups of vertices of which at most one is in an independent set."""


def foresolve(graph: Graph) -> Solve:
    from solvers.graphs.independent_set import independent_set
    from solvers.graphs.vertex_problems import warm

    def solve(seed: int, limit: float) -> Answer:
        return own_answer(independent_set(graph, time_limit=limit, seed=seed), graph.num_vertices)

    warm()
    return solve


def edges_of(graph: Graph) -> list[list[int]]:
    return graph.edges.tolist()


def cliques_of(graph: Graph) -> list[list[int]]:
    """Return cliques that contain every edge: their linear relaxation is much the stronger."""
    from solvers.graphs.csr import build_csr
    from solvers.graphs.edge_cliques import edge_clique_cover

    return edge_clique_cover(build_csr(graph.num_vertices, graph.edges, np.ones(len(graph.edges), np.int64))) or []


def cp_sat_with(groups: Groups) -> Callable[[Graph], Solve]:
    def prepare(graph: Graph) -> Solve:
        from ortools.sat.python import cp_model

        def solve(seed: int, limit: float) -> Answer:
            clock = Clock(limit)
            model = cp_model.CpModel()
            chosen = [model.new_bool_var("") for _ in range(graph.num_vertices)]
            for group in groups(graph):
                model.add_at_most_one([chosen[vertex] for vertex in group])
            model.maximize(sum(chosen))
            return solve_with_cp_sat(model, chosen, seed, clock)

        groups(Graph(2, [[0, 1]]))
        return solve

    return prepare


def highs_with(groups: Groups) -> Callable[[Graph], Solve]:
    def prepare(graph: Graph) -> Solve:
        import highspy  # noqa: F401

        def solve(seed: int, limit: float) -> Answer:
            clock = Clock(limit)
            rows = rows_of_ones(groups(graph), -np.inf, 1.0)
            objective = np.ones(graph.num_vertices)
            return solve_with_highs(objective, rows, maximise=True, size=graph.num_vertices, seed=seed, clock=clock)

        groups(Graph(2, [[0, 1]]))
        return solve

    return prepare


def dwave_annealing(graph: Graph) -> Solve:
    import dimod
    import dwave.samplers  # noqa: F401

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        pairs = (graph.edges[:, 0], graph.edges[:, 1], np.full(len(graph.edges), PENALTY))
        model = dimod.BinaryQuadraticModel.from_numpy_vectors(-np.ones(graph.num_vertices), pairs, 0.0, dimod.BINARY)
        sample = annealed(dwave_sample(model), seed, clock).first.sample
        return Answer(repaired(graph, np.array([sample[vertex] for vertex in range(graph.num_vertices)], np.int8)))

    return solve


def repaired(graph: Graph, members: Members) -> Members:
    """Return an independent set of a set's members, those of few conflicts first, and of what then fits in."""
    rows = _adjacency(graph)
    order = np.lexsort((np.diff(rows.indptr), rows @ members, 1 - members))
    kept = np.zeros(graph.num_vertices, np.int8)
    for vertex in order:
        if not kept[rows.indices[rows.indptr[vertex] : rows.indptr[vertex + 1]]].any():
            kept[vertex] = 1
    return kept


def karlsruhe(method: str, **settings: Any) -> Callable[[Graph], Solve]:
    """Return a method of KaMIS or CHILS, as chszlablib calls it."""

    def prepare(graph: Graph) -> Solve:
        import chszlablib

        def solve(seed: int, limit: float) -> Answer:
            clock = Clock(limit)
            rows = _adjacency(graph)
            listed = chszlablib.Graph.from_csr(rows.indptr, rows.indices)
            run = getattr(chszlablib.IndependenceProblems, method)
            found = run(listed, time_limit=clock.left, seed=seed, **settings)
            return Answer(members_of(found.vertices, graph.num_vertices), found.size)

        return solve

    return prepare


def igraph(graph: Graph) -> Solve:
    """Return the search for the largest cliques of the complement, which ends where that for independent sets does not."""
    import igraph as library

    def solve(seed: int, limit: float) -> Answer:
        complement = library.Graph(graph.num_vertices, graph.edges.tolist()).complementer(loops=False)
        largest = complement.largest_cliques()[0]
        return Answer(members_of(largest, graph.num_vertices), len(largest), len(largest))

    return solve


def cliquematch(graph: Graph) -> Solve:
    import cliquematch as library

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        adjacent = np.eye(graph.num_vertices, dtype=bool)
        adjacent[graph.edges[:, 0], graph.edges[:, 1]] = adjacent[graph.edges[:, 1], graph.edges[:, 0]] = True
        complement = library.Graph.from_matrix(~adjacent)
        # Its vertices count from 1.
        clique = np.array(complement.get_max_clique(time_limit=max(SHORTEST_LIMIT, clock.left))) - 1
        return Answer(members_of(clique, graph.num_vertices), len(clique), len(clique) if complement.search_done else None)

    return solve


def clique_removal(graph: Graph) -> Solve:
    import networkx as nx

    def solve(seed: int, limit: float) -> Answer:
        found, cliques = nx.approximation.clique_removal(_networkx_of(graph))
        # The cliques share out the vertices, and each has at most one member.
        return Answer(members_of(found, graph.num_vertices), len(found), len(cliques))

    return solve


def maximal_sets(graph: Graph) -> Solve:
    import networkx as nx

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        listed = _networkx_of(graph)
        rng = np.random.default_rng(seed)

        def attempt() -> tuple[float, list[int]]:
            found = nx.maximal_independent_set(listed, seed=int(rng.integers(2**31)))
            return len(found), found

        size, found = repeated(attempt, clock.left)
        return Answer(members_of(found, graph.num_vertices), size)

    return solve


def _adjacency(graph: Graph) -> scipy.sparse.csr_array:
    ends = np.concatenate([graph.edges, graph.edges[:, ::-1]])
    shape = (graph.num_vertices, graph.num_vertices)
    return scipy.sparse.csr_array((np.ones(len(ends), np.int64), ends.T), shape=shape)


def _networkx_of(graph: Graph) -> Any:
    import networkx as nx

    listed = nx.Graph()
    listed.add_nodes_from(range(graph.num_vertices))
    listed.add_edges_from(graph.edges.tolist())
    return listed


SOLVERS = {
    "foresolve": Solver(foresolve, "foresolve", is_random=True),
    "redumis": Solver(karlsruhe("redumis"), "chszlablib", is_random=True),
    "online-mis": Solver(karlsruhe("online_mis"), "chszlablib", is_random=True),
    "chils": Solver(karlsruhe("chils", num_concurrent=1), "chszlablib", is_random=True),
    "branch-reduce": Solver(karlsruhe("branch_reduce"), "chszlablib"),
    "dwave-annealing": Solver(dwave_annealing, "dwave-samplers", is_random=True),
    "cp-sat": Solver(cp_sat_with(edges_of), "ortools"),
    "cp-sat-cliques": Solver(cp_sat_with(cliques_of), "ortools"),
    "highs": Solver(highs_with(edges_of), "highspy"),
    "highs-cliques": Solver(highs_with(cliques_of), "highspy"),
    "cliquematch": Solver(cliquematch, "cliquematch"),
    # These two look at no clock and show no set before their last.
    "igraph": Solver(igraph, "igraph", looks_at_clock=False),
    "networkx": Solver(clique_removal, "networkx", looks_at_clock=False, fallback="networkx-random"),
    "networkx-random": Solver(maximal_sets, "networkx"),
}
