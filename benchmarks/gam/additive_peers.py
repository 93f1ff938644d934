"""Other additive models: interpret's explainable boosting machine, pyGAM's splines, and a linear model."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from benchmarks.gam.data_sets import DataSet
from benchmarks.gam.method import Fit, Floats, labels, predictor

# A numeric column with no more values than this has no use for a spline; it enters linearly.
MOST_VALUES_WITHOUT_A_SPLINE = 5
SPLINES = 20
PENALTIES = np.logspace(-3, 3, 11)
MISSING = "(missing)"


def ebm(data: DataSet, seed: int) -> Fit:
    """Fit with interpret's defaults, but without interactions and with the kinds of the columns told."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingClassifier if data.is_classification else ExplainableBoostingRegressor
    kinds = ["nominal" if name in data.categorical else "continuous" for name in data.X.columns]
    model = kind(interactions=0, feature_types=kinds, n_jobs=1, random_state=seed).fit(data.X, labels(data))

    def count_steps() -> int:
        steps = 0
        for name, scores in zip(data.X.columns, model.term_scores_, strict=True):
            # The first score is that of missing values, the last that of unseen ones.
            own, has_missing = scores[1:-1], bool(data.X[name].isna().any())
            levels = len(np.unique(own)) - 1 if name in data.categorical else np.count_nonzero(np.diff(own))
            steps += int(levels) + has_missing
        return steps

    return Fit(predictor(model, data.is_classification), count_steps)


def pygam(data: DataSet, seed: int) -> Fit:
    """Fit splines of numeric columns and levels of categorical ones, with one penalty for all, chosen by generalised cross-validation.

    It takes no missing values: those of a numeric column become its median, those of a categorical one a level. Nor does it take an unseen
    level, which becomes the most frequent one.
    """
    from pygam import LinearGAM, LogisticGAM, f, l, s
    from pygam.terms import TermList

    medians = data.X[list(data.numeric)].median()
    levels = {name: data.X[name].fillna(MISSING).value_counts().index for name in data.categorical}

    def encode(X: pd.DataFrame) -> Floats:
        numbers = [X[name].fillna(medians[name]).to_numpy() for name in data.numeric]
        codes = [np.maximum(index.get_indexer(X[name].fillna(MISSING)), 0) for name, index in levels.items()]
        return np.column_stack([*numbers, *codes]).astype(np.float64)

    terms = []
    for position, name in enumerate(data.X.columns):
        if name in data.categorical:
            terms.append(f(position))
        elif data.X[name].nunique() > MOST_VALUES_WITHOUT_A_SPLINE:
            terms.append(s(position, n_splines=SPLINES))
        else:
            terms.append(l(position))
    with warnings.catch_warnings():
        # Penalties with which it does not converge are told, and passed over by the search.
        warnings.simplefilter("ignore")
        model = (LogisticGAM if data.is_classification else LinearGAM)(TermList(*terms))
        model.gridsearch(encode(data.X), labels(data), lam=PENALTIES, progress=False)
    predict = model.predict_proba if data.is_classification else model.predict
    return Fit(lambda X: predict(encode(X)), lambda: len(model.coef_))


def linear(data: DataSet, seed: int) -> Fit:
    """Fit least squares, or logistic regression at its default penalty, on scaled numbers and an indicator of every level."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    encode = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), StandardScaler()), list(data.numeric)),
        (OneHotEncoder(handle_unknown="ignore"), list(data.categorical)),
        sparse_threshold=0,
    )
    last = LogisticRegression(max_iter=1000) if data.is_classification else LinearRegression()
    model = make_pipeline(encode, last).fit(data.X, labels(data))
    return Fit(predictor(model, data.is_classification), lambda: last.coef_.size)
