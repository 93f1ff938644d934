"""Set cover from end to end, as the library's caller sees it."""

import itertools
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from solvers.graphs.incidence_predictions import IncidencePredictions, sample_incidence_predictions
from solvers.graphs.set_cover import SET_COVER, run_set_cover, set_cover
from solvers.graphs.set_cover_request import SetCoverRequest
from solvers.graphs.set_system import Infeasible, SetSystem
from solvers.graphs.verify_set_cover import check_cover, prove_set_cover
from solvers.operation import Context
from tests.solvers.graphs.set_systems import BEST_KNOWN, SMALL, drawn, incidence_of, least_cost, set_systems, shipped, system_of

METHODS = ["auto", "paper", "greedy", "local_search", "exact"]


def comparable(result):
    return SET_COVER.comparable(result.model_dump())


@pytest.mark.parametrize("name", SMALL)
def test_small_cases_are_solved_and_proven_or_found_infeasible(name):
    case = SMALL[name]
    system = system_of(case)
    if case["optimum"] is None:
        with pytest.raises(Infeasible):
            set_cover(system)
        return

    result = set_cover(system, max_iterations=1000)

    assert result.value == result.bound == case["optimum"]
    assert result.optimal
    assert check_cover(system, result.solution).value == result.value
    proof = prove_set_cover(system, result.certificate)
    assert (proof.bound, proof.is_proved) == (result.bound, True)


@settings(max_examples=60)
@given(set_systems())
def test_value_and_bound_meet_at_the_optimum_of_small_systems(system):
    result = set_cover(system, max_iterations=300)

    assert result.value == result.bound == least_cost(incidence_of(system))
    assert result.solution == sorted(result.solution)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_brackets_the_best_known_cost(method):
    system = shipped("scp41")

    result = set_cover(system, method=method, max_iterations=2000)

    assert result.bound <= 429 <= result.value
    assert check_cover(system, result.solution).value == result.value
    assert prove_set_cover(system, result.certificate).bound <= result.bound


@pytest.mark.parametrize("name", BEST_KNOWN)
def test_the_best_known_costs_of_the_shipped_instances_are_reached(name):
    system = shipped(name)

    result = set_cover(system, method="local_search", max_iterations=400_000)

    assert result.value == BEST_KNOWN[name]
    assert prove_set_cover(system, result.certificate).bound == result.bound <= result.value


@pytest.mark.parametrize("name", ["scp41", "scp51", "scp61", "scpe1"])
def test_the_exact_finish_proves_the_easier_instances(name):
    result = set_cover(shipped(name), max_iterations=50_000)

    assert result.optimal
    assert result.value == BEST_KNOWN[name]


@pytest.mark.parametrize("method", ["auto", "local_search", "paper"])
def test_the_same_seed_gives_the_same_answer(method):
    system = drawn(7, num_sets=80, num_elements=60)
    bits = sample_incidence_predictions(system, np.random.default_rng(1).integers(0, 2, 81), 0.2, seed=2)

    first, again = (set_cover(system, bits, method=method, max_iterations=3000, seed=3) for _ in range(2))

    assert comparable(first) == comparable(again)
    assert first.deterministic


@settings(max_examples=25)
@given(set_systems(), st.integers(0, 99), st.sampled_from([None, 0.05, 0.3, 0.5]))
def test_predictions_never_make_the_answer_worse_than_the_same_runs_without(system, seed, epsilon):
    sizes = np.diff(system.set_ptr)
    bits = np.random.default_rng(seed).integers(-1, 2, int(sizes.sum())).astype(np.int8)

    result = set_cover(system, IncidencePredictions(bits, epsilon, 0.0, sizes), max_iterations=50, method="local_search")

    assert result.value <= result.value_without_predictions
    assert result.bound <= result.value


