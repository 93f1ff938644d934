"""Loading the catalogue of operations that the settings name, and the kinds of resources that they make."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from typing import Any

from solvers.operation import Operation
from solvers.resource import ResourceKind


def load_catalogue(path: str) -> Mapping[str, Operation[Any, Any]]:
    """Import the operations at `path` and return them by name, in their order.

    Parameters
    ----------
    path : str
        ``module:attribute`` of an iterable of operations.

    Raises
    ------
    ValueError
        If `path` names nothing of the kind, or two operations share a name or a path.

    Examples
    --------
    >>> list(load_catalogue("app.operations:CATALOGUE"))[:1]
    ['max-cut']
    """
    module, separator, attribute = path.partition(":")
    if not separator:
        raise ValueError(f"a catalogue is named as module:attribute, not {path!r}")
    try:
        operations: Iterable[Operation[Any, Any]] = getattr(importlib.import_module(module), attribute)
    except AttributeError:
        raise ValueError(f"module {module} has no catalogue {attribute!r}") from None
    catalogue: dict[str, Operation[Any, Any]] = {}
    paths: set[str] = set()
    for operation in operations:
        if operation.name in catalogue:
            raise ValueError(f"two operations of {path} are named {operation.name!r}")
        if operation.path in paths:
            raise ValueError(f"two operations of {path} have the path {operation.path!r}")
        catalogue[operation.name] = operation
        paths.add(operation.path)
    return catalogue


def resource_kinds(catalogue: Mapping[str, Operation[Any, Any]]) -> Mapping[str, ResourceKind[Any]]:
    """Return the kinds of resources that the operations of a catalogue make, by what several of them are called.

    Raises
    ------
    ValueError
        If two kinds have the same path, media type or plural.

    Examples
    --------
    >>> list(resource_kinds(load_catalogue("app.operations:CATALOGUE")))[:1]
    ['predictors']
    """
    kinds = dict.fromkeys(operation.makes for operation in catalogue.values() if operation.makes is not None)
    for what in ("path", "media_type", "plural"):
        if len({getattr(kind, what) for kind in kinds}) < len(kinds):
            raise ValueError(f"two kinds of resources have the same {what.replace('_', ' ')}")
    return {kind.plural: kind for kind in kinds}
