"""Published constants of the SATS domains: start prices, increments and scales.

The numbers are facts of the public MLHCA and ML-CCA repositories, in `auctions/data/`. The published averages of MRVM mix the three bands
of a region; `average_item_values.json` has them per band.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from auctions.mechanism.budget import Mechanism

DOMAINS = ("gsvm", "lsvm", "srvm", "mrvm")

# Total growth of the prices over a clock phase, from which the increment of any other number of rounds follows.
GROWTH_BEFORE_ML, GROWTH_BEFORE_ML_MRVM, GROWTH_PURE = 16.4, 47.0, 131.5

START_SHARE = 0.2  # of the average value of a unit, where no table says what share prices start at


@cache
def domain_constants(domain: str) -> dict[str, Any] | None:
    """Return the published constants of a domain; None if it has none."""
    if domain not in DOMAINS:
        return None
    constants: dict[str, Any] = _read("domain_constants.json")["domains"][domain.upper()]
    return constants


def increment(mechanism: Mechanism, n_rounds: int, domain: str | None) -> float:
    """Return the relative price increase per clock round.

    Examples
    --------
    >>> increment("cca", 100, "gsvm"), increment("mlhca", 20, "mrvm"), round(increment("cca", 10, None), 3)
    (0.05, 0.22, 0.629)
    """
    common = _read("domain_constants.json")["common"]
    if mechanism == "cca":
        published = common["cca_increment_pure"].get(str(n_rounds))
        growth = GROWTH_PURE
    elif domain == "mrvm":
        published = common["cca_increment_by_qinit"].get(str(n_rounds))
        if n_rounds == 20:
            published = domain_constants("mrvm")["cca_increment_before_ml_20_rounds"]  # type: ignore[index]
        growth = GROWTH_BEFORE_ML_MRVM
    else:
        published = common["cca_increment_by_qinit"].get(str(n_rounds))
        growth = GROWTH_BEFORE_ML
    return float(growth ** (1 / max(1, n_rounds)) - 1 if published is None else published)


def table_start_prices(
    domain: str | None, mechanism: Mechanism, n_goods: int, table: Literal["published", "per_band"]
) -> tuple[float, ...] | None:
    """Return the domain's start prices: a share of the average value of one unit; None if there is no table for these goods.

    Examples
    --------
    >>> [round(price, 3) for price in table_start_prices("srvm", "cca", 3, "per_band")]
    [28.589, 10.046, 2.609]
    """
    constants = domain_constants(domain) if domain else None
    if constants is None:
        return None
    averages = constants["average_item_values_seeds_201_1200"]
    if domain == "mrvm" and table == "per_band":
        averages = [value for region in _read("average_item_values.json")["MRVM"] for value in region]
    if len(averages) != n_goods:
        return None
    multiplier = constants["cca_start_multiplier_pure_cca" if mechanism == "cca" else "cca_start_multiplier_before_ml"]
    return tuple(multiplier * value for value in averages)


def table_scales(domain: str | None, bidder_types: Sequence[str | None]) -> tuple[float, ...] | None:
    """Return the unit in which each bidder's network works: the mean over instances of its largest value.

    Where the bidders are others than the table's, one of a type takes the mean of its type; None if a type is unknown.
    """
    constants = domain_constants(domain) if domain else None
    if constants is None:
        return None
    scales, types = constants["scale_mean_max_value_seeds_1_100"], constants["bidder_types"]
    if list(bidder_types) == types:
        return tuple(scales)
    by_type = {
        name: [scale for scale, other in zip(scales, types, strict=True) if other == name] for name in dict.fromkeys(types)
    }
    if not all(name in by_type for name in bidder_types):
        return None
    return tuple(sum(by_type[str(name)]) / len(by_type[str(name)]) for name in bidder_types)


def has_dynamic_scales(domain: str | None) -> bool:
    """Tell whether scales follow the bids: in MRVM, and wherever there is no table."""
    constants = domain_constants(domain) if domain else None
    return constants is None or bool(constants["dynamic_scaling"])


@cache
def _read(name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((files("auctions") / "data" / name).read_text("utf-8"))
    return document
