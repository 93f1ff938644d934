"""Frequencies of past solutions: Laplace's rule, by the vertices' names, with cuts turned to agree."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from solvers.graphs.canonical import canonicalise
from solvers.graphs.graph import Graph
from solvers.graphs.predictors.frequency import FrequencyTable
from solvers.graphs.predictors.solved_instances import Solved
from solvers.graphs.predictors.subjects import Subject, subject_of
from solvers.graphs.set_system import SetSystem
from tests.solvers.graphs.predictors.past_sets import PAST, solved

RING = [[0, 1], [1, 2], [2, 3], [3, 0]]


def subject(problem: str, *graph, **fields) -> Subject:
    return subject_of(canonicalise(Graph(*graph, **fields)), problem)


def ring(problem: str) -> Subject:
    return subject(problem, 4, RING)


def test_probabilities_are_those_of_the_reference_program():
    table = FrequencyTable.fit([solved(graph) for graph in PAST["train"]])
    found = table.forecast(solved(PAST["test"][0]).subject).items
    assert found == pytest.approx(PAST["laplace_frequency"], abs=1e-9)


@pytest.mark.parametrize("index", range(5))
def test_accuracy_on_new_graphs_is_the_reference_program_s(index):
    table = FrequencyTable.fit([solved(graph) for graph in PAST["train"]])
    new = solved(PAST["test"][index])
    is_right = (table.forecast(new.subject).items > 0.5) == new.truth
    assert is_right.mean() == pytest.approx(PAST["test_accuracy_of_threshold_half"][index], abs=1e-6)


@given(st.lists(st.booleans(), min_size=1, max_size=8))
def test_a_cut_counts_the_same_however_it_is_turned(turned):
    cut = np.array([0, 1, 0, 1], np.int8)
    past = [Solved(ring("max-cut"), 1 - cut if is_turned else cut) for is_turned in turned]
    table = FrequencyTable.fit(past)
    assert {tuple(table.chosen)} <= {(0, len(past)) * 2, (len(past), 0) * 2}


def test_the_components_of_a_cut_are_turned_one_by_one():
    pairs = subject("max-cut", 4, [[0, 1], [2, 3]])
    past = [Solved(pairs, np.array(cut, np.int8)) for cut in ([0, 1, 0, 1], [0, 1, 1, 0], [1, 0, 0, 1])]
    assert FrequencyTable.fit(past).chosen in ([0, 3, 0, 3], [0, 3, 3, 0], [3, 0, 0, 3], [3, 0, 3, 0])


def test_independent_sets_are_not_turned():
    past = [Solved(ring("independent-set"), np.array(one, np.int8)) for one in ([1, 0, 1, 0], [0, 1, 0, 1])]
    assert FrequencyTable.fit(past).chosen == [1, 1, 1, 1]


def test_vertices_are_known_by_name_wherever_they_stand():
    first = subject("vertex-cover", 2, [["a", "b"]], labels=["a", "b"])
    second = subject("vertex-cover", 2, [["b", "a"]], labels=["b", "a"])
    table = FrequencyTable.fit([Solved(first, np.array([1, 0], np.int8))])
    assert table.forecast(second).items.tolist() == pytest.approx([1 / 3, 2 / 3])


def test_integer_ids_count_from_the_base_of_each_graph():
    from_one = subject("vertex-cover", 4, [[1, 2]], index_base=1)
    from_zero = subject("vertex-cover", 4, [[0, 1]])
    table = FrequencyTable.fit([Solved(from_one, np.array([1, 0, 0, 0], np.int8))])
    assert table.forecast(from_zero).items[1] == pytest.approx(2 / 3)


def test_a_vertex_that_was_never_seen_has_no_probability():
    table = FrequencyTable.fit([Solved(ring("independent-set"), np.array([1, 0, 1, 0], np.int8))])
    larger = subject("independent-set", 5, [[3, 4]])
    forecast = table.forecast(larger)
    assert np.isnan(forecast.items).tolist() == [False] * 4 + [True]
    assert forecast.bits.tolist() == [0, -1]


def test_names_of_all_kinds_survive_the_file():
    grid = networkx.grid_2d_graph(2, 2)
    squares = subject_of(canonicalise(Graph.from_objects(grid)), "independent-set")
    table = FrequencyTable.fit([Solved(squares, np.array([1, 0, 0, 1], np.int8))])
    again = FrequencyTable.model_validate_json(table.model_dump_json())
    assert again.forecast(squares).items.tolist() == pytest.approx([2 / 3, 1 / 3, 1 / 3, 2 / 3])


def test_sets_are_known_by_their_ids_whatever_they_hold():
    first, second = (
        subject_of(SetSystem([[1, 2], [2]], index_base=1), "set-cover"),
        subject_of(SetSystem([[], [0], [1, 0]]), "set-cover"),
    )
    table = FrequencyTable.fit([Solved(first, np.array([1, 0], np.int8))])
    forecast = table.forecast(second)
    assert forecast.items[1:].tolist() == pytest.approx([2 / 3, 1 / 3])
    assert (np.isnan(forecast.items[0]), forecast.bits.tolist()) == (True, [1, 0, 0])


@pytest.mark.parametrize(
    "fields",
    [
        {"seen": [1], "chosen": [2]},
        {"seen": [1, 1], "chosen": [1]},
        {"seen": [1], "chosen": [1], "ids": ["a", "b"]},
        {"seen": [-1], "chosen": [-1]},
        {"seen": [1, 1], "chosen": [1, 1], "ids": ["a", "a"]},
    ],
)
def test_a_table_that_does_not_fit_together_is_refused(fields):
    with pytest.raises((ValidationError, ValueError)):
        FrequencyTable.model_validate(fields)
