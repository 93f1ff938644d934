"""The numbers that say how good an answer is."""

import math

from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.result import ratio, relative_gap

VALUES = st.floats(0, 1e15) | st.integers(0, 2**53)


@given(VALUES, VALUES)
def test_the_ratio_lies_between_0_and_1(value: float, bound: float) -> None:
    assert 0 <= ratio(value, bound) <= 1


@given(VALUES)
def test_a_value_that_meets_its_bound_has_ratio_1_and_no_gap(value: float) -> None:
    assert (ratio(value, value), relative_gap(value, value)) == (1, 0)


@given(VALUES, VALUES)
def test_the_ratio_is_the_same_for_upper_and_lower_bounds(value: float, bound: float) -> None:
    assert ratio(value, bound) == ratio(bound, value)


def test_the_gap_is_relative_to_the_bound_but_absolute_below_1() -> None:
    assert relative_gap(90, 100) == 0.1
    assert math.isclose(relative_gap(0.1, 0.4), 0.3)
