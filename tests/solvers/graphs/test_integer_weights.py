"""Weights on an integer grid."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.integer_weights import FINEST_EXPONENT, LARGEST_SUM, to_integers
from solvers.operation import InvalidInput

finite = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.integers(-(2**48), 2**48), max_size=20))
def test_integers_are_kept(weights):
    integers = to_integers(np.array(weights, np.int64))

    assert integers.weights.tolist() == weights
    assert (integers.exponent, integers.rounding) == (0, 0.0)


def test_integral_floats_are_integers():
    assert to_integers(np.array([2.0, -4.0])).weights.tolist() == [2, -4]


@given(st.lists(finite, min_size=1, max_size=20))
def test_rounding_covers_the_distance_to_the_true_weights(weights):
    integers = to_integers(np.array([*weights, 0.5]) if sum(map(abs, weights)) < 2**52 else np.array(weights) * 2.0**-1030)

    true = [Fraction(w) for w in ([*weights, 0.5] if sum(map(abs, weights)) < 2**52 else [w * 2.0**-1030 for w in weights])]
    rounded = [Fraction(w) * Fraction(2) ** -integers.exponent for w in integers.weights.tolist()]
    assert sum(abs(a - b) for a, b in zip(true, rounded, strict=True)) <= Fraction(integers.rounding)


@given(st.lists(st.floats(-1e3, 1e3).filter(lambda w: w != round(w) and abs(w) > 1e-200), min_size=1, max_size=20))
def test_each_weight_is_rounded_by_at_most_the_last_bit_that_the_largest_sum_leaves(weights):
    integers = to_integers(np.array(weights))

    assert np.abs(integers.weights).sum() <= LARGEST_SUM
    assert integers.rounding <= 2.0**-52 * len(weights) * sum(map(abs, weights))


@given(st.lists(st.floats(-1e-290, 1e-290), min_size=1, max_size=20))
def test_no_grid_is_finer_than_the_finest(weights):
    assert to_integers(np.array(weights)).exponent <= FINEST_EXPONENT


def test_the_largest_sum_is_not_exceeded_by_a_rounding():
    # In halves they are 2^53 + 1, which as a float is 2^53.
    integers = to_integers(np.array([2.0**52, 0.5]))

    assert sum(integers.weights.tolist()) <= LARGEST_SUM


def test_a_grid_of_halves_gives_small_integers():
    integers = to_integers(np.array([0.5, 1.0, -2.5]))

    assert (integers.weights.tolist(), integers.exponent, integers.rounding) == ([1, 2, -5], 1, 0.0)


def test_integers_are_counted_up_to_the_largest_sum():
    assert to_integers(np.array([2**52, -(2**52)])).weights.tolist() == [2**52, -(2**52)]


@pytest.mark.parametrize("weights", [[2**53, 1], [2**62, 2**62, 2**62], [1e300], [-(2**63)], [2**70]])
def test_integers_beyond_the_largest_sum_are_refused(weights):
    with pytest.raises(InvalidInput, match="2\\^53"):
        to_integers(np.array(weights))


@pytest.mark.parametrize("weight", [float("nan"), float("inf")])
def test_a_weight_that_is_not_finite_is_refused_by_its_position(weight):
    with pytest.raises(InvalidInput, match="weight 1") as refusal:
        to_integers(np.array([0.5, weight]))

    assert refusal.value.pointer == "/edge_weights/1"
