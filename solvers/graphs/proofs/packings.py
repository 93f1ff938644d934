"""What no independent set can hold at once: packings of edges, and cliques that share out the vertices.

Each function returns an upper bound on the weight of an independent set, in the unit of the instance, whose weights are those of its
vertices. A cover leaves out an independent set, so that the same certificates bound covers from below.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from solvers.graphs.proofs.instance import ProofInstance, Refused, integers, member


def matching_bound(instance: ProofInstance, certificate: dict[str, Any]) -> int:
    """Return the total weight less the lighter end of each edge of a matching: at least that is left out."""
    rows = _rows(instance, certificate)
    ends = instance.edges[rows]
    if len(np.unique(ends)) < ends.size:
        raise Refused("two edges of the matching share a vertex")
    return int(instance.weights.sum() - instance.weights[ends].min(axis=1).sum())


def edge_packing_bound(instance: ProofInstance, certificate: dict[str, Any]) -> int:
    """Return the total weight less what is packed on the edges, once no vertex is found to bear more than its weight."""
    rows, values = _rows(instance, certificate), member(certificate, "y")
    if not isinstance(values, list) or len(values) != len(rows) or not all(type(y) is int and y >= 0 for y in values):
        raise Refused(f"y must be a list of {len(rows)} integers that are not negative")
    scale = member(certificate, "scale")
    if type(scale) not in (int, float) or not 0 < scale < math.inf:
        raise Refused("scale must be a positive number")
    # The packing is in the caller's unit.
    unit = Fraction(2) ** instance.exponent / Fraction(scale)
    loads = [0] * instance.num_vertices
    for (u, v), y in zip(instance.edges[rows].tolist(), values, strict=True):
        loads[u] += y
        loads[v] += y
    for vertex, (load, weight) in enumerate(zip(loads, instance.weights.tolist(), strict=True)):
        if load * unit.numerator > weight * unit.denominator:
            raise Refused(f"vertex {vertex} bears more than its weight")
    return int(instance.weights.sum()) + (-sum(values) * unit.numerator) // unit.denominator


def clique_partition_bound(instance: ProofInstance, certificate: dict[str, Any]) -> int:
    """Return the sum of the heaviest vertices of the cliques, once these are found to be cliques and to share out the vertices."""
    cliques = member(certificate, "cliques")
    if not isinstance(cliques, list):
        raise Refused("cliques must be a list of lists of vertices")
    n = instance.num_vertices
    for number, clique in enumerate(cliques):
        integers(clique, f"clique {number}", 0, n - 1)
    sizes = np.array([len(clique) for clique in cliques], dtype=np.int64)
    vertices = np.array([vertex for clique in cliques for vertex in clique], dtype=np.int64)
    counts = np.bincount(vertices, minlength=n)
    if (counts != 1).any():
        place = int(np.argmax(counts != 1))
        raise Refused(f"vertex {place} is in {counts[place]} cliques; it must be in exactly one")
    clique_of = np.empty(n, dtype=np.int64)
    clique_of[vertices] = np.repeat(np.arange(len(cliques)), sizes)
    ends = clique_of[instance.edges]
    inner = np.bincount(ends[ends[:, 0] == ends[:, 1], 0], minlength=len(cliques))
    # The graph is simple: so many edges inside leave no pair out.
    if (2 * inner != sizes * (sizes - 1)).any():
        raise Refused(f"clique {int(np.argmax(2 * inner != sizes * (sizes - 1)))} is not one")
    heaviest = np.zeros(len(cliques), dtype=np.int64)
    np.maximum.at(heaviest, clique_of, instance.weights)
    return int(heaviest.sum())


def _rows(instance: ProofInstance, certificate: dict[str, Any]) -> list[int]:
    rows = integers(member(certificate, "edges"), "edges", 0, len(instance.edges) - 1)
    if len(set(rows)) < len(rows):
        raise Refused("edges names an edge twice")
    return rows
