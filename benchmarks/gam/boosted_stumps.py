"""Boosted trees of depth 1: LightGBM, XGBoost and scikit-learn's histogram gradient boosting.

All learn at rate 0.1 until the loss of 15 % of the training rows, kept out, has not improved for 50 rounds. LightGBM and XGBoost are
given an indicator of every level, which on the wage data did better with stumps than their own treatment of categories; scikit-learn
splits the levels itself. A step is a distinct split of the rounds that are kept: a feature with a threshold or a set of levels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.preprocessing import OneHotEncoder

from benchmarks.gam.data_sets import DataSet
from benchmarks.gam.method import Fit, Floats, labels, predictor

MOST_ROUNDS, PATIENCE, RATE = 10_000, 50, 0.1
VALIDATION_SHARE = 0.15


def lightgbm(data: DataSet, seed: int) -> Fit:
    import lightgbm

    encode = with_indicators(data)
    X, y, kept_out = encode(data.X), labels(data), validation_rows(len(data.y), seed)
    kind = lightgbm.LGBMClassifier if data.is_classification else lightgbm.LGBMRegressor
    model = kind(n_estimators=MOST_ROUNDS, learning_rate=RATE, num_leaves=2, random_state=seed, n_jobs=1, verbosity=-1).fit(
        X[~kept_out],
        y[~kept_out],
        eval_X=X[kept_out],
        eval_y=y[kept_out],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )

    def steps() -> Iterable[Any]:
        dump = model.booster_.dump_model(num_iteration=model.best_iteration_)
        roots = (tree["tree_structure"] for tree in dump["tree_info"])
        return ((root["split_feature"], root["threshold"]) for root in roots if "split_feature" in root)

    predict = predictor(model, data.is_classification)
    return Fit(lambda rows: predict(encode(rows)), lambda: len(set(steps())))


def xgboost(data: DataSet, seed: int) -> Fit:
    import xgboost

    encode = with_indicators(data)
    X, y, kept_out = encode(data.X), labels(data), validation_rows(len(data.y), seed)
    kind = xgboost.XGBClassifier if data.is_classification else xgboost.XGBRegressor
    model = kind(
        n_estimators=MOST_ROUNDS,
        learning_rate=RATE,
        max_depth=1,
        tree_method="hist",
        early_stopping_rounds=PATIENCE,
        random_state=seed,
        n_jobs=1,
    ).fit(X[~kept_out], y[~kept_out], eval_set=[(X[kept_out], y[kept_out])], verbose=False)

    def steps() -> Iterable[Any]:
        nodes = model.get_booster()[: model.best_iteration + 1].trees_to_dataframe()
        splits = nodes[nodes["Feature"] != "Leaf"]
        return zip(splits["Feature"], splits["Split"], strict=True)

    predict = predictor(model, data.is_classification)
    return Fit(lambda rows: predict(encode(rows)), lambda: len(set(steps())))


def hist_gradient_boosting(data: DataSet, seed: int) -> Fit:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    encode = with_categories(data)
    kind = HistGradientBoostingClassifier if data.is_classification else HistGradientBoostingRegressor
    model = kind(
        max_iter=MOST_ROUNDS,
        learning_rate=RATE,
        max_depth=1,
        categorical_features="from_dtype",
        early_stopping=True,
        validation_fraction=VALIDATION_SHARE,
        n_iter_no_change=PATIENCE,
        random_state=seed,
    ).fit(encode(data.X), labels(data))

    def steps() -> Iterable[Any]:
        # Its trees are public in no other way.
        for (tree,) in model._predictors:
            root = tree.nodes[0]
            if root["is_categorical"]:
                yield root["feature_idx"], tuple(tree.raw_left_cat_bitsets[root["bitset_idx"]])
            elif not root["is_leaf"]:
                yield root["feature_idx"], root["num_threshold"]

    predict = predictor(model, data.is_classification)
    return Fit(lambda rows: predict(encode(rows)), lambda: len(set(steps())))


def with_indicators(data: DataSet) -> Callable[[pd.DataFrame], Floats]:
    """Return what puts an indicator of every level of the training rows, a missing one too, in the place of categories."""
    numeric, categorical = list(data.numeric), list(data.categorical)
    indicators = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(data.X[categorical])
    return lambda X: np.hstack([X[numeric].to_numpy(), indicators.transform(X[categorical])])


def with_categories(data: DataSet) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Return what makes the texts of a table categories, those of the training rows; all others are missing."""
    kinds = {name: pd.CategoricalDtype(sorted(data.X[name].dropna().unique())) for name in data.categorical}
    return lambda X: X.astype(kinds)


def validation_rows(n_rows: int, seed: int) -> npt.NDArray[np.bool_]:
    """Return which rows are kept out."""
    kept_out = np.zeros(n_rows, bool)
    kept_out[np.random.RandomState(seed).permutation(n_rows)[: int(VALIDATION_SHARE * n_rows)]] = True
    return kept_out
