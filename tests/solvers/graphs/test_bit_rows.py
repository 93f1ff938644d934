"""Bits of rows are set, counted and found."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numba import njit

from solvers.graphs.bit_rows import count_bits, lowest_bit, set_bit, words_of

WORDS = st.integers(0, 2**64 - 1)


@njit
def counted(word):
    return count_bits(word)


@njit
def lowest(word):
    return lowest_bit(word)


@given(WORDS)
def test_bits_are_counted(word):
    assert counted(np.uint64(word)) == word.bit_count()


@given(WORDS.filter(bool))
def test_the_lowest_bit_is_found(word):
    assert lowest(np.uint64(word)) == (word & -word).bit_length() - 1


@given(st.sets(st.integers(0, 149)))
def test_bits_are_set_one_by_one(vertices):
    rows = np.zeros((2, words_of(150)), np.uint64)

    for v in vertices:
        set_bit(rows, 1, v)

    assert sum(int(word) << 64 * i for i, word in enumerate(rows[1].tolist())) == sum(1 << v for v in vertices)
    assert not rows[0].any()
