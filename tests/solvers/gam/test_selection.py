"""The choice by cross-validation: errors of the folds against explicit refits, rules, folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold

from solvers.gam.fold_search import GridPoint, class_intercepts
from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, PoissonLoss, QuantileLoss, SquaredLoss
from solvers.gam.parameters import FitParameters
from solvers.gam.row_errors import row_error
from solvers.gam.sample import Sample
from solvers.gam.selection import Grid, Selection, alpha_unit, select, split_rows
from solvers.gam.shape_functions import CodedColumn
from solvers.gam.training import prepare, train
from solvers.operation import InvalidInput

GRID = Grid(n_stumps=[3, 20], alphas=[0.5, 20.0])


def sample(n: int = 240, *, weighted: bool = False, offset: bool = False) -> Sample:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, n)).round(1)
    x[0, ::9] = np.nan
    columns = [*x, CodedColumn(rng.integers(-1, 4, n), ("a", "b", "c", "d"))]
    y = np.nan_to_num(x[0]) ** 2 + x[1] + (columns[2].codes == 2) + 0.5 * rng.normal(size=n) + 100
    weights = rng.integers(1, 4, n) / 2 if weighted else None
    return prepare(columns, ["a", "b", "c"], y, weights=weights, offset=rng.normal(size=n) if offset else None)


def refit_error(rows: Sample, fold: tuple[np.ndarray, np.ndarray], point: GridPoint, **parameters: Any) -> float:
    """Return the squared error of a fit to the training rows of a fold, row by row."""
    fit, held = rows.rows(fold[0]), rows.rows(fold[1])
    options = FitParameters(n_stumps=point.n_stumps, alpha=point.alpha, **parameters)
    forest = train(fit, SquaredLoss(), options.forest_options(), search=options.search()).forests[0]
    residual = held.target - held.row_offsets() - held.decision(forest) - forest.intercept
    return float(np.average(residual**2, weights=held.weights))


@pytest.mark.parametrize(
    "parameters", [{}, {"l1": 0.5, "smoothing": 0.1}, {"init": "best", "n_restarts": 2}, {"engine": "rows"}], ids=str
)
@pytest.mark.parametrize("data", [{}, {"weighted": True, "offset": True}], ids=["plain", "weights and offset"])
def test_squared_errors_of_folds_are_those_of_explicit_refits(parameters: dict[str, Any], data: dict[str, bool]) -> None:
    rows = sample(**data)
    folds = split_rows(4, rows.target, SquaredLoss(), 3, None)
    selection = select(rows, SquaredLoss(), FitParameters(**parameters), GRID, folds)
    expected = [[refit_error(rows, fold, point, **parameters) for fold in folds] for point in selection.points]
    np.testing.assert_allclose(selection.errors, expected, rtol=1e-9)


@pytest.mark.parametrize("cv", [ShuffleSplit(3, test_size=0.3, random_state=0), [([0, 1, 2, 3, 3] * 20, [9, 8, 7])]], ids=str)
def test_folds_that_are_no_partition_are_refitted_too(cv: Any) -> None:
    rows = replace(sample(), min_samples_leaf=0.0)
    folds = split_rows(cv, rows.target, SquaredLoss(), 0, None)
    selection = select(rows, SquaredLoss(), FitParameters(), GRID, folds)
    expected = [[refit_error(rows, fold, point) for fold in folds] for point in selection.points]
    np.testing.assert_allclose(selection.errors, expected, rtol=1e-9)


def test_the_constant_model_is_a_candidate_scored_by_its_mean() -> None:
    rows = sample()
    folds = split_rows(4, rows.target, SquaredLoss(), 0, None)
    selection = select(rows, SquaredLoss(), FitParameters(), GRID, folds)
    assert selection.points[0] == GridPoint(0, 20.0)
    expected = [np.mean((rows.target[test] - rows.target[fit].mean()) ** 2) for fit, test in folds]
    np.testing.assert_allclose(selection.errors[0], expected, rtol=1e-9)


LOSSES = {
    "poisson": (PoissonLoss(), lambda y: np.random.default_rng(1).poisson(np.exp((y - 100) / 2)).astype(float)),
    "huber": (HuberLoss(0.7), lambda y: y),
    "quantile": (QuantileLoss(0.8), lambda y: y),
    "log_loss": (LogisticLoss(), lambda y: (y > 101).astype(float)),
}


@pytest.mark.parametrize("name", LOSSES)
def test_other_losses_choose_the_model_that_explicit_refits_choose(name: str) -> None:
    loss, map_target = LOSSES[name]
    rows = sample(600)
    rows = replace(rows, target=map_target(rows.target))
    folds = split_rows(3, rows.target, loss, 0, None)
    parameters = FitParameters(loss=name, huber_delta=0.7, quantile=0.8)
    selection = select(rows, loss, parameters, Grid(n_stumps=[5, 60], alphas=[1.0, 30.0, 1000.0]), folds)

    def refit(point: GridPoint) -> float:
        options = replace(parameters.forest_options(), n_stumps=point.n_stumps, alpha=point.alpha)
        total = 0.0
        for fit, test in folds:
            held = rows.rows(test)
            forest = train(rows.rows(fit), loss, options).forests[0]
            total += loss.value(held.target, held.decision(forest) + forest.intercept).sum()
        return float(total)

    assert selection.choose("min").point == min(selection.points, key=refit)


def test_deviance_is_zero_at_the_target() -> None:
    y = np.array([0.5, 2.0, 7.0])
    for loss in (PoissonLoss(), GammaLoss()):
        np.testing.assert_allclose(row_error(loss).of(y, np.log(y)), 0, atol=1e-12)
        assert np.all(row_error(loss).of(y, np.log(y) + 0.1) > 0)


@pytest.mark.parametrize("n_classes", [3, 12])
def test_several_classes_are_scored_by_the_probability_of_the_held_out_class(n_classes: int) -> None:
    rows = sample(600)
    edges = np.quantile(rows.target, np.arange(1, n_classes) / n_classes)
    rows = replace(rows, target=np.digitize(rows.target, edges).astype(float))
    folds = split_rows(3, rows.target, LogisticLoss(), 0, None)
    parameters = FitParameters(loss="log_loss")
    selection = select(rows, LogisticLoss(), parameters, Grid(n_stumps=[60], alphas=[30.0]), folds, n_classes=n_classes)
    constant, fitted = selection.means
    shares = [np.bincount(rows.target[fit].astype(int), minlength=n_classes) / len(fit) for fit, _ in folds]
    expected = [-np.mean(np.log(share[rows.target[test].astype(int)])) for share, (_, test) in zip(shares, folds, strict=True)]
    assert constant == pytest.approx(np.mean(expected), rel=1e-6)
    assert fitted < 0.9 * constant


def test_a_class_that_a_fold_lacks_costs_much_and_does_not_fail() -> None:
    rows = sample(60)
    rows = replace(rows, target=np.where(np.arange(60) == 7, 2.0, np.arange(60) % 2))
    selection = select(
        rows, LogisticLoss(), FitParameters(loss="log_loss"), GRID, [(np.arange(10, 60), np.arange(10))], n_classes=3
    )
    assert np.isfinite(selection.errors).all()
    assert selection.errors.min() > 2.5


def test_class_intercepts_are_stationary() -> None:
    rng = np.random.default_rng(0)
    target, weights, steps = rng.integers(0, 4, 50), rng.uniform(size=50), 3 * rng.normal(size=(4, 50))
    decision = steps + class_intercepts(target, weights, steps)[:, None]
    p = np.exp(decision - np.logaddexp.reduce(decision, axis=0))
    np.testing.assert_allclose(p @ weights, np.bincount(target, weights=weights), rtol=1e-9)


def test_held_out_targets_do_not_reach_the_fit() -> None:
    rows = sample(200)
    rows = replace(rows, target=(rows.target > 101).astype(float))
    fold = (np.arange(100), np.arange(100, 200))
    flipped = replace(rows, target=np.where(np.arange(200) < 100, rows.target, 1 - rows.target))
    parameters = FitParameters(loss="log_loss")
    fits = [select(each, LogisticLoss(), parameters, GRID, [fold]).forests[0] for each in (rows, flipped)]
    for one, other in zip(*fits, strict=True):
        np.testing.assert_array_equal(one[0].steps, other[0].steps)


def selection_of(means: list[float], points: list[tuple[int, float]], spread: float = 0.0) -> Selection:
    errors = np.array([[mean - spread, mean + spread] for mean in means])
    return Selection("error", tuple(GridPoint(*point) for point in points), errors, np.ones(2), ())


def test_rules_prefer_fewer_stumps_then_larger_ridges() -> None:
    points = [(0, 10.0), (50, 1.0), (50, 10.0), (100, 1.0), (100, 10.0)]
    close = selection_of([2.0, 1.009, 1.008, 1.0, 1.0], points)
    assert close.choose("min").point == GridPoint(100, 10.0)
    assert close.choose("parsimony").point == GridPoint(50, 10.0)
    assert close.choose("one_se").point == GridPoint(100, 10.0)
    assert selection_of([1.04, 1.06, 1.06, 1.0, 1.1], points, spread=0.05).choose("one_se").point == GridPoint(0, 10.0)


def test_the_standard_error_is_that_of_the_folds() -> None:
    assert selection_of([1.0], [(0, 1.0)], spread=0.1).choose("min").stderr == pytest.approx(
        np.std([0.9, 1.1], ddof=1) / np.sqrt(2)
    )


def test_ridges_of_counts_are_in_units_of_the_mean_rate() -> None:
    rows = replace(sample(), target=np.random.default_rng(0).poisson(50, 240).astype(float))
    assert alpha_unit(rows, PoissonLoss()) == pytest.approx(rows.target.mean())
    assert alpha_unit(rows, SquaredLoss()) == 1.0


def test_random_folds_follow_the_rule_and_are_a_partition() -> None:
    folds = split_rows(5, np.zeros(23), SquaredLoss(), 7, None)
    fold = np.random.RandomState(7).permutation(23) % 5
    for k, (fit, test) in enumerate(folds):
        np.testing.assert_array_equal(test, np.flatnonzero(fold == k))
        np.testing.assert_array_equal(np.sort(np.concatenate([fit, test])), np.arange(23))


def test_splitters_keep_classes_apart() -> None:
    target = np.repeat([0.0, 1.0], [40, 10])
    folds = split_rows(StratifiedKFold(5), target, LogisticLoss(), 0, None)
    assert [target[test].sum() for _, test in folds] == [2.0] * 5
    assert len(split_rows(KFold(3), target, LogisticLoss(), 0, None)) == 3


def test_given_positions_refer_to_the_table_with_rows_of_no_weight() -> None:
    kept = np.array([1, 3, 4])
    ((fit, test),) = split_rows([([0, 1, 2, 3], [4])], np.zeros(3), SquaredLoss(), 0, kept)
    assert (fit.tolist(), test.tolist()) == ([0, 1], [2])
    ((fit, test),) = split_rows([(np.array([False, True, True, True, False]), [4])], np.zeros(3), SquaredLoss(), 0, kept)
    assert (fit.tolist(), test.tolist()) == ([0, 1], [2])


@pytest.mark.parametrize("cv", [1, 4, [], [([0], [])], [([-1], [0])], [([0.5], [0])], [([0], [7])]], ids=str)
def test_impossible_folds_are_refused(cv: Any) -> None:
    with pytest.raises(InvalidInput) as fault:
        split_rows(cv, np.zeros(3), SquaredLoss(), 0, None)
    assert fault.value.pointer == "/cv"


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"n_stumps": []}, "/n_stumps"),
        ({"n_stumps": [-1]}, "/n_stumps/0"),
        ({"n_stumps": [1.5]}, "/n_stumps/0"),
        ({"alphas": [1, -1]}, "/alphas/1"),
        ({"alphas": [np.inf]}, "/alphas/0"),
        ({"alphas": 3}, "/alphas"),
        ({"rule": "best"}, "/rule"),
    ],
    ids=str,
)
def test_a_bad_grid_is_refused_by_name(changes: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as fault:
        Grid.checked(**({"n_stumps": (5,), "alphas": (1,), "rule": "min"} | changes))
    assert fault.value.pointer == pointer
