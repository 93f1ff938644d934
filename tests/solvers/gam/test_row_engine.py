from __future__ import annotations

import numpy as np
import pytest

from solvers.gam.binning import bin_table
from solvers.gam.candidate_columns import candidate_columns
from solvers.gam.forest import ForestOptions, fit_forest, one_swap_residual
from solvers.gam.gram import Gram, build_gram, respond
from solvers.gam.losses import LogisticLoss
from solvers.gam.reweighted_fit import fit_reweighted
from solvers.gam.row_engine import RowProducts, column_products
from solvers.gam.sample import Sample
from tests.solvers.gam.problems import mixed_table, summed_up


@pytest.mark.parametrize("seed", range(50))
def test_both_engines_fit_the_same_forest(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(30, 300))
    table = mixed_table(rng, n, n_numeric=int(rng.integers(1, 5)), n_categorical=int(rng.integers(0, 3)))
    weights = rng.uniform(0.5, 2, n) if seed % 2 else None
    signs = rng.integers(-1, 2, len(table.features)) if seed % 5 == 0 else None
    p = summed_up(table, rng.integers(0, 20, n).astype(float), weights, min_samples_leaf=3, monotonic_cst=signs)
    options = ForestOptions(
        n_stumps=int(rng.integers(1, 40)), alpha=float(rng.uniform(0.1, 20)), l1=0.5 * (seed % 3 == 0), l0=0.2 * (seed % 7 == 0)
    )
    rows = RowProducts(table, p.columns, weights, memory_limit=0)
    one = fit_forest(p.gram, p.response, p.columns, options)
    other = fit_forest(rows, p.response, p.columns, options)
    np.testing.assert_array_equal(one.columns, other.columns)
    np.testing.assert_array_equal(one.multiplicity, other.multiplicity)
    np.testing.assert_allclose(one.steps, other.steps, rtol=1e-9, atol=1e-11)
    assert other.objective == pytest.approx(one.objective, rel=1e-9)
    residual = one_swap_residual(p.gram, p.response, p.columns, options, one)
    assert one_swap_residual(rows, p.response, p.columns, options, other) == pytest.approx(residual, abs=1e-9)


def test_limits_hold_on_rows_too():
    rng = np.random.default_rng(0)
    p = summed_up(mixed_table(rng, 200, n_numeric=5), rng.normal(size=200))
    options = ForestOptions(n_stumps=40, alpha=0.5, max_features=2, max_steps_per_feature=3)
    one = fit_forest(p.gram, p.response, p.columns, options)
    other = fit_forest(RowProducts(p.table, p.columns), p.response, p.columns, options)
    np.testing.assert_array_equal(one.columns, other.columns)


def test_the_memory_limit_picks_the_engine():
    rng = np.random.default_rng(1)
    p = summed_up(mixed_table(rng, 100), rng.normal(size=100))
    needed = 8 * len(p.columns) ** 2
    assert isinstance(column_products(p.table, p.columns, memory_limit=needed), Gram)
    assert isinstance(column_products(p.table, p.columns, memory_limit=needed - 1), RowProducts)
    assert isinstance(column_products(p.table, p.columns, engine="gram", memory_limit=0), Gram)
    assert isinstance(column_products(p.table, p.columns, engine="rows"), RowProducts)


def test_a_logistic_fit_is_the_same_on_rows():
    rng = np.random.default_rng(2)
    table = mixed_table(rng, 300)
    sample = Sample(table, candidate_columns(table), (rng.random(300) < 0.3 + 0.4 * (table.codes[0] > 7)).astype(float))
    options = ForestOptions(n_stumps=15, alpha=2.0)
    one = fit_reweighted(sample, LogisticLoss(), options, lambda h: build_gram(table, sample.columns, h))
    other = fit_reweighted(sample, LogisticLoss(), options, lambda h: RowProducts(table, sample.columns, h))
    np.testing.assert_array_equal(one.columns, other.columns)
    assert other.objective == pytest.approx(one.objective, rel=1e-9)


def test_a_cut_between_any_two_values_needs_no_more_memory_than_rows():
    rng = np.random.default_rng(3)
    n = 20_000
    X = rng.normal(size=(2, n))
    table = bin_table(list(X), ["a", "b"], max_bins=None)
    columns = candidate_columns(table)
    assert len(columns) > 39_000
    response = respond(table, columns, np.where(X[0] > 0.3, 1.0, 0.0) + 0.1 * rng.normal(size=n))
    rows = column_products(table, columns)
    assert isinstance(rows, RowProducts)
    forest = fit_forest(rows, response, columns, ForestOptions(n_stumps=3, alpha=1.0))
    assert np.min(np.abs(columns.thresholds(table)[forest.columns] - 0.3)) < 1e-3
