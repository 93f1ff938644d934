"""Random numbers for kernels: Marsaglia's xorshift generator, its state one uint64 in an array, as `annealing.seeded_state` makes it.

References
----------
G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003).
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def next_word(rng):  # type: ignore[no-untyped-def]
    """Return 64 random bits, never all 0."""
    x = rng[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    rng[0] = x
    return x


@njit(cache=True, nogil=True)
def next_below(bound, rng):  # type: ignore[no-untyped-def]
    """Return a random integer from 0 up to `bound` - 1."""
    return np.int64(next_word(rng) >> np.uint64(33)) % bound


@njit(cache=True, nogil=True)
def next_uniform(rng):  # type: ignore[no-untyped-def]
    """Return a random float in [0, 1)."""
    return np.int64(next_word(rng) >> np.uint64(11)) * (1.0 / 9007199254740992.0)