def test_missing_bits_give_the_answer_without_predictions():
    system = drawn(8, num_sets=60, num_elements=50)
    nothing = IncidencePredictions([[None] * size for size in system.listed_sizes])

    alone, advised = set_cover(system, max_iterations=500), set_cover(system, nothing, max_iterations=500)

    assert (advised.value, advised.solution) == (alone.value, alone.solution)
    assert [warning.code for warning in advised.warnings] == ["predictions-empty"]


def test_good_predictions_find_the_reference_at_once():
    system = drawn(9, num_sets=300, num_elements=250, size=12)
    best = set_cover(system, method="local_search", max_iterations=200_000)
    reference = np.isin(np.arange(system.num_sets), best.solution).astype(np.int8)

    result = set_cover(
        system, sample_incidence_predictions(system, reference, 0.5, seed=1), method="local_search", max_iterations=1
    )

    assert result.value <= best.value
    assert result.winner in ("majority", "threshold_scan", "ordered_greedy", "reductions")
    assert result.prediction_agreement > 0.9


def test_the_paper_without_large_sets_is_the_greedy_cover_alone():
    system = drawn(10)
    bits = sample_incidence_predictions(system, np.zeros(31), 0.1, seed=1)

    paper, greedy = (
        set_cover(system, bits, method="paper", max_iterations=10),
        set_cover(system, method="greedy", max_iterations=10),
    )

    assert (paper.value, paper.winner) == (greedy.value, greedy.winner)


def test_edges_covered_by_stars_are_a_vertex_cover():
    petersen = [
        (0, 1), (1, 2), (2, 3), (3, 4), (4, 0), (5, 7), (7, 9), (9, 6), (6, 8), (8, 5), (0, 5), (1, 6), (2, 7), (3, 8), (4, 9),
    ]  # fmt: skip
    stars = [[e for e, edge in enumerate(petersen) if v in edge] for v in range(10)]

    result = set_cover(stars, max_iterations=1000)

    assert (result.value, result.bound, result.bound_kind) == (6, 6, "enumeration")


@pytest.mark.parametrize("seed", range(5))
def test_relabelling_sets_and_elements_changes_no_exact_answer(seed):
    system = drawn(seed, num_sets=20, num_elements=15, size=4)
    rng = np.random.default_rng(seed)
    sets, elements = rng.permutation(system.num_sets), rng.permutation(system.num_elements)
    rows = np.split(system.elements, system.set_ptr[1:-1])
    relabelled = SetSystem([elements[rows[j]].tolist() for j in sets], costs=system.costs[sets])

    assert set_cover(system, max_iterations=500).value == set_cover(relabelled, max_iterations=500).value


def test_real_costs_are_recomputed_and_bounded():
    rng = np.random.default_rng(3)
    system = drawn(3, num_sets=12, num_elements=8, size=3)
    rows = np.split(system.elements, system.set_ptr[1:-1])
    costs = rng.random(13) * 1e-3 + 1e-4

    result = set_cover(SetSystem([row.tolist() for row in rows], costs=costs), max_iterations=500)

    every = set(range(8))
    optimum = min(
        costs[list(choice)].sum()
        for size in range(1, 9)
        for choice in itertools.combinations(range(13), size)
        if set().union(*(rows[j].tolist() for j in choice)) == every
    )
    assert result.value == pytest.approx(optimum, rel=1e-12)
    assert result.bound <= optimum
    assert result.optimal


@pytest.mark.parametrize("costs", [[3e-31, 4e-31, 5e-31, 9e-31], [3e9 + 0.1, 4e9, 5e9, 9e9], [0.5, 1e300, 1e300, 3e300]])
def test_real_costs_of_any_magnitude_are_proven(costs):
    system = SetSystem([[0, 1], [1, 2], [0, 2], [0, 1, 2]], costs=costs)

    result = set_cover(system, max_iterations=100)

    proof = prove_set_cover(system, result.certificate)
    assert result.optimal
    assert proof.bound == pytest.approx(result.bound, rel=1e-9)
    assert proof.bound <= result.value


def test_nothing_to_cover_costs_nothing():
    for system in (SetSystem([]), SetSystem([[], []], costs=[3, 0])):
        result = set_cover(system)
        assert (result.value, result.bound, result.solution, result.optimal) == (0, 0, [], True)


