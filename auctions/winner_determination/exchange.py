"""Exchange search: an allocation improved by single moves, for networks over more bundles than can be listed.

A move takes some units of one good from those nobody has, or from one bidder, and gives them to another; the best move is made until none
improves. What a move is worth is known from two lists per bidder, its gains and its losses, and only those of the two bidders concerned
change. A move changes the sums of the first hidden layer by a multiple of one row of weights, so that all moves of a bidder are evaluated
together in two or three small products.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from auctions.bundles import Bundles
from auctions.networks.mvnn import MVNN
from auctions.outcome import SearchLimits, StoppedBy

DEFAULT_STARTS = 30
KICKED_UNITS = 6
MOST_MOVES = 10_000
SEED = 0


class Moves:
    """What one bidder gains and loses by more and by fewer units of each good.

    Parameters
    ----------
    network : MVNN
    forbidden : int array of shape (n_forbidden, n_goods)
        To hold one of them costs `penalty`.
    goods, units : int arrays of shape (n_moves,)
        Of every move.
    penalty : float
    """

    def __init__(
        self, network: MVNN, forbidden: Bundles, goods: NDArray[np.int64], units: NDArray[np.int64], penalty: float
    ) -> None:
        architecture, parameters = network.architecture, network.parameters_
        self.scale = network.scale_
        self._layers = [(layer.weight, layer.bias, layer.cutoff) for layer in architecture.layers(parameters)]
        self._output = architecture.output_weight(parameters)
        skip = architecture.skip_weight(parameters)
        self._skip = np.zeros(architecture.n_goods) if skip is None else np.asarray(skip)
        self._capacities = np.asarray(architecture.capacities, dtype=np.float64)
        self._most = network.limits.quantities(architecture.capacities)
        self._most_items = network.limits.max_items
        self._forbidden, self._penalty = forbidden, penalty
        self._goods, self._units = goods, units
        if self._layers:
            self._shift = self._layers[0][0][goods] * (units / self._capacities[goods])[:, None]
        self._skip_shift = self._skip[goods] * units

    def admits(self, bundle: Bundles) -> bool:
        """Tell whether the bidder may hold a bundle, forbidden ones aside."""
        return bool((bundle <= self._most).all()) and (self._most_items is None or int(bundle.sum()) <= self._most_items)

    def is_forbidden(self, bundle: Bundles) -> bool:
        """Tell whether a bundle is among those forbidden."""
        return bool((self._forbidden == bundle).all(axis=1).any())

    def of(self, bundle: Bundles) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
        """Return what a bundle is worth, what each move adds to it, and what each takes from it.

        Moves that cannot be made add minus infinity and take infinity.
        """
        first = np.zeros((1, 0))
        more = fewer = np.zeros((len(self._goods), 0))
        if self._layers:
            first = ((bundle / self._capacities) @ self._layers[0][0] + self._layers[0][1])[None]
            more, fewer = first + self._shift, first - self._shift
        linear = float(self._skip @ bundle)
        sums = np.concatenate((first, more, fewer))
        shifts = np.concatenate(([0.0], self._skip_shift, -self._skip_shift))
        values = self.scale * (self._above(sums) + linear + shifts)
        n_moves = len(self._goods)
        held = bundle[self._goods]
        self._charge(values, bundle)
        gains, losses = values[1 : n_moves + 1] - values[0], values[0] - values[n_moves + 1 :]
        gains[held + self._units > self._most[self._goods]] = -np.inf
        if self._most_items is not None:
            gains[int(bundle.sum()) + self._units > self._most_items] = -np.inf
        losses[held < self._units] = np.inf
        return float(values[0]), gains, losses

    def _above(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the network's output for some sums of its first hidden layer, the skip connection aside."""
        if not self._layers:
            return np.zeros(len(sums))
        signal = np.minimum(np.maximum(sums, 0.0), self._layers[0][2])
        for weight, bias, cutoff in self._layers[1:]:
            signal = np.minimum(np.maximum(signal @ weight + bias, 0.0), cutoff)
        return np.asarray(signal @ self._output, dtype=np.float64)

    def _charge(self, values: NDArray[np.float64], bundle: Bundles) -> None:
        """Take the penalty from the values of forbidden bundles: the one held, and those a move away."""
        for unwanted in self._forbidden - bundle:
            changed = np.flatnonzero(unwanted)
            if len(changed) == 0:
                values[0] -= self._penalty
            elif len(changed) == 1:
                units = int(unwanted[changed[0]])
                move = int(np.flatnonzero((self._goods == changed[0]) & (self._units == abs(units)))[0])
                values[1 + move + (0 if units > 0 else len(self._goods))] -= self._penalty


