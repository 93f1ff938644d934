"""Listed graphs brought into canonical order, against a plain dictionary."""

import networkx
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.canonical import canonicalise
from solvers.graphs.graph import Graph, InvalidGraph
from solvers.operation import InvalidInput

LISTS = st.integers(1, 7).flatmap(
    lambda n: st.tuples(
        st.just(n), st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1), st.integers(-5, 5)), max_size=25)
    )
)


def codes(graph: Graph) -> list[str | None]:
    return [warning["code"] for warning in canonicalise(graph).warnings]


@given(LISTS)
def test_weights_of_duplicates_are_added_in_order_of_first_appearance(listed: tuple[int, list[tuple[int, int, int]]]) -> None:
    n, rows = listed
    expected: dict[frozenset[int], list[int]] = {}
    for u, v, w in rows:
        if u != v:
            expected.setdefault(frozenset((u, v)), [u, v, 0])[2] += w

    instance = canonicalise(Graph(n, [row[:2] for row in rows], [row[2] for row in rows]))

    assert np.column_stack([instance.edges, instance.edge_weights]).tolist() == list(expected.values())
    assert (instance.edges.dtype, instance.edge_weights.dtype) == (np.int32, np.int64)


@given(LISTS)
def test_every_listed_edge_knows_its_row_and_direction(listed: tuple[int, list[tuple[int, int, int]]]) -> None:
    n, rows = listed

    instance = canonicalise(Graph(n, [row[:2] for row in rows]))

    for (u, v, _), row, is_swapped in zip(rows, instance.listed_rows, instance.is_swapped, strict=True):
        if u == v:
            assert row == -1
        else:
            assert instance.edges[row].tolist() == ([v, u] if is_swapped else [u, v])


def test_duplicates_that_cancel_stay_listed() -> None:
    instance = canonicalise(Graph(2, [[0, 1], [1, 0]], [3, -3]))

    assert (instance.edges.tolist(), instance.edge_weights.tolist()) == ([[0, 1]], [0])


def test_an_edge_of_weight_zero_stays_listed() -> None:
    assert len(canonicalise(Graph(2, [[0, 1]], [0])).edges) == 1


def test_weights_that_are_no_integers_stay_floats() -> None:
    assert canonicalise(Graph(3, [[0, 1], [1, 2]], [0.5, 2])).edge_weights.tolist() == [0.5, 2.0]


def test_each_kind_of_repair_is_one_warning_with_a_count_and_the_first_place() -> None:
    edges = [[1, 2], [3, 3], [2, 1], [2, 3], [1, 1], [1, 2]]

    warnings = canonicalise(Graph(3, edges, index_base=1)).warnings

    assert warnings == [
        {"code": "self-loops", "message": "2 self-loops were dropped; first: edge 1, 3 to 3", "pointer": "/edges/1"},
        {
            "code": "duplicate-edges",
            "message": "2 edges repeat earlier ones and their weights were added; first: edge 2, 2 to 1",
            "pointer": "/edges/2",
        },
    ]


def test_a_simple_graph_has_no_warnings() -> None:
    assert codes(Graph(3, [[0, 1], [1, 2]])) == []


def test_vertices_of_loops_are_kept_for_the_record() -> None:
    assert canonicalise(Graph(3, [[2, 2], [0, 1], [0, 0]])).loops.tolist() == [2, 0]


def test_ids_are_those_of_the_caller() -> None:
    named, counted = canonicalise(Graph(None, [["x", "y"]])), canonicalise(Graph(2, [[1, 2]], index_base=1))

    assert (named.vertex_ids([1, 0]), named.vertex_id(1)) == (["y", "x"], "y")
    assert (counted.vertex_ids([1, 0]), counted.vertex_id(1)) == ([2, 1], 2)


@pytest.mark.parametrize("graph", [Graph(0, []), Graph(5, []), Graph(None, []), Graph(1, [[0, 0]])])
def test_a_graph_without_edges_is_valid(graph: Graph) -> None:
    instance = canonicalise(graph)

    assert (instance.edges.shape, instance.edge_weights.shape) == ((0, 2), (0,))


