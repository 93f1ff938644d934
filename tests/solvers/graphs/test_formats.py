"""Texts in every format: what they mean, and how malformed ones are refused."""

import contextlib
from collections.abc import Callable
from pathlib import Path

import networkx
import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.canonical import canonicalise
from solvers.graphs.formats import FORMATS, read_graph
from solvers.operation import InvalidInput

GSET = Path(__file__).parents[2] / "data" / "graphs" / "maxcut"


def edges_and_weights(text: str | bytes, format: str | None = None, **options: int) -> list[tuple[int, int, float]]:
    """The canonical edges of a text, in the caller's ids."""
    instance = canonicalise(read_graph(text, format, **options))
    weights = instance.edge_weights.tolist()
    return [(*instance.vertex_ids(edge), weight) for edge, weight in zip(instance.edges.tolist(), weights, strict=True)]


def refusal(text: str | bytes, format: str | None = None, **options: int) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        canonicalise(read_graph(text, format, **options))
    return caught.value


def as_rudy(graph: networkx.Graph) -> str:
    rows = [f"{u + 1} {v + 1} {w}" for u, v, w in graph.edges(data="weight")]
    return "\n".join([f"{len(graph)} {graph.size()}", *rows]) + "\n"


def as_dimacs(graph: networkx.Graph) -> str:
    rows = [f"e {u + 1} {v + 1} {w}" for u, v, w in graph.edges(data="weight")]
    return "\n".join(["c drawn by a test", f"p edge {len(graph)} {graph.size()}", *rows]) + "\n"


def as_pace(graph: networkx.Graph) -> str:
    rows = [f"{u + 1} {v + 1} {w}" for u, v, w in graph.edges(data="weight")]
    return "\n".join(["c drawn by a test", f"p td {len(graph)} {graph.size()}", *rows]) + "\n"


def as_metis(graph: networkx.Graph) -> str:
    rows = [" ".join(f"{v + 1} {graph[u][v]['weight']}" for v in graph[u]) for u in range(len(graph))]
    return "\n".join([f"{len(graph)} {graph.size()} 001", *rows]) + "\n"


def as_matrix_market(graph: networkx.Graph) -> str:
    rows = [f"{max(u, v) + 1} {min(u, v) + 1} {w}" for u, v, w in graph.edges(data="weight")]
    sizes = f"{len(graph)} {len(graph)} {graph.size()}"
    return "\n".join(["%%MatrixMarket matrix coordinate real symmetric", "% drawn by a test", sizes, *rows]) + "\n"


def as_edge_list(graph: networkx.Graph) -> str:
    return "".join(f"{u} {v} {w}\n" for u, v, w in graph.edges(data="weight"))


def as_node_link(graph: networkx.Graph) -> str:
    return orjson.dumps(networkx.node_link_data(graph, edges="edges")).decode()


WRITERS: dict[str, Callable[[networkx.Graph], str]] = {
    "rudy": as_rudy,
    "dimacs": as_dimacs,
    "pace": as_pace,
    "metis": as_metis,
    "matrix_market": as_matrix_market,
    "edge_list": as_edge_list,
    "node_link": as_node_link,
}


@st.composite
def weighted_graphs(draw: st.DrawFn) -> networkx.Graph:
    size = draw(st.integers(1, 9))
    weights = draw(st.sampled_from([st.integers(-9, 9), st.floats(-1e9, 1e9)]))
    possible = [(u, v) for u in range(size) for v in range(u)]
    graph = networkx.empty_graph(size)
    for u, v in draw(st.lists(st.sampled_from(possible), unique=True)) if possible else []:
        graph.add_edge(u, v, weight=draw(weights))
    return graph


def unordered(edges: list[tuple[int, int, float]], base: int) -> dict[frozenset[int], float]:
    return {frozenset((u - base, v - base)): w for u, v, w in edges}


@pytest.mark.parametrize("format", FORMATS)
@given(graph=weighted_graphs())
def test_a_written_graph_is_read_back(format: str, graph: networkx.Graph) -> None:
    text = WRITERS[format](graph)

    edges = edges_and_weights(text, format)

    base = 0 if format in ("edge_list", "node_link") else 1
    assert unordered(edges, base) == {frozenset((u, v)): w for u, v, w in graph.edges(data="weight")}


@pytest.mark.parametrize("format", sorted(set(FORMATS) - {"edge_list"}))
@given(graph=weighted_graphs())
def test_isolated_vertices_are_kept(format: str, graph: networkx.Graph) -> None:
    assert read_graph(WRITERS[format](graph), format).num_vertices == len(graph)


@pytest.mark.parametrize("format", ["dimacs", "pace", "matrix_market", "node_link"])
@given(graph=weighted_graphs())
def test_formats_with_a_mark_are_told_by_it(format: str, graph: networkx.Graph) -> None:
    assert read_graph(WRITERS[format](graph)).source.format == format


