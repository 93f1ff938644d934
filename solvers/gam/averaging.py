"""Averages of forests: additive models with more steps than one forest, and smoother or steadier curves.

    thresholds   12 forests that may each use a random part of the thresholds of finely valued features
    smooth       F = (1 - share) * forest + share * smooth forest: a base multiplicity lets the latter take every step that it may

A sparse forest has large steps where it has any, a smooth one small steps everywhere; their errors on new rows have little in common, so
that an average is often better than both. It minimises no objective.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from solvers.gam.candidate_columns import CandidateColumns
from solvers.gam.forest import Forest, ForestOptions
from solvers.gam.gram import Gram, Response
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.parameters import FitParameters
from solvers.gam.restarts import best_forest

THRESHOLD_MEMBERS = 12
# Features with no more thresholds than this keep all of them in every member of an average.
FINE_THRESHOLDS = 64

SMOOTH_BASE = 10.0
# A round of a smooth forest solves for all p steps; what further ones would change is lost in the average.
SMOOTH_ROUNDS = 3


def smooth_options(options: ForestOptions) -> ForestOptions:
    """Return how the smooth part of an average is fitted."""
    return replace(options, smoothing=options.smoothing + SMOOTH_BASE, max_iter=min(options.max_iter, SMOOTH_ROUNDS))


def some_columns(columns: CandidateColumns, fraction: float, rng: np.random.Generator) -> np.ndarray:
    """Return all columns but a random part of the thresholds of features with many."""
    if fraction == 1:
        return np.arange(len(columns))
    chosen = []
    for first, last in pairwise(columns.start):
        mine = np.arange(first, last)
        thresholds = mine[(columns.cut[mine] > 0) & ~columns.is_level[mine]]
        if len(thresholds) > FINE_THRESHOLDS:
            dropped = rng.permutation(thresholds)[round(fraction * len(thresholds)) :]
            mine = np.setdiff1d(mine, dropped)
        chosen.append(mine)
    return np.concatenate(chosen)


def has_fine_features(columns: CandidateColumns) -> bool:
    """Whether any feature has so many thresholds that some may be left out."""
    is_threshold = (columns.cut > 0) & ~columns.is_level
    return bool(np.any(np.bincount(columns.feature[is_threshold]) > FINE_THRESHOLDS))


def average_forest(forests: Sequence[Forest], shares: Sequence[float]) -> Forest:
    """Return the weighted average of forests on the same columns as a forest of no objective, whose steps share no stumps.

    Examples
    --------
    >>> one = Forest(np.array([1]), np.array([2.0]), np.array([1]), 0.0, 1.0, (1.0,), True)
    >>> average = average_forest([one, replace(one, columns=np.array([3]), intercept=4.0)], [0.75, 0.25])
    >>> average.columns, average.steps, average.intercept
    (array([1, 3]), array([1.5, 0.5]), 1.0)
    """
    columns = np.unique(np.concatenate([forest.columns for forest in forests]))
    steps = np.zeros(len(columns))
    for forest, share in zip(forests, shares, strict=True):
        steps[np.searchsorted(columns, forest.columns)] += share * forest.steps
    intercept = float(sum(share * forest.intercept for forest, share in zip(forests, shares, strict=True)))
    return Forest(columns, steps, np.zeros(len(columns), dtype=np.int64), intercept, np.nan, (), False)


def averages_on_sums(
    gram: Gram,
    response: Response,
    columns: CandidateColumns,
    every: Sequence[FitParameters],
    *,
    should_stop: ShouldStop = never,
) -> Iterator[Forest]:
    """Yield what :func:`~solvers.gam.additive_fit.fit_additive` would fit to rows of these sums, for squared loss and without bagging.

    Parameters
    ----------
    gram, response, columns
        As for :func:`~solvers.gam.forest.fit_forest`.
    every : sequence of FitParameters
        That differ in `threshold_fraction` and `smooth_share` alone: parts that they have in common are fitted once.
    should_stop : callable, optional
        Asked now and then.

    Raises
    ------
    Interrupted
        If it was told to stop.
    """
    sparse: dict[float, Forest] = {}
    smooth: Forest | None = None
    for parameters in every:
        fraction, share = parameters.threshold_fraction, parameters.smooth_share
        if fraction not in sparse:
            sparse[fraction] = _sparse_part(gram, response, columns, parameters, should_stop)
        if share > 0 and smooth is None:
            smooth = _fitted(gram, response, columns, parameters, smooth_options(parameters.forest_options()), should_stop)
        yield sparse[fraction] if smooth is None or share == 0 else average_forest([sparse[fraction], smooth], [1 - share, share])


def _sparse_part(
    gram: Gram, response: Response, columns: CandidateColumns, parameters: FitParameters, should_stop: ShouldStop
) -> Forest:
    """Return the forest on all thresholds, or the average of those on parts of them."""
    options = parameters.forest_options()
    if parameters.threshold_fraction == 1:
        return _fitted(gram, response, columns, parameters, options, should_stop)
    rng = np.random.default_rng(parameters.seed())
    members = []
    for _ in range(THRESHOLD_MEMBERS):
        chosen = some_columns(columns, parameters.threshold_fraction, rng)
        part = replace(response, correlations=response.correlations[chosen])
        member = _fitted(gram.subset(chosen), part, columns.subset(chosen), parameters, options, should_stop)
        members.append(replace(member, columns=chosen[member.columns]))
    return average_forest(members, [1 / THRESHOLD_MEMBERS] * THRESHOLD_MEMBERS)


def _fitted(
    gram: Gram,
    response: Response,
    columns: CandidateColumns,
    parameters: FitParameters,
    options: ForestOptions,
    should_stop: ShouldStop,
) -> Forest:
    forest = best_forest(
        gram,
        response,
        columns,
        options,
        init=parameters.init,
        n_restarts=parameters.n_restarts,
        rng=np.random.default_rng(parameters.seed()),
        should_stop=should_stop,
    )
    if should_stop():
        raise Interrupted
    return forest
