"""The tables of the GAM benchmark are read as they were described, and split by the rule."""

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest

from benchmarks.gam.data_sets import FOLDER_VARIABLE, folder, load, split
from tests.benchmarks.gam_data import write_folder

HAS_DATA = pytest.mark.skipif(FOLDER_VARIABLE not in os.environ, reason="needs the data sets")


@pytest.fixture
def a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return write_folder(tmp_path)


def test_only_an_empty_cell_is_missing(a_folder):
    data = load("regression")

    assert data.X["x"].isna().sum() == len(range(0, 400, 17))
    assert data.X["level"].isna().sum() == len(range(0, 400, 13))
    assert set(data.X["level"].dropna()) == {"low", "None", "high"}


def test_a_table_is_numbers_then_categories_and_a_class_is_one_or_zero(a_folder):
    data = load("classification")

    assert list(data.X.columns) == [*data.numeric, *data.categorical] == ["x", "level"]
    assert data.is_classification
    assert set(data.y) == {0.0, 1.0}


def test_another_file_than_the_described_one_is_refused(a_folder):
    path = a_folder / "regression.csv.gz"
    path.write_bytes((a_folder / "classification.csv.gz").read_bytes())

    with pytest.raises(ValueError, match="is not the file"):
        load("regression")


def test_without_a_folder_the_benchmark_says_what_it_wants(monkeypatch):
    monkeypatch.delenv(FOLDER_VARIABLE, raising=False)

    with pytest.raises(SystemExit, match=FOLDER_VARIABLE):
        folder()


def test_a_split_holds_every_row_once_a_fifth_of_them_for_the_test():
    train, test = split(1030, seed=4)

    assert len(test) == 206
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(1030))
    assert (np.diff(train) > 0).all()
    assert (np.diff(test) > 0).all()


def test_the_first_rows_of_a_known_split_are_drawn():
    _, test = split(20640, seed=0)

    assert test[:10].tolist() == [7, 8, 12, 16, 18, 32, 33, 44, 45, 47]


@HAS_DATA
def test_the_published_splits_are_drawn():
    published = json.loads((Path(os.environ[FOLDER_VARIABLE]) / "splits.json").read_text())["splits"]

    for name, splits in published.items():
        for seed, expected in splits.items():
            train, test = split(len(load(name).y), int(seed))
            assert (len(train), len(test)) == (expected["n_train"], expected["n_test"])
            assert hashlib.sha256(test.astype("<i8").tobytes()).hexdigest() == expected["test_sha256"]