def test_free_sets_are_taken_and_empty_ones_are_not():
    result = set_cover(SetSystem([[0], [], [0, 1], [1]], costs=[0, 0, 5, 2]), max_iterations=10)

    assert (result.solution, result.value, result.optimal) == ([0, 3], 2, True)
    assert [warning.code for warning in result.warnings] == ["empty-sets", "free-sets"]


def test_elements_without_sets_are_infeasible():
    with pytest.raises(Infeasible, match="2 elements are in no set: 0, 1"):
        set_cover(SetSystem([], num_elements=2))


def test_ids_of_the_answer_are_the_callers():
    result = set_cover(SetSystem([[1], [2], [1, 2]], costs=[1, 1, 3], index_base=1), max_iterations=10)

    assert (result.solution, result.index_base) == ([1, 2], 1)


def test_the_solution_file_has_a_set_per_line():
    context = Context(5)
    request = SetCoverRequest.of([[0], [1]], options={"solution_file": True, "max_iterations": 10})

    result = run_set_cover(request, context)

    assert context.files.open(result.solution_file).read() == b"0\n1\n"


def test_a_target_ends_the_run():
    result = set_cover(shipped("stn45"), target=31, time_limit=30)

    assert result.stopped_by == "target"
    assert result.value <= 31


@pytest.mark.parametrize("time_limit", [1e-6, 0.01])
def test_a_tiny_limit_gives_a_cover_and_a_bound(time_limit):
    result = set_cover(shipped("scpclr10"), time_limit=time_limit)

    assert 0 <= result.bound <= 25 <= result.value
    assert result.stopped_by == "time_limit"
    assert not result.deterministic


@pytest.mark.parametrize("method", ["auto", "exact", "local_search"])
def test_a_cancelled_run_returns_its_best_answer(method):
    told = threading.Event()
    threading.Timer(0.5, told.set).start()
    request = SetCoverRequest.of(shipped("scpcyc06"), options={"method": method, "time_limit": 60.0})

    result = run_set_cover(request, Context(60.0, is_cancelled=told.is_set))

    assert result.stopped_by == "cancelled"
    assert result.value == 60


def test_a_large_certificate_is_kept_in_a_file():
    elements = 12_000
    system = SetSystem([list(range(0, elements, 2)), list(range(1, elements, 2)), list(range(elements))], costs=[2, 2, 3])
    context = Context(10)

    result = run_set_cover(SetCoverRequest.of(system, options={"max_iterations": 10}), context)

    assert result.value == result.bound == 3
    assert set(result.certificate) == {"kind", "file"}


def test_the_history_rises_and_falls_towards_the_answer():
    result = set_cover(shipped("scp51"), max_iterations=20_000, method="local_search")

    values, bounds = [row.value for row in result.history], [row.bound for row in result.history]
    assert values == sorted(values, reverse=True)
    assert bounds == sorted(bounds)
    assert (values[-1], bounds[-1]) == (result.value, result.bound)


def test_reports_carry_a_result_as_it_stands():
    reports = []
    context = Context(10, on_report=lambda members, snapshot: reports.append((members, snapshot())))

    result = run_set_cover(SetCoverRequest.of(shipped("scp41"), options={"max_iterations": 5000}), context)

    members, snapshot = reports[-1]
    assert members["value"] == snapshot.value == result.value
    assert check_cover(shipped("scp41"), snapshot.solution).value == snapshot.value


def test_the_greedy_ratio_is_promised_whatever_the_predictions():
    system = drawn(2)
    bits = sample_incidence_predictions(system, np.ones(31), 0.2, seed=0)

    without, with_bits = (set_cover(system, predictions, max_iterations=10) for predictions in (None, bits))

    assert without.guarantee.name == "greedy_harmonic_ratio"
    assert with_bits.guarantee == without.guarantee
    assert not with_bits.guarantee.assumes_independent_predictions
