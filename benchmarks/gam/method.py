"""What a method is to the benchmark: it fits training rows, then predicts, and its steps are counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from benchmarks.gam.data_sets import DataSet

Floats: TypeAlias = npt.NDArray[np.float64]


class Fit(NamedTuple):
    """A fitted model.

    Attributes
    ----------
    predict : callable
        From a table to the mean, or to the probability of the positive class.
    count_steps : callable
        Returns the number of steps, or of coefficients of a model that has no steps.
    """

    predict: Callable[[pd.DataFrame], Floats]
    count_steps: Callable[[], int]


FitRows: TypeAlias = Callable[[DataSet, int], Fit]
"""From the training rows and a seed to a model. All of it is timed: encoding, choice of parameters, early stopping."""


class Method(NamedTuple):
    """A method of the comparison.

    Attributes
    ----------
    fit : callable
    package : str
        The distribution that its version is that of.
    """

    fit: FitRows
    package: str


def labels(data: DataSet) -> npt.NDArray[np.float64] | npt.NDArray[np.int64]:
    """Return the target as classifiers want it: integers."""
    return data.y.astype(np.int64) if data.is_classification else data.y


def predictor(model: object, is_classification: bool) -> Callable[[pd.DataFrame], Floats]:
    """Return how a model with scikit-learn's interface predicts."""
    if is_classification:
        return lambda X: model.predict_proba(X)[:, 1]  # type: ignore[attr-defined]
    return lambda X: model.predict(X)  # type: ignore[attr-defined]
