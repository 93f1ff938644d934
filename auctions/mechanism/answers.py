"""Which answers count: the reasons for which one is refused, and which earlier answers one contradicts."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.events import Bundle
from solvers.operation import ForesolveError


class RejectedAnswer(ForesolveError):
    """An answer that does not fit its question.

    Parameters
    ----------
    code : str
        What is wrong with it, for programs.
    detail : str
        The same for people.
    """

    title: ClassVar[str] = "The answer does not fit the question"

    def __init__(self, code: str, detail: str, *, pointer: str | None = None) -> None:
        super().__init__(detail, pointer=pointer, code=code)
        self.code = code


class QueryClosed(ForesolveError):
    """The question takes no answers now."""

    type = "query_closed"
    title = "The question takes no answers now"
    status = 409


class UnknownQuery(ForesolveError):
    """There is no such question for this bidder."""

    type = "unknown_query"
    title = "There is no such question"
    status = 404


def check_bundle(answer: Any, config: AuctionConfig, bidder: int) -> Bundle:
    """Return an answer to a demand query as a bundle.

    Raises
    ------
    RejectedAnswer
        If it is not a bundle that the bidder may have.
    """
    if not isinstance(answer, list | tuple | np.ndarray) or len(answer) != config.n_goods:
        raise RejectedAnswer("wrong_length", f"a bundle is a list of {config.n_goods} quantities", pointer="/bundle")
    bundle = tuple(_quantity(quantity, f"/bundle/{good}") for good, quantity in enumerate(answer))
    for good, (quantity, supply) in enumerate(zip(bundle, config.capacities, strict=True)):
        if quantity < 0:
            raise RejectedAnswer("negative_quantity", "a quantity is 0 or more", pointer=f"/bundle/{good}")
        if quantity > supply:
            raise RejectedAnswer("exceeds_supply", f"there are {supply} units", pointer=f"/bundle/{good}")
    if not config.bidders[bidder].limits.admits(np.array(bundle, dtype=np.int64)):
        raise RejectedAnswer("exceeds_bidder_limit", "the bundle exceeds what this bidder may have", pointer="/bundle")
    return bundle


def check_value(answer: Any, config: AuctionConfig) -> float:
    """Return an answer to a value query as a number.

    Raises
    ------
    RejectedAnswer
        If it is not a finite number of 0 or more, with no more decimals than the currency has.
    """
    if isinstance(answer, bool) or not isinstance(answer, int | float | np.integer | np.floating):
        raise RejectedAnswer("not_finite", "a value is a number", pointer="/value")
    value = _as_float(answer)
    if not math.isfinite(value):
        raise RejectedAnswer("not_finite", "a value is a finite number", pointer="/value")
    if value < 0:
        raise RejectedAnswer("negative_value", "a value is 0 or more", pointer="/value")
    decimals = config.parameters.currency_decimals
    if decimals is not None and round(value, decimals) != value:
        raise RejectedAnswer("currency_precision", f"a value has at most {decimals} decimals", pointer="/value")
    return value


def _quantity(quantity: Any, pointer: str) -> int:
    is_number = isinstance(quantity, int | float | np.integer | np.floating) and not isinstance(quantity, bool)
    if not is_number or not math.isfinite(number := _as_float(quantity)) or number != math.floor(number):
        raise RejectedAnswer("not_integer", "a quantity is an integer", pointer=pointer)
    return int(quantity)


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:  # an integer beyond the largest float
        return math.inf if number > 0 else -math.inf
