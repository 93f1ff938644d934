"""The choice of an average of forests, by the same folds as that of the number of stumps and the ridge.

All averages have the parameters that the grid's best forest has, so that they cost few further fits: a forest on all thresholds, those on
parts of them, and a smooth one are blended in any proportion. For squared loss alone, whose folds need no rows.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from solvers.gam.averaging import has_fine_features
from solvers.gam.fold_search import FoldSearch, GridPoint
from solvers.gam.interruption import Interrupted, ShouldStop, never
from solvers.gam.losses import Loss
from solvers.gam.parameters import FitParameters
from solvers.gam.row_errors import row_error
from solvers.gam.sample import Sample
from solvers.gam.selection import Folds, Grid, Selection

# A smooth forest solves for the steps of all columns, which takes p^3 / 3 operations.
MOST_SMOOTH_COLUMNS = 2500


def select_average(
    sample: Sample,
    loss: Loss,
    parameters: FitParameters,
    grid: Grid,
    folds: Folds,
    best: GridPoint,
    *,
    should_stop: ShouldStop = never,
    report: Callable[[float], None] = lambda fraction: None,
) -> Selection | None:
    """Fit and score averages on all folds.

    Parameters
    ----------
    sample, loss, parameters, folds, should_stop, report
        As for :func:`~solvers.gam.selection.select`.
    grid : Grid
        With the fractions and shares to choose from.
    best : GridPoint
        The choice from the grid.

    Returns
    -------
    Selection or None
        None if there is nothing to choose, or the folds were not all done.
    """
    points = averages_at(best, grid, parameters, sample)
    search = FoldSearch(sample, loss, parameters, points, should_stop=should_stop)
    if not search.needs_no_rows or points in ((), (best,)):
        return None
    done = []
    for number, (train, test) in enumerate(folds):
        try:
            done.append(search.run_averages(train, test))
        except Interrupted:
            return None
        report((number + 1) / len(folds))
    errors, weights = np.array([fold.errors for fold in done]).T, np.array([fold.weight for fold in done])
    return Selection(row_error(loss).metric, points, errors, weights, tuple(fold.fits for fold in done))


def averages_at(best: GridPoint, grid: Grid, parameters: FitParameters, sample: Sample) -> tuple[GridPoint, ...]:
    """Return the averages to choose from at a point of the grid.

    What the parameters ask for is not chosen anew: a fraction or a share that is given stays, and there are no averages beside bags,
    nor where steps are to be few. Where a smooth forest has no closed form, or too many columns, it takes no part.
    """
    sparse = parameters.l0 or parameters.max_features is not None or parameters.max_steps_per_feature is not None
    if best.n_stumps == 0 or parameters.bagging or sparse or parameters.categorical_splits == "subset":
        return ()
    fractions, shares = grid.threshold_fractions, grid.smooth_shares
    if parameters.threshold_fraction < 1:
        fractions = [parameters.threshold_fraction]
    elif not has_fine_features(sample.columns):
        fractions = [1.0]
    has_closed_form = parameters.l1 == 0 and not sample.columns.sign.any() and best.alpha > 0
    if parameters.smooth_share > 0:
        shares = [parameters.smooth_share]
    elif parameters.smoothing > 0 or not has_closed_form or len(sample.columns) > MOST_SMOOTH_COLUMNS:
        shares = [0.0]
    pairs = product(sorted(set(fractions), reverse=True), sorted(set(shares)))
    return tuple(best._replace(threshold_fraction=fraction, smooth_share=share) for fraction, share in pairs)
