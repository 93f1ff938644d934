"""Every solver of the comparison is asked about the instance that is meant."""

import itertools

import numpy as np
import pytest

from benchmarks.instances import MAXIMISED, Instance, NoSolution
from benchmarks.peers.catalogue import SOLVERS
from benchmarks.peers.independent_set import repaired
from solvers.graphs.graph import Graph
from solvers.graphs.set_system import SetSystem

MODULES = {
    "chszlablib": "chszlablib",
    "cliquematch": "cliquematch",
    "dwave-samplers": "dwave.samplers",
    "igraph": "igraph",
    "openjij": "openjij",
    "SetCoverPy": "SetCoverPy",
    "simulated-bifurcation": "simulated_bifurcation",
}

# These stop at what they find first, whatever it is worth.
ONCE_OVER = {"networkx", "networkx-random", "greedy", "ortools-greedy", "ortools-steepest"}

EVERY_SOLVER = [(problem, name) for problem, solvers in SOLVERS.items() for name in solvers]


def small(problem):
    rng = np.random.default_rng(3)
    if problem == "set-cover":
        sets = [rng.choice(7, 3, replace=False).tolist() for _ in range(9)]
        content = SetSystem([*sets, list(range(7))], costs=[*rng.integers(1, 5, 9).tolist(), 20])
        size = content.num_sets
    else:
        edges = np.array(list(itertools.combinations(range(8), 2)))[rng.random(28) < 0.5]
        content = Graph(8, edges, rng.integers(-3, 4, len(edges)) if problem == "max-cut" else None)
        size = content.num_vertices
    return Instance(problem, "small", content, 0, np.zeros(size, np.int8))


def optimum(instance):
    values = []
    for members in itertools.product((0, 1), repeat=instance.size):
        try:
            values.append(instance.value(np.array(members, np.int8)))
        except NoSolution:
            continue
    return max(values) if instance.problem in MAXIMISED else min(values)


@pytest.mark.parametrize(("problem", "name"), EVERY_SOLVER)
def test_a_solver_finds_the_best_solution_of_a_small_instance(problem, name):
    solver, instance = SOLVERS[problem][name], small(problem)
    pytest.importorskip(MODULES.get(solver.package, "numpy"))

    answer = solver.prepare(instance.content)(0, 0.2)

    value, best = instance.value(answer.members), optimum(instance)
    if name not in ONCE_OVER:
        assert value == best
    sign = 1 if problem in MAXIMISED else -1
    assert answer.claimed is None or sign * answer.claimed <= sign * value + 1e-6
    assert answer.bound is None or sign * answer.bound >= sign * best - 1e-6


def test_conflicts_are_repaired_to_a_set_that_nothing_can_be_added_to():
    path = Graph(5, [[0, 1], [1, 2], [2, 3], [3, 4]])

    assert repaired(path, np.array([0, 1, 1, 0, 0], np.int8)).tolist() in ([0, 1, 0, 0, 1], [1, 0, 1, 0, 1])
