from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.binning import BinnedTable
from solvers.gam.candidate_columns import bin_sums, candidate_columns
from solvers.gam.gram import build_gram, respond
from solvers.gam.moments import fold_moments
from tests.solvers.gam.problems import mixed_table, problem, summed_up


def dense_gram(U: np.ndarray, h: np.ndarray) -> np.ndarray:
    centred = U - h @ U / h.sum()
    return centred.T @ (h[:, None] * centred)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_products_are_those_of_the_centred_columns(seed, weighted):
    rng = np.random.default_rng(seed)
    table = mixed_table(rng, 200, n_numeric=4, n_categorical=2)
    z = rng.normal(5, 2, 200)
    weights = rng.uniform(0, 3, 200) if weighted else None
    p = summed_up(table, z, weights, min_samples_leaf=3)
    h = np.ones(200) if weights is None else weights
    U = p.indicators()
    np.testing.assert_allclose(p.gram.products, dense_gram(U, h), atol=1e-11)
    np.testing.assert_allclose(p.gram.shares, h @ U / h.sum(), rtol=1e-12)
    z_centred = z - np.average(z, weights=h)
    np.testing.assert_allclose(p.response.correlations, U.T @ (h * z_centred), atol=1e-10)
    assert p.response.mean == pytest.approx(np.average(z, weights=h), rel=1e-13)
    assert p.response.squares == pytest.approx(h @ z_centred**2, rel=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_the_type_of_the_codes_and_the_number_of_threads_change_nothing(dtype):
    rng = np.random.default_rng(0)
    table = mixed_table(rng, 300, n_numeric=5)
    columns = candidate_columns(table)
    one = build_gram(table, columns).products
    wide = BinnedTable(table.features, table.codes.astype(dtype))
    np.testing.assert_array_equal(build_gram(wide, columns, n_jobs=3).products, one)


def test_admissible_columns_have_enough_weight_on_either_side():
    rng = np.random.default_rng(1)
    table, weights = mixed_table(rng, 120), rng.uniform(0.1, 2, 120)
    columns = candidate_columns(table, weights, min_samples_leaf=20)
    every = candidate_columns(table, weights, min_samples_leaf=0)
    inside = every.sums(bin_sums(table, weights))
    assert len(columns) == np.sum(np.minimum(inside, weights.sum() - inside) >= 20) > 0
    inside = columns.sums(bin_sums(table, weights))
    assert np.minimum(inside, weights.sum() - inside).min() >= 20


def test_a_column_without_missing_values_has_no_step_for_them():
    p = problem([[1.0, np.nan], [2.0, 1.0], [3.0, 2.0]], [0.0, 0.0, 0.0])
    np.testing.assert_array_equal(p.columns.thresholds(p.table), [1.5, 2.5, -np.inf, 1.5])


def test_scores_of_a_bin_are_the_sum_of_the_steps_that_hold_it():
    rng = np.random.default_rng(2)
    p = summed_up(mixed_table(rng, 150), rng.normal(size=150))
    steps = rng.normal(size=len(p.columns))
    shapes = p.columns.scores(steps, p.table.n_codes)
    by_row = sum(shapes[d][p.table.codes[d]] for d in range(len(p.table.features)))
    np.testing.assert_allclose(by_row, p.indicators() @ steps, atol=1e-12)
    is_level = p.columns.is_level[p.columns.start[-2]]
    assert is_level
    assert shapes[-1, p.table.features[-1].n_codes] == 0  # an unseen level


@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_all_folds_but_one_are_those_of_the_training_rows(weighted):
    rng = np.random.default_rng(3)
    table, z, fold = mixed_table(rng, 200), rng.normal(100, 1, 200), rng.integers(0, 4, 200)
    weights = rng.uniform(0.5, 2, 200) if weighted else None
    columns = candidate_columns(table, weights)
    folds = fold_moments(table, columns, z, fold, weights)
    training = folds[0] + folds[1] + folds[2] + folds[3] - folds[2]
    rows = np.flatnonzero(fold != 2)
    part, h = table.rows(rows), None if weights is None else weights[rows]
    np.testing.assert_allclose(training.gram().products, build_gram(part, columns, h).products, atol=1e-10)
    np.testing.assert_allclose(training.fit_response().correlations, respond(part, columns, z[rows], h).correlations, atol=1e-9)
    assert training.fit_response().squares == pytest.approx(respond(part, columns, z[rows], h).squares, rel=1e-10)
    assert training.fit_response().mean == pytest.approx(respond(part, columns, z[rows], h).mean, rel=1e-13)


def test_the_held_out_error_comes_from_the_moments():
    rng = np.random.default_rng(4)
    table, z, weights = mixed_table(rng, 200), rng.normal(100, 1, 200), rng.uniform(0.5, 2, 200)
    p = summed_up(table, z, weights)
    (moments,) = fold_moments(table, p.columns, z, np.zeros(200, int), weights)
    active = np.array([0, 3, len(p.columns) - 1])
    steps = np.array([0.3, -1.0, 0.5])
    residual = z - 99.5 - p.indicators()[:, active] @ steps
    assert moments.squared_error(99.5, active, steps) == pytest.approx(weights @ residual**2, rel=1e-11)


def test_whole_numbers_are_summed_up_exactly():
    rng = np.random.default_rng(5)
    table, z = mixed_table(rng, 500), rng.integers(0, 1000, 500) + 1e6
    order = rng.permutation(500)
    columns = candidate_columns(table)
    np.testing.assert_array_equal(
        respond(table, columns, z).correlations, respond(table.rows(order), columns, z[order]).correlations
    )
