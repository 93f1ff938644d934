"""From a fit, or the average of several, to the additive model with its bands.

An average of forests is an additive model with more steps: of `bagging` fits to rows with random Poisson(1) weights, or one of those of
:mod:`~solvers.gam.averaging`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from solvers.gam.additive_model import AdditiveModel, Offset
from solvers.gam.averaging import THRESHOLD_MEMBERS, smooth_options, some_columns
from solvers.gam.bands import Spread, conditional_spread, resampled_spread
from solvers.gam.bin_scores import bin_scores
from solvers.gam.candidate_columns import bin_sums
from solvers.gam.forest import Forest, ForestOptions
from solvers.gam.gram import build_gram
from solvers.gam.interruption import ShouldStop, never
from solvers.gam.level_subsets import without_views
from solvers.gam.losses import LogisticLoss, Loss
from solvers.gam.parameters import FitParameters
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import Floats
from solvers.gam.stump_table import average_stumps, stump_table
from solvers.gam.training import Training, train


@dataclass(frozen=True, slots=True)
class AdditiveFit:
    """A fit as scores of bins.

    Attributes
    ----------
    sample : Sample
    loss : Loss
    scores : float64 array of shape (K, D, C)
        Of every bin for every output, not centred.
    intercepts : float64 array of shape (K,)
        Beside these scores.
    stumps : structured array
        From :func:`~solvers.gam.stump_table.stump_table`.
    n_iter : int
        Rounds, of an average the most.
    training : Training, optional
        The fit behind it; None for an average.
    spreads : tuple of K Spread or None
    """

    sample: Sample
    loss: Loss
    scores: Floats
    intercepts: Floats
    stumps: np.ndarray
    n_iter: int
    training: Training | None
    spreads: tuple[Spread | None, ...]

    def without_sums(self) -> AdditiveFit:
        """Return the fit to be kept: without sums over rows, see :meth:`Training.without_sums`."""
        return replace(self, training=None if self.training is None else self.training.without_sums())

    def model(self, *, classes: tuple[Any, ...] | None = None, offset: Offset | None = None) -> AdditiveModel:
        """Return the model, its shape functions with their standard errors.

        Parameters
        ----------
        classes : tuple, optional
            Labels, for a classification.
        offset : Offset, optional
        """
        scores, intercepts = centred_over_classes(self.scores, self.intercepts)
        weights = bin_weights(self.sample)
        shapes = []
        for d, feature in enumerate(self.sample.table.features):
            merged = bin_scores(feature, scores[:, d, : feature.n_codes], weights[d, : feature.n_codes])
            intercepts = intercepts + merged.means
            errors = [None if spread is None else spread.errors_on(d, merged.bins) for spread in self.spreads]
            shapes.append([merged.shape(k, stderr) for k, stderr in enumerate(errors)])
        link = self.loss.link if classes is None or len(classes) == 2 else "softmax"
        task = "regression" if classes is None else "classification"
        return AdditiveModel(task, link, intercepts, shapes, classes, offset)  # type: ignore[arg-type]


def bin_weights(sample: Sample) -> Floats:
    """Return the weight of the rows in each bin, shape (D, C)."""
    return bin_sums(sample.table, sample.row_weights())


def fit_additive(
    sample: Sample,
    loss: Loss,
    parameters: FitParameters,
    *,
    n_classes: int = 2,
    should_stop: ShouldStop = never,
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
        Asked now and then; an average is then of the members so far.
    report : callable, optional
        Told the share of an average's members that is done.
    """

    def fit(part: Sample, options: ForestOptions) -> Training:
        return train(
            part,
            loss,
            options,
            n_classes=n_classes,
            search=parameters.search(),
            computing=parameters.computing(),
            should_stop=should_stop,
        )

    options, share = parameters.forest_options(), parameters.smooth_share
    if not parameters.bagging and parameters.threshold_fraction == 1 and share == 0:
        return single_fit(fit(sample, options), sample, should_stop)
    rng = np.random.default_rng(parameters.seed())
    members: list[AdditiveFit] = []
    n_members = parameters.bagging or (THRESHOLD_MEMBERS if parameters.threshold_fraction < 1 else 1)
    for number in range(n_members):
        part = _bag(sample, loss, rng) if parameters.bagging else sample
        chosen = some_columns(sample.columns, parameters.threshold_fraction, rng)
        member = _scored(fit(replace(part, columns=sample.columns.subset(chosen)), options), sample)
        if parameters.bagging and share:
            member = _blend(member, _scored(fit(part, smooth_options(options)), sample), share)
        is_cut_short = should_stop()
        if members and is_cut_short:
            break  # half a member would spoil the average
        members.append(member)
        report((number + 1) / n_members)
        if is_cut_short:
            break
    average = _average(members, has_spread=parameters.bagging > 0)
    if parameters.bagging or share == 0 or should_stop():
        return average
    smooth = _scored(fit(sample, smooth_options(options)), sample)
    return average if should_stop() else _blend(average, smooth, share)


