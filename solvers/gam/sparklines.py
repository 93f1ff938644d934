"""Shape functions as a line of text, for a terminal."""

from __future__ import annotations

import numpy as np

from solvers.gam.shape_functions import Floats, ShapeFunction

BLOCKS = "▁▂▃▄▅▆▇█"


def sparkline(scores: Floats, low: float, high: float) -> str:
    """Return a block for each score: the lowest one for `low` and below, the full one for `high` and above.

    Examples
    --------
    >>> sparkline(np.array([-1.0, 0.0, 0.5, 1.0]), -1.0, 1.0)
    '▁▅▆█'
    """
    if not high > low:
        return BLOCKS[0] * len(scores)
    share = np.clip((scores / 2 - low / 2) / (high / 2 - low / 2), 0, 1)
    return "".join(BLOCKS[level] for level in np.round(share * (len(BLOCKS) - 1)).astype(int))


def shape_sparkline(shape: ShapeFunction, low: float, high: float, width: int = 24) -> str:
    """Return at most `width` blocks of a shape function, between the scores `low` and `high`.

    Every block of a numeric feature stands for the same share of the training weight, from the lowest values to the highest; of a
    categorical one, for a level, the heaviest first.

    Examples
    --------
    >>> age = ShapeFunction("age", "numeric", [-1, 1], [30], weights=[0, 3, 1])
    >>> shape_sparkline(age, -1, 1, width=8)
    '▁▁▁▁▁▁██'
    """
    weights = shape.bin_weights[1:]
    if shape.kind == "categorical":
        return sparkline(shape.scores[np.argsort(-weights, kind="stable")[:width]], low, high)
    if not weights.any():
        weights = np.ones_like(weights)
    middles = (np.arange(width) + 0.5) / width
    bins = np.searchsorted(np.cumsum(weights) / weights.sum(), middles)
    return sparkline(shape.scores[np.minimum(bins, shape.n_bins - 1)], low, high)
