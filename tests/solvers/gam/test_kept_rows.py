import numpy as np
import pytest

from solvers.gam import AdditiveModel, CodedColumn, ShapeFunction
from solvers.gam.binning import LevelBins, bin_table
from solvers.gam.editing import edit
from solvers.gam.kept_rows import KeptRows, further_table


def squared_error(target: np.ndarray, decision: np.ndarray) -> np.ndarray:
    return (target - decision) ** 2


@pytest.fixture
def columns() -> list:
    rng = np.random.default_rng(5)
    numbers = rng.integers(0, 40, 300).astype(float)
    numbers[::17] = np.nan
    return [numbers, CodedColumn(rng.integers(-1, 3, 300), ("a", "b", "c"))]


@pytest.fixture
def rows(columns) -> KeptRows:
    rng = np.random.default_rng(6)
    table = bin_table(columns, ["x", "plan"], max_bins=16)
    return KeptRows(table, rng.normal(size=300), rng.random(300), rng.normal(size=300))


def a_model_on(rows: KeptRows, n_outputs: int = 1) -> AdditiveModel:
    """A model on every other threshold of the bins."""
    rng = np.random.default_rng(7)
    at = rows.table.features[0].thresholds[::2]
    shapes = [
        [
            ShapeFunction("x", "numeric", rng.normal(size=len(at) + 1), at, missing=3.0, weights=rng.random(len(at) + 2))
            for _ in range(n_outputs)
        ],
        [
            ShapeFunction("plan", "categorical", rng.normal(size=3), levels=("a", "b", "c"), missing=-3.0)
            for _ in range(n_outputs)
        ],
    ]
    if n_outputs == 1:
        return AdditiveModel("regression", "identity", [0.5], shapes)
    return AdditiveModel("classification", "softmax", rng.normal(size=n_outputs), shapes, tuple("uvw"[:n_outputs]))


@pytest.mark.parametrize("n_outputs", [1, 3])
def test_binned_rows_have_the_decisions_of_the_values(columns, rows, n_outputs):
    model = a_model_on(rows, n_outputs)
    np.testing.assert_allclose(rows.decision(model), model.decision(columns, rows.offset), rtol=1e-12, atol=1e-12)


def test_an_edit_changes_the_score_as_it_changes_the_decisions(columns, rows):
    model = a_model_on(rows)
    after = edit(model, [{"op": "merge", "feature": "x", "lo": 5, "hi": 30}, {"op": "remove", "feature": "plan"}]).model
    expected = np.average((rows.target - after.decision(columns, rows.offset)) ** 2, weights=rows.weights)
    assert rows.score(after, squared_error) == pytest.approx(expected, rel=1e-12)
    assert rows.score(after, squared_error) != pytest.approx(rows.score(model, squared_error))


def test_pooled_levels_score_as_one(rows):
    levels = tuple("abcdefgh")
    codes = np.repeat(np.arange(8), [50, 40, 30, 2, 2, 2, 2, 2])
    table = bin_table([CodedColumn(codes, levels)], ["plan"], max_levels=4)
    features = table.features[0]
    assert features.pooled
    shape = ShapeFunction("plan", "categorical", np.arange(len(features.levels)), levels=features.levels, unseen=-8.0)
    kept = KeptRows(table, np.zeros(len(codes)), np.ones(len(codes)))
    model = AdditiveModel("regression", "identity", [0.0], [[shape]])
    np.testing.assert_array_equal(kept.decision(model), model.decision([CodedColumn(codes, levels)]))


def test_rows_held_back_have_the_decisions_of_the_values(rows):
    columns = [np.array([-1e300, 7.0, np.nan, np.inf]), CodedColumn(np.array([1, 2, 0, -1]), ("new", "b", ""))]
    further = KeptRows(further_table(rows.table.features, columns), np.zeros(4), np.ones(4))
    model = a_model_on(rows)
    np.testing.assert_allclose(further.decision(model), model.decision(columns), atol=1e-12)


def test_a_level_that_is_new_is_none_of_those_that_share_a_bin():
    plan = ShapeFunction("plan", "categorical", [1.0, 2.0, 2.0], levels=("a", "b", "c"), missing=4.0, unseen=8.0)
    model = AdditiveModel("regression", "identity", [0.0], [[plan]])
    bins = LevelBins("plan", ("a",), ("b", "c"), False)
    table = further_table((bins,), [CodedColumn(np.array([0, 1, 2, 3, -1]), ("a", "b", "c", "new"))])
    np.testing.assert_array_equal(KeptRows(table, np.zeros(5), np.ones(5)).decision(model), [1.0, 2.0, 2.0, 8.0, 4.0])
