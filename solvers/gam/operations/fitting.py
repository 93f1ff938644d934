"""From a request and its rows to a fitted estimator, watched by the clock, and to the report of the fit."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from solvers.gam.additive_fit import AdditiveFit
from solvers.gam.binning import automatic_max_bins
from solvers.gam.cross_validated import StumpForestClassifierCV, StumpForestRegressorCV
from solvers.gam.estimators import StumpForestClassifier, StumpForestRegressor
from solvers.gam.fit_summary import FitSummary
from solvers.gam.operations.fit_request import FitRequest, ModelParameters, Selection
from solvers.gam.operations.model_record import FitReport, KeptForest, KeptView
from solvers.gam.operations.training_input import Task, TrainingInput, require_finite_features, training_input
from solvers.gam.stump_forest import FITTING_SHARE
from solvers.gam.tables.table import ColumnType, read_table
from solvers.gam.training import Training
from solvers.operation import Context, InvalidInput

Estimator = StumpForestRegressor | StumpForestClassifier


class SearchTime:
    """Watches a fit, and remembers whether it could not be finished."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self.was_cut_short = False

    def is_over(self, share: float) -> bool:
        """Return whether this share of the time is over, or the fit is cancelled."""
        is_over = self._context.is_over(share)
        self.was_cut_short |= is_over and share <= FITTING_SHARE
        return is_over

    def report(self, *, fraction: float | None = None) -> None:
        """Pass on how far the fit has come."""
        self._context.report(fraction=None if fraction is None else FITTING_SHARE * fraction, phase="fit")


def read_training_input(request: FitRequest, context: Context) -> TrainingInput:
    """Return the rows of a request; faults have the pointer of its table."""
    roles = request.roles
    types: dict[str, ColumnType] = {**request.columns, **dict.fromkeys(roles.numeric(), "numeric")}
    for name in roles.all():
        if types.get(name) == "ignore":
            raise InvalidInput(f"column {name!r} is needed and cannot be ignored", pointer="/columns", column=name)
    declares_loss = "loss" in request.params.model_fields_set
    with request.data.opened(context.files, "/data") as rows:
        used = sum(types.get(name) != "ignore" for name in rows.names)
        context.require("max_columns", used, "columns that are not ignored", pointer="/data")
        table = read_table(rows, types, should_stop=lambda: context.is_over(FITTING_SHARE))
        found = training_input(table, roles, request.task, request.params, declares_loss=declares_loss)
        require_finite_features(found.features)
        return found


def fit_estimator(request: FitRequest, rows: TrainingInput, search: SearchTime) -> Estimator:
    """Return a fitted estimator; what it warned of is in its `warnings_`."""
    arguments = request.params.model_dump(exclude_unset=True)
    if rows.task == "classification" and isinstance(request.params.class_weight, dict):
        arguments["class_weight"] = _by_label(request.params.class_weight, rows.target)
    if rows.task == "regression" and arguments.pop("class_weight", None) is not None:
        raise InvalidInput("a regression has no classes to weigh", pointer="/params/class_weight")
    if request.selection is not None:
        chosen = request.selection
        for name in {"n_stumps", "alpha"} & arguments.keys():
            raise InvalidInput(f"`selection` chooses {name!r}; it is not given beside it", pointer=f"/params/{name}")
        arguments |= {"n_stumps": tuple(chosen.n_stumps), "alphas": tuple(chosen.alphas), "cv": chosen.cv, "rule": chosen.rule}
        arguments.setdefault("random_state", chosen.seed)
        if rows.task == "regression":
            arguments |= {"threshold_fractions": tuple(chosen.threshold_fractions), "smooth_shares": tuple(chosen.smooth_shares)}
        elif averages := chosen.model_fields_set & {"threshold_fractions", "smooth_shares"}:
            raise InvalidInput("averages are chosen for squared loss alone", pointer=f"/selection/{min(averages)}")
    kinds: dict[tuple[Task, bool], type] = {
        ("regression", False): StumpForestRegressor,
        ("regression", True): StumpForestRegressorCV,
        ("classification", False): StumpForestClassifier,
        ("classification", True): StumpForestClassifierCV,
    }
    try:
        estimator: Estimator = kinds[rows.task, request.selection is not None](**arguments)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator.fit(rows.features, rows.target, rows.weights, offset=rows.offset, monitor=search)
    except InvalidInput as fault:
        name = (fault.pointer or "").strip("/").partition("/")[0]
        if request.selection is not None and name in Selection.model_fields:
            raise InvalidInput(fault.detail, pointer=f"/selection{fault.pointer}", **fault.members) from None
        if name in ModelParameters.model_fields:
            raise InvalidInput(fault.detail, pointer=f"/params{fault.pointer}", **fault.members) from None
        raise
    return estimator


def fit_report(summary: FitSummary, training: Training | None) -> FitReport:
    """Return what was minimised and how far it is from the best; `training` is None for an average of fits."""
    return FitReport(
        n_steps=len(summary.stumps),
        objective=summary.objective,
        lower_bound=summary.lower_bound,
        gap=summary.gap,
        gap_reason=summary.gap_reason,
        one_swap_residual=summary.one_swap_residual,
        history=list(summary.history),
        forests=[]
        if training is None
        else [
            KeptForest(
                columns=forest.columns.tolist(),
                steps=forest.steps.tolist(),
                multiplicity=forest.multiplicity.tolist(),
                intercept=forest.intercept,
                objective=forest.objective,
            )
            for forest in training.forests
        ],
        views=[]
        if training is None
        else [
            KeptView(feature=feature, ranks=ranks.tolist())
            for feature, ranks in zip(training.views.feature, training.views.ranks, strict=True)
        ],
    )


def last_fit(estimator: Estimator) -> AdditiveFit:
    """Return the fit behind an estimator that was fitted just now."""
    fit = estimator.fitted_.fit
    assert fit is not None
    return fit


def _by_label(weights: dict[str, float], target: npt.NDArray[Any]) -> dict[Any, float]:
    labels = {str(label): label for label in np.unique(target).tolist()}
    unknown = next((label for label in weights if label not in labels), None)
    if unknown is not None:
        raise InvalidInput(f"there is no class {unknown!r:.40}", pointer="/params/class_weight")
    return {labels[label]: weight for label, weight in weights.items()}


def resolved_parameters(estimator: Estimator, rows: TrainingInput) -> dict[str, Any]:
    """Return the parameters of the fit, with what was chosen for the caller."""
    params = estimator.checked_parameters().model_dump(mode="json")
    if isinstance(estimator, StumpForestClassifier):
        params["class_weight"] = estimator.class_weight
    if isinstance(estimator, StumpForestRegressorCV | StumpForestClassifierCV):
        params |= estimator.best_params_
    if params["max_bins"] == "auto":
        params["max_bins"] = automatic_max_bins(list(rows.features.values()))
    return params


def cross_validated_score(estimator: Estimator) -> tuple[float | None, float | None]:
    """Return the error of the chosen parameters on folds held back, and its standard error, if there was a choice."""
    if isinstance(estimator, StumpForestRegressorCV | StumpForestClassifierCV):
        return -estimator.best_score_, estimator.best_score_stderr_
    return None, None
