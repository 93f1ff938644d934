"""From a fit, or the average of several, to the additive model with its bands.

An average of forests is an additive model with more steps: of `bagging` fits to rows with random Poisson(1) weights, or of 12 fits that
may each use a random part of the thresholds of finely valued features, which makes curves smoother.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from solvers.gam.additive_model import AdditiveModel, Offset
from solvers.gam.bands import Spread, conditional_spread, resampled_spread
from solvers.gam.candidate_columns import CandidateColumns
from solvers.gam.forest import Forest, ForestOptions
from solvers.gam.gram import build_gram
from solvers.gam.losses import LogisticLoss, Loss
from solvers.gam.parameters import FitParameters
from solvers.gam.sample import Sample
from solvers.gam.shape_basis import shape_bases, shares
from solvers.gam.shape_functions import Floats
from solvers.gam.training import Training, train

THRESHOLD_MEMBERS = 12
# Features with no more thresholds than this keep all of them in every member of an average.
FINE_THRESHOLDS = 64


@dataclass(frozen=True, slots=True)
class AdditiveFit:
    """A fit as an additive function of the columns.

    Attributes
    ----------
    sample : Sample
    loss : Loss
    heights : float64 array of shape (K, p)
        Step of every column for every output.
    intercepts : float64 array of shape (K,)
        Beside the uncentred steps.
    multiplicity : int64 array of shape (K, p)
        Stumps on every column.
    training : Training, optional
        The fit behind it; None for an average.
    spreads : tuple of K Spread or None
    n_iter : int
        Rounds, of an average the most.
    """

    sample: Sample
    loss: Loss
    heights: Floats
    intercepts: Floats
    multiplicity: np.ndarray
    training: Training | None
    spreads: tuple[Spread | None, ...]
    n_iter: int

    def model(self, *, classes: tuple[Any, ...] | None = None, offset: Offset | None = None) -> AdditiveModel:
        """Return the model, its shape functions with their standard errors.

        Parameters
        ----------
        classes : tuple, optional
            Labels, for a classification.
        offset : Offset, optional
        """
        heights, intercepts = centred_over_classes(self.heights, self.intercepts)
        active = np.flatnonzero(heights.any(axis=0))
        bases = shape_bases(self.sample, active)
        intercepts = intercepts + heights[:, active] @ shares(bases)
        shapes = [
            [
                basis.shape(heights[k, basis.columns], None if spread is None else spread.errors_on(d, basis))
                for k, spread in enumerate(self.spreads)
            ]
            for d, basis in enumerate(bases)
        ]
        is_binary = len(classes or ()) == 2
        link = self.loss.link if classes is None or is_binary else "softmax"
        task = "regression" if classes is None else "classification"
        return AdditiveModel(task, link, intercepts, shapes, classes, offset)  # type: ignore[arg-type]


def fit_additive(
    sample: Sample,
    loss: Loss,
    parameters: FitParameters,
    *,
    n_classes: int = 2,
    should_stop: Callable[[], bool] = lambda: False,
    report: Callable[[float], None] = lambda fraction: None,
) -> AdditiveFit:
    """Fit as the parameters say: once, or an average.

    Parameters
    ----------
    sample : Sample
    loss : Loss
    parameters : FitParameters
    n_classes : int
    should_stop : callable, optional
        Asked between rounds; an average is then of the members so far.
    report : callable, optional
        Told the share of an average's members that is done.
    """

    def fit(part: Sample) -> Training:
        return train(
            part,
            loss,
            parameters.forest_options(),
            n_classes=n_classes,
            search=parameters.search(),
            computing=parameters.computing(),
            should_stop=should_stop,
        )

    if not parameters.bagging and parameters.threshold_fraction == 1:
        return single_fit(fit(sample))
    rng = np.random.default_rng(parameters.seed())
    members = []
    n_members = parameters.bagging or THRESHOLD_MEMBERS
    for number in range(n_members):
        part = _bag(sample, loss, rng) if parameters.bagging else sample
        chosen = _some_columns(sample.columns, parameters.threshold_fraction, rng)
        members.append(_on_all_columns(fit(replace(part, columns=sample.columns.subset(chosen))), sample, chosen))
        report((number + 1) / n_members)
        if should_stop():
            break
    return _average(members, has_spread=parameters.bagging > 0)


def single_fit(training: Training) -> AdditiveFit:
    """Return one fit, with its conditional bands."""
    fit = _on_all_columns(training, training.sample, np.arange(len(training.sample.columns)))
    spreads = tuple(conditional_spread(training, output) for output in range(len(training.forests)))
    return replace(fit, training=training, spreads=spreads)


def one_class_fit(sample: Sample) -> AdditiveFit:
    """Return the constant model of rows that are all of one class; nothing can be better."""
    loss, p = LogisticLoss(), len(sample.columns)
    none = np.empty(0, dtype=np.int64)
    constant = Forest(none, np.empty(0), none, 0.0, 0.0, (0.0,), True)
    products = partial(build_gram, sample.table, sample.columns)
    training = Training(sample, loss, ForestOptions(n_stumps=0), (constant,), 0.0, (0.0,), products)
    return AdditiveFit(sample, loss, np.zeros((1, p)), np.zeros(1), np.zeros((1, p), dtype=np.int64), training, (None,), 1)


def centred_over_classes(heights: Floats, intercepts: Floats) -> tuple[Floats, Floats]:
    """Let the scores of several classes sum to 0, which changes no probability.

    Parameters
    ----------
    heights : float64 array of shape (K, p)
    intercepts : float64 array of shape (K,)
    """
    if len(heights) == 1:
        return heights, intercepts
    return heights - heights.mean(axis=0), intercepts - intercepts.mean()


def _on_all_columns(training: Training, sample: Sample, chosen: np.ndarray) -> AdditiveFit:
    """Return a fit to the chosen columns, and maybe to other rows, as a function of all columns."""
    n_outputs = len(training.forests)
    heights, multiplicity = np.zeros((n_outputs, len(sample.columns))), np.zeros((n_outputs, len(sample.columns)), dtype=np.int64)
    for output, forest in enumerate(training.forests):
        heights[output, chosen[forest.columns]] = forest.steps
        multiplicity[output, chosen[forest.columns]] = forest.multiplicity
    intercepts = np.array([forest.intercept for forest in training.forests])
    n_iter = max(1, len(training.history) - 1)
    return AdditiveFit(sample, training.loss, heights, intercepts, multiplicity, None, (None,) * n_outputs, n_iter)


def _average(members: Sequence[AdditiveFit], *, has_spread: bool) -> AdditiveFit:
    heights = np.stack([member.heights for member in members])
    intercepts = np.stack([member.intercepts for member in members])
    first = members[0]
    spreads: tuple[Spread | None, ...] = first.spreads
    if has_spread:
        centred = [centred_over_classes(member.heights, member.intercepts) for member in members]
        spreads = tuple(
            resampled_spread(
                "bootstrap",
                first.sample,
                np.stack([height[output] for height, _ in centred]),
                np.array([intercept[output] for _, intercept in centred]),
            )
            for output in range(len(first.heights))
        )
    return AdditiveFit(
        first.sample,
        first.loss,
        heights.mean(axis=0),
        intercepts.mean(axis=0),
        np.sum([member.multiplicity for member in members], axis=0),
        None,
        spreads,
        max(member.n_iter for member in members),
    )


def _bag(sample: Sample, loss: Loss, rng: np.random.Generator) -> Sample:
    """Return the rows with Poisson(1) weights; every class keeps a row, for it could not be fitted without."""
    counts = rng.poisson(1.0, sample.table.n_rows)
    group = sample.target if isinstance(loss, LogisticLoss) else np.zeros(sample.table.n_rows)
    for label in np.unique(group):
        rows = np.flatnonzero(group == label)
        while not counts[rows].any():
            counts[rows] = rng.poisson(1.0, len(rows))
    kept = np.flatnonzero(counts)
    return Sample(
        sample.table.rows(kept),
        sample.columns,
        sample.target[kept],
        sample.row_weights()[kept] * counts[kept],
        None if sample.offset is None else sample.offset[kept],
    )


def _some_columns(columns: CandidateColumns, fraction: float, rng: np.random.Generator) -> np.ndarray:
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
