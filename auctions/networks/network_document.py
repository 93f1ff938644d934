"""A network as JSON: `{m, capacities, layers: [{weight, bias, cutoff}], output_weight, skip_weight}`, a row of `weight` per unit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from auctions.networks.architecture import Architecture, Vector
from solvers.operation import InvalidInput


def network_document(architecture: Architecture, parameters: Vector) -> dict[str, Any]:
    """Return the document of a network; floats keep every bit.

    Examples
    --------
    >>> network_document(Architecture((2,), (), True), np.array([1.5]))
    {'m': 1, 'capacities': [2], 'layers': [], 'output_weight': [], 'skip_weight': [1.5]}
    """
    skip = architecture.skip_weight(parameters)
    return {
        "m": architecture.n_goods,
        "capacities": list(architecture.capacities),
        "layers": [
            {"weight": layer.weight.T.tolist(), "bias": layer.bias.tolist(), "cutoff": layer.cutoff.tolist()}
            for layer in architecture.layers(parameters)
        ],
        "output_weight": architecture.output_weight(parameters).tolist(),
        "skip_weight": None if skip is None else skip.tolist(),
    }


def read_network(document: Mapping[str, Any]) -> tuple[Architecture, Vector]:
    """Return the network of a document.

    Raises
    ------
    InvalidInput
        Where a member is missing, has the wrong shape or sign, or is not finite; with its place.
    """
    if not isinstance(document, Mapping):
        raise InvalidInput("a network is an object with capacities, layers, output_weight and skip_weight", pointer="")
    capacities = document.get("capacities")
    layers, skip = document.get("layers", []), document.get("skip_weight")
    if not isinstance(capacities, list | tuple):
        raise InvalidInput("capacities is no list of integers", pointer="/capacities")
    if not isinstance(layers, list | tuple) or not all(isinstance(layer, Mapping) for layer in layers):
        raise InvalidInput("layers is no list of objects with weight, bias and cutoff", pointer="/layers")
    if document.get("m", len(capacities)) != len(capacities):
        raise InvalidInput(f"m is {document['m']!r}, but there are {len(capacities)} capacities", pointer="/m")
    biases = [_numbers(layer.get("bias"), (None,), f"/layers/{k}/bias") for k, layer in enumerate(layers)]
    architecture = Architecture(tuple(capacities), tuple(len(bias) for bias in biases), skip is not None)
    parameters = np.zeros(architecture.n_parameters)
    for k, (place, layer, bias) in enumerate(zip(architecture.layers(parameters), layers, biases, strict=True)):
        where = f"/layers/{k}"
        place.weight[:] = _numbers(layer.get("weight"), place.weight.T.shape, f"{where}/weight").T
        place.bias[:] = -_non_negative(-bias, f"{where}/bias", "positive")
        place.cutoff[:] = _numbers(layer.get("cutoff"), place.cutoff.shape, f"{where}/cutoff")
        _non_negative(place.weight.T, f"{where}/weight")
        _non_negative(place.cutoff, f"{where}/cutoff")
    output = architecture.output_weight(parameters)
    output[:] = _non_negative(_numbers(document.get("output_weight", []), output.shape, "/output_weight"), "/output_weight")
    linear = architecture.skip_weight(parameters)
    if linear is not None:
        linear[:] = _non_negative(_numbers(skip, linear.shape, "/skip_weight"), "/skip_weight")
    return architecture, parameters


def _numbers(entries: Any, shape: tuple[int | None, ...], pointer: str) -> NDArray[np.float64]:
    try:
        array = np.asarray(entries, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput(f"{pointer.rsplit('/', 1)[-1]} is no array of numbers", pointer=pointer) from None
    if array.ndim != len(shape) or any(want not in (None, have) for want, have in zip(shape, array.shape, strict=True)):
        raise InvalidInput(f"{pointer.rsplit('/', 1)[-1]} has the shape {array.shape} in place of {shape}", pointer=pointer)
    if not np.isfinite(array).all():
        raise InvalidInput("a parameter is not finite", pointer=_first(~np.isfinite(array), pointer))
    return array


def _non_negative(array: NDArray[np.float64], pointer: str, wrong: str = "negative") -> NDArray[np.float64]:
    if (array < 0).any():
        raise InvalidInput(
            f"a parameter is {wrong}, so that the network would not be monotone", pointer=_first(array < 0, pointer)
        )
    return array


def _first(bad: NDArray[np.bool_], pointer: str) -> str:
    return "/".join([pointer, *map(str, np.argwhere(bad)[0].tolist())])
