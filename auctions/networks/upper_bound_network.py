"""Two networks of one bidder: the values it probably has, and how high they may be (Weissteiner et al., BOCA, AAAI 2023).

Both have one shape and are trained together on value answers, the upper one with the loss of `upper_bound_loss`. Goods count unit by unit
(see `ladder`). The second network's values are what an optimistic auctioneer maximises: what it does not know may be worth much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from auctions.admissible import FREE
from auctions.bundles import Bundles, Limits
from auctions.networks.architecture import Architecture, Vector
from auctions.networks.backward_pass import FIRST_DECAY, LEAST_DENOMINATOR, LEAST_NUMBER, SECOND_DECAY
from auctions.networks.batch_pass import gradient_of, pass_forward
from auctions.networks.demand import checked_bundles
from auctions.networks.initialisation import Initialisation, initial_parameters
from auctions.networks.ladder import ladder, network_of_quantities
from auctions.networks.mvnn import MVNN, checked_values
from auctions.networks.network_document import network_document
from auctions.networks.upper_bound_loss import Weights, highest_values, mean_fit, upper_fit, upper_spread
from solvers.operation import InvalidInput

RUNNING_SHARE = 0.5
"""Of the newest epoch in the running mean of C, by which the epoch to keep is chosen."""

ENOUGH_FIT, SECOND_RATE = 0.9, 0.5
"""An upper network that explains less of the answers than this is trained once more, at this share of the rate."""


@dataclass(frozen=True, slots=True)
class UpperBoundOptions:
    """How the two networks are built and trained; the published values are in `boca_constants.json`.

    Attributes
    ----------
    hidden_layer_sizes : tuple of int
    skip_connection, trainable_cutoffs : bool
    epochs, batch_size, n_aug : int
        `n_aug`: artificial points in a step.
    epoch_factor : float
        Share of the epochs that are trained; the dropout fades as much faster.
    learning_rate, weight_decay : float
        No decay on cut-offs and skip weights.
    dropout, dropout_decay_per_epoch : float
    clip_grad_norm : float
        Of the upper network.
    weights : Weights
        Of the parts of the loss.
    initialisation : Initialisation
    """

    hidden_layer_sizes: tuple[int, ...]
    skip_connection: bool
    trainable_cutoffs: bool
    epochs: int
    batch_size: int
    n_aug: int
    learning_rate: float
    weight_decay: float
    dropout: float
    dropout_decay_per_epoch: float
    clip_grad_norm: float
    weights: Weights
    initialisation: Initialisation
    epoch_factor: float = 1.0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch_size", "n_aug"):
            if getattr(self, name) < 1:
                raise InvalidInput(f"{name} is {getattr(self, name)}; it must be at least 1", pointer=f"/{name}")
        if not 0 < self.epoch_factor <= 10:
            raise InvalidInput(f"epoch_factor is {self.epoch_factor}; it must be in (0, 10]", pointer="/epoch_factor")
        if not 0 <= self.dropout < 1:
            raise InvalidInput(f"dropout is {self.dropout}; it must be in [0, 1)", pointer="/dropout")

    @property
    def n_epochs(self) -> int:
        """How many epochs are trained."""
        return max(1, round(self.epochs * self.epoch_factor))


class UpperBoundNetwork:
    """Mean and upper network of one bidder.

    Parameters
    ----------
    capacities : sequence of int
    options : UpperBoundOptions
    limits : Limits
        What the bidder may hold.
    random_state : int, numpy.random.Generator, optional

    Attributes
    ----------
    mean_, upper_ : MVNN
        Over quantities, in money.
    fit_ : float
        R^2 of the upper network on the answers.
    n_attempts_ : int
    """

    def __init__(
        self,
        capacities: Sequence[int],
        options: UpperBoundOptions,
        *,
        limits: Limits = FREE,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.capacities = tuple(capacities)
        n_units = int(sum(Architecture(self.capacities, (), True).capacities))
        self._shape = Architecture((1,) * n_units, options.hidden_layer_sizes, options.skip_connection)
        self.options = options
        self.limits = limits
        self.random_state = random_state

    def fit(self, bundles: ArrayLike, values: ArrayLike) -> UpperBoundNetwork:
        """Train both networks on value answers.

        Raises
        ------
        InvalidInput
            If there is no answer, or one is malformed; with its place.
        """
        asked = checked_bundles(bundles, self.capacities, pointer="/value/bundles")
        said = checked_values(values, len(asked))
        if len(asked) == 0:
            raise InvalidInput("there is no answer to learn from", pointer="/value/bundles")
        scale = float(said.max()) or 1.0
        rng = np.random.default_rng(self.random_state)
        answers = _Answers.of(asked, said / scale, self.capacities)
        mean, upper = _trained(self._shape, answers, self.options, rng)
        self.fit_, self.n_attempts_ = answers.explained(self._shape, upper), 1
        if self.fit_ < ENOUGH_FIT:
            slower = replace(self.options, learning_rate=SECOND_RATE * self.options.learning_rate)
            second = _trained(self._shape, answers, slower, rng)
            self.n_attempts_ = 2
            if (fit := answers.explained(self._shape, second[1])) > self.fit_:
                self.fit_, (mean, upper) = fit, second
        self.mean_, self.upper_ = (self._over_quantities(parameters, scale) for parameters in (mean, upper))
        return self

    def _over_quantities(self, parameters: Vector, scale: float) -> MVNN:
        architecture, same = network_of_quantities(self._shape, parameters, self.capacities)
        return MVNN.from_dict(network_document(architecture, same), scale, self.limits)


@dataclass(frozen=True, slots=True)
class _Answers:
    """Value answers on the ladder, as they are, and sorted with the empty and the full bundle for E."""

    capacities: tuple[int, ...]
    points: Vector
    targets: Vector
    known_points: Vector
    known_values: Vector

    @classmethod
    def of(cls, asked: Bundles, targets: Vector, capacities: tuple[int, ...]) -> _Answers:
        # Nothing is known of what lies above all answers: E then is the highest of them.
        ends = np.array([np.zeros(len(capacities), dtype=np.int64), capacities])
        every = np.concatenate((ends[:1], asked, ends[1:]))
        worth = np.concatenate(([0.0], targets, [targets.max()]))
        order = np.argsort(worth, kind="stable")
        return cls(capacities, ladder(asked, capacities), targets, ladder(every, capacities)[order], worth[order])

    def artificial_points(self, n_points: int, rng: np.random.Generator) -> Vector:
        """Return points that are uniform over all quantities, on the ladder."""
        return ladder(rng.random((n_points, len(self.capacities))) * np.asarray(self.capacities), self.capacities)

    def explained(self, shape: Architecture, parameters: Vector) -> float:
        """Return R^2 on the answers; 1 if they are all the same and met."""
        errors = pass_forward(shape, parameters, self.points, 0.0, None).values - self.targets
        spread = float(((self.targets - self.targets.mean()) ** 2).sum())
        left = float(errors @ errors)
        return 1.0 - left / spread if spread > 0 else float(left < 1e-6)


def _trained(
    shape: Architecture, answers: _Answers, options: UpperBoundOptions, rng: np.random.Generator
) -> tuple[Vector, Vector]:
    """Return the mean and the upper parameters of the epoch with the least loss."""
    mean, upper = (_Descent(shape, initial_parameters(shape, rng, options.initialisation), options) for _ in range(2))
    n_answers, n_epochs = len(answers.targets), options.n_epochs
    best, kept, spread_mean = np.inf, (mean.parameters, upper.parameters), np.nan
    for epoch in range(n_epochs):
        rate = options.learning_rate / 2 * (1 + np.cos(np.pi * epoch / n_epochs))
        dropout = options.dropout * options.dropout_decay_per_epoch ** (epoch / options.epoch_factor)
        order = rng.permutation(n_answers)
        batches = [order[start : start + options.batch_size] for start in range(0, n_answers, options.batch_size)]
        losses = np.mean([_step(shape, answers, batch, options, dropout, rate, mean, upper, rng) for batch in batches], axis=0)
        spread_mean = losses[2] if epoch == 0 else (1 - RUNNING_SHARE) * spread_mean + RUNNING_SHARE * losses[2]
        if (loss := 0.5 * losses[0] + losses[1] + spread_mean) < best:
            best, kept = loss, (mean.parameters.copy(), upper.parameters.copy())
    return kept


def _step(
    shape: Architecture,
    answers: _Answers,
    batch: Bundles,
    options: UpperBoundOptions,
    dropout: float,
    rate: float,
    mean: _Descent,
    upper: _Descent,
    rng: np.random.Generator,
) -> tuple[float, float, float]:
    """Move both networks once; return A, B and C before."""
    n_batch, targets, weights = len(batch), answers.targets[batch], options.weights
    artificial = answers.artificial_points(options.n_aug, rng)
    points = np.concatenate((answers.points[batch], artificial))
    low = pass_forward(shape, mean.parameters, points, dropout, rng)
    high = pass_forward(shape, upper.parameters, points, dropout, rng)
    highest = highest_values(artificial, answers.known_points, answers.known_values)
    a = mean_fit(low.values[:n_batch], targets, weights)
    b = upper_fit(high.values[:n_batch], targets, weights)
    c = upper_spread(high.values[n_batch:], low.values[n_batch:], highest, weights, len(answers.targets))
    mean.step(gradient_of(shape, mean.parameters, low.first(n_batch), a.slopes), rate)
    slopes = gradient_of(shape, upper.parameters, high, np.concatenate((b.slopes, c.slopes)))
    upper.step(slopes * min(1.0, options.clip_grad_norm / (float(np.linalg.norm(slopes)) + 1e-6)), rate)
    return a.loss, b.loss, c.loss


class _Descent:
    """Adam on one network; cut-offs and skip weights do not decay."""

    def __init__(self, shape: Architecture, parameters: Vector, options: UpperBoundOptions) -> None:
        self._shape = shape
        self.parameters = parameters
        self._decay = np.full(len(parameters), options.weight_decay)
        self._moves = np.ones(len(parameters))
        for decay, moves in zip(shape.layers(self._decay), shape.layers(self._moves), strict=True):
            decay.cutoff[:] = 0.0
            moves.cutoff[:] = float(options.trainable_cutoffs)
        skip = shape.skip_weight(self._decay)
        if skip is not None:
            skip[:] = 0.0
        self._first, self._second = np.zeros_like(parameters), np.zeros_like(parameters)
        self._n_steps = 0

    def step(self, gradient: Vector, rate: float) -> None:
        self._n_steps += 1
        gradient = gradient + self._decay * self.parameters
        self._first += (1 - FIRST_DECAY) * (gradient - self._first)
        self._second += (1 - SECOND_DECAY) * (gradient * gradient - self._second)
        for moments in (self._first, self._second):
            moments[np.abs(moments) < LEAST_NUMBER] = 0.0
        root = np.sqrt(self._second / (1 - SECOND_DECAY**self._n_steps)) + LEAST_DENOMINATOR
        self.parameters -= rate / (1 - FIRST_DECAY**self._n_steps) * self._moves * self._first / root
        self._shape.project(self.parameters)
