"""Experiments: the grid of runs, what is kept of it, and what it says."""

import csv
import io
import math

import pytest
from scipy import stats

from auctions.mechanism.comparison import RUN_COLUMNS, TABLE_COLUMNS, as_csv, paired_tests, table_of
from auctions.mechanism.experiment import RunSpec, run_all, run_one
from solvers.operation import Context


def specs(n_seeds: int = 2) -> list[RunSpec]:
    return [
        RunSpec({"domain": "srvm", "seed": seed}, "cca", label, {"increment": increment}, query_budget=6, report_at=(3, 6))
        for seed in range(1, 1 + n_seeds)
        for label, increment in (("slow", 0.1), ("fast", 0.5))
    ]


def made_up_lines(**losses: list[float]) -> list[dict]:
    shared = {"domain": "gsvm", "variant": "clock", "questions": 20, "seed": 0, "cleared": False, "deterministic": True}
    return [
        shared | {"label": label, "instance": f"gsvm-{place}", "loss_percent": loss}
        for label, own in losses.items()
        for place, loss in enumerate(own)
    ]


def test_an_experiment_has_a_line_per_run_and_number_of_questions() -> None:
    records = run_all(specs(), Context().map)
    lines = [line for record in records for line in record["lines"]]
    assert [(line["instance_seed"], line["label"], line["questions"]) for line in lines] == [
        (seed, label, questions) for seed in (1, 2) for label in ("slow", "fast") for questions in (3, 6)
    ]
    table = table_of(lines)
    assert [(row["label"], row["questions"], row["n"]) for row in table] == [
        ("slow", 3, 2), ("slow", 6, 2), ("fast", 3, 2), ("fast", 6, 2)
    ]  # fmt: skip
    mean = sum(line["loss_percent"] for line in lines if line["label"] == "fast" and line["questions"] == 6) / 2
    assert table[-1]["mean_loss_percent"] == pytest.approx(mean)


def test_a_run_that_is_finished_is_not_run_again() -> None:
    finished: dict[str, dict] = {}
    run_all(specs()[:3], Context().map, on_finished=finished.__setitem__)
    assert len(finished) == 3

    def map_missing(function, group):
        assert [spec.key for spec in group] == [specs()[3].key]
        return [function(spec) for spec in group]

    records = run_all(specs(), map_missing, finished=finished)
    assert [record["key"] for record in records] == [spec.key for spec in specs()]


def test_a_run_that_fails_leaves_the_others_alone() -> None:
    broken = RunSpec({"domain": "srvm", "seed": 1}, "cca", "broken", {"increment": -1.0}, query_budget=6)
    first, second = run_all([broken, specs()[0]], Context().map)
    assert first.problem["errors"][0]["pointer"] == "/parameters/increment"
    assert second["lines"]


def test_a_cancelled_experiment_returns_what_it_has() -> None:
    calls = iter([False, True])
    assert len(run_all(specs(), Context().map, cancelled=lambda: next(calls))) == 1


def test_equal_runs_have_equal_records_but_for_the_time() -> None:
    first, second = (run_one(specs()[0]) for _ in range(2))
    timeless = [
        [{name: value for name, value in line.items() if name != "seconds"} for line in r["lines"]] for r in (first, second)
    ]
    assert timeless[0] == timeless[1]


def test_intervals_and_tests_are_those_of_scipy() -> None:
    ours, theirs = [1.0, 2.0, 4.0, 3.0, 2.5], [2.0, 2.5, 6.0, 3.5, 2.0]
    lines = made_up_lines(ours=ours, theirs=theirs)
    row = table_of(lines, 0.9)[0]
    interval = stats.t.interval(0.9, 4, loc=2.5, scale=stats.sem(ours))
    assert (row["low"], row["high"]) == pytest.approx(interval)
    (test,) = paired_tests(lines, "theirs")
    assert test["mean_difference"] == pytest.approx(-0.7)
    assert test["p_value"] == pytest.approx(stats.ttest_rel(ours, theirs).pvalue)


def test_fewer_than_five_runs_have_no_interval_and_no_test() -> None:
    lines = made_up_lines(ours=[1.0, 2.0, 3.0, 4.0], theirs=[2.0, 2.0, 2.0, 2.0])
    assert table_of(lines)[0]["low"] is None
    assert paired_tests(lines, "theirs")[0]["p_value"] is None


def test_pairs_of_which_one_is_missing_are_left_out() -> None:
    lines = made_up_lines(ours=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], theirs=[2.0] * 5)
    assert paired_tests(lines, "theirs")[0]["n"] == 5


def test_equal_losses_are_no_difference() -> None:
    (test,) = paired_tests(made_up_lines(ours=[1.0] * 5, theirs=[1.0] * 5), "theirs")
    assert test["p_value"] == 1.0


def test_an_unknown_loss_is_no_loss() -> None:
    row = table_of([*made_up_lines(ours=[1.0]), made_up_lines(ours=[1.0])[0] | {"loss_percent": None}])[0]
    assert row["n"] == 1
    assert math.isfinite(row["mean_loss_percent"])


def test_csv_files_have_the_columns_they_promise() -> None:
    records = run_all(specs(1), Context().map)
    lines = [line for record in records for line in record["lines"]]
    for rows, columns in ((lines, RUN_COLUMNS), (table_of(lines), TABLE_COLUMNS)):
        read = list(csv.DictReader(io.StringIO(as_csv(rows, columns))))
        assert len(read) == len(rows)
        assert tuple(read[0]) == columns
        assert all(column in rows[0] for column in columns)
