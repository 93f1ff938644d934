"""From what a caller says of an auction to all that is fixed when it starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from auctions.mechanism.budget import MECHANISMS, Mechanism, question_counts
from auctions.mechanism.config import (
    LARGEST_SEED,
    AuctionConfig,
    BidderConfig,
    read_parameters,
    validate_bidders,
    validate_prices,
    validate_supply,
)
from auctions.mechanism.domain_tables import increment, table_scales, table_start_prices
from auctions.mechanism.parameters import Parameters
from auctions.mechanism.price_search import SMALLEST_SHARE
from solvers.operation import InvalidInput


def configure(
    mechanism: Mechanism,
    capacities: Sequence[int],
    *,
    bidders: Sequence[BidderConfig] | None = None,
    n_bidders: int | None = None,
    domain: str | None = None,
    start_prices: Sequence[float] | None = None,
    query_budget: int | None = None,
    parameters: Mapping[str, Any] | Parameters | None = None,
    seed: int = 0,
) -> AuctionConfig:
    """Return the configuration of an auction, every choice made.

    Parameters
    ----------
    mechanism : {"cca", "ml_cca", "mlca", "boca", "mlhca"}
    capacities : sequence of int
        Units of each good.
    bidders : sequence of BidderConfig, optional
    n_bidders : int, optional
        Instead of `bidders`, where nothing is known of them.
    domain : str, optional
        Whose tables apply.
    start_prices : sequence of float, optional
        Taken where neither the parameters nor the domain's table have them.
    query_budget : int, optional
        Questions per bidder; 100 unless said otherwise.
    parameters : mapping or Parameters, optional
    seed : int
        Of the mechanism's own draws.

    Raises
    ------
    InvalidInput
        If something is malformed, or prices are needed and unknown.

    Examples
    --------
    >>> config = configure("mlhca", [1, 1], n_bidders=2, start_prices=[1.0, 2.0])
    >>> config.counts.total, round(config.increment, 2), config.parameters.refresh
    (100, 0.15, 'epoch')
    """
    if mechanism not in MECHANISMS:
        raise InvalidInput(f"there is no mechanism {mechanism!r}; there are {', '.join(MECHANISMS)}", pointer="/mechanism")
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= LARGEST_SEED:
        raise InvalidInput("a seed is an integer from 0 to 2^63 - 1", pointer="/seed")
    supply = validate_supply(capacities)
    if bidders is None:
        bidders = [BidderConfig(str(index)) for index in range(n_bidders or 0)]
    checked = validate_bidders(bidders, supply)
    chosen = parameters if isinstance(parameters, Parameters) else read_parameters(dict(parameters or {}))
    counts = question_counts(mechanism, query_budget, domain=domain, explicit=chosen.explicit_counts)
    return AuctionConfig(
        mechanism=mechanism,
        capacities=supply,
        bidders=checked,
        counts=counts,
        start_prices=_start_prices(mechanism, len(supply), domain, start_prices, chosen),
        increment=chosen.increment if chosen.increment is not None else increment(mechanism, counts.n_cca_rounds, domain),
        parameters=chosen,
        seed=seed,
        domain=domain,
        scales=table_scales(domain, [bidder.type for bidder in checked]),
    )


def _start_prices(
    mechanism: Mechanism, n_goods: int, domain: str | None, otherwise: Sequence[float] | None, parameters: Parameters
) -> tuple[float, ...] | None:
    if mechanism in ("mlca", "boca"):
        return None
    if parameters.start_prices is not None:
        given = validate_prices(parameters.start_prices, n_goods, "/parameters/start_prices")
    elif (prices := table_start_prices(domain, mechanism, n_goods, parameters.start_price_table)) is not None:
        return prices
    elif otherwise is not None:
        given = validate_prices(otherwise, n_goods, "/start_prices")
    else:
        raise InvalidInput("without a table of average values the start prices must be given", pointer="/parameters/start_prices")
    return _above_zero(given) if parameters.price_floor else given


def _above_zero(prices: tuple[float, ...]) -> tuple[float, ...]:
    """Return start prices, those of zero replaced by a millionth of the largest.

    Prices rise by a share of themselves, so that one of zero would be asked for ever.
    """
    smallest = SMALLEST_SHARE * (max(prices) or 1.0)
    return tuple(max(price, smallest) for price in prices)
