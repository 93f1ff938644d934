"""Other starts than the greedy one: from the relaxation, from part of the best forest so far, from random columns.

Different starts end in different local optima, whose objectives differ by about one per cent. A lower objective is a better answer to the
optimisation problem and not always a better model.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from solvers.gam.candidate_columns import CandidateColumns
from solvers.gam.forest import ColumnProducts, Forest, ForestOptions, fit_forest
from solvers.gam.gram import Gram, Response
from solvers.gam.interruption import ShouldStop, never
from solvers.gam.relaxation import Relaxation, relaxed_ridge, stumps_of

DROPPED_SHARE = 0.3

Init = Literal["greedy", "relaxation", "best"]


def best_forest(
    gram: ColumnProducts,
    response: Response,
    columns: CandidateColumns,
    options: ForestOptions,
    *,
    init: Init = "greedy",
    n_restarts: int = 0,
    rng: np.random.Generator | None = None,
    should_stop: ShouldStop = never,
) -> Forest:
    """Fit forests from several starts and return the one of the lowest objective.

    Parameters
    ----------
    gram, response, columns, options, should_stop
        As for :func:`~solvers.gam.forest.fit_forest`. A start from the relaxation needs a :class:`~solvers.gam.gram.Gram` and a
        positive alpha; without them it is the greedy one.
    init : {"greedy", "relaxation", "best"}
        "best" tries both.
    n_restarts : int
        Odd ones drop 30 % of the best forest's stumps at random, where that is more than one; all others begin with random columns.
    rng : numpy.random.Generator, optional
        Needed for restarts.
    """
    forests = []
    from_relaxation = (
        init != "greedy" and isinstance(gram, Gram) and options.alpha > 0 and options.n_stumps > 0 and len(columns) > 0
    )
    if init != "relaxation" or not from_relaxation:
        forests.append(fit_forest(gram, response, columns, options, should_stop=should_stop))
    if from_relaxation and isinstance(gram, Gram) and not (forests and should_stop()):
        mu = relaxed_ridge(options, len(columns))
        relaxation = Relaxation(gram, response, columns, mu=mu, l1=options.l1, should_stop=should_stop)
        start = stumps_of(relaxation.solve(), options.n_stumps)
        forests.append(fit_forest(gram, response, columns, options, start=start, should_stop=should_stop))
    best = min(forests, key=lambda forest: forest.objective)
    for number in range(1, n_restarts + 1):
        if rng is None or should_stop() or len(columns) == 0:
            break
        stumps = best.stump_columns()
        n_kept = len(stumps) - round(DROPPED_SHARE * len(stumps))
        # A forest that loses one stump only finds its way back, for no single stump can move to a better place.
        is_partial = number % 2 == 1 and len(stumps) - n_kept > 1
        start = rng.permutation(stumps)[:n_kept] if is_partial else _random_stumps(options.n_stumps, len(columns), rng)
        again = fit_forest(gram, response, columns, options, start=start, should_stop=should_stop)
        best = again if again.objective < best.objective else best
    return best


def _random_stumps(n_stumps: int, n_columns: int, rng: np.random.Generator) -> np.ndarray:
    """Return random columns, none twice unless there are fewer than stumps."""
    return rng.choice(n_columns, n_stumps, replace=n_stumps > n_columns)
