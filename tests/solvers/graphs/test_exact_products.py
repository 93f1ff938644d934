"""Products are compared as integers of any size would be."""

from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.exact_products import compare_products

numbers = st.one_of(st.integers(0, 2**63 - 1), st.integers(0, 2**33), st.integers(2**31 - 2, 2**31 + 2), st.just(0))


@given(numbers, numbers, numbers, numbers)
def test_products_compare_as_unbounded_integers_do(a, b, c, d):
    assert compare_products(a, b, c, d) == (a * b > c * d) - (a * b < c * d)


@given(numbers, numbers)
def test_a_product_equals_itself_turned_round(a, b):
    assert compare_products(a, b, b, a) == 0


@given(st.integers(1, 2**62), st.integers(1, 2**62))
def test_the_least_difference_is_seen(a, b):
    assert compare_products(a, b, a, b - 1) == 1
    assert compare_products(a - 1, b, a, b) == -1
