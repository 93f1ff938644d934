"""Experiments as the service is asked for them: the grid, its table and tests, what failed, and going on after a stop."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
import pytest

from auctions.operations.experiments import EXAMPLES, EXPERIMENTS, ExperimentResult
from auctions.operations.simulations import SIMULATIONS
from solvers.operation import MemoryFiles
from tests.auctions.operations.running import pointer_of_fault, run

(SMALL,) = EXAMPLES.values()
FIVE: dict[str, Any] = SMALL | {"instance_seeds": [1, 2, 3, 4, 5], "report_at": [], "query_budget": 4}


@pytest.fixture(scope="module")
def five() -> ExperimentResult:
    result: ExperimentResult = run(EXPERIMENTS, FIVE)
    return result


def test_every_run_is_the_simulation_that_it_stands_for():
    (line,) = [
        line for line in run(EXPERIMENTS, SMALL).runs if (line.label, line.instance_seed, line.questions) == ("fast", 2, 8)
    ]
    body = {"domain": "srvm", "instance_seed": 2, "mechanism": "cca", "query_budget": 8, "parameters": {"increment": 0.5}}
    alone = run(SIMULATIONS, body)
    assert (line.efficiency, line.revenue) == (alone.efficiency, alone.revenue)


def test_means_intervals_and_tests_are_those_of_the_runs(five: ExperimentResult):
    losses = {label: np.array([line.loss_percent for line in five.runs if line.label == label]) for label in ("slow", "fast")}
    for row in five.table:
        own = losses[row.label]
        error = own.std(ddof=1) / np.sqrt(5)
        assert (row.n, row.mean_loss_percent) == (5, pytest.approx(own.mean()))
        # 2.7764 is the 97.5 % quantile of the t distribution of four degrees of freedom.
        assert (row.low, row.high) == pytest.approx((own.mean() - 2.7764 * error, own.mean() + 2.7764 * error), abs=1e-3)
    (test,) = five.tests
    assert (test.label, test.baseline, test.n) == ("fast", "slow", 5)
    assert test.mean_difference == pytest.approx((losses["fast"] - losses["slow"]).mean())
    assert test.p_value is not None


def test_below_five_runs_there_is_no_interval_and_no_test():
    result = run(EXPERIMENTS, SMALL)
    assert {(row.n, row.low, row.high) for row in result.table} == {(2, None, None)}
    assert {test.p_value for test in result.tests} == {None}


def test_csv_files_hold_the_runs_and_the_table():
    files = MemoryFiles()
    result = run(EXPERIMENTS, SMALL, files=files)
    runs, table = (
        list(csv.DictReader(io.StringIO(files.open(file_id).read().decode())))
        for file_id in (result.files.runs_csv, result.files.table_csv)
    )
    assert [float(row["loss_percent"]) for row in runs] == [line.loss_percent for line in result.runs]
    assert [float(row["mean_loss_percent"]) for row in table] == [row.mean_loss_percent for row in result.table]


def test_a_stopped_experiment_goes_on_with_what_is_missing():
    kept: list[bytes] = []
    stopped = run(EXPERIMENTS, FIVE, save_checkpoint=kept.append, is_cancelled=lambda: len(kept) >= 4)
    assert (stopped.stopped_by, stopped.n_finished, len(stopped.runs)) == ("cancelled", 4, 4)
    more: list[bytes] = []
    resumed = run(EXPERIMENTS, FIVE, resume=kept[-1], save_checkpoint=more.append)
    assert (resumed.stopped_by, resumed.n_finished, len(more)) == (None, 10, 6)
    # What had run before the stop is not run again: its seconds are the same.
    before = {(line.label, line.instance_seed): line.seconds for line in stopped.runs}
    after = {(line.label, line.instance_seed): line.seconds for line in resumed.runs}
    assert before.items() <= after.items()


def test_a_resumed_experiment_says_what_one_that_was_never_stopped_says(five: ExperimentResult):
    kept: list[bytes] = []
    run(EXPERIMENTS, FIVE, save_checkpoint=kept.append, is_cancelled=lambda: len(kept) >= 3)
    resumed = json.loads(run(EXPERIMENTS, FIVE, resume=kept[-1]).model_dump_json())
    assert EXPERIMENTS.comparable(resumed) == EXPERIMENTS.comparable(json.loads(five.model_dump_json()))


def test_a_run_that_fails_is_named_and_costs_the_others_nothing():
    formula = {"domain": "cats", "seed": 1, "parameters": {"valuation": "formula"}}
    body = {"instances": [{"domain": "srvm", "seed": 1}, formula], "mechanisms": [{"name": "mlca"}], "query_budget": 1}
    result = run(EXPERIMENTS, body)
    assert ([failure.index for failure in result.failures], result.n_finished) == ([1], 1)
    assert result.failures[0].problem["status"] == 422


def test_instances_come_whole_and_as_files_too():
    files = MemoryFiles()
    stated = {"schema": "valuations/1", "capacities": [1], "bidders": [{"kind": "table", "values": [0, 5]}]}
    file_id = files.save(json.dumps(stated).encode(), name="i.json", media_type="application/json")
    body = {"instances": [stated, {"file": file_id}], "mechanisms": [{"name": "cca"}], "query_budget": 2}
    result = run(EXPERIMENTS, body, files=files)
    assert [line.domain for line in result.runs] == ["valuations"] * 2


def test_an_estimate_alone_runs_nothing():
    result = run(EXPERIMENTS, FIVE | {"estimate_only": True})
    assert (result.n_runs, result.n_finished, result.runs, result.files) == (10, 0, [], None)
    assert result.estimate.seconds > 0


def test_a_job_that_must_be_killed_leaves_the_table_so_far():
    snapshots: list[ExperimentResult] = []
    run(EXPERIMENTS, SMALL, on_report=lambda members, snapshot: snapshots.append(snapshot()))
    assert [snapshot.n_finished for snapshot in snapshots] == [0, 1, 2, 3, 4]
    assert snapshots[2].table


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"domains": ["xsvm"]}, "/domains/0"),
        ({"domains": ["srvm", "srvm"]}, "/domains"),
        ({"domains": []}, "/domains"),
        ({"domains": None}, ""),
        ({"instances": [{"domain": "srvm", "seed": 1}]}, ""),
        ({"instance_seeds": [1, 1]}, "/instance_seeds"),
        ({"instance_seeds": [1, 2**63]}, "/instance_seeds/1"),
        ({"mechanisms": []}, "/mechanisms"),
        ({"mechanisms": [{"name": "cca"}, {"name": "cca"}], "baseline": None}, "/mechanisms/1/label"),
        ({"mechanisms": [{"name": "auction"}]}, "/mechanisms/0/name"),
        (
            {"mechanisms": [{"name": "cca", "label": "slow", "parameters": {"increment": 0}}]},
            "/mechanisms/0/parameters/increment",
        ),
        (
            {"mechanisms": [{"name": "cca", "label": "slow", "parameters": {"n_value_queries": 1}}]},
            "/mechanisms/0/parameters/n_value_queries",
        ),
        ({"seeds": [0, -1]}, "/seeds/1"),
        ({"seeds": []}, "/seeds"),
        ({"query_budget": -1}, "/query_budget"),
        ({"baseline": "none"}, "/baseline"),
        ({"confidence": 1}, "/confidence"),
        ({"bid_variants": ["best"]}, "/bid_variants/0"),
    ],
)
def test_what_cannot_be_compared_is_refused_with_its_place(change: dict[str, Any], pointer: str):
    assert pointer_of_fault(EXPERIMENTS, SMALL | change) == pointer
