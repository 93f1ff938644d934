"""Drawing an instance of a domain by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from auctions.domains.base_and_synergy import bvm, mbvm
from auctions.domains.cats import cats_regions
from auctions.domains.gsvm import gsvm
from auctions.domains.instance import Instance
from auctions.domains.lsvm import lsvm
from auctions.domains.mrvm_draw import mrvm
from auctions.domains.srvm import srvm
from solvers.field_faults import json_pointer
from solvers.operation import InvalidInput

DRAW: dict[str, Callable[..., Instance]] = {
    "gsvm": gsvm,
    "lsvm": lsvm,
    "srvm": srvm,
    "mrvm": mrvm,
    "bvm": bvm,
    "mbvm": mbvm,
    "cats": cats_regions,
}

# What says where the random numbers come from; everything else is a parameter of the domain.
RANDOMNESS = ("seed", "rng", "seed_convention", "population_seed")


def draw_instance(domain: str, seed: int, parameters: Mapping[str, Any] | None = None, **randomness: Any) -> Instance:
    """Return an instance of a domain.

    Parameters
    ----------
    domain : str
        One of `DRAW`, in either case.
    seed : int
    parameters : mapping, optional
        Parameters of the domain's function, such as `n_regional`.
    **randomness
        `rng`, `seed_convention` and `population_seed`; None stands for the default.

    Raises
    ------
    InvalidInput
        There is no such domain or parameter, or one has a value it cannot have.

    Examples
    --------
    >>> draw_instance("GSVM", 1, {"n_regional": 2}).n_bidders
    3
    """
    name = domain.lower() if isinstance(domain, str) else domain
    if name not in DRAW:
        raise InvalidInput(f"there is no domain {domain!r}; they are {', '.join(DRAW)}", pointer="/domain")
    draw = DRAW[name]
    known = inspect.signature(draw).parameters
    given = {key: value for key, value in randomness.items() if value is not None}
    for key, value in given.items():
        if key not in known and not (key == "rng" and value == "numpy"):
            raise InvalidInput(
                f"instances of {name} are drawn with NumPy's random numbers, without {key} {value!r}", pointer=f"/{key}"
            )
    wanted = dict(parameters or {})
    for key in wanted:
        if key not in known or key in RANDOMNESS:
            raise InvalidInput(f"{name} has no parameter {key!r}", pointer="/parameters" + json_pointer((str(key),)))
    if not isinstance(wanted.get("legacy", False), bool):
        raise InvalidInput(f"legacy is true or false, not {wanted['legacy']!r}", pointer="/parameters/legacy")
    return draw(seed, **{key: value for key, value in given.items() if key in known}, **wanted)
