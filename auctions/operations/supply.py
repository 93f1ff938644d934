"""The supply that a request speaks of, and the forms in which it gives bundles of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, Strict, WithJsonSchema

from auctions.bundles import MOST_GOODS, MOST_UNITS, Bundles, validate_capacities
from auctions.domains.bundle_forms import checked_bundle
from solvers.operation import Context, InvalidInput

Integer: TypeAlias = Annotated[int, Strict()]
Number: TypeAlias = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Flag: TypeAlias = Annotated[bool, Strict()]

_QUANTITY = {"type": "integer", "minimum": 0, "maximum": MOST_UNITS}
Bundle: TypeAlias = Annotated[
    Any,
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "array", "items": _QUANTITY},
                {"type": "object", "additionalProperties": _QUANTITY},
                {"type": "string", "pattern": "^[0-9]+$"},
            ],
            "description": "Units of each good: a list in the order of the goods, an object by their names (those that are not "
            'named count 0), or a text of one digit per good such as "0101".',
        }
    ),
]

Capacities: TypeAlias = Annotated[
    list[Any],
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "integer", "minimum": 1, "maximum": MOST_UNITS},
            "minItems": 1,
            "maxItems": MOST_GOODS,
        }
    ),
]


class Supply(BaseModel):
    """What is for sale."""

    model_config = ConfigDict(extra="forbid")

    capacities: Capacities = Field(description=f"Units of each good, 1 to {MOST_UNITS}.")
    good_names: list[str] | None = Field(None, description="Of the goods, all different; by default `good_0`, `good_1`, ..")

    def goods(self, context: Context) -> Goods:
        """Return the goods.

        Raises
        ------
        InvalidInput
            If a supply is no whole number within the bounds, or names do not go with it.
        TooLarge
            If the service takes fewer goods.
        """
        context.require("max_goods", len(self.capacities), "goods", pointer="/capacities")
        for good, units in enumerate(self.capacities):
            if isinstance(units, bool) or not isinstance(units, int | float):
                raise InvalidInput(f"the supply of good {good} is no number", pointer=f"/capacities/{good}")
        capacities = validate_capacities(self.capacities)
        names = [f"good_{good}" for good in range(len(capacities))] if self.good_names is None else self.good_names
        if len(names) != len(capacities):
            raise InvalidInput(f"{len(names)} names for {len(capacities)} goods", pointer="/good_names")
        for good, name in enumerate(names):
            if name in names[:good]:
                raise InvalidInput(f"two goods have the name {name!r}", pointer=f"/good_names/{good}")
        return Goods(capacities, tuple(names))


class Goods:
    """Goods with their supply and names, and the bundles that there are of them.

    Parameters
    ----------
    capacities : int array of shape (m,)
    names : sequence of str

    Examples
    --------
    >>> goods = Goods(np.array([1, 2]), ("a", "b"))
    >>> goods.bundles(["12", {"b": 1}, [1, 0]], lambda index: f"/bundles/{index}").tolist()
    [[1, 2], [0, 1], [1, 0]]
    """

    def __init__(self, capacities: NDArray[np.int64], names: Sequence[str]) -> None:
        self.capacities = capacities
        self.names = names

    def bundle(self, given: Any, pointer: str) -> Bundles:
        """Return one bundle."""
        return checked_bundle(given, self.capacities, self.names, pointer=pointer)

    def bundles(self, given: Sequence[Any], place: Callable[[int], str]) -> Bundles:
        """Return bundles as rows; `place` says where each stands."""
        m = len(self.capacities)
        if all(type(bundle) is list and len(bundle) == m for bundle in given) and set(map(type, chain(*given))) <= {int}:
            # Millions are checked as a whole; only what is wrong is looked at one by one.
            rows = np.array(given, dtype=object).reshape(len(given), m)
            if ((rows >= 0) & (rows <= self.capacities)).all():
                return rows.astype(np.int64)
        return np.array([self.bundle(bundle, place(index)) for index, bundle in enumerate(given)], dtype=np.int64).reshape(-1, m)
