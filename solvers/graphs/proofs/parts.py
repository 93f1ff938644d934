"""A graph taken apart: bounds of parts that share no edge add up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from solvers.graphs.proofs.instance import ProofInstance, Refused, integers, member

MOST_LOOK_UPS = 50_000_000


def parts_of(instance: ProofInstance, certificate: dict[str, Any]) -> Iterator[tuple[ProofInstance, Any]]:
    """Yield each part as a graph of its own with its certificate, once every edge is found to lie in exactly one part.

    Parts are induced by their vertices, numbered as listed; connected components are parts, and so are blocks, which share
    vertices but no edges.
    """
    parts, vertices_of = _parts(instance, certificate)
    part_of_edge = _part_of_each_edge(instance, vertices_of)
    order = np.argsort(part_of_edge, kind="stable")
    starts = np.searchsorted(part_of_edge[order], np.arange(len(parts) + 1))
    position = np.empty(instance.num_vertices, dtype=np.int64)
    for number, vertices in enumerate(vertices_of):
        rows = order[starts[number] : starts[number + 1]]
        position[vertices] = np.arange(len(vertices))
        part = ProofInstance(len(vertices), position[instance.edges[rows]], instance.weights[rows], instance.exponent)
        yield part, member(parts[number], "certificate")


def separate_parts_of(instance: ProofInstance, certificate: dict[str, Any]) -> Iterator[tuple[ProofInstance, Any]]:
    """Yield each part as a graph of its own with its certificate, once they are found to share out the vertices and all edges.

    The weights are those of the vertices, which hence may be in one part only. Parts are induced by their vertices, numbered as
    listed; their edges stay in order.
    """
    parts, vertices_of = _parts(instance, certificate)
    counts = np.bincount(np.concatenate([np.zeros(0, dtype=np.int64), *vertices_of]), minlength=instance.num_vertices)
    if (counts != 1).any():
        place = int(np.argmax(counts != 1))
        raise Refused(f"vertex {place} is in {counts[place]} parts; it must be in exactly one")
    part_of, position = np.empty_like(counts), np.empty_like(counts)
    for number, vertices in enumerate(vertices_of):
        part_of[vertices] = number
        position[vertices] = np.arange(len(vertices))
    ends = part_of[instance.edges]
    if (ends[:, 0] != ends[:, 1]).any():
        raise Refused(f"edge {int(np.argmax(ends[:, 0] != ends[:, 1]))} joins two parts")
    order = np.argsort(ends[:, 0], kind="stable")
    starts = np.searchsorted(ends[order, 0], np.arange(len(parts) + 1))
    for number, vertices in enumerate(vertices_of):
        rows = order[starts[number] : starts[number + 1]]
        part = ProofInstance(len(vertices), position[instance.edges[rows]], instance.weights[vertices], instance.exponent)
        yield part, member(parts[number], "certificate")


def _parts(instance: ProofInstance, certificate: dict[str, Any]) -> tuple[list[dict[str, Any]], list[np.ndarray]]:
    parts = member(certificate, "parts")
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise Refused("parts must be a list of objects")
    vertices_of = []
    for number, part in enumerate(parts):
        listed = integers(member(part, "vertices"), f"vertices of part {number}", 0, instance.num_vertices - 1)
        if len(set(listed)) < len(listed):
            raise Refused(f"part {number} names a vertex twice")
        vertices_of.append(np.array(listed, dtype=np.int64))
    return parts, vertices_of


def _part_of_each_edge(instance: ProofInstance, vertices_of: list[np.ndarray]) -> np.ndarray:
    n, count = instance.num_vertices, len(vertices_of)
    vertices = np.concatenate([np.zeros(0, dtype=np.int64), *vertices_of])
    parts = np.repeat(np.arange(count), [len(listed) for listed in vertices_of])
    memberships = np.bincount(vertices, minlength=n)
    if not memberships.all():
        raise Refused(f"vertex {int(np.argmin(memberships))} is in no part")
    order = np.argsort(vertices, kind="stable")
    parts, starts = parts[order], np.concatenate(([0], np.cumsum(memberships)))
    keys = np.sort(vertices * count + np.repeat(np.arange(count), [len(listed) for listed in vertices_of]))

    # Look up each part of the end that is in fewer of them among those of the other end.
    us, vs = instance.edges.T
    swap = memberships[us] > memberships[vs]
    fewer, more = np.where(swap, vs, us), np.where(swap, us, vs)
    repeats = memberships[fewer]
    if repeats.sum() > MOST_LOOK_UPS:
        raise Refused("too many vertices are in too many parts")
    edge = np.repeat(np.arange(len(us)), repeats)
    nth = np.arange(len(edge)) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    part = parts[starts[fewer[edge]] + nth]
    wanted = more[edge] * count + part
    at = np.searchsorted(keys, wanted)
    found = np.append(keys, -1)[at] == wanted
    shared = np.bincount(edge[found], minlength=len(us))
    if (shared != 1).any():
        place = int(np.argmax(shared != 1))
        raise Refused(f"edge {place} lies in {shared[place]} parts; it must lie in exactly one")
    parts_in_order: np.ndarray = part[found]
    return parts_in_order
