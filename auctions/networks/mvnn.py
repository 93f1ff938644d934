"""A bidder's value of every bundle, learned from what it chose and what it said.

The model is the monotone value network of `architecture`, the training that of `training`; money is counted in units of a scale s, so that
the network's values are about 1: the value of a bundle is s M(x).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.admissible import FREE
from auctions.bundles import Bundles, Limits
from auctions.networks.architecture import Architecture
from auctions.networks.block_evaluation import Precision
from auctions.networks.demand import Demand, checked_bundles, checked_prices
from auctions.networks.demand_program import DEFAULT_SEARCH
from auctions.networks.forward_pass import evaluate
from auctions.networks.initialisation import CUSTOM, Initialisation, initial_parameters
from auctions.networks.network_document import network_document, read_network
from auctions.networks.oracles import Method, chooser, demand_at
from auctions.networks.training import DEFAULT_TRAINING, Answers, TrainingOptions, draw_orders, train
from auctions.networks.value_table import ValueTable, network_table
from auctions.outcome import SearchLimits
from solvers.operation import InvalidInput

MOST_RESTARTS = 3


class MVNN:
    """Monotone value network of one bidder.

    Parameters
    ----------
    capacities : sequence of int
        Units of each good.
    hidden_layer_sizes : sequence of int
    skip_connection : bool
        Whether goods also act linearly.
    initialisation : Initialisation
    limits : Limits
        What the bidder may hold.
    random_state : int, numpy.random.Generator, optional
        Of first parameters and visiting orders.

    Attributes
    ----------
    parameters_ : float64 array
    scale_ : float
        Money in a unit of the network.
    loss_curve_ : LossCurve
        In units of the network.
    n_restarts_ : int
        How often the training was begun anew because every unit had died.
    is_dead_ : bool
        Whether the network is 0 everywhere although the answers are not.
    monotonicity_violations_ : int
        Pairs of value answers that no monotone value has.

    Examples
    --------
    >>> said = [[1, 0], [0, 1], [1, 1]], [2.0, 3.0, 6.0]
    >>> network = MVNN([1, 1], random_state=0).fit(value=said, options=TrainingOptions(epochs=300))
    >>> bool(np.abs(network.predict(said[0]) - said[1]).max() < 0.1)
    True
    >>> network.demand([1.0, 5.0]).bundle.tolist()
    [1, 0]
    """

    def __init__(
        self,
        capacities: Sequence[int],
        hidden_layer_sizes: Sequence[int] = (30,),
        skip_connection: bool = True,
        *,
        initialisation: Initialisation = CUSTOM,
        limits: Limits = FREE,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.architecture = Architecture(tuple(capacities), tuple(hidden_layer_sizes), skip_connection)
        self.initialisation = initialisation
        self.limits = limits
        self.random_state = random_state

    def fit(
        self,
        demand: tuple[ArrayLike, ArrayLike] | None = None,
        value: tuple[ArrayLike, ArrayLike] | None = None,
        *,
        scale: float | None = None,
        options: TrainingOptions = DEFAULT_TRAINING,
        oracle: Method = "auto",
    ) -> MVNN:
        """Train a new network on all answers.

        Parameters
        ----------
        demand : pair of arrays, optional
            Prices, shape (R, m), and the bundle chosen at each.
        value : pair of arrays, optional
            Bundles, shape (N, m), and the value of each.
        scale : float, optional
            Money in a unit of the network; None for the greatest value that the answers name or imply.
        options : TrainingOptions
        oracle : {"auto", "table", "coordinate_ascent", "milp"}
            How the network's own choices are found.

        Raises
        ------
        InvalidInput
            Where an answer is malformed; with its place.
        """
        answers = self._checked(demand, value)
        self.scale_ = _checked_scale(scale, answers)
        self.monotonicity_violations_ = count_monotonicity_violations(answers.asked, answers.values)
        rng = np.random.default_rng(self.random_state)
        choose = chooser(self.architecture, self.limits, oracle, answers.chosen)
        anything_wanted = largest_bid(answers) > 0
        for restart in range(MOST_RESTARTS + 1):
            start = initial_parameters(self.architecture, rng, self.initialisation)
            orders = draw_orders(rng, options.epochs, len(answers.chosen), len(answers.asked))
            self.parameters_, self.loss_curve_ = train(
                self.architecture, start, answers.in_units_of(self.scale_), options, orders, choose
            )
            self.n_restarts_, self.is_dead_ = restart, anything_wanted and self._full_value() == 0.0
            if not self.is_dead_:
                break
        return self

    def predict(self, bundles: ArrayLike) -> NDArray[np.float64]:
        """Return the value of each bundle, in money."""
        return self.scale_ * evaluate(self.architecture, self.parameters_, checked_bundles(bundles, self.architecture.capacities))

    def demand(
        self, prices: ArrayLike, forbidden: ArrayLike = (), *, method: Method = "auto", search: SearchLimits = DEFAULT_SEARCH
    ) -> Demand:
        """Return the admissible bundle of highest value less price, with a proof.

        Parameters
        ----------
        prices : array of shape (m,)
        forbidden : array of shape (F, m)
            Bundles that must not be chosen.
        method : {"auto", "table", "coordinate_ascent", "milp"}
            "auto" for a table where there are at most 2^20 bundles, else branch and bound.
        search : SearchLimits
        """
        row = checked_prices(prices, self.architecture.n_goods)[0]
        unwanted = checked_bundles(forbidden, self.architecture.capacities, pointer="/forbidden")
        return demand_at(self.architecture, self.parameters_, self.scale_, row, unwanted, self.limits, method, search)

    def value_table(self, precision: Precision = np.float64) -> ValueTable:
        """Return the values of all admissible bundles, at most 2^20 of them."""
        return network_table(self.architecture, self.parameters_, self.scale_, self.limits, precision)

    def to_dict(self) -> dict[str, Any]:
        """Return the network as a JSON document, without the scale."""
        return network_document(self.architecture, self.parameters_)

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], scale: float = 1.0, limits: Limits = FREE) -> MVNN:
        """Return the network of a document that :meth:`to_dict` made."""
        architecture, parameters = read_network(document)
        network = cls(architecture.capacities, architecture.hidden_layer_sizes, architecture.skip_connection, limits=limits)
        network.parameters_, network.scale_ = parameters, _positive(scale)
        return network

    def _full_value(self) -> float:
        return float(evaluate(self.architecture, self.parameters_, np.array([self.architecture.capacities]))[0])

    def _checked(self, demand: tuple[ArrayLike, ArrayLike] | None, value: tuple[ArrayLike, ArrayLike] | None) -> Answers:
        capacities, n_goods = self.architecture.capacities, self.architecture.n_goods
        prices, chosen = np.zeros((0, n_goods)), np.zeros((0, n_goods), dtype=np.int64)
        asked, values = chosen, np.zeros(0)
        if demand is not None and len(np.asarray(demand[0])):
            prices = checked_prices(demand[0], n_goods)
            chosen = checked_bundles(demand[1], capacities, pointer="/demand/bundles")
            if len(chosen) != len(prices):
                raise InvalidInput(f"{len(chosen)} bundles for {len(prices)} price vectors", pointer="/demand")
        if value is not None:
            asked = checked_bundles(value[0], capacities, pointer="/value/bundles")
            values = checked_values(value[1], len(asked))
        return Answers(prices, chosen, asked, values)


def checked_values(values: ArrayLike, n_bundles: int) -> NDArray[np.float64]:
    """Return values as an array, one finite non-negative number per bundle."""
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidInput("the values are no list of numbers", pointer="/value/values") from None
    if array.shape != (n_bundles,):
        raise InvalidInput(f"values of shape {array.shape} for {n_bundles} bundles", pointer="/value/values")
    bad = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
    if len(bad):
        raise InvalidInput(f"the value {array[bad[0]]} is not finite and non-negative", pointer=f"/value/values/{bad[0]}")
    return array


def largest_bid(answers: Answers) -> float:
    """Return the greatest value that the answers name, or imply by what was paid for a bundle; 0 without answers.

    Examples
    --------
    >>> largest_bid(Answers(np.array([[2.0]]), np.array([[3]]), np.array([[1]]), np.array([5.0])))
    6.0
    """
    implied = (answers.prices * answers.chosen).sum(axis=1)
    return float(max(implied.max(initial=0.0), answers.values.max(initial=0.0)))


def count_monotonicity_violations(bundles: Bundles, values: NDArray[np.float64]) -> int:
    """Return how many pairs x <= y have v(x) > v(y).

    Examples
    --------
    >>> count_monotonicity_violations(np.array([[1, 0], [1, 1]]), np.array([3.0, 2.0]))
    1
    """
    within = (bundles[:, None, :] <= bundles[None, :, :]).all(axis=2)
    return int((within & (values[:, None] > values[None, :])).sum())


def _checked_scale(scale: float | None, answers: Answers) -> float:
    return (largest_bid(answers) or 1.0) if scale is None else _positive(scale)


def _positive(scale: float) -> float:
    if not 0 < scale < np.inf:
        raise InvalidInput(f"the scale {scale!r} is not positive and finite", pointer="/scale")
    return float(scale)
