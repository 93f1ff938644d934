"""The GAM benchmark judges by paired differences, and says where an aim is missed."""

import math

import pytest

from benchmarks.gam.comparison import difference, gates, report
from benchmarks.gam.methods import METHODS


def lines_of(losses, steps=10, cpu_seconds=1.0):
    return [
        {"seed": seed, "loss": loss, "steps": steps, "cpu_seconds": cpu_seconds, "n_train": 80, "n_test": 20}
        for seed, loss in enumerate(losses)
    ]


def all_alike(**changes):
    """Every method with the same lines, but for the changes."""
    return {name: lines_of([1.0, 1.1, 1.2]) for name in METHODS} | changes


def verdicts(found, reference=None):
    return {gate.aim: gate for gate in gates(found, reference or {})}


def gate_about(word, found, reference=None):
    return next(gate for aim, gate in verdicts(found, reference).items() if word in aim)


def test_the_error_of_a_difference_counts_that_test_sets_overlap():
    found = difference(lines_of([1.0, 2.0, 3.0]), lines_of([0.5, 2.5, 2.0]))

    # Differences 0.5, -0.5, 1: their mean is 1/3, their sum of squares about it 7/6.
    assert found.mean == pytest.approx(1 / 3)
    assert found.error == pytest.approx(math.sqrt(7 / 12) * math.sqrt(1 / 3 + 20 / 80))


def test_a_loss_within_one_standard_error_is_level_and_beyond_it_is_not():
    ebm = lines_of([1.0, 1.1, 1.2])
    near, far = lines_of([1.0, 1.1, 1.3]), lines_of([1.1, 1.2, 1.31])

    gate = gate_about(
        "one standard error", {"near": all_alike(ebm=ebm, foresolve=near), "far": all_alike(ebm=ebm, foresolve=far)}
    )

    assert gate.met == {"near": True, "far": False}
    assert not gate.is_met
    assert "not on far" in str(gate)


def test_a_lower_loss_is_wanted_on_half_of_the_sets_only():
    better = all_alike(foresolve=lines_of([0.9, 1.0, 1.1]))
    found = {"better": better, "level": all_alike(), "better too": better}

    gate = gate_about("loss below", found)

    assert (gate.met, gate.needed, gate.is_met) == ({"better": True, "level": False, "better too": True}, 2, True)


@pytest.mark.parametrize(("steps", "is_met"), [(25, True), (26, False)])
def test_the_small_model_may_have_a_quarter_of_the_steps(steps, is_met):
    found = all_alike(ebm=lines_of([1.0] * 3, steps=100), **{"foresolve-parsimony": lines_of([1.0] * 3, steps=steps)})

    assert gate_about("quarter", {"some": found}).is_met is is_met


@pytest.mark.parametrize("slow", ["foresolve", "foresolve-parsimony"])
def test_neither_rule_may_be_slower(slow):
    fast, found = lines_of([1.0] * 3, cpu_seconds=0.5), all_alike()
    found |= {"foresolve": fast, "foresolve-parsimony": fast}

    assert gate_about("CPU time", {"some": found}).is_met
    assert not gate_about("CPU time", {"some": found | {slow: lines_of([1.0] * 3, cpu_seconds=2.0)}}).is_met


@pytest.mark.parametrize(("loss", "is_met"), [(1.002, True), (1.003, False)])
def test_the_best_of_the_boosted_stumps_is_the_measure(loss, is_met):
    found = all_alike(foresolve=lines_of([loss] * 3), lightgbm=lines_of([1.0] * 3), xgboost=lines_of([1.5] * 3))

    assert gate_about("boosted", {"some": found}).is_met is is_met


def test_the_reference_is_compared_on_its_own_splits():
    found = {"some": {"foresolve": lines_of([1.0, 1.0, 1.0, 9.0])}}

    assert gate_about("reference", found, {"some": 0.98}).is_met
    assert not gate_about("reference", found, {"some": 0.97}).is_met
    assert not verdicts(found)
    assert not verdicts({"some": {"foresolve": lines_of([1.0, 1.0])}}, {"some": 1.0})


def test_methods_that_were_not_run_leave_their_gates_and_cells_out():
    found = {"one": {"linear": lines_of([1.0]), "ebm": lines_of([0.1234567])}, "other": {"linear": lines_of([123.456])}}

    text = report(found, {})

    assert "0.1235" in text
    assert "123.5" in text
    assert not gates(found, {})
    assert [row.split("|")[3].strip() for row in text.splitlines() if row.startswith("| other")] == ["-", "-", "-"]
