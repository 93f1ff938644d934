"""Every method of the GAM benchmark learns what there is to learn, and its steps are those that its predictions take."""

import importlib.util

import numpy as np
import pandas as pd
import pytest

from benchmarks.gam.child import scored
from benchmarks.gam.data_sets import FOLDER_VARIABLE, DataSet, load
from benchmarks.gam.methods import METHODS
from tests.benchmarks.gam_data import write_folder

MODULES = {
    "interpret-core": "interpret",
    "xgboost-cpu": "xgboost",
    "scikit-learn": "sklearn",
    "foresolve": "solvers.gam.cross_validated",
}
INSTALLED = [name for name, method in METHODS.items() if importlib.util.find_spec(MODULES.get(method.package, method.package))]
OF_STEPS = [name for name in INSTALLED if name not in ("linear", "pygam")]

# Some of the peers predict in single precision.
SMALLEST_JUMP = 1e-5


@pytest.fixture
def a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return write_folder(tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("name", INSTALLED)
def test_a_method_beats_the_constant_on_rows_with_missing_cells(name, task, a_folder):
    data = load(task)

    fit = METHODS[name].fit(data, 0)

    constant = scored(data.y, np.full(len(data.y), data.y.mean()), data.is_classification)
    assert scored(data.y, fit.predict(data.X), data.is_classification)["loss"] < 0.97 * constant["loss"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", INSTALLED)
def test_a_method_predicts_where_a_level_is_unseen_or_missing(name, a_folder):
    fit = METHODS[name].fit(load("regression"), 0)

    predicted = fit.predict(pd.DataFrame({"x": [3.0, np.nan, 4.0], "level": ["strange", "low", np.nan]}))

    assert np.isfinite(predicted).all()


@pytest.mark.parametrize("name", OF_STEPS)
def test_the_counted_steps_are_the_jumps_of_the_predictions(name):
    x = np.repeat(np.arange(20.0), 40)
    y = np.sin(x / 3) + 0.2 * np.random.default_rng(1).standard_normal(len(x))
    data = DataSet("waves", pd.DataFrame({"x": x}), y, ("x",), (), is_classification=False)

    fit = METHODS[name].fit(data, 0)

    jumps = np.abs(np.diff(fit.predict(pd.DataFrame({"x": np.arange(20.0)}))))
    assert fit.count_steps() == np.count_nonzero(jumps > SMALLEST_JUMP)


def test_the_loss_of_numbers_is_the_root_of_the_mean_square():
    assert scored(np.array([1.0, 2.0]), np.array([4.0, 6.0]), is_classification=False) == {"loss": np.sqrt(12.5)}


def test_the_loss_of_classes_is_the_mean_of_minus_the_log_of_their_probability():
    found = scored(np.array([1.0, 0.0, 1.0]), np.array([0.5, 0.2, 0.1]), is_classification=True)

    assert found["loss"] == pytest.approx(-np.log([0.5, 0.8, 0.1]).mean(), rel=1e-12)
    assert found["auc"] == 0.5
