from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.gam.binning import automatic_max_bins, bin_table, encode, level_bins, numeric_bins
from solvers.gam.shape_functions import CodedColumn
from solvers.operation import InvalidInput
from tests.solvers.gam.problems import vectors

CASES = vectors("binning")["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["kind"] for case in CASES])
def test_thresholds_and_bins_are_those_of_the_reference(case):
    x = np.array([np.nan if v is None else float(v) for v in case["x"]])
    table = bin_table([x], ["x"], max_bins=case["max_bins"])
    np.testing.assert_array_equal(table.features[0].thresholds, case["thresholds"])
    np.testing.assert_array_equal(table.codes[0], case["bin"])


@given(st.lists(st.integers(-5, 30), min_size=1, max_size=80), st.integers(1, 12), st.data())
def test_a_weight_counts_as_that_many_rows(values, max_bins, data):
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(values), max_size=len(values))), float)
    x = np.array(values, float)
    weighted = numeric_bins("x", x, max_bins, weights)
    repeated = numeric_bins("x", np.repeat(x, weights.astype(int)), max_bins, None)
    np.testing.assert_array_equal(weighted.thresholds, repeated.thresholds)


@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=60), st.sampled_from([None, 1, 2, 5, 255]))
def test_a_value_is_at_most_the_threshold_left_of_which_its_bin_lies(values, max_bins):
    x = np.array(values)
    bins = numeric_bins("x", x, max_bins, None)
    assert np.all(np.diff(bins.thresholds) > 0)
    codes, present = bins.codes(x), ~np.isnan(x)
    np.testing.assert_array_equal(codes[present], 1 + np.sum(bins.thresholds[:, None] < x[present], axis=0))
    assert not codes[~present].any()
    assert bins.has_missing == bool(np.any(~present))
    if max_bins is None:
        assert len(bins.thresholds) == max(0, len(np.unique(x[present])) - 1)
    else:
        assert len(bins.thresholds) < max(2, max_bins)


def test_infinity_is_an_extreme_value_at_prediction_and_an_error_in_training():
    x = np.array([0.0, 1.0, 2.0])
    bins = numeric_bins("x", x, 255, None)
    np.testing.assert_array_equal(bins.codes(np.array([-np.inf, np.inf, np.nan])), [1, 3, 0])
    with pytest.raises(InvalidInput, match=r"column 'age' is infinite in row 1"):
        numeric_bins("age", np.array([0.0, np.inf]), 255, None)


def test_rare_levels_share_a_bin_that_unseen_ones_join():
    column = CodedColumn(np.array([0, 0, 1, 1, 2, 3, -1]), ("north", "east", "south", "west"))
    table = bin_table([column], ["region"], max_levels=3)
    assert (table.features[0].levels, table.features[0].pooled) == (("east", "north"), ("south", "west"))
    np.testing.assert_array_equal(table.codes[0], [2, 2, 1, 1, 3, 3, 0])
    np.testing.assert_array_equal(encode(table.features, [CodedColumn(np.array([0, 1]), ("nowhere", "west"))])[0], [3, 3])


def test_an_unseen_level_has_a_code_of_its_own_where_no_level_is_rare():
    bins = level_bins("plan", CodedColumn(np.array([0, 1, 1]), ("basic", "pro")), 255, np.array([1.0, 1.0, 0.0]))
    assert bins.levels == ("basic", "pro")
    np.testing.assert_array_equal(bins.codes(CodedColumn(np.array([1, 0, -1]), ("pro", "plus"))), [3, 2, 0])


def test_a_level_of_no_weight_has_no_bin():
    bins = level_bins("plan", CodedColumn(np.array([0, 1, -1]), ("basic", "pro")), 255, np.array([1.0, 0.0, 0.0]))
    assert (bins.levels, bins.has_missing) == (("basic",), False)


def test_codes_take_the_smallest_type_that_holds_them():
    x = np.arange(400.0)
    assert bin_table([x], ["x"], max_bins=255).codes.dtype == np.uint8
    assert bin_table([x], ["x"], max_bins=256).codes.dtype == np.uint16
    assert bin_table([x], ["x"], max_bins="auto").codes.max() == 255


def test_wide_tables_of_fine_features_get_fewer_bins():
    fine, coarse = np.arange(2000.0), np.tile(np.arange(64.0), 40)[:2000]
    late = np.concatenate([np.zeros(1900), np.arange(100.0)])
    assert automatic_max_bins([fine] * 40 + [coarse] * 10) == 255
    assert automatic_max_bins([fine] * 40 + [late]) == 64
