"""Odd and bad instances, kind by kind and problem by problem, with what the answer must be: a table of 8 rows and 4 columns."""

from __future__ import annotations

from typing import Any, NamedTuple

PROBLEMS = ("max-cut", "vertex-cover", "independent-set", "set-cover")

ROWS = (
    "duplicate edges",
    "self-loop",
    "directed multigraph",
    "weights of edges and vertices",
    "nothing at all",
    "no edges or no sets",
    "weight 0",
    "negative weight",
)


class Cell(NamedTuple):
    """A body and what becomes of it.

    Attributes
    ----------
    body : dict
        Of a request, without options.
    value : int, optional
        The optimum; None where the body is refused.
    solution : list, optional
        The only optimum.
    warnings : tuple of (code, count, pointer)
        Every repair, how often it was made, and its first place.
    refused_at : str, optional
        Pointer of the fault.
    """

    body: dict[str, Any]
    value: int | None = None
    solution: list[int] | None = None
    warnings: tuple[tuple[str, int, str], ...] = ()
    refused_at: str | None = None


# The edge from 0 to 1 comes three times.
DOUBLED = {"num_vertices": 3, "edges": [[0, 1], [1, 0], [1, 2], [0, 1]], "edge_weights": [1, 2, -1, 4]}
DUPLICATES = ("duplicate-edges", 2, "/edges/1")

# Vertex 2 is joined to itself, twice.
LOOPED = {"num_vertices": 4, "edges": [[0, 1], [2, 2], [2, 2], [2, 3]], "vertex_weights": [1, 2, 5, 1]}
LOOPS = ("self-loops", 2, "/edges/1")

DIRECTED = {
    "graph": {
        "node_link": {
            "directed": True,
            "multigraph": True,
            "nodes": [{"id": 0}, {"id": 1}, {"id": 2}],
            "edges": [
                {"source": 0, "target": 1, "key": 0},
                {"source": 0, "target": 1, "key": 1},
                {"source": 1, "target": 0, "key": 0},
                {"source": 1, "target": 2, "key": 0},
            ],
        }
    }
}
DIRECTIONS = ("directed", 4, "/graph/node_link/edges/0")
PARALLEL = ("duplicate-edges", 2, "/graph/node_link/edges/1")

# By the edges alone {1} covers, and {0, 2} is independent.
WEIGHTED = {"num_vertices": 3, "edges": [[0, 1], [1, 2]], "edge_weights": [3, -2], "vertex_weights": [1, 7, 2]}

FREE = {"num_vertices": 4, "edges": [[0, 1], [1, 2], [2, 3]], "vertex_weights": [1, 0, 2, 0]}
# The first edge weighs nothing, and the last two cancel.
CANCELLED = {"num_vertices": 4, "edges": [[0, 1], [1, 2], [2, 3], [3, 2]], "edge_weights": [0, 3, 2, -2]}

PATH = {"num_vertices": 3, "edges": [[0, 1], [1, 2]]}

CELLS: dict[tuple[str, str], Cell] = {
    ("duplicate edges", "max-cut"): Cell(DOUBLED, 7, [0, 1, 1], (DUPLICATES,)),
    ("duplicate edges", "vertex-cover"): Cell(DOUBLED, 1, [1], (DUPLICATES,)),
    ("duplicate edges", "independent-set"): Cell(DOUBLED, 2, [0, 2], (DUPLICATES,)),
    ("duplicate edges", "set-cover"): Cell(
        {"sets": [[0, 1, 0, 0], [1, 2], [1, 2]], "costs": [1, 3, 2]}, 3, [0, 2], (("repeated-elements", 2, "/sets/0/2"),)
    ),
    ("self-loop", "max-cut"): Cell(LOOPED, 2, None, (LOOPS,)),
    ("self-loop", "vertex-cover"): Cell(LOOPED, 6, [0, 2], (LOOPS,)),
    ("self-loop", "independent-set"): Cell(LOOPED, 3, [1, 3], (LOOPS,)),
    # The fields of a graph, and node-link documents, have no place in a request about sets.
    ("self-loop", "set-cover"): Cell(LOOPED, refused_at="/num_vertices"),
    ("directed multigraph", "max-cut"): Cell(DIRECTED, 4, [0, 1, 0], (DIRECTIONS, PARALLEL)),
    ("directed multigraph", "vertex-cover"): Cell(DIRECTED, 1, [1], (DIRECTIONS, PARALLEL)),
    ("directed multigraph", "independent-set"): Cell(DIRECTED, 2, [0, 2], (DIRECTIONS, PARALLEL)),
    ("directed multigraph", "set-cover"): Cell(DIRECTED, refused_at="/graph/node_link"),
    ("weights of edges and vertices", "max-cut"): Cell(WEIGHTED, 3, [0, 1, 1]),
    ("weights of edges and vertices", "vertex-cover"): Cell(WEIGHTED, 3, [0, 2]),
    ("weights of edges and vertices", "independent-set"): Cell(WEIGHTED, 7, [1]),
    ("weights of edges and vertices", "set-cover"): Cell({"sets": [[0, 1], [0], [1]], "costs": [9, 4, 2]}, 6, [1, 2]),
    ("nothing at all", "max-cut"): Cell({"num_vertices": 0}, 0, []),
    ("nothing at all", "vertex-cover"): Cell({"num_vertices": 0}, 0, []),
    ("nothing at all", "independent-set"): Cell({"num_vertices": 0}, 0, []),
    ("nothing at all", "set-cover"): Cell({"sets": [], "num_elements": 0}, 0, []),
    ("no edges or no sets", "max-cut"): Cell({"num_vertices": 3, "edges": []}, 0, [0, 0, 0]),
    ("no edges or no sets", "vertex-cover"): Cell({"num_vertices": 3, "edges": []}, 0, []),
    ("no edges or no sets", "independent-set"): Cell({"num_vertices": 3, "edges": []}, 3, [0, 1, 2]),
    ("no edges or no sets", "set-cover"): Cell({"sets": [], "num_elements": 2}, refused_at="/sets"),
    ("weight 0", "max-cut"): Cell(CANCELLED, 3, None, (("duplicate-edges", 1, "/edges/3"),)),
    ("weight 0", "vertex-cover"): Cell(FREE, 0, [1, 3], (("free-vertices", 2, "/vertex_weights/1"),)),
    ("weight 0", "independent-set"): Cell(FREE | {"edges": [[0, 1], [1, 2]]}, 3, [0, 2, 3]),
    ("weight 0", "set-cover"): Cell({"sets": [[0], [0, 1], [1]], "costs": [0, 5, 2]}, 2, [0, 2], (("free-sets", 1, "/sets/0"),)),
    ("negative weight", "max-cut"): Cell(PATH | {"edge_weights": [-3, -1]}, 0, [0, 0, 0]),
    ("negative weight", "vertex-cover"): Cell(PATH | {"vertex_weights": [1, 2, -1]}, refused_at="/vertex_weights/2"),
    ("negative weight", "independent-set"): Cell(PATH | {"vertex_weights": [1, -2, 1]}, refused_at="/vertex_weights/1"),
    ("negative weight", "set-cover"): Cell({"sets": [[0], [0, 1]], "costs": [1, -1]}, refused_at="/costs/1"),
}


def label(key: tuple[str, str]) -> str:
    """Return what a test of a cell is called."""
    return " x ".join(key).replace(" ", "_")
