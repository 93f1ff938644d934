"""Predictions that are coins, wrong, missing or contradictory do no harm, whatever the problem."""

from __future__ import annotations

import dataclasses
import json
from functools import cache

import numpy as np
import pytest

from solvers.graphs import independent_set, max_cut, set_cover, vertex_cover
from solvers.graphs.advice import tally
from solvers.graphs.candidates import advice_candidates
from solvers.graphs.csr import build_csr, cut_value
from solvers.graphs.incidence_predictions import sample_incidence_predictions
from solvers.graphs.predictions import EdgePredictions, sample_edge_predictions
from tests.solvers.graphs.prediction_vectors import DATA, gset
from tests.solvers.graphs.set_systems import shipped
from tests.solvers.graphs.weighted_vertices import dimacs_graph

REFERENCES = {
    row["instance"]: np.array(list(map(int, row["solution"]))) for row in json.loads((DATA / "references.json").read_text())
}

# None of the searches below finds a solution that it can prove, so that all of them do all their iterations.
INSTANCES = {"max-cut": "G14", "vertex-cover": "C250.9", "independent-set": "C250.9", "set-cover": "scpa1"}
SOLVERS = {"max-cut": max_cut, "vertex-cover": vertex_cover, "independent-set": independent_set, "set-cover": set_cover}
OPTIONS = {"method": "local_search", "max_iterations": 300, "seed": 5, "time_limit": 100}

every_problem = pytest.mark.parametrize("problem", SOLVERS)


@cache
def instance(problem):
    name = INSTANCES[problem]
    if problem == "set-cover":
        return shipped(name)
    return gset(name)[1] if problem == "max-cut" else dimacs_graph(name).edges


def drawn(problem, epsilon):
    """Bits about the shipped solution."""
    reference = REFERENCES[INSTANCES[problem]]
    if problem == "set-cover":
        return sample_incidence_predictions(instance(problem), reference, epsilon, seed=1)
    return sample_edge_predictions(instance(problem), 1 - reference if problem == "vertex-cover" else reference, epsilon, seed=1)


def all_equal(problem, bit):
    """Bits that are all the same; of known accuracy."""
    right = drawn(problem, 0.5)
    return dataclasses.replace(right, bits=np.full_like(right.bits, bit), epsilon=0.3)


def inverted(problem, epsilon):
    bits = drawn(problem, epsilon)
    return dataclasses.replace(bits, bits=1 - bits.bits)


@cache
def without_predictions(problem):
    return SOLVERS[problem](instance(problem), **OPTIONS)


def is_worse(problem, one, other):
    return one > other if problem in ("vertex-cover", "set-cover") else one < other


ADVICE = {
    "mostly right": lambda problem: drawn(problem, 0.1),
    "coins of unknown accuracy": lambda problem: drawn(problem, 0.0),
    "coins that are said to be right": lambda problem: dataclasses.replace(drawn(problem, 0.0), epsilon=0.4),
    "all wrong": lambda problem: inverted(problem, 0.5),
    "mostly wrong": lambda problem: inverted(problem, 0.1),
    "missing": lambda problem: all_equal(problem, -1),
    "everything in": lambda problem: all_equal(problem, 1),
    "everything out": lambda problem: all_equal(problem, 0),
}


@every_problem
@pytest.mark.parametrize("advice", ADVICE)
def test_predictions_leave_what_a_run_without_them_finds(problem, advice):
    alone = without_predictions(problem)

    advised = SOLVERS[problem](instance(problem), ADVICE[advice](problem), **OPTIONS)

    assert (advised.stopped_by, alone.stopped_by) == ("max_iterations", "max_iterations")
    assert advised.value_without_predictions == alone.value
    assert not is_worse(problem, advised.value, alone.value)


@every_problem
@pytest.mark.parametrize("advice", ["coins of unknown accuracy", "all wrong", "everything in", "everything out"])
def test_no_predictions_make_a_run_worse_than_its_part_that_does_not_see_them(problem, advice):
    result = SOLVERS[problem](instance(problem), ADVICE[advice](problem), time_limit=0.2)

    assert not is_worse(problem, result.value, result.value_without_predictions)


@every_problem
def test_predictions_that_are_all_missing_give_the_same_solution(problem):
    result = SOLVERS[problem](instance(problem), ADVICE["missing"](problem), **OPTIONS)

    assert (result.solution, result.value) == (without_predictions(problem).solution, without_predictions(problem).value)
    assert [warning.code for warning in result.warnings] == ["predictions-empty"]


def majority_of(predictions, edges, num_vertices):
    advice = tally([predictions], num_vertices, edges)
    csr = build_csr(num_vertices, edges, np.ones(len(edges), np.int64))
    return next(one.sides for one in advice_candidates(advice, csr) if one.source == "majority")


@pytest.mark.parametrize("seed", range(5))
def test_the_inverted_majority_of_odd_votes_is_the_same_cut(seed):
    # Every vertex of this ring has four neighbours and the opposite one.
    ring = np.arange(40)
    edges = np.concatenate(
        [np.column_stack([ring, (ring + step) % 40]) for step in (1, 3)] + [np.column_stack([ring, ring + 20])[:20]]
    )
    bits = sample_edge_predictions(edges, ring % 3 == 0, 0.1, seed)

    sides, opposite = (majority_of(one, edges, 40) for one in (bits, EdgePredictions(1 - bits.bits, epsilon=0.1)))

    assert (np.bincount(edges.ravel()) == 5).all()
    assert np.array_equal(sides, 1 - opposite)
    assert cut_value(edges, np.ones(len(edges), np.int64), sides) == cut_value(edges, np.ones(len(edges), np.int64), opposite) > 0


@every_problem
@pytest.mark.parametrize("method", ["local_search", "paper"])
def test_an_epsilon_may_be_the_least_number_above_0(problem, method):
    prediction = dataclasses.replace(drawn(problem, 0.1), epsilon=5e-324)

    result = SOLVERS[problem](instance(problem), prediction, **OPTIONS | {"method": method, "max_iterations": 5})

    assert result.epsilon_used == 5e-324