def single_fit(training: Training, sample: Sample, should_stop: ShouldStop = never) -> AdditiveFit:
    """Return one fit of a sample, with its conditional bands unless they take long and it is time to stop."""
    weights = bin_weights(sample)
    spreads = tuple(
        conditional_spread(training, weights, output, should_stop=should_stop) for output in range(len(training.forests))
    )
    return replace(_scored(training, sample), training=training, spreads=spreads)


def one_class_fit(sample: Sample) -> AdditiveFit:
    """Return the constant model of rows that are all of one class; nothing can be better."""
    none = np.empty(0, dtype=np.int64)
    constant = Forest(none, np.empty(0), none, 0.0, 0.0, (0.0,), True)
    products = partial(build_gram, sample.table, sample.columns)
    options = ForestOptions(n_stumps=0)
    training = Training(without_views(sample), LogisticLoss(), options, (constant,), 0.0, (0.0,), products)
    return replace(_scored(training, sample), training=training)


def centred_over_classes(scores: Floats, intercepts: Floats) -> tuple[Floats, Floats]:
    """Let the scores of several classes sum to 0, which changes no probability.

    Parameters
    ----------
    scores : float64 array of shape (K, D, C)
    intercepts : float64 array of shape (K,)
    """
    if len(scores) == 1:
        return scores, intercepts
    return scores - scores.mean(axis=0), intercepts - intercepts.mean()


def _scored(training: Training, sample: Sample) -> AdditiveFit:
    """Return a fit, maybe to other rows or fewer columns, as scores of the bins of the sample."""
    intercepts = np.array([forest.intercept for forest in training.forests])
    n_iter = max(1, len(training.history) - 1)
    nothing = (None,) * len(intercepts)
    return AdditiveFit(
        sample, training.loss, np.stack(training.shapes()), intercepts, stump_table(training), n_iter, None, nothing
    )


def _average(members: Sequence[AdditiveFit], *, has_spread: bool) -> AdditiveFit:
    first = members[0]
    scores, intercepts = np.stack([member.scores for member in members]), np.stack([member.intercepts for member in members])
    spreads: tuple[Spread | None, ...] = first.spreads
    if has_spread:
        centred = [centred_over_classes(member.scores, member.intercepts) for member in members]
        features, weights = first.sample.table.features, bin_weights(first.sample)
        spreads = tuple(
            resampled_spread(
                "bootstrap",
                features,
                weights,
                np.stack([score[output] for score, _ in centred]),
                np.array([intercept[output] for _, intercept in centred]),
            )
            for output in range(len(first.intercepts))
        )
    return replace(
        first,
        scores=scores.mean(axis=0),
        intercepts=intercepts.mean(axis=0),
        stumps=average_stumps([member.stumps for member in members]),
        n_iter=max(member.n_iter for member in members),
        spreads=spreads,
    )


def _blend(sparse: AdditiveFit, smooth: AdditiveFit, share: float) -> AdditiveFit:
    """Return the average of two fits, the second with the given share."""
    return replace(
        sparse,
        scores=(1 - share) * sparse.scores + share * smooth.scores,
        intercepts=(1 - share) * sparse.intercepts + share * smooth.intercepts,
        stumps=average_stumps([sparse.stumps, smooth.stumps], [1 - share, share]),
        n_iter=max(sparse.n_iter, smooth.n_iter),
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
    part = sample.rows(kept)
    return replace(part, weights=part.row_weights() * counts[kept])
