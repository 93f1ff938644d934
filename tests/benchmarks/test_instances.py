"""The shipped instances, and the checker that all solutions of benchmarks go through."""

import itertools

import numpy as np
import pytest

from benchmarks.instances import MAXIMISED, PROBLEMS, Instance, NoSolution, load, names
from solvers.graphs.graph import Graph
from solvers.graphs.set_system import SetSystem

every_problem = pytest.mark.parametrize("problem", PROBLEMS)

PATH = Graph(4, [[0, 1], [1, 2], [2, 3]], [3, -1, 2])
SETS = SetSystem([[0, 1], [1, 2], [0, 2], [3]], costs=[2, 3, 4, 5])


def instance_of(problem):
    content = SETS if problem == "set-cover" else PATH
    return Instance(problem, "small", content, 0, np.zeros(4, np.int8))


def test_as_many_instances_are_shipped_as_are_listed():
    assert [len(names(problem)) for problem in PROBLEMS] == [6, 9, 9, 9]


@every_problem
def test_every_reference_is_a_solution_and_no_better_than_the_best_known(problem):
    for name in names(problem):
        instance = load(problem, name)
        value = instance.value(instance.reference)

        assert value == (3063 if name == "G14" else instance.best_known), name


def test_a_cover_is_what_an_independent_set_leaves_over():
    cover, independent = load("vertex-cover", "C250.9"), load("independent-set", "C250.9")

    assert (cover.best_known, independent.best_known) == (206, 44)
    assert (cover.reference + independent.reference == 1).all()


@every_problem
def test_the_best_value_by_the_checker_is_the_optimum(problem):
    instance = instance_of(problem)
    values = []
    for members in itertools.product((0, 1), repeat=4):
        try:
            values.append(instance.value(np.array(members, np.int8)))
        except NoSolution:
            continue

    best = max(values) if problem in MAXIMISED else min(values)
    assert best == {"max-cut": 5, "vertex-cover": 2, "independent-set": 2, "set-cover": 10}[problem]


@pytest.mark.parametrize(
    ("problem", "members", "complaint"),
    [
        ("vertex-cover", [1, 0, 0, 1], "no end of 1 edges"),
        ("independent-set", [1, 1, 0, 0], "1 edges are within"),
        ("set-cover", [1, 1, 0, 0], "1 elements are in no chosen set"),
        ("max-cut", [1, 0, 0], "shape"),
        ("max-cut", [2, 0, 0, 0], "neither 0 nor 1"),
    ],
)
def test_what_is_no_solution_is_refused(problem, members, complaint):
    with pytest.raises(NoSolution, match=complaint):
        instance_of(problem).value(np.array(members, np.int8))
