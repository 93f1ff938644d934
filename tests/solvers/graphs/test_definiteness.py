"""Proofs of positive definiteness and the orders of elimination."""

import numpy as np
import pytest
from hypothesis import given

from solvers.graphs.csr import build_csr
from solvers.graphs.definiteness import Definiteness, sparse_order
from tests.solvers.graphs.signed_graphs import random_graph, signed_graphs


def grid(rows, columns):
    at = np.arange(rows * columns).reshape(rows, columns)
    across = np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], axis=1)
    down = np.stack([at[:-1].ravel(), at[1:].ravel()], axis=1)
    return np.concatenate([across, down])


def matrix_of(n, edges, weights, diagonal):
    matrix = np.diag(np.asarray(diagonal, float))
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = weights
    return matrix


def fill_of(n, edges, order):
    """Return the column counts of the factor by eliminating vertex after vertex in sets of neighbours."""
    neighbours = [set() for _ in range(n)]
    for u, v in edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    counts = []
    for v in order:
        counts.append(len(neighbours[v]))
        for u in neighbours[v]:
            neighbours[u] |= neighbours[v] - {u}
            neighbours[u].discard(v)
    return counts


SPARSE = ("sparse", 144, grid(12, 12))
DENSE = ("dense", 60, random_graph(60, 1500, np.random.default_rng(0))[0])


@pytest.fixture(params=[SPARSE, DENSE], ids=["sparse", "dense"])
def a_matrix(request):
    """A symmetric matrix without diagonal, as a way to prove it, its edges and its values."""
    way, n, edges = request.param
    values = np.random.default_rng(1).standard_normal(len(edges))
    csr = build_csr(n, edges, np.arange(len(edges)))
    proof = Definiteness(csr.indptr, csr.indices, values[csr.edge_ids])
    assert (proof._sparse is not None) == (way == "sparse")
    return proof, n, edges, values


@pytest.mark.parametrize("distance", [1e-9, 1e-3, 10.0])
def test_a_matrix_is_proven_just_above_singularity_and_not_just_below(a_matrix, distance):
    proof, n, edges, values = a_matrix
    diagonal = np.random.default_rng(2).uniform(0, 3, n)
    least = np.linalg.eigvalsh(matrix_of(n, edges, values, diagonal))[0]

    assert proof.prove(diagonal - least + distance) is not None
    assert proof.prove(diagonal - least - distance) is None


def test_the_solver_of_a_proven_matrix_solves_its_systems(a_matrix):
    proof, n, edges, values = a_matrix
    diagonal = np.full(n, 20.0)
    right = np.random.default_rng(3).standard_normal(n)

    solution = proof.prove(diagonal)(right)

    assert matrix_of(n, edges, values, diagonal) @ solution == pytest.approx(right)


def test_multiplication_takes_the_diagonal_along(a_matrix):
    proof, n, edges, values = a_matrix
    diagonal, vector = np.arange(n, dtype=float), np.random.default_rng(4).standard_normal(n)

    assert proof.multiply(diagonal, vector) == pytest.approx(matrix_of(n, edges, values, diagonal) @ vector)


def test_a_matrix_that_is_not_finite_is_not_proven(a_matrix):
    proof, n, _, _ = a_matrix

    assert proof.prove(np.full(n, np.nan)) is None


@given(signed_graphs(max_vertices=12))
def test_an_order_of_elimination_tells_the_fill_and_the_work_it_leads_to(graph):
    n, edges, _ = graph
    csr = build_csr(n, edges, np.ones(len(edges)))

    order, fill, work = sparse_order(csr.indptr, csr.indices, work_limit=10**6, fill_limit=10**6)

    counts = fill_of(n, edges, order.tolist())
    assert sorted(order.tolist()) == list(range(n))
    assert fill == sum(counts)
    assert work == sum(count**2 for count in counts)


@pytest.mark.parametrize("size", [20, 40])
def test_a_grid_fills_in_about_as_little_as_by_exact_least_degree(size):
    edges = grid(size, size)
    n = size * size
    csr = build_csr(n, edges, np.ones(len(edges)))

    fill = sparse_order(csr.indptr, csr.indices, work_limit=10**9, fill_limit=10**9).fill

    neighbours = {v: set() for v in range(n)}
    for u, v in edges.tolist():
        neighbours[u].add(v)
        neighbours[v].add(u)
    exact = 0
    while neighbours:
        v = min(neighbours, key=lambda u: len(neighbours[u]))
        clique = neighbours.pop(v)
        exact += len(clique)
        for u in clique:
            neighbours[u] |= clique - {u}
            neighbours[u].discard(v)
    assert fill <= 1.3 * exact


def test_a_tree_does_not_fill_in():
    edges = np.array([[v, (v - 1) // 2] for v in range(1, 1000)])
    csr = build_csr(1000, edges, np.ones(999))

    assert sparse_order(csr.indptr, csr.indices, work_limit=10**6, fill_limit=10**6).fill == 999


@pytest.mark.parametrize(("work_limit", "fill_limit"), [(1000, 10**6), (10**6, 300)])
def test_an_order_that_passes_a_limit_is_given_up(work_limit, fill_limit):
    edges = random_graph(30, 400, np.random.default_rng(0))[0]
    csr = build_csr(30, edges, np.ones(len(edges)))

    assert sparse_order(csr.indptr, csr.indices, work_limit=work_limit, fill_limit=fill_limit) is None


def test_a_large_graph_that_fills_in_cannot_be_proven():
    rng = np.random.default_rng(0)
    edges = np.unique(np.sort(rng.integers(0, 6000, (60_000, 2)), axis=1), axis=0)
    csr = build_csr(6000, edges[edges[:, 0] != edges[:, 1]], np.ones(len(edges)))

    assert not Definiteness(csr.indptr, csr.indices, csr.weights.astype(float)).possible
