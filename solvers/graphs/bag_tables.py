"""Tables over the sides of a few vertices: the step that eliminates a vertex v exactly.

When v leaves, its later neighbours form its *scope*, and v's two tables hold, for each way to place the scope, the most that v and
all that was eliminated into it can add, once with v on side 0 and once on side 1. The greater of the two is the *message* to the
first vertex of the scope to be eliminated, and which was greater is kept as one bit, so that v can be placed when the scope is.

Bit i of an index is the side of the scope's i-th vertex, the last to be eliminated first. The vertex that receives a message is
therefore the top bit of its index, and each half of the message belongs to one of the receiver's tables.
"""

from __future__ import annotations

import numpy as np
from numba import njit


def words_for(scope_size: int) -> int:
    """Return how many 64-bit words hold the choices for a scope.

    Examples
    --------
    >>> [words_for(size) for size in (0, 6, 7, 20)]
    [1, 1, 2, 16384]
    """
    return max(1, (1 << scope_size) >> 6)


@njit(cache=True, nogil=True)
def fill_cut(on_0, on_1, outside_0, outside_1, weights, size):  # type: ignore[no-untyped-def]
    """Fill the two tables of v with the weight of the edges at v that are cut.

    `weights[i]` is the weight of the edge to the i-th vertex of the scope, `outside_0` and `outside_1` what the edges to vertices
    that stay where they are add when v is on side 0 or 1.
    """
    on_0[0] = outside_0
    on_1[0] = outside_1
    for bit in range(size):
        half = 1 << bit
        weight = weights[bit]
        for i in range(half):
            on_0[half + i] = on_0[i] + weight
            on_1[half + i] = on_1[i]
        for i in range(half):
            on_1[i] += weight


@njit(cache=True, nogil=True)
def add_message(on_0, on_1, message, bits, size, child_size, index):  # type: ignore[no-untyped-def]
    """Add the message of an eliminated vertex to the tables of v, the first of its scope.

    `bits[i]` is what the i-th vertex of v's scope contributes to an index of the message, 0 if it has no part in it; `index` is
    room for as many numbers as v's tables have.
    """
    half = 1 << (child_size - 1)
    if child_size - 1 == size:
        for i in range(half):
            on_0[i] += message[i]
            on_1[i] += message[half + i]
        return
    index[0] = 0
    for bit in range(size):
        block, contribution = 1 << bit, bits[bit]
        for i in range(block):
            index[block + i] = index[i] + contribution
    for i in range(1 << size):
        on_0[i] += message[index[i]]
        on_1[i] += message[half + index[i]]


@njit(cache=True, nogil=True)
def maximise(on_0, on_1, size, message, choices, random_state):  # type: ignore[no-untyped-def]
    """Fill in the message of v and its choices; which of two equal sides is chosen is random."""
    length = 1 << size
    for i in range(length):
        message[i] = max(on_0[i], on_1[i])
    for word in range(max(1, length >> 6)):
        noise = next_random(random_state)
        chosen = np.uint64(0)
        for bit in range(min(64, length)):
            i = (word << 6) + bit
            tie = (noise >> np.uint64(bit)) & np.uint64(1)
            better = np.uint64(on_1[i] > on_0[i]) | (np.uint64(on_1[i] == on_0[i]) & tie)
            chosen |= better << np.uint64(bit)
        choices[word] = chosen


@njit(cache=True, nogil=True)
def chosen_side(choices, index):  # type: ignore[no-untyped-def]
    """Return the side of v, given those of its scope."""
    return np.int8((choices[index >> 6] >> np.uint64(index & 63)) & np.uint64(1))


@njit(cache=True, nogil=True)
def next_random(random_state):  # type: ignore[no-untyped-def]
    """Return 64 random bits (splitmix64); `random_state` is a uint64 array of length 1."""
    random_state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = random_state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