def test_integer_weights_up_to_2_to_the_53_are_exact() -> None:
    instance = canonicalise(Graph(2, [[0, 1], [0, 1]], [2**53 - 1, 1]))

    assert instance.edge_weights.tolist() == [2**53]


@pytest.mark.parametrize("weights", [[2**53, 1], [-(2**53), 1], [2**63 - 1, 2**63 - 1], [1e300, 1.0]])
def test_integer_weights_beyond_2_to_the_53_are_refused(weights: list[float]) -> None:
    with pytest.raises(InvalidGraph, match=r"more than 2\^53") as caught:
        canonicalise(Graph(3, [[0, 1], [1, 2]], weights))

    assert caught.value.pointer == "/edge_weights/0"


def test_weights_whose_sum_is_no_float_are_refused() -> None:
    with pytest.raises(InvalidGraph, match="the largest float"):
        canonicalise(Graph(3, [[0, 1], [1, 2], [0, 2]], [1.7e308, 1.7e308, 0.5]))


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ({"edges": [[0, 1], [1, 2, 3]]}, "/edges/1"),
        ({"edges": [[0, 1], 5]}, "/edges/1"),
        ({"edges": [[0, 1], "ab"]}, "/edges/1"),
        ({"edges": [[0, 1], [1, True]]}, "/edges/1/1"),
        ({"edges": [[0, 1], [1.5, 2]]}, "/edges/1/0"),
        ({"edges": [[0, 1], [1, None]]}, "/edges/1/1"),
        ({"edges": [[0, 1], [1, 2**64]]}, "/edges/1/1"),
        ({"edges": [[0, 1], [3, 1]]}, "/edges/1/0"),
        ({"edges": [[0, 1], [1, -1]]}, "/edges/1/1"),
        ({"edges": [[0, 1]], "index_base": 1}, "/edges/0/0"),
        ({"edges": [[0, 1]], "index_base": 2}, "/index_base"),
        ({"edges": [[0, 1]], "num_vertices": -1}, "/num_vertices"),
        ({"edges": [[0, 1]], "edge_weights": [1, 2]}, "/edge_weights"),
        ({"edges": [[0, 1]], "edge_weights": [float("nan")]}, "/edge_weights/0"),
        ({"edges": [[0, 1]], "edge_weights": [float("-inf")]}, "/edge_weights/0"),
        ({"edges": [[0, 1]], "edge_weights": ["1"]}, "/edge_weights/0"),
        ({"edges": [[0, 1]], "edge_weights": [True]}, "/edge_weights/0"),
        ({"edges": [[0, 1]], "edge_weights": [10**400]}, "/edge_weights/0"),
        ({"edges": [[0, 1], [1, 2]], "edge_weights": [0.5, 10**400]}, "/edge_weights/1"),
        ({"edges": [[0, 1]], "edge_weights": np.array([np.nan])}, "/edge_weights/0"),
        ({"edges": [[0, 1]], "vertex_weights": [1]}, "/vertex_weights"),
        ({"edges": [["a", "b"]], "labels": ["a", "b", "a"]}, "/labels/2"),
        ({"edges": [["a", "b"]], "labels": ["a", "b", None]}, "/labels/2"),
        ({"edges": [["a", "b"]], "labels": ["a", "b"]}, "/labels"),
        ({"edges": [["a", "b"]], "labels": ["a", "c", "d"]}, "/edges/0/1"),
        ({"edges": [["a", 1.5]], "num_vertices": None}, "/edges/0/1"),
        ({"edges": np.array([[0, 1.5]])}, "/edges/0/1"),
        ({"edges": np.zeros((2, 3), int)}, "/edges"),
    ],
)
def test_a_malformed_graph_is_refused_with_the_place(arguments: dict, pointer: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Graph(**({"num_vertices": 3} | arguments))

    assert caught.value.pointer == pointer


def test_labels_name_isolated_vertices_too() -> None:
    graph = Graph(None, [["c", "a"]], labels=["a", "b", "c"])

    assert (graph.num_vertices, graph.edges.tolist()) == (3, [[2, 0]])


def test_integers_are_positions_even_where_labels_are_integers() -> None:
    assert Graph(None, [[0, 1]], labels=[7, 9]).edges.tolist() == [[0, 1]]


def test_networkx_nodes_keep_their_names() -> None:
    graph = Graph.from_objects(networkx.Graph([("b", "a"), ("a", (1, 2))]))

    assert (graph.labels, graph.edges.tolist()) == (["b", "a", (1, 2)], [[0, 1], [1, 2]])


def test_a_networkx_edge_without_weight_weighs_one() -> None:
    graph = networkx.Graph()
    graph.add_edge(0, 1, weight=-2.5)
    graph.add_edge(1, 2)

    assert canonicalise(Graph.from_objects(graph)).edge_weights.tolist() == [-2.5, 1.0]


def test_a_directed_multigraph_is_read_as_undirected_with_its_weights_added() -> None:
    graph = networkx.MultiDiGraph()
    graph.add_weighted_edges_from([(0, 1, 2), (0, 1, 3), (1, 0, 4)])

    instance = canonicalise(Graph.from_objects(graph))

    assert instance.edge_weights.tolist() == [9]
    assert [warning["code"] for warning in instance.warnings] == ["directed", "duplicate-edges"]


@pytest.mark.parametrize("triangle", [lambda a: a, np.triu, np.tril], ids=["symmetric", "upper", "lower"])
@pytest.mark.parametrize(
    "kind", [scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array, scipy.sparse.dia_array]
)
def test_a_sparse_matrix_lists_each_edge_once(kind: type, triangle) -> None:
    dense = np.array([[0, 2.5, 0], [2.5, 0, -1], [0, -1, 0]])

    instance = canonicalise(Graph.from_objects(kind(triangle(dense))))

    assert {frozenset(edge) for edge in instance.edges.tolist()} == {frozenset((0, 1)), frozenset((1, 2))}
    assert sorted(instance.edge_weights.tolist()) == [-1, 2.5]
    assert instance.warnings == []


@pytest.mark.parametrize(
    "thing",
    [
        scipy.sparse.csr_array(np.array([[0, 1], [2, 0]])),
        scipy.sparse.csr_array(np.ones((2, 3))),
        scipy.sparse.csr_array(np.array([[0, np.nan], [np.nan, 0]])),
        scipy.sparse.csr_array(np.array([[0, 1j], [1j, 0]])),
        np.zeros((2, 4)),
        [[0, 1], [1]],
        "G1.txt",
        7,
        None,
    ],
)
def test_an_object_that_is_no_undirected_graph_is_refused(thing: object) -> None:
    with pytest.raises(InvalidInput):
        Graph.from_objects(thing)


@pytest.mark.parametrize(
    "edges", [[(0, 1), (1, 2)], [["a", "b"], ["b", "c"]], np.array([[0, 1], [1, 2]]), np.array([["a", "b"], ["b", "c"]])]
)
def test_an_edge_array_has_two_columns(edges: object) -> None:
    assert Graph.from_objects(edges).edges.tolist() == [[0, 1], [1, 2]]


def test_a_third_column_holds_the_weights() -> None:
    assert Graph.from_objects(np.array([[0, 1, 5], [1, 2, -1]])).edge_weights.tolist() == [5, -1]


@given(LISTS)
def test_networkx_graphs_keep_their_total_weight(listed: tuple[int, list[tuple[int, int, int]]]) -> None:
    n, rows = listed
    graph = networkx.MultiGraph()
    graph.add_nodes_from(range(n))
    graph.add_weighted_edges_from(rows)

    instance = canonicalise(Graph.from_objects(graph))

    assert instance.edge_weights.sum() == sum(w for u, v, w in rows if u != v)
    assert (instance.num_vertices, instance.labels) == (n, None)
