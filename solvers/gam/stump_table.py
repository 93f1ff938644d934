"""Fitted steps as a table to read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from solvers.gam.bin_scores import bins_of_column
from solvers.gam.binning import LevelBins
from solvers.gam.training import Training

STUMP = np.dtype(
    {
        "names": ["output", "feature", "threshold", "level", "step", "multiplicity"],
        "formats": [np.int64, np.int64, np.float64, object, np.float64, np.int64],
    }
)


def stump_table(training: Training) -> np.ndarray:
    """Return the steps of a fit.

    Returns
    -------
    structured array of shape (n_steps,)
        `output` (class) and `feature` by number; `threshold`, -inf for "not missing", NaN for levels; `level`, None for "missing", a
        tuple where a step is for several levels; `step`, the height; `multiplicity`, how many stumps share it.
    """
    thresholds = training.sample.columns.thresholds(training.sample.table)
    rows = []
    for output, forest in enumerate(training.forests):
        for column, step, multiplicity in zip(forest.columns.tolist(), forest.steps, forest.multiplicity, strict=True):
            feature, level = _levels(training, column)
            threshold = np.nan if isinstance(training.sample.table.features[feature], LevelBins) else thresholds[column]
            rows.append((output, feature, threshold, level, step, multiplicity))
    return np.array(rows, dtype=STUMP)


def average_stumps(tables: Sequence[np.ndarray], shares: Sequence[float] | None = None) -> np.ndarray:
    """Return the steps of the average of some fits, by default a plain one: of each step the mean height and all stumps on it."""
    shares = [1 / len(tables)] * len(tables) if shares is None else shares
    height: dict[tuple[Any, ...], float] = {}
    stumps: dict[tuple[Any, ...], int] = {}
    for table, share in zip(tables, shares, strict=True):
        for output, feature, threshold, level, step, multiplicity in table.tolist():
            key = (output, feature, None if np.isnan(threshold) else threshold, level)
            height[key] = height.get(key, 0.0) + share * step
            stumps[key] = stumps.get(key, 0) + multiplicity
    keys = sorted(height, key=lambda key: (key[0], key[1], key[2] is not None and key[2], str(key[3])))
    rows = [(*key[:2], np.nan if key[2] is None else key[2], key[3], height[key], stumps[key]) for key in keys]
    return np.array(rows, dtype=STUMP)


def _levels(training: Training, column: int) -> tuple[int, Any]:
    """Return the feature of a column, and the level or levels that it singles out."""
    feature, holds = bins_of_column(training.views, column)
    bins = training.sample.table.features[feature]
    if not isinstance(bins, LevelBins):
        return feature, None
    per_bin = [(None,) if bins.has_missing else (), *((level,) for level in bins.levels), bins.pooled]
    levels = tuple(name for code in np.flatnonzero(holds) for name in per_bin[code])
    return feature, levels[0] if len(levels) == 1 else levels
