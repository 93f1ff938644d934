"""Edge-disjoint odd cycles: every cut leaves at least one edge of each uncut."""

from __future__ import annotations

from typing import Any

import numpy as np

from solvers.graphs.proofs.instance import ProofInstance, Refused, integers, member


def odd_cycles_bound(instance: ProofInstance, certificate: dict[str, Any]) -> int:
    """Return the positive weights less the least weight of each cycle, once the cycles are found odd, positive and disjoint."""
    cycles = member(certificate, "cycles")
    if not isinstance(cycles, list):
        raise Refused("cycles must be a list of lists of vertices")
    for number, cycle in enumerate(cycles):
        integers(cycle, f"cycle {number}", 0, instance.num_vertices - 1)
        if len(cycle) < 3 or len(cycle) % 2 == 0:
            raise Refused(f"cycle {number} has {len(cycle)} edges; it must have an odd number of them, at least 3")
    positive = instance.weights > 0
    total = int(instance.weights[positive].sum())
    if not cycles:
        return total

    lengths = np.array([len(cycle) for cycle in cycles])
    ends = np.cumsum(lengths)
    vertices = np.array([vertex for cycle in cycles for vertex in cycle], dtype=np.int64)
    successors = np.roll(vertices, -1)
    successors[ends - 1] = vertices[ends - lengths]
    cycle_of = np.repeat(np.arange(len(cycles)), lengths)
    keys = _keys(np.column_stack((vertices, successors)), instance.num_vertices)

    edge_keys = _keys(instance.edges[positive], instance.num_vertices)
    order = np.argsort(edge_keys)
    found = np.searchsorted(edge_keys[order], keys)
    absent = np.append(edge_keys[order], -1)[found] != keys
    if absent.any():
        place = int(np.argmax(absent))
        pair = f"{vertices[place]} to {successors[place]}"
        raise Refused(f"cycle {cycle_of[place]}: there is no edge of positive weight from vertex {pair}")
    if len(np.unique(keys)) < len(keys):
        raise Refused("an edge is used twice")
    used = instance.weights[positive][order[found]]
    return total - int(np.minimum.reduceat(used, ends - lengths).sum())


def _keys(pairs: np.ndarray, num_vertices: int) -> np.ndarray:
    """Return one number for each pair of vertices, whichever comes first."""
    keys: np.ndarray = pairs.min(axis=1) * num_vertices + pairs.max(axis=1)
    return keys
