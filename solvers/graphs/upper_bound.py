"""The upper bound of a run: the least proven for each component, added up and carried back through the reductions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from solvers.graphs.bound import Bound, trivial_bound
from solvers.graphs.kernel import SearchSpace

# A bound that should be whole may be off by this much in floating point.
FLOAT_NOISE = 1e-9

LARGEST_EXACT_FLOAT = 2**53


class UpperBound:
    """What is proven of a search space; bounds come in kernel units, component by component.

    Parameters
    ----------
    space : SearchSpace

    Attributes
    ----------
    parts : list of Bound
        The least of each open component, in kernel units.
    value : float
        The bound on the caller's graph, in the caller's unit; a whole number where the weights are.
    """

    def __init__(self, space: SearchSpace[Any]) -> None:
        self._space = space
        self.parts = [trivial_bound(space.kernel.components[index].weights) for index in space.open]
        self.value = self._total()

    def offer(self, part: int, bound: Bound) -> bool:
        """Keep `bound` for an open component, by its place in `space.open`, if it is the least; return whether it was."""
        weights = self._space.kernel.components[self._space.open[part]].weights
        kernel = self._space.kernel
        scale = kernel.scale
        if kernel.is_integral and not np.any(weights % scale):
            bound = bound._replace(value=float(math.floor(bound.value / scale + FLOAT_NOISE) * scale))
        if bound.value >= self.parts[part].value:
            return False
        self.parts[part] = bound
        self.value = self._total()
        return True

    def _total(self) -> float:
        kernel = self._space.kernel
        total: float = kernel.in_callers_unit(math.fsum(bound.value for bound in self.parts) + self._space.settled_value)
        if kernel.is_integral:
            return math.floor(total + FLOAT_NOISE)
        return math.nextafter(float(total) + kernel.rounding, math.inf) if kernel.rounding else float(total)

    @property
    def kind(self) -> str:
        """The kind of :meth:`certificate`."""
        kernel = self._space.kernel
        if kernel.is_reduced:
            return "reduced"
        if len(kernel.components) > 1:
            return "sum"
        bounds = [*self.parts, *(bound for _, _, bound in self._space.settled.values())]
        return bounds[0].kind if bounds else "trivial"

    def certificate(self) -> dict[str, Any]:
        """Return the proof for the caller's graph: the parts', as a sum if there are several, after the reductions if there were any."""
        kernel = self._space.kernel
        bounds = {index: bound for index, (_, _, bound) in self._space.settled.items()}
        bounds |= dict(zip(self._space.open, self.parts, strict=True))
        certificates = [in_unit(bounds[index].certificate, kernel.unit) for index in range(len(kernel.components))]
        if not certificates:
            proof: dict[str, Any] = {"kind": "trivial"}
        elif len(certificates) == 1:
            proof = certificates[0]
        else:
            vertices = [component.vertices.tolist() for component in kernel.components]
            proof = {
                "kind": "sum",
                "parts": [{"vertices": v, "certificate": c} for v, c in zip(vertices, certificates, strict=True)],
            }
        return {"kind": "reduced", "steps": kernel.steps(), "kernel": proof} if kernel.is_reduced else proof


def in_unit(certificate: dict[str, Any], unit: float) -> dict[str, Any]:
    """Return a certificate for weights as one for weights that are `unit` times smaller, a power of two: nothing is rounded."""
    if certificate["kind"] == "sdp_dual":
        return certificate | {"y": [y / unit for y in certificate["y"]], "delta": certificate["delta"] / unit}
    if certificate["kind"] == "edge_packing":
        # A power of two, exact as a float where it is no integer of moderate size.
        scale = certificate["scale"] * unit
        return certificate | {"scale": int(scale) if scale.is_integer() and scale <= LARGEST_EXACT_FLOAT else scale}
    if "fallback" in certificate:
        return certificate | {"fallback": in_unit(certificate["fallback"], unit)}
    return certificate
