"""Every method of the comparison, by name."""

from __future__ import annotations

from functools import partial

from benchmarks.gam.additive_peers import ebm, linear, pygam
from benchmarks.gam.boosted_stumps import hist_gradient_boosting, lightgbm, xgboost
from benchmarks.gam.method import Method
from benchmarks.gam.own import stump_forest

OURS, OURS_SMALL, EBM = "foresolve", "foresolve-parsimony", "ebm"
BOOSTED_STUMPS = ("lightgbm", "xgboost", "hist-gradient-boosting")

METHODS = {
    OURS: Method(partial(stump_forest, rule="min"), "foresolve"),
    OURS_SMALL: Method(partial(stump_forest, rule="parsimony"), "foresolve"),
    EBM: Method(ebm, "interpret-core"),
    "pygam": Method(pygam, "pygam"),
    "lightgbm": Method(lightgbm, "lightgbm"),
    "xgboost": Method(xgboost, "xgboost-cpu"),
    "hist-gradient-boosting": Method(hist_gradient_boosting, "scikit-learn"),
    "linear": Method(linear, "scikit-learn"),
}
