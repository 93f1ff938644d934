"""Short cycles without chords, which a cut meets in an even number of edges: what makes a branch and bound on edges see parity."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

Cycle = tuple[int, ...]


def short_cycles(
    num_vertices: int, edges: np.ndarray, longest: int = 6, *, stop: Callable[[], bool] | None = None
) -> Iterator[Cycle]:
    """Yield cycles without chords as rows of `edges`, each once.

    All triangles come first, then all of length four; then one shortest cycle through every edge that is on none of these, if it
    has at most `longest` edges.

    Parameters
    ----------
    num_vertices : int
    edges : int array of shape (m, 2)
        Simple, without loops.
    longest : int
    stop : callable, optional
        Asked at every vertex and edge; no more cycles follow once it answers True.

    Examples
    --------
    >>> list(short_cycles(5, [[0, 1], [1, 2], [2, 0], [2, 3], [3, 4], [4, 0]]))
    [(0, 2, 1), (2, 3, 4, 5)]
    """
    neighbours: list[dict[int, int]] = [{} for _ in range(num_vertices)]
    ends = np.asarray(edges).reshape(-1, 2).tolist()
    for row, (u, v) in enumerate(ends):
        neighbours[u][v] = neighbours[v][u] = row
    is_covered = [False] * len(ends)
    for cycle in _triangles_and_squares(neighbours, stop or _never):
        for row in cycle:
            is_covered[row] = True
        yield cycle
    for row, (u, v) in enumerate(ends):
        if is_covered[row]:
            continue
        if stop is not None and stop():
            return
        path = _shortest_path(neighbours, u, v, row, longest - 1)
        if path is not None:
            for other in path:
                is_covered[other] = True
            yield (*path, row)


def _never() -> bool:
    return False


def _triangles_and_squares(neighbours: list[dict[int, int]], stop: Callable[[], bool]) -> Iterator[Cycle]:
    for u, around_u in enumerate(neighbours):
        if stop():
            return
        for v, uv in around_u.items():
            if v > u:
                for w in around_u.keys() & neighbours[v].keys():
                    if w > v:
                        yield uv, around_u[w], neighbours[v][w]
    # u is the first vertex of a square, opposite to w; a < b are beside it.
    for u, around_u in enumerate(neighbours):
        if stop():
            return
        for a, ua in around_u.items():
            if a < u:
                continue
            for w, aw in neighbours[a].items():
                if w <= u or w in around_u:
                    continue
                for b in around_u.keys() & neighbours[w].keys():
                    if b > a and b not in neighbours[a]:
                        yield ua, aw, neighbours[w][b], around_u[b]


def _shortest_path(neighbours: list[dict[int, int]], source: int, target: int, avoided: int, longest: int) -> Cycle | None:
    """Return the rows of a shortest path of at most `longest` edges that does without the row `avoided`."""
    came_by: dict[int, tuple[int, int]] = {source: (source, -1)}
    layer = [source]
    for _ in range(longest):
        following = []
        for v in layer:
            for u, row in neighbours[v].items():
                if row != avoided and u not in came_by:
                    came_by[u] = v, row
                    following.append(u)
        if target in came_by:
            rows = []
            while target != source:
                target, row = came_by[target]
                rows.append(row)
            return tuple(rows)
        layer = following
    return None
