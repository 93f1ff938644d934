"""Runs of the GAM benchmark are made once, and small fits are asked for as they are meant."""

import csv
import io
import json
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.gam import scale
from benchmarks.gam.data_sets import FOLDER_VARIABLE
from benchmarks.gam.peers import KEY, measure, reference_losses
from benchmarks.gam.scale import fit_request, table
from benchmarks.ledger import Ledger
from tests.benchmarks.gam_data import write_folder


@pytest.fixture
def a_folder(tmp_path, monkeypatch):
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    return write_folder(tmp_path)


def test_only_seeds_without_a_line_are_run(a_folder):
    path = a_folder / "results.jsonl"
    first = measure("regression", "linear", [1], Ledger(path, KEY))

    both = measure("regression", "linear", [0, 1], Ledger(path, KEY))

    assert [line["seed"] for line in both] == [0, 1]
    assert both[1] == first[0]
    assert len(path.read_text().splitlines()) == 2
    assert both[0]["loss"] != both[1]["loss"]
    assert (both[0]["n_train"], both[0]["n_test"], both[0]["steps"]) == (320, 80, 5)


def test_a_method_that_fails_ends_the_benchmark(a_folder):
    (a_folder / "regression.csv.gz").write_bytes(b"")

    with pytest.raises(SystemExit, match="linear regression 0"):
        measure("regression", "linear", [0], Ledger(a_folder / "results.jsonl", KEY))


def test_the_reference_is_the_mean_of_its_first_three_splits(a_folder):
    assert not reference_losses()
    rows = [
        "data,method,split_seed,rmse,log_loss",
        *(f"wage,SF,{seed},{loss},".rstrip() for seed, loss in enumerate((1, 2, 6, 99))),
    ]
    (a_folder / "reference_scores.csv").write_text("\n".join([*rows, "wage,EBM,0,50,", "churn,SF,0,,0.5"]))

    assert reference_losses() == {"wage": 3.0, "churn": 0.5}


def test_a_posted_table_is_the_drawn_one():
    small = table(50, 3, seed=1)

    body = json.loads(fit_request(small))

    header, *rows = csv.reader(io.StringIO(body["data"]["content"]))
    assert header == ["x0", "x1", "x2", "y"]
    assert np.array_equal(np.array(rows, float), np.column_stack([small.X, small.y]))


def test_the_first_ten_requests_warm_up(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(scale, "time", SimpleNamespace(perf_counter=lambda: clock.now))

    def take(seconds):
        clock.now += seconds

    found = scale.latencies(take, iter([9.0] * 10 + [0.5] * 18 + [1.0] * 2 + [2.0]))

    assert found["median_ms"] == pytest.approx(500)
    assert found["p95_ms"] == pytest.approx(1000)