@pytest.mark.parametrize(("name", "num_vertices", "num_edges"), [("G1", 800, 19176), ("G14", 800, 4694), ("G50", 3000, 6000)])
def test_a_gset_file_is_rudy(name: str, num_vertices: int, num_edges: int) -> None:
    graph = read_graph((GSET / f"{name}.txt").read_bytes())

    assert (graph.source.format, graph.num_vertices, len(graph.edges)) == ("rudy", num_vertices, num_edges)


def test_gset_weights_keep_their_sign() -> None:
    lines = (GSET / "G11.txt").read_text().split("\n")[1:]

    graph = read_graph((GSET / "G11.txt").read_bytes())

    assert graph.edge_weights is not None
    assert graph.edge_weights.tolist() == [int(line.split()[2]) for line in lines if line.strip()]


@pytest.mark.parametrize(
    "text",
    [
        "3 2\n1 2\n2 3\n",
        "3 2\r\n1 2\r\n2 3\r\n",
        "3 2\n1 2\n2 3",
        "3 2\n1 2\n2 3\n\n\n",
        "\ufeff3 2\n1 2\n2 3\n",
        "# a comment\n3 2\n% another\n1 2\n\n2 3\n",
        " 3\t2 \n\t1  2\n2\t3\t\n",
    ],
    ids=["plain", "crlf", "no end of line", "blank end", "byte order mark", "comments", "blanks"],
)
def test_the_layout_of_a_text_does_not_matter(text: str) -> None:
    assert edges_and_weights(text) == [(1, 2, 1), (2, 3, 1)]


def test_lines_with_and_without_weight_may_be_mixed() -> None:
    assert edges_and_weights("3 3\n1 2 5\n2 3\n1 3 -2.5e-1\n") == [(1, 2, 5), (2, 3, 1), (1, 3, -0.25)]


def test_whole_weights_stay_integers() -> None:
    assert canonicalise(read_graph("2 1\n1 2 3.0\n")).edge_weights.dtype == np.int64


def test_an_edge_list_names_vertices_by_first_appearance() -> None:
    graph = read_graph("70 5\n5 -3\n", "edge_list")

    assert (graph.labels, graph.edges.tolist()) == ([70, 5, -3], [[0, 1], [1, 2]])


def test_an_edge_list_with_an_index_base_is_dense() -> None:
    graph = read_graph("0 4\n", "edge_list", index_base=0)

    assert (graph.num_vertices, graph.labels) == (5, None)


def test_ids_of_an_edge_list_are_strings_if_one_is_none_of_the_integers() -> None:
    assert read_graph("1 b 2\n1 2\n", "edge_list").labels == ["1", "b", "2"]


def test_ids_near_2_to_the_63_are_not_mixed_up_by_weights_that_are_no_integers() -> None:
    assert read_graph("9007199254740993 9007199254740992 0.5\n", "edge_list").labels == [9007199254740993, 9007199254740992]


def test_ids_beyond_64_bits_stay_apart() -> None:
    labels = ["92233720368547758070", "92233720368547758071"]

    assert read_graph(" ".join(labels), "edge_list").labels == labels


def test_names_may_be_any_utf_8() -> None:
    assert read_graph("Zürich Genève 2.5\n".encode()).labels == ["Zürich", "Genève"]


def test_an_empty_text_is_an_empty_graph() -> None:
    assert read_graph("").num_vertices == 0


def test_metis_lists_the_vertex_then_its_neighbour() -> None:
    assert edges_and_weights("3 2\n2 3\n1\n1\n", "metis") == [(1, 2, 1), (1, 3, 1)]


def test_metis_sizes_and_vertex_weights_are_passed_over() -> None:
    assert edges_and_weights("2 1 111 2\n9 8 7 2 5\n9 8 7 1 5\n", "metis") == [(1, 2, 5)]


def test_an_empty_line_is_a_metis_vertex_without_neighbours() -> None:
    assert read_graph("3 1\n3\n\n1\n").num_vertices == 3


def test_equal_mirrored_entries_of_a_general_matrix_are_one_edge() -> None:
    text = "%%MatrixMarket matrix coordinate integer general\n3 3 3\n1 2 4\n2 1 4\n3 2 7\n"

    assert edges_and_weights(text) == [(1, 2, 4), (3, 2, 7)]


def test_a_pattern_matrix_has_unit_weights() -> None:
    assert edges_and_weights("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n") == [(2, 1, 1)]


def test_a_diagonal_is_dropped_with_a_warning() -> None:
    text = "%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 3\n2 1 1\n"

    assert [warning["code"] for warning in canonicalise(read_graph(text)).warnings] == ["self-loops"]


