"""How a graph falls apart: connected components, biconnected blocks, and cuts that no edge objects to.

The largest cut of a graph is the sum of those of its components, and also of its blocks: blocks share at most one vertex, and a
block's cut may be complemented to agree there.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from scipy.sparse import coo_array, csgraph

from solvers.graphs.csr import build_csr

ARCS_PER_CALL = 2_000_000


def connected_components(num_vertices: int, edges: np.ndarray) -> np.ndarray:
    """Return the component of each vertex, numbered by their first vertices.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)

    Returns
    -------
    int32 array of shape (n,)

    Examples
    --------
    >>> connected_components(4, [[0, 2], [1, 3]]).tolist()
    [0, 1, 0, 1]
    """
    if num_vertices == 0:
        return np.zeros(0, np.int32)
    ends = np.asarray(edges, dtype=np.int32).reshape(-1, 2)
    links = coo_array((np.ones(len(ends), np.int8), (ends[:, 0], ends[:, 1])), shape=(num_vertices, num_vertices))
    labels = csgraph.connected_components(links, directed=False)[1]
    _, first_vertices = np.unique(labels, return_index=True)
    number = np.empty(len(first_vertices), np.int32)
    number[np.argsort(first_vertices)] = np.arange(len(first_vertices), dtype=np.int32)
    return number[labels]


def biconnected_blocks(num_vertices: int, edges: np.ndarray) -> np.ndarray:
    """Return the block of each edge, numbered from 0.

    Two edges are in one block if and only if some cycle without repeated vertices passes through both; a bridge is a block alone.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.

    Returns
    -------
    int32 array of shape (m,)

    Notes
    -----
    O(n + m), by a depth-first search without recursion.

    References
    ----------
    J. Hopcroft and R. Tarjan, "Algorithm 447: efficient algorithms for graph manipulation", Communications of the ACM 16 (1973).

    Examples
    --------
    Two triangles that share vertex 2:

    >>> biconnected_blocks(5, [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 2]]).tolist()
    [1, 1, 1, 0, 0, 0]
    """
    ends = np.ascontiguousarray(edges, dtype=np.int32).reshape(-1, 2)
    csr = build_csr(num_vertices, ends, np.zeros(len(ends), np.int64))
    blocks = np.full(len(ends), -1, np.int32)
    search = (
        csr.indptr[:-1].copy(),  # the next arc of each vertex
        np.full(num_vertices, -1, np.int32),  # when each vertex was found
        np.zeros(num_vertices, np.int32),  # the earliest vertex that it and its descendants touch
        np.empty(num_vertices, np.int32),  # the path from the root, as vertices
        np.empty(num_vertices, np.int32),  # and as the edges by which they were found
        np.empty(len(ends), np.int32),  # edges of the blocks that are still open
        np.zeros(5, np.int64),  # lengths of the path and of the open edges, vertices found, blocks, next root
    )
    while not _search_blocks(csr.indptr, csr.indices, csr.edge_ids, blocks, search, ARCS_PER_CALL):
        pass
    return blocks


def balanced_sides(num_vertices: int, edges: np.ndarray, weights: np.ndarray) -> np.ndarray | None:
    """Return a cut through all edges of positive weight and none of negative weight, or None if there is none.

    Such a cut is worth the sum of the positive weights, which no cut exceeds. A bipartite graph of positive weights has one. Given
    the cuts of blocks, weights of 1 for cut edges and -1 for others make it the cut that they form together.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
    weights : int array of shape (m,)

    Returns
    -------
    int8 array of shape (n,) or None
        The first vertex of every component is on side 0.

    Examples
    --------
    >>> balanced_sides(4, [[0, 1], [1, 2], [2, 3], [3, 0]], [1, 1, 1, 1]).tolist()
    [0, 1, 0, 1]
    >>> balanced_sides(3, [[0, 1], [1, 2], [2, 0]], [1, 1, 1]) is None
    True
    """
    ends = np.ascontiguousarray(edges, dtype=np.int32).reshape(-1, 2)
    signs = np.sign(np.asarray(weights, dtype=np.int64)).astype(np.int8)
    parent = np.arange(num_vertices, dtype=np.int32)
    parity = np.zeros(num_vertices, np.int8)
    for start in range(0, len(ends), ARCS_PER_CALL):
        if not _unite(ends[start : start + ARCS_PER_CALL], signs[start : start + ARCS_PER_CALL], parent, parity):
            return None
    sides: np.ndarray = _sides_from_first_vertices(parent, parity)
    return sides


@njit(cache=True, nogil=True)
def _search_blocks(indptr, indices, edge_ids, blocks, search, budget):  # type: ignore[no-untyped-def]
    """Go on for up to `budget` arcs; return whether the search is over."""
    next_arc, found, low, path, path_edges, open_edges, state = search
    depth, num_open, num_found, num_blocks, root = state[0], state[1], state[2], state[3], state[4]
    while budget > 0:
        budget -= 1
        if depth == 0:
            while root < found.shape[0] and found[root] >= 0:
                root += 1
            if root == found.shape[0]:
                return True
            found[root] = low[root] = num_found
            num_found += 1
            path[0], path_edges[0] = root, -1
            depth = 1
            continue
        v, arrival = path[depth - 1], path_edges[depth - 1]
        if next_arc[v] < indptr[v + 1]:
            u, edge = indices[next_arc[v]], edge_ids[next_arc[v]]
            next_arc[v] += 1
            if edge == arrival or (found[u] >= 0 and found[u] > found[v]):
                continue
            open_edges[num_open] = edge
            num_open += 1
            if found[u] >= 0:
                low[v] = min(low[v], found[u])
                continue
            found[u] = low[u] = num_found
            num_found += 1
            path[depth], path_edges[depth] = u, edge
            depth += 1
            continue
        depth -= 1
        if depth == 0:
            continue
        above = path[depth - 1]
        low[above] = min(low[above], low[v])
        if low[v] >= found[above]:
            edge = -1
            while edge != arrival:
                num_open -= 1
                edge = open_edges[num_open]
                blocks[edge] = num_blocks
            num_blocks += 1
    state[0], state[1], state[2], state[3], state[4] = depth, num_open, num_found, num_blocks, root
    return False


@njit(cache=True, nogil=True)
def _root(parent, parity, v):  # type: ignore[no-untyped-def]
    """Return the root of `v`, its parity towards it now stored at `v` itself."""
    root, total = v, np.int8(0)
    while parent[root] != root:
        total ^= parity[root]
        root = parent[root]
    while parent[v] != root and v != root:
        above, rest = parent[v], total ^ parity[v]
        parent[v], parity[v] = root, total
        v, total = above, rest
    return root


@njit(cache=True, nogil=True)
def _unite(edges, signs, parent, parity):  # type: ignore[no-untyped-def]
    """Join the ends of every edge, on different sides if it is positive; return False at the first contradiction."""
    for e in range(edges.shape[0]):
        if signs[e] == 0:
            continue
        u, v = edges[e, 0], edges[e, 1]
        wanted = np.int8(1) if signs[e] > 0 else np.int8(0)
        root_u, root_v = _root(parent, parity, u), _root(parent, parity, v)
        between = parity[u] ^ parity[v]
        if root_u == root_v:
            if between != wanted:
                return False
        else:
            # Roots are the first vertices of their components.
            above, below = min(root_u, root_v), max(root_u, root_v)
            parent[below], parity[below] = above, between ^ wanted
    return True


@njit(cache=True, nogil=True)
def _sides_from_first_vertices(parent, parity):  # type: ignore[no-untyped-def]
    sides = np.empty(parent.shape[0], np.int8)
    for v in range(parent.shape[0]):
        _root(parent, parity, v)
        sides[v] = parity[v]
    return sides
