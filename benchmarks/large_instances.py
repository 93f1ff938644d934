"""Large sparse graphs and set systems from a seed, and the texts that the service reads them from."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

Edges = npt.NDArray[np.int64]

# Of the power law that the degrees follow; its weights begin at the offset, so that no vertex is joined to a tenth of all.
EXPONENT, OFFSET = 2.5, 10.0

MOST_COST = 100


def uniform_graph(num_vertices: int, num_edges: int, seed: int) -> Edges:
    """Draw distinct edges, all pairs of vertices alike."""
    rng = np.random.default_rng(seed)
    return _distinct(num_vertices, num_edges, rng, lambda count: rng.integers(0, num_vertices, (count, 2)))


def power_law_graph(num_vertices: int, num_edges: int, seed: int) -> Edges:
    """Draw distinct edges whose ends are vertices with weights of a power law (Chung and Lu, Annals of Combinatorics 2002)."""
    rng = np.random.default_rng(seed)
    cumulated = np.cumsum((np.arange(num_vertices) + OFFSET) ** (-1 / (EXPONENT - 1)))
    names = rng.permutation(num_vertices)
    return _distinct(
        num_vertices,
        num_edges,
        rng,
        lambda count: names[np.searchsorted(cumulated, cumulated[-1] * rng.random((count, 2)))],
    )


def set_choices(num_elements: int, num_sets: int, sets_per_element: int, seed: int) -> npt.NDArray[np.int64]:
    """Draw the distinct sets that every element is in, one row per element."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, num_sets, (num_elements, sets_per_element))
    while True:
        rows.sort(axis=1)
        repeats = (np.diff(rows, axis=1) == 0).any(axis=1)
        if not repeats.any():
            return rows
        rows[repeats] = rng.integers(0, num_sets, (int(repeats.sum()), sets_per_element))


def rudy(num_vertices: int, edges: Edges) -> bytes:
    return b"%d %d\n" % (num_vertices, len(edges)) + _lines(edges + 1)


def edge_list(num_vertices: int, edges: Edges) -> bytes:
    return b"# %d vertices\n" % num_vertices + _lines(edges)


def dimacs(num_vertices: int, edges: Edges) -> bytes:
    return b"p edge %d %d\n" % (num_vertices, len(edges)) + _lines(edges + 1, prefix="e ")


def metis(num_vertices: int, edges: Edges) -> bytes:
    both = np.concatenate([edges, edges[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    neighbours = np.split(both[:, 1] + 1, np.searchsorted(both[:, 0], np.arange(1, num_vertices)))
    return b"%d %d\n" % (num_vertices, len(edges)) + _rows(neighbours)


def orlib(num_sets: int, choices: npt.NDArray[np.int64], seed: int) -> bytes:
    """Return the text of a set system with random costs in the OR-Library's format."""
    costs = np.random.default_rng(seed).integers(1, MOST_COST + 1, num_sets)
    rows = [[costs], *([[len(row)], row + 1] for row in choices)]
    return b"%d %d\n" % (len(choices), num_sets) + _rows(line for pair in rows for line in pair)


GRAPHS: dict[str, Callable[[int, int, int], Edges]] = {"uniform": uniform_graph, "power law": power_law_graph}
FORMATS: dict[str, Callable[[int, Edges], bytes]] = {"rudy": rudy, "edge_list": edge_list, "dimacs": dimacs, "metis": metis}


def _distinct(num_vertices: int, num_edges: int, rng: np.random.Generator, draw: Callable[[int], Edges]) -> Edges:
    keys = np.zeros(0, np.int64)
    while len(keys) < num_edges:
        ends = np.sort(draw(num_edges), axis=1)
        ends = ends[ends[:, 0] != ends[:, 1]]
        keys = np.unique(np.concatenate([keys, ends[:, 0] * num_vertices + ends[:, 1]]))
    keys = rng.permutation(keys)[:num_edges]
    return np.column_stack([keys // num_vertices, keys % num_vertices])


def _lines(edges: Edges, prefix: str = "") -> bytes:
    return "".join(f"{prefix}{u} {v}\n" for u, v in edges.tolist()).encode()


def _rows(rows: Iterable[npt.ArrayLike]) -> bytes:
    return b"".join(" ".join(map(str, np.asarray(row).tolist())).encode() + b"\n" for row in rows)
