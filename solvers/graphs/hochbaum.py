"""A cover within 2 - 2/k of the least weight, where k colours suffice for what the linear relaxation leaves open.

The relaxation decides some vertices for good and leaves a kernel of which every cover weighs at least half. A proper colouring of the
kernel with k colours has a class of at least a k-th of its weight; all else of the kernel covers its edges, and weighs at most
(1 - 1/k) of it, which is 2 - 2/k of half (Hochbaum, "Efficient Bounds for the Stable Set, Vertex Cover and Set Packing
Problems", Discrete Applied Mathematics 1983). On graphs of largest degree D that is at most 2 - 2/(D + 1).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from solvers.graphs.csr import Csr
from solvers.graphs.degeneracy import smallest_last_colouring
from solvers.graphs.half_integral import HalfIntegral, half_integral_cover
from solvers.graphs.induced import induced_subgraph


class ColouredCover(NamedTuple):
    """A cover and how far it is at most from the best.

    Attributes
    ----------
    members : bool array of shape (n,)
    ratio : float or None
        2 - 2/k: the cover weighs at most so many times what the best one does; 1.0 if it is a best one. None if the relaxation was
        given up.
    relaxation : HalfIntegral
    """

    members: np.ndarray
    ratio: float | None
    relaxation: HalfIntegral


def coloured_cover(csr: Csr, vertex_weights: np.ndarray, *, stop: Callable[[], bool] = lambda: False) -> ColouredCover:
    """Cover a graph by its linear relaxation and a colouring of the rest.

    Parameters
    ----------
    csr : Csr
        Its weights play no part.
    vertex_weights : int64 array of shape (n,)
        Positive.
    stop : callable
        Once true, the relaxation is given up and all of the graph coloured.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> triangle = build_csr(3, [[0, 1], [1, 2], [2, 0]], [1, 1, 1])
    >>> cover = coloured_cover(triangle, np.array([1, 5, 1]))
    >>> cover.members.tolist(), cover.ratio
    ([True, False, True], 1.0)
    """
    relaxation = half_integral_cover(csr, vertex_weights, stop=stop)
    members = relaxation.is_in
    kernel, vertices = induced_subgraph(csr, relaxation.is_undecided)
    colours = smallest_last_colouring(kernel)
    # A float sum of integers that add up to at most 2^53 is exact.
    heaviest = int(np.argmax(np.bincount(colours, vertex_weights[vertices]))) if len(vertices) else 0
    members[vertices] = colours != heaviest
    ratio = max(1.0, 2 - 2 / (int(colours.max(initial=0)) + 1)) if relaxation.is_optimal else None
    return ColouredCover(members, ratio, relaxation)
