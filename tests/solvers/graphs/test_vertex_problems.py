"""Vertex cover and independent set as the library's caller sees them: files, ids, weights."""

from __future__ import annotations

import json

import networkx as nx
import numpy as np
import pytest

from solvers.graphs import Graph, independent_set, vertex_cover
from tests.solvers.graphs.vertex_problem_cases import SOLVERS, both, circulant, verified, weighted_graph


def test_a_cover_is_written_in_pace_s_format(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    graph = Graph(None, [["c", "a"], ["c", "b"], ["b", "d"]])

    result = vertex_cover(graph, solution_file=True)

    assert (tmp_path / "cover.txt").read_text() == "s vc 4 2\n" + "".join(
        f"{graph.labels.index(vertex) + 1}\n" for vertex in result.solution
    )


def test_a_set_is_written_one_id_per_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    result = independent_set(Graph(None, [["c", "a"], ["c", "b"]]), solution_file=True)

    assert result.solution == ["a", "b"]
    assert (tmp_path / "independent-set.txt").read_text() == "a\nb\n"


def test_ids_count_from_where_the_caller_s_do():
    assert vertex_cover(Graph(4, [[1, 2], [1, 3], [1, 4]], index_base=1)).solution == [1]


@both
def test_a_library_call_returns_the_certificate_itself_however_long(problem):
    path = np.column_stack([np.arange(12_000), np.arange(1, 12_001)])

    certificate = SOLVERS[problem](Graph(12_001, path)).certificate

    assert "file" not in certificate
    assert len(json.dumps(certificate)) > 10_000


@both
def test_relabelling_the_vertices_does_not_change_an_exact_answer(problem):
    graph = weighted_graph(5, num_vertices=12)
    permutation = np.random.default_rng(1).permutation(12)
    weights = np.empty(12, np.int64)
    weights[permutation] = graph.vertex_weights
    relabelled = Graph(12, permutation[graph.edges], vertex_weights=weights)
    assert SOLVERS[problem](graph).value == SOLVERS[problem](relabelled).value


# Beside the table of test_bad_input_table.py.


@both
def test_weights_of_nodes_are_used(problem):
    graph = nx.star_graph(3)
    nx.set_node_attributes(graph, {0: 10}, "weight")
    result = SOLVERS[problem](graph)
    assert result.value == (3 if problem == "vertex-cover" else 10)


@both
@pytest.mark.parametrize("graph", [Graph(0, []), nx.Graph()])
def test_the_empty_graph_has_value_0(problem, graph):
    result = SOLVERS[problem](graph)
    assert (result.value, result.bound, result.optimal, result.solution) == (0, 0, True, [])


@both
def test_weights_of_any_size_are_counted(problem):
    graph = Graph(3, [[0, 1], [1, 2]], vertex_weights=[2**50, 2**51, 2**50 + 1])
    assert SOLVERS[problem](graph).value == (2**51 if problem == "vertex-cover" else 2**51 + 1)


@both
def test_tiny_real_weights_are_proven_again(problem):
    graph = circulant(weights=(1 + np.random.default_rng(0).random(61)) * 1e-30)

    result = SOLVERS[problem](graph, method="greedy", max_iterations=1)

    assert verified(graph, problem, result).bound == pytest.approx(result.bound, rel=1e-9)