class ExchangeSearch:
    """The search for some bidders.

    Parameters
    ----------
    networks : sequence of MVNN
    capacities : int array of shape (n_goods,)
    forbidden : mapping from bidder to bundles
    exclude : collection of int
        Bidders that get nothing.
    """

    def __init__(
        self,
        networks: Sequence[MVNN],
        capacities: NDArray[np.int64],
        forbidden: Mapping[int, Bundles],
        exclude: Collection[int] = (),
    ) -> None:
        self._capacities = capacities
        self._n_bidders = len(networks)
        self._active = [bidder for bidder in range(len(networks)) if bidder not in exclude]
        self._goods = np.repeat(np.arange(len(capacities)), capacities)
        self._units = np.concatenate([np.arange(1, units + 1) for units in capacities])
        full = sum(float(networks[bidder].predict(capacities[None])[0]) for bidder in self._active)
        nothing = np.zeros((0, len(capacities)), dtype=np.int64)
        self._moves = [
            Moves(networks[bidder], forbidden.get(bidder, nothing), self._goods, self._units, 1.0 + 2.0 * full)
            for bidder in self._active
        ]

    def best(
        self, limits: SearchLimits, deadline: float, warm_start: Bundles | None = None
    ) -> tuple[Bundles | None, StoppedBy | None]:
        """Return the best allocation of several starts; None if each ended with somebody holding what it must not.

        The first starts are the given allocation and one in which nobody has anything; the others are drawn, in turn anew or as the best
        so far with some units dealt out again, by a generator that always starts from the same seed.
        """
        rng = np.random.default_rng(SEED)
        n_starts = DEFAULT_STARTS if limits.iteration_limit is None else limits.iteration_limit
        best, best_welfare = None, -np.inf
        for number in range(max(1, n_starts)):
            if number == 0:
                start = self._allowed(np.zeros((len(self._active), len(self._capacities)), dtype=np.int64), warm_start)
            elif number == 1 or best is None or number % 2:
                start = self._dealt(rng)
            else:
                start = self._kicked(best, rng)
            allocation, welfare = self._climb(start)
            if welfare > best_welfare and not any(m.is_forbidden(x) for m, x in zip(self._moves, allocation, strict=True)):
                best, best_welfare = allocation, welfare
            if limits.cancelled():
                return self._whole(best), "cancelled"
            if time.monotonic() >= deadline:
                return self._whole(best), "time_limit"
        return self._whole(best), None

    def _whole(self, allocation: Bundles | None) -> Bundles | None:
        if allocation is None:
            return None
        whole = np.zeros((self._n_bidders, len(self._capacities)), dtype=np.int64)
        whole[self._active] = allocation
        return whole

    def _allowed(self, start: Bundles, given: Bundles | None) -> Bundles:
        """Return the given allocation as far as the bidders may hold it."""
        if given is None:
            return start
        for place, (bidder, moves) in enumerate(zip(self._active, self._moves, strict=True)):
            if moves.admits(given[bidder]) and (start.sum(axis=0) + given[bidder] <= self._capacities).all():
                start[place] = given[bidder]
        return start

    def _dealt(self, rng: np.random.Generator) -> Bundles:
        """Return an allocation in which every unit went to somebody at random, if that bidder may hold it."""
        allocation = np.zeros((len(self._active), len(self._capacities)), dtype=np.int64)
        self._deal(allocation, rng, np.repeat(np.arange(len(self._capacities)), self._capacities))
        return allocation

    def _kicked(self, best: Bundles, rng: np.random.Generator) -> Bundles:
        """Return an allocation with some units of the best one dealt out again."""
        allocation = best.copy()
        dealt = []
        for _ in range(KICKED_UNITS):
            owners, goods = np.nonzero(allocation)
            if len(owners) == 0:
                break
            pick = int(rng.integers(len(owners)))
            allocation[owners[pick], goods[pick]] -= 1
            dealt.append(goods[pick])
        self._deal(allocation, rng, np.array(dealt, dtype=np.int64))
        return allocation

    def _deal(self, allocation: Bundles, rng: np.random.Generator, goods: NDArray[np.int64]) -> None:
        for good, place in zip(goods.tolist(), rng.integers(len(self._active), size=len(goods)).tolist(), strict=True):
            allocation[place, good] += 1
            if not self._moves[place].admits(allocation[place]):
                allocation[place, good] -= 1

    def _climb(self, allocation: Bundles) -> tuple[Bundles, float]:
        """Make the best move until none improves."""
        places = np.arange(len(self._active))
        answers = [moves.of(bundle) for moves, bundle in zip(self._moves, allocation, strict=True)]
        values = np.array([value for value, _, _ in answers])
        gains, losses = np.array([gain for _, gain, _ in answers]), np.array([loss for _, _, loss in answers])
        least = 1e-9 * max(moves.scale for moves in self._moves)
        columns = np.arange(len(self._goods))
        for _ in range(MOST_MOVES):
            left = (self._capacities - allocation.sum(axis=0))[self._goods] >= self._units
            takers, givers = gains.argmax(axis=0), losses.argmin(axis=0)
            from_pool = np.where(left, gains[takers, columns], -np.inf)
            # A good's cheapest giver may be its best taker; then the second of either has to do.
            traded = gains[takers, columns] - losses[givers, columns]
            for column in np.flatnonzero((takers == givers) & (traded > least)):
                taker = int(takers[column])
                others = places != taker
                if not others.any():
                    traded[column] = -np.inf
                    continue
                second_giver = int(np.where(others, losses[:, column], np.inf).argmin())
                second_taker = int(np.where(others, gains[:, column], -np.inf).argmax())
                as_taker = gains[taker, column] - losses[second_giver, column]
                as_giver = gains[second_taker, column] - losses[taker, column]
                if as_taker >= as_giver:
                    givers[column], traded[column] = second_giver, as_taker
                else:
                    takers[column], traded[column] = second_taker, as_giver
            pooled, exchanged = int(np.argmax(from_pool)), int(np.argmax(traded))
            if max(from_pool[pooled], traded[exchanged]) <= least:
                break
            is_pooled = from_pool[pooled] >= traded[exchanged]
            move = pooled if is_pooled else exchanged
            good, units = int(self._goods[move]), int(self._units[move])
            concerned = [int(gains[:, move].argmax())] if is_pooled else [int(takers[move]), int(givers[move])]
            allocation[concerned[0], good] += units
            for giver in concerned[1:]:
                allocation[giver, good] -= units
            for place in concerned:
                values[place], gains[place], losses[place] = self._moves[place].of(allocation[place])
        return allocation, float(values.sum())
