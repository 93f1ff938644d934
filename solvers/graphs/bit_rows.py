"""Sets of vertices as rows of 64-bit words, and the instructions that count and find their bits."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic


def words_of(num_vertices: int) -> int:
    """Return how many words hold one bit per vertex.

    Examples
    --------
    >>> [words_of(n) for n in (0, 64, 65)]
    [0, 1, 2]
    """
    return (num_vertices + 63) // 64


@njit(cache=True, nogil=True)
def set_bit(rows, row, bit):  # type: ignore[no-untyped-def]
    """Set a bit of a row."""
    rows[row, bit >> 6] |= np.uint64(1) << np.uint64(bit & 63)


@intrinsic
def count_bits(typingctx, word):  # type: ignore[no-untyped-def]
    """Return the number of bits of a word that are set."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.ctpop(arguments[0])

    return types.int64(types.uint64), generate


@intrinsic
def lowest_bit(typingctx, word):  # type: ignore[no-untyped-def]
    """Return the place of the lowest bit that is set in a word other than 0."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate
