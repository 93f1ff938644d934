"""The study of predictions: what is run, what a run says, and what the tables and plots make of it."""

import itertools

import pytest

from benchmarks.ledger import Ledger
from benchmarks.predicted_instances import INVERTED, NO_PREDICTIONS, STUDIES, drawn, load
from benchmarks.predictions import (
    ADVICE,
    EPSILONS,
    KEY,
    Run,
    iterations_to_target,
    measure,
    measured,
    planned,
    report,
    robustness,
    seconds_to_target,
)
from solvers.graphs.predictions import EdgePredictions
from tests.benchmarks.study_lines import line_of, lines_that_improve

every_problem = pytest.mark.parametrize("problem", STUDIES)


@every_problem
def test_the_reference_is_a_solution_of_the_value_it_should_have(problem):
    instance = load(problem)

    assert (
        instance.value(instance.reference)
        == {"max-cut": 3063, "vertex-cover": 720, "independent-set": 40, "set-cover": 30}[problem]
    )


@every_problem
def test_bits_that_are_right_stay_right_as_epsilon_grows(problem):
    perfect = drawn(problem, "0.5", 3).bits
    right = [drawn(problem, epsilon, 3).bits == perfect for epsilon in EPSILONS]

    assert all((more >= less).all() for less, more in itertools.pairwise(right))
    assert 0.4 < right[0].mean() < 0.6


@every_problem
def test_inverted_bits_are_all_wrong_and_said_to_be_right(problem):
    inverted, perfect = drawn(problem, INVERTED, 0), drawn(problem, "0.5", 0)

    assert (inverted.bits + perfect.bits == 1).all()
    assert inverted.epsilon == 0.5


def test_the_solver_is_not_told_of_epsilon_0_and_gets_nothing_without_predictions():
    assert drawn("max-cut", "0", 0).epsilon is None
    assert isinstance(drawn("max-cut", "0.02", 0), EdgePredictions)
    assert drawn("max-cut", NO_PREDICTIONS, 0) is None


@every_problem
def test_perfect_bits_reach_the_target_without_a_search(problem):
    line = measure(Run(problem, STUDIES[problem].instance, "0.5", "v", 0, 20, 60.0))

    assert (line["iterations_to_target"], line["value"]) == (0, line["reference"])
    assert 0 < line["seconds_to_target"] < line["seconds"]


def test_a_run_without_predictions_says_when_it_reached_the_target():
    lines = [measure(Run("set-cover", "stn45", NO_PREDICTIONS, "v", seed, 20_000, 60.0)) for seed in range(3)]

    reached = [line["iterations_to_target"] for line in lines if line["value"] == 30]
    assert reached
    assert all(0 < iterations <= 20_000 for iterations in reached)
    assert {line["iterations_to_target"] for line in lines if line["value"] > 30} <= {None}


def test_a_run_that_misses_counts_with_all_that_it_had():
    missed = {"iterations_to_target": None, "seconds_to_target": None, "seconds": 1.5}
    alone, advised = (line_of(Run("max-cut", "G14", advice, "v", 0, 1000, 2.0), **missed) for advice in (NO_PREDICTIONS, "0.1"))

    assert [iterations_to_target(line) for line in (alone, advised)] == [1000, 2000]
    assert seconds_to_target(alone) == 1.5


def test_every_advice_and_seed_is_planned_and_a_line_that_is_there_is_not_run_again(tmp_path):
    runs = planned(["set-cover"], [0, 1], 2.0, "v")
    ledger = Ledger(tmp_path / "runs.jsonl", KEY)
    for run in runs:
        ledger.append(**line_of(run))

    lines = measured(runs, ledger, processes=1)

    assert [(line["advice"], line["seed"]) for line in lines] == [(advice, seed) for seed in (0, 1) for advice in ADVICE]


@every_problem
def test_the_report_says_that_measures_improve(problem):
    text = report([problem], lines_that_improve(problem))

    assert text.count("nowhere worse beyond noise, rising with p = ") == 3
    assert f"in {4 * (len(ADVICE) - 1)} pairs of runs" in text


@every_problem
def test_the_report_names_what_gets_worse(problem):
    lines = lines_that_improve(problem)
    for line in lines:
        if line["advice"] == "0.5":
            line["seconds_to_target"] = 2.0 + 0.01 * line["seed"]

    text = report([problem], lines)

    assert "- seconds: worse beyond noise from 0 to 0.5" in text
    assert "- iterations: nowhere worse" in text


def test_a_part_that_is_not_left_alone_by_the_advice_ends_the_study():
    lines = lines_that_improve("max-cut")
    next(line for line in lines if line["advice"] == "0.1")["value_without_predictions"] += 1

    with pytest.raises(SystemExit):
        robustness(lines)


def test_pairs_that_the_clock_or_a_proof_ended_are_not_compared():
    lines = lines_that_improve("max-cut")
    for line in lines:
        if line["advice"] == "0.1":
            line.update(value_without_predictions=0, stopped_by="time_limit")

    text = robustness(lines)

    assert f"in {4 * (len(ADVICE) - 2)} pairs" in text
    assert "The guard ended 4 of" in text
