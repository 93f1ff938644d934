"""Our stump forests, all parameters chosen by cross-validation with the defaults of the estimators."""

from __future__ import annotations

from typing import Literal

from benchmarks.gam.data_sets import DataSet
from benchmarks.gam.method import Fit, labels, predictor


def stump_forest(data: DataSet, seed: int, rule: Literal["min", "parsimony"]) -> Fit:
    from solvers.gam.cross_validated import StumpForestClassifierCV, StumpForestRegressorCV

    kind = StumpForestClassifierCV if data.is_classification else StumpForestRegressorCV
    model = kind(rule=rule, categorical_features=list(data.categorical), random_state=seed).fit(data.X, labels(data))
    return Fit(predictor(model, data.is_classification), lambda: model.n_steps_)
