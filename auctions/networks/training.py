"""Training of a monotone value network on demand answers and value answers together.

A demand answer x^r at prices p^r says that no bundle had a higher utility. Its loss is how much more the network's own choice x̂^r is
worth to the network than the answer: max(0, (M(x̂^r) - p^r.x̂^r) - (M(x^r) - p^r.x^r)); it is 0 on all answers if and only if every
answer is a predicted utility maximiser (Soumalias et al., "Machine Learning-Powered Combinatorial Clock Auction", AAAI 2024). A value
answer's loss is the absolute or squared error. Each epoch goes through the demand answers one at a time, then through the value
answers in batches; both share one Adam with coupled L2 decay and a cosine rate. Symbols: E -> `epochs`, x̂^r -> the cached choices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.networks.architecture import Architecture, Vector
from auctions.networks.backward_pass import adam_step, add_gradient
from auctions.networks.forward_pass import forward
from solvers.operation import InvalidInput

MOST_EPOCHS = 100_000

Chooser = Callable[[Vector, NDArray[np.float64]], Bundles]
"""chooser(parameters, prices of shape (K, m)) -> a bundle of highest M(x) - p.x for each price vector."""


@dataclass(frozen=True, slots=True)
class TrainingOptions:
    """How a network is trained.

    Attributes
    ----------
    epochs : int
    learning_rate : float
        Of the first epoch; it falls to 0 along a cosine.
    weight_decay : float
        Coupled: added to the gradient, times the parameters.
    loss : {"mae", "mse"}
        Of value answers.
    cached_solution_frequency : int
        Epochs between two computations of the network's own choices.
    batch_size_vq : int
        Value answers in a step.
    clip_grad_norm : float, optional
        Greatest norm of a step's gradient.
    refresh : {"epoch", "step"}
        Whether the choices of an epoch are computed at once with the parameters at its start, or each just before its step, at many
        times the cost.
    """

    epochs: int = 30
    learning_rate: float = 0.01
    weight_decay: float = 1e-6
    loss: Literal["mae", "mse"] = "mae"
    cached_solution_frequency: int = 1
    batch_size_vq: int = 1
    clip_grad_norm: float | None = None
    refresh: Literal["epoch", "step"] = "epoch"

    def __post_init__(self) -> None:
        for name, most in (("epochs", MOST_EPOCHS), ("cached_solution_frequency", MOST_EPOCHS), ("batch_size_vq", 10_000)):
            number = getattr(self, name)
            if not isinstance(number, int | np.integer) or isinstance(number, bool) or not 1 <= number <= most:
                raise InvalidInput(f"{name} is {number!r}; it must be an integer from 1 to {most}", pointer=f"/{name}")
        for name in ("learning_rate", "weight_decay", "clip_grad_norm"):
            number = getattr(self, name)
            if number is not None and not 0 <= number < np.inf:
                raise InvalidInput(f"{name} is {number!r}; it must be finite and not negative", pointer=f"/{name}")
        if self.loss not in ("mae", "mse"):
            raise InvalidInput(f"{self.loss!r} is neither mae nor mse", pointer="/loss")
        if self.refresh not in ("epoch", "step"):
            raise InvalidInput(f"{self.refresh!r} is neither epoch nor step", pointer="/refresh")

    def rates(self) -> NDArray[np.float64]:
        """Return the learning rate of each epoch."""
        return self.learning_rate / 2 * (1 + np.cos(np.pi * np.arange(self.epochs) / self.epochs))


DEFAULT_TRAINING = TrainingOptions()


class Answers(NamedTuple):
    """What a bidder has answered, in the network's own unit of money.

    Attributes
    ----------
    prices : float64 array of shape (R, m)
    chosen : int64 array of shape (R, m)
        The bundle demanded at each price vector.
    asked : int64 array of shape (N, m)
    values : float64 array of shape (N,)
        Of the bundles asked about.
    """

    prices: NDArray[np.float64]
    chosen: Bundles
    asked: Bundles
    values: NDArray[np.float64]

    def in_units_of(self, scale: float) -> Answers:
        """Return the same answers with money counted in units of `scale`."""
        return self._replace(prices=self.prices / scale, values=self.values / scale)


class VisitingOrders(NamedTuple):
    """In which order each epoch goes through the answers.

    Attributes
    ----------
    demand : int64 array of shape (epochs, R)
    value : int64 array of shape (epochs, N)
    """

    demand: NDArray[np.int64]
    value: NDArray[np.int64]


class LossCurve(NamedTuple):
    """Mean loss of each epoch, every sample's taken just before its step; NaN without answers of the kind.

    Attributes
    ----------
    demand : float64 array of shape (epochs,)
    value : float64 array of shape (epochs,)
        A mean over batches.
    """

    demand: NDArray[np.float64]
    value: NDArray[np.float64]


def draw_orders(rng: np.random.Generator, epochs: int, n_demand: int, n_value: int) -> VisitingOrders:
    """Return a uniform permutation of the answers for each epoch."""
    demand, value = (np.tile(np.arange(n), (epochs, 1)) for n in (n_demand, n_value))
    return VisitingOrders(rng.permuted(demand, axis=1), rng.permuted(value, axis=1))


def train(
    architecture: Architecture,
    parameters: Vector,
    answers: Answers,
    options: TrainingOptions,
    orders: VisitingOrders,
    choose: Chooser,
) -> tuple[Vector, LossCurve]:
    """Return the trained parameters and the course of the losses.

    Parameters
    ----------
    architecture : Architecture
    parameters : float64 array of shape (architecture.n_parameters,)
        Where the training starts; it is left as it is.
    answers : Answers
    options : TrainingOptions
    orders : VisitingOrders
    choose : Chooser
        Finds the network's own choices. Called once per refresh, or once per demand answer with ``refresh="step"``.

    Notes
    -----
    O(P) a step for P parameters, in compiled code that holds no lock: bidders can be trained in threads. Between two refreshes there
    is no Python.
    """
    run = _Run(architecture, parameters, answers, options)
    for start in range(0, options.epochs, options.cached_solution_frequency):
        end = min(start + options.cached_solution_frequency, options.epochs)
        if len(answers.chosen) == 0:
            run.epochs(orders, start, end)
        elif options.refresh == "epoch":
            run.cache(np.arange(len(answers.chosen)), choose)
            run.epochs(orders, start, end)
        else:
            for place in range(len(answers.chosen)):
                run.cache(orders.demand[start, place : place + 1], choose)
                run.demand_steps(orders, start, place, place + 1)
            run.value_steps(orders, start)
            run.epochs(orders, start + 1, end)
    return run.parameters, run.losses()


class _Run:
    """Arrays of one training, laid out for the kernels."""

    def __init__(self, architecture: Architecture, parameters: Vector, answers: Answers, options: TrainingOptions) -> None:
        self.parameters = np.array(parameters, dtype=np.float64)
        architecture.project(self.parameters)
        self._answers = answers
        self._choice = _Rows.of(architecture, answers.chosen)
        self._own_choice = _Rows.of(architecture, np.zeros_like(answers.chosen))
        self._asked = _Rows.of(architecture, answers.asked)
        self._premium = np.zeros(len(answers.chosen))  # by how much the own choice costs more than the answer
        self._rates = options.rates()
        self._demand_losses, self._value_losses = np.zeros(options.epochs), np.zeros(options.epochs)
        sizes, widest = architecture.sizes, int(architecture.sizes.max())
        norm = np.inf if options.clip_grad_norm is None else options.clip_grad_norm
        self._state = _State(
            self.parameters, sizes, architecture.skip_connection, np.zeros((2, len(parameters))), np.zeros(1, dtype=np.int64),
            np.zeros(len(parameters)), np.zeros((4, int(sizes.sum()))), np.zeros((2, widest)), float(options.weight_decay), float(norm),
        )  # fmt: skip
        self._batch, self._squared = options.batch_size_vq, options.loss == "mse"

    def cache(self, which: NDArray[np.int64], choose: Chooser) -> None:
        """Compute the network's own choices anew for some of the demand answers."""
        prices = self._answers.prices[which]
        own = choose(self.parameters, prices)
        self._own_choice.put(which, own)
        self._premium[which] = ((own - self._answers.chosen[which]) * prices).sum(axis=1)

    def epochs(self, orders: VisitingOrders, start: int, end: int) -> None:
        _epochs(
            self._state, self._choice, self._own_choice, self._premium, orders.demand, self._asked, self._answers.values,
            orders.value, self._batch, self._squared, self._rates, self._demand_losses, self._value_losses, start, end,
        )  # fmt: skip

    def demand_steps(self, orders: VisitingOrders, epoch: int, start: int, end: int) -> None:
        self._demand_losses[epoch] += _demand_steps(
            self._state, self._choice, self._own_choice, self._premium, orders.demand[epoch, start:end], self._rates[epoch]
        )

    def value_steps(self, orders: VisitingOrders, epoch: int) -> None:
        self._value_losses[epoch] = _value_steps(
            self._state, self._asked, self._answers.values, orders.value[epoch], self._batch, self._squared, self._rates[epoch]
        )

    def losses(self) -> LossCurve:
        n_demand, n_value = len(self._answers.chosen), len(self._answers.values)
        n_batches = -(-n_value // self._batch)
        none = np.full(len(self._rates), np.nan)
        return LossCurve(
            self._demand_losses / n_demand if n_demand else none, self._value_losses / n_batches if n_value else none
        )


class _Rows(NamedTuple):
    """Bundles as a network sees them: x_j / c_j, and x_j itself."""

    shares: NDArray[np.float64]
    raw: NDArray[np.float64]
    capacities: NDArray[np.float64]

    @classmethod
    def of(cls, architecture: Architecture, bundles: Bundles) -> _Rows:
        raw = np.array(bundles, dtype=np.float64).reshape(-1, architecture.n_goods)
        capacities = np.array(architecture.capacities, dtype=np.float64)
        return cls(raw / capacities, raw, capacities)

    def put(self, which: NDArray[np.int64], bundles: Bundles) -> None:
        self.raw[which] = bundles
        self.shares[which] = bundles / self.capacities


class _State(NamedTuple):
    """What a step changes, and what it needs to know."""

    parameters: Vector
    sizes: NDArray[np.int64]
    skip: bool
    moments: NDArray[np.float64]
    n_steps: NDArray[np.int64]
    gradient: Vector
    activations: NDArray[np.float64]
    pulls: NDArray[np.float64]
    weight_decay: float
    max_norm: float


@njit(cache=True, nogil=True)
def _epochs(  # type: ignore[no-untyped-def]
    state, choice, own_choice, premium, demand_orders, asked, values, value_orders, batch, squared, rates, demand_losses,
    value_losses, start, end,
):  # fmt: skip
    for epoch in range(start, end):
        demand_losses[epoch] = _demand_steps(state, choice, own_choice, premium, demand_orders[epoch], rates[epoch])
        value_losses[epoch] = _value_steps(state, asked, values, value_orders[epoch], batch, squared, rates[epoch])


@njit(cache=True, nogil=True)
def _demand_steps(state, choice, own_choice, premium, order, rate):  # type: ignore[no-untyped-def]
    """Take a step for each demand answer; return the sum of the losses. Momentum and decay act even where the loss is 0."""
    total = 0.0
    own_units, own_sums, units, sums = state.activations[0], state.activations[1], state.activations[2], state.activations[3]
    for row in order:
        own = forward(state.parameters, state.sizes, state.skip, own_choice.shares[row], own_choice.raw[row], own_units, own_sums)
        given = forward(state.parameters, state.sizes, state.skip, choice.shares[row], choice.raw[row], units, sums)
        loss = own - given - premium[row]
        if loss > 0.0:
            total += loss
            add_gradient(
                state.parameters,
                state.sizes,
                state.skip,
                own_choice.raw[row],
                own_units,
                own_sums,
                1.0,
                state.gradient,
                state.pulls,
            )
            add_gradient(
                state.parameters, state.sizes, state.skip, choice.raw[row], units, sums, -1.0, state.gradient, state.pulls
            )
        _step(state, rate)
    return total


@njit(cache=True, nogil=True)
def _value_steps(state, asked, values, order, batch, squared, rate):  # type: ignore[no-untyped-def]
    """Take a step for each batch of value answers; return the sum of the batches' mean losses."""
    total = 0.0
    units, sums = state.activations[0], state.activations[1]
    for start in range(0, len(order), batch):
        end = min(start + batch, len(order))
        share = 1.0 / (end - start)
        for place in range(start, end):
            row = order[place]
            error = (
                forward(state.parameters, state.sizes, state.skip, asked.shares[row], asked.raw[row], units, sums) - values[row]
            )
            if squared:
                total += share * error * error
                factor = 2.0 * share * error
            else:
                total += share * abs(error)
                factor = share * np.sign(error)
            add_gradient(
                state.parameters, state.sizes, state.skip, asked.raw[row], units, sums, factor, state.gradient, state.pulls
            )
        _step(state, rate)
    return total


@njit(cache=True, nogil=True)
def _step(state, rate):  # type: ignore[no-untyped-def]
    state.n_steps[0] += 1
    adam_step(
        state.parameters,
        state.sizes,
        state.skip,
        state.gradient,
        state.moments,
        state.n_steps[0],
        rate,
        state.weight_decay,
        state.max_norm,
    )
