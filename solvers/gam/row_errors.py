"""How far the decision of a row is from its target: what held-out rows and edits are scored by.

Squared loss: (y - F)^2. Classes: -log of the probability of the row's class. Poisson and gamma loss: deviance, twice the loss above that
of the decision log y. Huber and quantile loss: the loss itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import logsumexp, xlogy

from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, SquaredLoss
from solvers.gam.shape_functions import Floats


class RowError(NamedTuple):
    """A measure of error.

    Attributes
    ----------
    metric : str
    of : callable
        From targets and decisions, the offset included, to the error of each row.
    """

    metric: str
    of: Callable[[Floats, Floats], Floats]


def row_error(loss: Loss, n_classes: int = 2) -> RowError:
    """Return the measure that goes with a loss.

    Examples
    --------
    >>> row_error(SquaredLoss()).of(np.array([3.0]), np.array([1.0]))
    array([4.])
    """
    match loss:
        case SquaredLoss():
            return RowError("mean_squared_error", lambda y, F: (y - F) ** 2)
        case LogisticLoss():
            return RowError("log_loss", loss.value if n_classes == 2 else _multinomial_loss)
        case PoissonLoss():
            return RowError("mean_poisson_deviance", lambda y, F: 2 * (loss.value(y, F) - y + xlogy(y, y)))
        case GammaLoss():
            return RowError("mean_gamma_deviance", lambda y, F: 2 * (loss.value(y, F) - 1 - np.log(y)))
        case HuberLoss():
            return RowError("mean_huber_loss", loss.value)
        case _:
            return RowError("mean_pinball_loss", loss.value)


def _multinomial_loss(y: Floats, F: Floats) -> Floats:
    """Return the loss of decisions of shape (N, K)."""
    return np.asarray(logsumexp(F, axis=1) - F[np.arange(len(y)), y.astype(np.int64)])
