"""Branch and bound finds least-cost covers and proves them, and what it says after less work is still true."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings

from solvers.graphs.cover_enumeration import enumerate_covers
from solvers.graphs.cp_sat import Limits
from solvers.graphs.exact_sets import cp_sat_cover, highs_cover
from tests.solvers.graphs.set_systems import incidence_of, least_cost, set_systems, shipped

SOLVERS = [highs_cover, cp_sat_cover]


def everything(incidence):
    return np.ones(incidence.num_sets, bool)


@pytest.mark.parametrize("solve", SOLVERS)
@settings(max_examples=40)
@given(system=set_systems(least=1))
def test_the_least_cost_is_found_and_proved(solve, system):
    incidence = incidence_of(system)
    if incidence.num_elements == 0:
        return

    answer = solve(incidence, everything(incidence))

    assert answer.value == answer.bound == least_cost(incidence) == incidence.cost_of(answer.solution)
    assert incidence.is_covered_by(answer.solution)


@given(set_systems())
def test_enumeration_finds_the_least_cost(system):
    incidence = incidence_of(system)

    found = enumerate_covers(incidence, everything(incidence))

    assert found.cost == least_cost(incidence) == incidence.cost_of(found.members)
    assert incidence.is_covered_by(found.members)


def test_enumeration_refuses_what_takes_too_long_and_stops_when_told():
    stn27 = incidence_of(shipped("stn27"))

    with pytest.raises(ValueError, match="27 sets can be chosen in too many ways"):
        enumerate_covers(stn27, everything(stn27))
    part = stn27.restricted_to(np.arange(2), np.zeros(0, np.int64))
    assert enumerate_covers(part, everything(part), stop=lambda: True) is None


@pytest.mark.parametrize("solve", SOLVERS)
def test_scp41_is_proved_optimal(solve):
    incidence = incidence_of(shipped("scp41"))

    answer = solve(incidence, everything(incidence))

    assert (answer.value, answer.bound) == (429, 429)


def test_costs_with_a_common_factor_are_proved_all_the_same():
    incidence = incidence_of(shipped("scp41"))
    scaled = incidence._replace(costs=1000 * incidence.costs)

    answer = highs_cover(scaled, everything(incidence))

    assert (answer.value, answer.bound) == (429_000, 429_000)


@pytest.mark.parametrize("limits", [{"node_limit": 0}, {"time_limit": 0.0}])
def test_highs_cut_short_brackets_the_optimum(limits):
    incidence = incidence_of(shipped("stn45"))

    answer = highs_cover(incidence, everything(incidence), **limits)

    assert incidence.is_covered_by(answer.solution)
    assert answer.bound <= 30 <= answer.value


def test_the_same_seed_and_deterministic_limit_give_the_same_answer():
    incidence = incidence_of(shipped("stn45"))

    first, again = (cp_sat_cover(incidence, everything(incidence), seed=4, limits=Limits(work=0.1)) for _ in range(2))

    assert (first.value, first.bound, first.nodes) == (again.value, again.bound, again.nodes)
    assert first.bound <= 30 <= first.value


@pytest.mark.parametrize(
    "solve",
    [
        lambda incidence, hint, stop: highs_cover(incidence, hint, stop=stop),
        lambda incidence, hint, stop: cp_sat_cover(incidence, hint, limits=Limits(stop=stop)),
    ],
)
def test_a_search_without_a_limit_ends_when_it_is_told_to_stop(solve):
    incidence = incidence_of(shipped("scpcyc06"))
    told = threading.Event()
    threading.Timer(0.5, told.set).start()

    answer = solve(incidence, everything(incidence), told.is_set)

    assert told.is_set()
    assert answer is None or not answer.is_optimal


def test_cp_sat_begins_nothing_when_time_is_up_or_costs_are_too_large():
    incidence = incidence_of(shipped("stn27"))

    assert cp_sat_cover(incidence, everything(incidence), limits=Limits(time_limit=0)) is None
    assert cp_sat_cover(incidence, everything(incidence), limits=Limits(stop=lambda: True)) is None
    assert cp_sat_cover(incidence._replace(costs=np.full(27, 2**49)), everything(incidence)) is None


@pytest.mark.parametrize("solve", SOLVERS)
def test_the_certificate_says_what_was_run_and_falls_back_on_another(solve):
    incidence = incidence_of(shipped("scp41"))

    certificate = solve(incidence, everything(incidence)).certificate({"kind": "trivial"})

    assert certificate["kind"] == "search"
    assert certificate["fallback"] == {"kind": "trivial"}
    assert {"solver", "version", "nodes"} < set(certificate)


@pytest.mark.long
def test_cp_sat_proves_a_steiner_triple_system_by_its_symmetry():
    incidence = incidence_of(shipped("stn45"))

    answer = cp_sat_cover(incidence, everything(incidence))

    assert (answer.value, answer.bound) == (30, 30)
