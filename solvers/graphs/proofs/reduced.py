"""Reductions replayed: vertices with at most three neighbours leave the graph, and the largest cut changes by a known constant.

A vertex with edges of weight a, b, c to p, q, r adds to a cut the better of its two sides: k = max(0, a + b + c) if p, q, r lie
together, f_p = max(a, b + c) if p lies alone, and so on. That function of the sides is the constant k plus edges pq, pr, qr of
weight (f_p + f_q - f_r - k)/2 and alike, whatever the signs. Fewer neighbours are the case of weights 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from solvers.graphs.proofs.instance import ProofInstance, Refused, member

NEIGHBOURS_OF_RULE = {"degree_0": 0, "degree_1": 1, "degree_2": 2, "degree_3": 3}
LARGEST_KERNEL_WEIGHT = 2**62

Weights = dict[int, "int | Fraction"]


class ReplayedKernel(NamedTuple):
    """What is left of a graph, with what the vertices that left are worth.

    Attributes
    ----------
    instance : ProofInstance
        Vertices in the order of their original numbers.
    constant : Fraction
        In the unit of `instance`.
    """

    instance: ProofInstance
    constant: Fraction


def replay(instance: ProofInstance, certificate: dict[str, Any], stop: Callable[[], bool]) -> ReplayedKernel:
    """Return the kernel that the certificate's steps lead to, each step's premise having been tested."""
    steps = member(certificate, "steps")
    if not isinstance(steps, list):
        raise Refused("steps must be a list")
    is_concerned = _concerned(instance, steps)
    neighbours: list[Weights] = [{} for _ in range(instance.num_vertices)]
    concerned = (instance.edges[is_concerned].T.tolist(), instance.weights[is_concerned].tolist())
    for u, v, weight in zip(*concerned[0], concerned[1], strict=True):
        if weight:
            neighbours[u][v] = neighbours[v][u] = weight
    is_left = [True] * instance.num_vertices
    constant: int | Fraction = 0
    for number, step in enumerate(steps):
        if number % 4096 == 0 and stop():
            raise Refused("time was up before the steps were replayed")
        vertex, others = _premise(step, number, neighbours, is_left)
        is_left[vertex] = False
        constant += _eliminate(vertex, others, neighbours)
    return _kernel(instance, ~is_concerned, neighbours, is_left, constant)


def _concerned(instance: ProofInstance, steps: list[Any]) -> np.ndarray:
    """Return which edges the steps may take out or change: those of a vertex that leaves, and those between two that are named."""
    leaves, is_named = np.zeros((2, instance.num_vertices), bool)
    named = [[v for v in step[1:] if type(v) is int and 0 <= v < instance.num_vertices] for step in steps if type(step) is list]
    leaves[[vertices[0] for vertices in named if vertices]] = True
    is_named[[v for vertices in named for v in vertices]] = True
    concerned: np.ndarray = leaves[instance.edges].any(axis=1) | is_named[instance.edges].all(axis=1)
    return concerned


def _premise(step: Any, number: int, neighbours: list[Weights], is_left: list[bool]) -> tuple[int, list[int]]:
    """Return the vertex of a step and the neighbours it names, if they are all it has."""
    if not isinstance(step, list) or not step or not isinstance(step[0], str) or step[0] not in NEIGHBOURS_OF_RULE:
        raise Refused(f"step {number} names none of the rules {', '.join(NEIGHBOURS_OF_RULE)}")
    vertices = step[1:]
    if len(vertices) != 1 + NEIGHBOURS_OF_RULE[step[0]] or not all(type(vertex) is int for vertex in vertices):
        raise Refused(f"step {number}: {step[0]} needs a vertex and {NEIGHBOURS_OF_RULE[step[0]]} neighbours")
    if len(set(vertices)) < len(vertices) or not all(0 <= v < len(is_left) and is_left[v] for v in vertices):
        raise Refused(f"step {number} names a vertex twice, or one that is not there")
    vertex, others = vertices[0], vertices[1:]
    if not neighbours[vertex].keys() <= set(others):
        raise Refused(f"step {number}: vertex {vertex} has other neighbours than those named")
    return vertex, others


def _eliminate(vertex: int, others: list[int], neighbours: list[Weights]) -> int | Fraction:
    """Take out the vertex, put its part of the cut on the edges between the others, and return the constant."""
    row = neighbours[vertex]
    neighbours[vertex] = {}
    for other in others:
        neighbours[other].pop(vertex, None)
    weights = [row.get(other, 0) for other in others] + [0] * (3 - len(others))
    total = sum(weights)
    together = max(0, total)
    alone = [max(weight, total - weight) for weight in weights]
    for i in range(len(others)):
        for j in range(i):
            doubled = 2 * (alone[i] + alone[j]) - sum(alone) - together
            _add_weight(neighbours, others[i], others[j], _half(doubled))
    return together


def _half(doubled: int | Fraction) -> int | Fraction:
    return doubled // 2 if isinstance(doubled, int) and doubled % 2 == 0 else Fraction(doubled) / 2


def _add_weight(neighbours: list[Weights], u: int, v: int, weight: int | Fraction) -> None:
    merged = neighbours[u].get(v, 0) + weight
    if merged:
        neighbours[u][v] = neighbours[v][u] = merged
    else:
        neighbours[u].pop(v, None)
        neighbours[v].pop(u, None)


def _kernel(
    instance: ProofInstance, is_untouched: np.ndarray, neighbours: list[Weights], is_left: list[bool], constant: int | Fraction
) -> ReplayedKernel:
    kept = np.flatnonzero(is_left)
    position = np.zeros(len(is_left), np.int64)
    position[kept] = np.arange(len(kept))
    changed = [(u, v, weight) for u in kept.tolist() for v, weight in neighbours[u].items() if u < v]
    scale = math.lcm(*{weight.denominator for _, _, weight in changed})
    is_untouched = is_untouched & (instance.weights != 0)
    untouched = instance.weights[is_untouched]
    weights = [int(weight * scale) for _, _, weight in changed]
    if int(np.abs(untouched).sum()) * scale + sum(map(abs, weights)) > LARGEST_KERNEL_WEIGHT:
        raise Refused("the weights of the kernel are too large")
    ends = np.concatenate([instance.edges[is_untouched], np.array([edge[:2] for edge in changed], np.int64).reshape(-1, 2)])
    # The scale alone may be too large for NumPy, but not where it multiplies a weight.
    scaled = untouched * scale if len(untouched) else untouched
    # Denominators are powers of two, since nothing was divided but by 2.
    exponent = instance.exponent + scale.bit_length() - 1
    kernel = ProofInstance(len(kept), position[ends], np.concatenate([scaled, np.array(weights, np.int64)]), exponent)
    return ReplayedKernel(kernel, Fraction(constant) * scale)
