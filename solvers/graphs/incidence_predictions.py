"""Predictions about one least-cost cover: a bit for every element that a set lists, each about whether that set is chosen.

The incidence model of Aamand et al., "Improved Approximations for Hard Graph Problems using Predictions" (ICML 2025): every pair of a
set and an element of it carries a bit about "the set is in the cover", right with probability 1/2 + eps, so that large sets have many
votes. Symbols: eps -> `epsilon`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from solvers.graphs.arrays import Array, as_written, flags
from solvers.graphs.predictions import EdgePredictions
from solvers.graphs.set_system import SetSystem
from solvers.operation import InvalidInput


@dataclass(frozen=True, eq=False)
class IncidencePredictions:
    """A bit for every element of every set.

    Parameters
    ----------
    bits : sequence of sequences
        ``bits[j][i]`` is 1, 0, or None or -1 where it is missing: what element i in the list of set j says of that set.
    epsilon : float, optional
        A bit is right with probability 1/2 + epsilon; in (0, 1/2]. Estimated from the bits where it is not given.
    overdispersion : float
        Correlation of the bits about one set, in [0, 1].

    Attributes
    ----------
    bits : int8 array
        All rows, one after the other; -1 where a bit is missing.
    sizes : int64 array of shape (n,)
        Length of each row.

    Raises
    ------
    InvalidInput
        If a bit is none of 0, 1 and missing, or a number is out of its range.

    Examples
    --------
    >>> IncidencePredictions([[0, 1], [1, None]], epsilon=0.1).bits.tolist()
    [0, 1, 1, -1]
    """

    bits: Array
    epsilon: float | None = None
    overdispersion: float = 0.0
    sizes: Array = None  # type: ignore[assignment]  # set from the rows

    def __post_init__(self) -> None:
        if self.sizes is None:
            flat, sizes = flat_bits(_with_nulls(self.bits), "/predictions/incidence_bits")
            object.__setattr__(self, "bits", flat)
            object.__setattr__(self, "sizes", sizes)
        # Checks the other two numbers.
        self._about(self.sets)

    @property
    def sets(self) -> Array:
        """The set that each bit speaks of, int64 of the shape of `bits`."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def votes_about(self, system: SetSystem, pointer: str = "/predictions") -> EdgePredictions:
        """Return the bits as votes about the sets of a system.

        Raises
        ------
        InvalidInput
            If a row has neither one bit per listed element of its set nor one per distinct element.
        """
        if len(self.sizes) != system.num_sets:
            raise InvalidInput(f"{len(self.sizes)} rows of bits for {system.num_sets} sets", pointer=f"{pointer}/incidence_bits")
        wrong = (self.sizes != system.listed_sizes) & (self.sizes != np.diff(system.set_ptr))
        if wrong.any():
            j = int(np.argmax(wrong))
            raise InvalidInput(
                f"{self.sizes[j]} bits for the {system.listed_sizes[j]} elements of set {j + system.index_base}",
                pointer=f"{pointer}/incidence_bits/{j}",
            )
        return self._about(self.sets)

    def _about(self, sets: Array) -> EdgePredictions:
        bits = np.column_stack([self.bits, np.full(len(self.bits), -1, np.int8)])
        return EdgePredictions(bits, self.epsilon, self.overdispersion, endpoints=np.column_stack([sets, sets]))


def flat_bits(rows: Any, pointer: str) -> tuple[Array, Array]:
    """Return rows of bits one after the other, -1 where one is missing, and the length of each row.

    Raises
    ------
    InvalidInput
        With the pointer of the first row that is no list, or of the first bit that is none of 0, 1 and null.
    """
    for j, row in enumerate(rows):
        if not isinstance(row, (list, tuple)):
            raise InvalidInput(f"{as_written(row)} is not a list of bits", pointer=f"{pointer}/{j}")
    sizes = np.fromiter(map(len, rows), np.int64, len(rows))
    begins = np.concatenate(([0], np.cumsum(sizes)))

    def place(index: int) -> str:
        row = int(np.searchsorted(begins, index, side="right")) - 1
        return f"{pointer}/{row}/{index - int(begins[row])}"

    return flags(list(chain.from_iterable(rows)), place, None), sizes


def _with_nulls(rows: Any) -> list[Any]:
    listed = [row.tolist() if isinstance(row, np.ndarray) else row for row in rows]
    return [
        [None if type(bit) is int and bit == -1 else bit for bit in row] if isinstance(row, (list, tuple)) else row
        for row in listed
    ]


def sample_incidence_predictions(
    system: SetSystem, reference: Sequence[int] | Array, epsilon: float, seed: int | np.random.Generator | None = None
) -> IncidencePredictions:
    """Draw the bits of the incidence model about a given cover.

    Parameters
    ----------
    system : SetSystem
    reference : array_like of int, shape (n,)
        The cover that the bits are about, 0 or 1 per set.
    epsilon : float
        Every bit is right with probability 1/2 + epsilon, independently; in [0, 1/2]. At 0 the bits are fair coins, and the
        predictions leave `epsilon` to be estimated.
    seed : int or numpy.random.Generator, optional

    Examples
    --------
    >>> sample_incidence_predictions(SetSystem([[0, 1], [1]]), [1, 0], epsilon=0.5).bits.tolist()
    [1, 1, 0]
    """
    if not 0 <= epsilon <= 0.5:
        raise InvalidInput(f"epsilon {epsilon} is not between 0 and 1/2")
    sizes = np.diff(system.set_ptr)
    truth = np.repeat(np.asarray(reference, dtype=np.int8), sizes)
    wrong = np.random.default_rng(seed).random(len(truth)) >= 0.5 + epsilon
    return IncidencePredictions((truth ^ wrong).astype(np.int8), epsilon or None, 0.0, sizes)
