"""GSVM's optimum by a dynamic programme around the circle: an oracle that shares nothing with the integer program.

Group r = {national 2r, national 2r + 1, regional r} is wanted by the regional bidders at positions r and r - 1 and by the
national one. With the national count t fixed all values are additive but for the regional bidders' own counts, which two
neighbouring groups determine.
"""

from __future__ import annotations

from itertools import product

import numpy as np

NOBODY, HERE, BEFORE, NATIONAL = range(4)

# Who owns the two national licences and the regional one of a group: the bidder at its position, the one before, the national one.
PATTERNS = list(product(range(4), range(4), range(3)))


def optimum(instance):
    """Return the highest welfare of an instance with one regional bidder per position and one national bidder."""
    size = instance.size
    worth = np.array([instance.worth(bidder) for bidder in range(size + 1)])
    limits = [instance.most_items(bidder) for bidder in range(size)]
    goods = [(2 * r, 2 * r + 1, 2 * size + r) for r in range(size)]
    taken = np.array([sum(owner == NATIONAL for owner in pattern) for pattern in PATTERNS])
    best = 0.0
    pairs = [regional_values(worth[(r - 1) % size], goods[r - 1], goods[r], limits[r - 1]) for r in range(size)]
    national = np.array(
        [[sum(worth[size, goods[r][k]] for k in range(3) if pattern[k] == NATIONAL) for pattern in PATTERNS] for r in range(size)]
    )
    for count in range(2 * size + 1):
        factor = 1 + 0.2 * max(count - 1, 0)
        # (first pattern, current pattern, national count so far)
        state = np.full((len(PATTERNS), len(PATTERNS), count + 1), -np.inf)
        for number in range(len(PATTERNS)):
            if taken[number] <= count:
                state[number, number, taken[number]] = factor * national[0, number]
        for r in range(1, size):
            following = np.full_like(state, -np.inf)
            for number in range(len(PATTERNS)):
                reached = (state + pairs[r][None, :, number, None]).max(axis=1) + factor * national[r, number]
                if taken[number] <= count:
                    following[:, number, taken[number] :] = reached[:, : count + 1 - taken[number]]
            state = following
        closing = state[:, :, count] + pairs[0].T
        best = max(best, closing.max())
    return best


def regional_values(worth, before, here, limit):
    """Return what a bidder makes of a pattern of its own group (rows) and one of the next group (columns)."""
    values = np.full((len(PATTERNS), len(PATTERNS)), -np.inf)
    own = [[before[k] for k in range(3) if pattern[k] == HERE] for pattern in PATTERNS]
    following = [[here[k] for k in range(3) if pattern[k] == BEFORE] for pattern in PATTERNS]
    for row, first in enumerate(own):
        for column, second in enumerate(following):
            held = first + second
            if len(held) <= limit:
                values[row, column] = worth[held].sum() * (1 + 0.2 * max(len(held) - 1, 0))
    return values