@pytest.mark.parametrize("promised", [2, 4])
def test_a_dimacs_header_may_count_lines_or_distinct_edges(promised: int) -> None:
    text = f"p col 3 {promised}\ne 1 2\ne 2 1\ne 2 3\ne 3 2\n"

    assert len(canonicalise(read_graph(text)).edges) == 2


def test_a_node_link_document_may_name_its_edges_links() -> None:
    document = {"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "b", "target": "a", "weight": 2}]}

    assert edges_and_weights(orjson.dumps(document)) == [("b", "a", 2)]


def test_tuples_that_json_turned_into_lists_name_vertices() -> None:
    document = orjson.dumps(networkx.node_link_data(networkx.grid_2d_graph(1, 2), edges="edges"))

    assert edges_and_weights(document) == [((0, 0), (0, 1), 1)]


def test_directions_of_a_node_link_document_are_dropped_with_a_warning() -> None:
    document = networkx.node_link_data(networkx.DiGraph([(0, 1), (1, 0)]), edges="edges")

    instance = canonicalise(read_graph(orjson.dumps(document)))

    assert instance.edge_weights.tolist() == [2]
    assert [warning["code"] for warning in instance.warnings] == ["directed", "duplicate-edges"]


@pytest.mark.parametrize(
    ("text", "format", "line", "complaint"),
    [
        ("3 2\n1 2\n2 x\n", "rudy", 3, "'x' is not a number"),
        ("3 2\n1 2\n2 4\n", "rudy", 3, "no vertex 4; ids go from 1 to 3"),
        ("3 2\n1 2\n0 3\n", "rudy", 3, "no vertex 0"),
        ("3 2\n1 2\n2 1.5\n", "rudy", 3, "1.5 stands where an integer belongs"),
        ("3 2\n1 2\n2 3 nan\n", "rudy", 3, "nan is not finite"),
        ("3 2\n1 2\n2 3 -inf\n", "rudy", 3, "-inf is not finite"),
        ("3 2\n1 2\n2 3 1e999\n", "rudy", 3, "inf is not finite"),
        ("3 2\n1 2\n2 3 1 1\n", "rudy", 3, "4 fields"),
        ("3 2\n1 2\n\n2\n", "rudy", 4, "1 field"),
        ("3 2\n1 2\n", "rudy", 1, "promises 2 edges; there are 1"),
        ("3 1\n1 2\n2 3\n", "rudy", 1, "promises 1 edges; there are 2"),
        ("3\n1 2\n", "rudy", 1, "header"),
        ("-3 1\n1 2\n", "rudy", 1, "header"),
        ("3 1 1\n1 2\n", "rudy", 1, "header has 3 fields"),
        ("99999999999999999999999 1\n1 99999999999999999999998\n1 2", "rudy", 1, "promises 1 edges"),
        ("c x\np edge 2 1\ne 1 2 3 4\n", "dimacs", 3, "4 fields"),
        ("p edge 2 1\nf 1 2\n", "dimacs", 2, "'f'"),
        ("p edge 2 1\nedge 1 2\n", "dimacs", 2, "'edge'"),
        ("p edge 2 1\ne 1 3\n", "dimacs", 2, "no vertex 3"),
        ("p edge 2\ne 1 2\n", "dimacs", 1, "header"),
        ("p edge 2 x\ne 1 2\n", "dimacs", 1, "header"),
        ("p edge 3 3\ne 1 2\ne 2 3\n", "dimacs", 1, "promises 3 edges; there are 2, 2 of them distinct"),
        ("p td 2 2\n1 2\n", "pace", 1, "promises 2 edges; there are 1"),
        ("p td 2 1\n1 b\n", "pace", 2, "'b' is not a number"),
        ("3 2\n2\n1 3\n", "metis", 1, "promises 3 vertices; 2 lines follow"),
        ("2 1\n2\n1\n1\n", "metis", 1, "promises 2 vertices; 3 lines follow"),
        ("3 3\n2\n1 3\n2\n", "metis", 1, "promises 3 edges, that is 6 neighbours; there are 4"),
        ("2 2\n1 2\n1 2\n", "metis", 2, "vertex 1 is its own neighbour"),
        ("2 2\n2 2\n1 1\n", "metis", 2, "neighbour 2 is listed twice"),
        ("3 2\n2 3\n1\n2\n", "metis", 2, "3 is a neighbour of 1, but 1 is none of 3"),
        ("3 2\n2\n1\n1 2\n", "metis", 4, "1 is a neighbour of 3, but 3 is none of 1"),
        ("2 1 1\n2 5\n1 6\n", "metis", 2, "weighs 5, back 6"),
        ("2 1 1\n2 5 1\n1 5\n", "metis", 2, "3 fields"),
        ("2 1 10\n\n1 1\n", "metis", 2, "0 fields"),
        ("2 1 2\n2\n1\n", "metis", 1, "header"),
        ("%%MatrixMarket matrix array real general\n1 1\n0\n", "matrix_market", 1, "'array' form"),
        ("%%MatrixMarket matrix coordinate complex general\n1 1 0\n", "matrix_market", 1, "'complex'"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 0\n", "matrix_market", 1, "'skew-symmetric'"),
        ("%%MatrixMarket matrix coordinate complex hermitian\n1 1 0\n", "matrix_market", 1, "'complex'"),
        ("%%MatrixMarket vector coordinate real general\n1 1 0\n", "matrix_market", 1, "banner"),
        ("%%MatrixMarket matrix coordinate real general\n2 3 0\n", "matrix_market", 2, "2 rows and 3 columns"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2\n", "matrix_market", 3, "2 fields in place of 3"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n", "matrix_market", 2, "promises 2 entries; there are 1"),
        (
            "%%MatrixMarket matrix coordinate real general\n%\n2 2 2\n1 2 3\n2 1 4\n",
            "matrix_market",
            5,
            "(2, 1) is 4 and (1, 2) is 3",
        ),
        ("%%MatrixMarket matrix coordinate real general\n", "matrix_market", 1, "size line"),
        ("a b 1\nb c x\n", "edge_list", 2, "'x' is not a number"),
        ("a b 1\nb c 1_0\n", "edge_list", 2, "'1_0' is not a number"),
        ("a b nan\n", "edge_list", 1, "nan is not finite"),
        ("# no ids\n\na\n", "edge_list", 3, "1 field"),
        ('{"nodes": [],\n "edges": [NaN]}', "node_link", 2, "no JSON"),
    ],
)
def test_a_malformed_text_is_refused_with_its_line(text: str, format: str, line: int, complaint: str) -> None:
    fault = refusal(text, format)

    assert fault.members["line"] == line
    assert complaint in fault.detail
    assert fault.pointer == "/graph/text"


def test_a_dense_edge_list_refuses_an_id_below_its_base() -> None:
    fault = refusal("1 2\n0 1\n", "edge_list", index_base=1)

    assert (fault.members["line"], fault.pointer) == (2, "/graph/text")


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        ({"nodes": [{"id": 1}, {"name": 2}], "edges": []}, "/nodes/1"),
        ({"nodes": [{"id": 1}, {"id": 1}], "edges": []}, "/nodes/1/id"),
        ({"nodes": [{"id": None}], "edges": []}, "/nodes/0/id"),
        ({"nodes": [{"id": 1}], "edges": [{"source": 1}]}, "/edges/0"),
        ({"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 2}]}, "/edges/0/target"),
        ({"nodes": [{"id": 1}], "edges": [{"source": {}, "target": 1}]}, "/edges/0/source"),
        ({"nodes": [{"id": 1}], "links": [{"source": 1, "target": 1, "weight": "3"}]}, "/links/0/weight"),
        ({"nodes": [{"id": 1}], "links": [{"source": 1, "target": 1, "weight": None}]}, "/links/0/weight"),
        ({"nodes": [{"id": 1}], "edges": [7]}, "/edges/0"),
        ({"nodes": {}, "edges": []}, "/nodes"),
        ({"nodes": []}, "/edges"),
    ],
)
def test_a_malformed_node_link_document_is_refused_with_its_member(document: dict, pointer: str) -> None:
    assert refusal(orjson.dumps(document), "node_link").pointer == f"/graph/text{pointer}"


def test_an_unknown_format_is_refused_with_the_known_ones() -> None:
    fault = refusal("1 2", "gml")

    assert all(name in fault.detail for name in FORMATS)


@pytest.mark.parametrize(("text", "format"), [("2 1\n1 2\n", "rudy"), ('{"nodes": [], "edges": []}', "node_link")])
def test_index_base_is_refused_where_the_format_has_a_rule_of_its_own(text: str, format: str) -> None:
    assert refusal(text, format, index_base=0).pointer == "/index_base"


def test_a_text_in_utf_16_is_refused() -> None:
    assert "UTF-16" in refusal("1 2".encode("utf-16")).detail


def test_a_huge_header_is_refused_before_anything_is_made_of_it() -> None:
    graph = read_graph("999999999999 1\n1 999999999999\n", "rudy")

    assert graph.num_vertices == 999999999999
    with pytest.raises(InvalidInput, match="more than 2\\^31 - 1"):
        canonicalise(graph)


@given(st.text(alphabet='0123456789 .-+e\n%#cpxn{}[]":,', max_size=60), st.sampled_from([None, *FORMATS]))
def test_any_text_is_read_or_refused(text: str, format: str | None) -> None:
    with contextlib.suppress(InvalidInput):
        canonicalise(read_graph(text, format))
