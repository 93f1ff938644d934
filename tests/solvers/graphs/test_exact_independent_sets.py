"""Heaviest independent sets of single components, by every exact method."""

import math

import numpy as np
import pytest
from hypothesis import given

from solvers.graphs.bound import trivial_bound
from solvers.graphs.cover_kernel import VertexComponent
from solvers.graphs.exact_independent_sets import ATTEMPT, BY_WORK, finished_set, looks_finishable, set_at_once
from tests.solvers.graphs.weighted_vertices import heaviest_independent_set, is_independent, random_edges, weighted_vertices


def component_of(num_vertices, edges, weights=None):
    unit = np.ones(num_vertices, np.int64)
    return VertexComponent(np.arange(num_vertices, dtype=np.int32), edges, unit if weights is None else weights)


def ring(num_vertices, *steps):
    at = np.arange(num_vertices)
    edges = np.concatenate([np.column_stack([at, (at + step) % num_vertices]) for step in steps])
    return component_of(num_vertices, edges.astype(np.int32))


def found_by(component, effort=BY_WORK, narrow=False, stop=lambda: False):
    return list(
        finished_set(
            component,
            np.zeros(component.num_vertices, np.int8),
            trivial_bound(component.weights),
            narrow=narrow,
            seed=0,
            remaining=lambda: math.inf,
            effort=effort,
            stop=stop,
        )
    )


@given(weighted_vertices(max_vertices=9))
def test_tiny_components_are_enumerated(graph):
    found = set_at_once(component_of(*graph), lambda: False)

    assert found.value == found.bound.value == heaviest_independent_set(*graph) == graph.weights[found.sides == 1].sum()
    assert found.bound.certificate == {"kind": "enumeration"}


def test_narrow_components_are_solved_by_tables_at_once():
    found = set_at_once(ring(60, 1, 3, 4), lambda: False)
    assert (found.bound.kind, found.is_optimal) == ("elimination", True)


def test_wide_components_are_not_solved_at_once():
    assert set_at_once(ring(150, 1, 3, 7, 12, 31), lambda: False) is None


@pytest.mark.parametrize(
    ("component", "narrow", "kind", "solver"),
    [
        (ring(60, 1, 3, 4), True, "elimination", None),
        (component_of(60, random_edges(60, 600, np.random.default_rng(0))), False, "search", "bbmc"),
        (ring(150, 1, 7), False, "search", "cp-sat"),
    ],
)
def test_each_component_gets_the_method_that_suits_it(component, narrow, kind, solver):
    *_, found = found_by(component, narrow=narrow)

    assert (found.bound.kind, found.bound.certificate.get("solver"), found.is_optimal) == (kind, solver, True)
    assert is_independent(component.edges, found.sides == 1)


def test_a_search_falls_back_on_what_was_known():
    *_, found = found_by(ring(150, 1, 7))
    assert found.bound.certificate["fallback"] == {"kind": "trivial"}


def test_an_attempt_leaves_large_components_alone():
    component = ring(30_000, 1, 7, 31)
    assert looks_finishable(component)
    assert found_by(component, effort=ATTEMPT) == []


def test_nothing_is_begun_once_the_run_must_stop():
    assert found_by(ring(150, 1, 7), stop=lambda: True) == []
