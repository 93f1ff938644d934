"""Covers are checked and their bounds proven again, whatever the certificate holds."""

import ast
import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solvers.graphs.verify_set_cover as verifier
from solvers.graphs.set_cover import set_cover
from solvers.graphs.set_system import SetSystem
from solvers.graphs.verify_set_cover import check_cover, prove_set_cover
from tests.solvers.graphs.set_systems import incidence_of, least_cost, set_systems

ODD_SETS = [[0, 1], [1, 2], [0, 2]]
ODD = SetSystem(ODD_SETS)


@pytest.mark.parametrize("factor", [1e-60, 1e-120, 1e-280, 1e-300, 5e-324])
def test_certificates_of_tiny_costs_verify(factor):
    system = SetSystem(ODD_SETS, costs=np.array([1.5, 2, 2]) * factor)

    result = set_cover(system, max_iterations=50)

    assert result.bound <= system.costs[:2].sum() <= result.value
    assert prove_set_cover(system, result.certificate).bound == pytest.approx(result.bound, rel=1e-9)


def test_no_prices_prove_less_than_nothing():
    assert prove_set_cover(ODD, {"kind": "lagrangian", "y": [1, 1, 1], "scale": 1e-300}).bound == 0


@settings(max_examples=60)
@given(set_systems(), st.integers(1, 12), st.data())
def test_any_prices_prove_no_more_than_the_optimum(system, scale, data):
    m = system.num_elements
    prices = data.draw(st.lists(st.integers(0, 200), min_size=m, max_size=m))

    proof = prove_set_cover(system, {"kind": "lagrangian", "y": prices, "scale": scale})

    assert proof.is_proved
    assert proof.bound <= least_cost(incidence_of(system))


@settings(max_examples=60)
@given(set_systems())
def test_enumeration_proves_the_optimum(system):
    assert prove_set_cover(system, {"kind": "enumeration"}).bound == least_cost(incidence_of(system))


def test_more_sets_than_a_block_are_enumerated_as_well():
    rng = np.random.default_rng(2)
    system = SetSystem([*(rng.choice(12, 4, replace=False).tolist() for _ in range(18)), list(range(12))], costs=[2] * 18 + [9])

    assert prove_set_cover(system, {"kind": "enumeration"}).bound == set_cover(system, max_iterations=2000).value


@settings(max_examples=25, deadline=None)
@given(set_systems())
def test_every_certificate_of_a_run_verifies_and_spoilt_prices_still_prove_a_bound(system):
    result = set_cover(system, max_iterations=200)

    proof = prove_set_cover(system, result.certificate)

    assert proof.bound == result.bound
    assert proof.is_proved == (result.bound_kind != "search")
    if result.bound_kind == "lagrangian":
        spoilt = result.certificate | {"y": [price + 12345 for price in result.certificate["y"]]}
        assert prove_set_cover(system, spoilt).bound <= result.value


def test_a_search_is_not_proven_and_its_fallback_is():
    certificate = {"kind": "search", "solver": "x", "version": "1", "nodes": 3, "fallback": {"kind": "trivial"}}

    proof = prove_set_cover(ODD, certificate)

    assert (proof.bound, proof.is_proved) == (0, False)


def test_real_costs_are_taken_exactly_and_the_bound_is_rounded_down():
    system = SetSystem([[0], [0, 1]], costs=[0.1, 0.3])
    prices = {"kind": "lagrangian", "y": [0, 3], "scale": 10}

    bound = prove_set_cover(system, prices).bound

    exact = Fraction(3, 10) + min(Fraction(0), Fraction(0.3) - Fraction(3, 10))
    assert Fraction(bound) <= exact < Fraction(math.nextafter(bound, math.inf))


def test_prices_may_exceed_64_bits():
    system = SetSystem([[0]], costs=[2**53 - 1])

    proof = prove_set_cover(system, {"kind": "lagrangian", "y": [(2**53 - 1) * 2**100], "scale": float(2**100)})

    assert proof.bound == 2**53 - 1


@pytest.mark.parametrize(
    "certificate",
    [
        None,
        7,
        [],
        {},
        {"kind": 3},
        {"kind": "sdp_dual"},
        {"kind": "lagrangian"},
        {"kind": "lagrangian", "y": [1, 1, 1]},
        {"kind": "lagrangian", "y": [1, 1], "scale": 2},
        {"kind": "lagrangian", "y": [1, 1, -1], "scale": 2},
        {"kind": "lagrangian", "y": [1, 1, 0.5], "scale": 2},
        {"kind": "lagrangian", "y": [1, 1, True], "scale": 2},
        {"kind": "lagrangian", "y": [1, 1, 10**5000], "scale": 2},
        {"kind": "lagrangian", "y": "abc", "scale": 2},
        {"kind": "lagrangian", "y": [1, 1, 1], "scale": 0},
        {"kind": "lagrangian", "y": [1, 1, 1], "scale": -1},
        {"kind": "lagrangian", "y": [1, 1, 1], "scale": math.nan},
        {"kind": "lagrangian", "y": [1, 1, 1], "scale": math.inf},
        {"kind": "lagrangian", "y": [1, 1, 1], "scale": True},
        {"kind": "lagrangian", "y": [1, 1, 1], "scale": "2"},
        {"kind": "search"},
        {"kind": "search", "fallback": {"kind": "lagrangian", "y": [1], "scale": 1}},
    ],
)
def test_a_malformed_certificate_is_a_fault_and_no_exception(certificate):
    proof = prove_set_cover(ODD, certificate)

    assert proof.bound is None
    assert not proof.is_proved
    assert len(proof.faults) == 1


def test_certificates_nested_without_end_are_refused():
    certificate = {"kind": "trivial"}
    for _ in range(1000):
        certificate = {"kind": "search", "fallback": certificate}

    assert "nested more than" in prove_set_cover(ODD, certificate).faults[0]


def test_too_many_sets_to_enumerate_and_time_that_ran_out_are_refused():
    assert "26 sets are too many" in prove_set_cover(SetSystem([[0]] * 26), {"kind": "enumeration"}).faults[0]
    assert "time ran out" in prove_set_cover(ODD, {"kind": "enumeration"}, stop=lambda: True).faults[0]


def test_a_system_that_nothing_covers_has_no_optimum_to_enumerate():
    assert "do not cover everything" in prove_set_cover(SetSystem([[0]], num_elements=2), {"kind": "enumeration"}).faults[0]


@pytest.mark.parametrize(
    ("chosen", "violations"),
    [
        ([0], ["element 2 is in no chosen set"]),
        ([0, 3], ["there is no set 3", "element 2 is in no chosen set"]),
        ([0, 0, 1], ["set 0 is chosen twice"]),
        ([0, -1], ["there is no set -1", "element 2 is in no chosen set"]),
        ([0, "1"], ["there is no set '1'", "element 2 is in no chosen set"]),
        ([0, True], ["there is no set True", "element 2 is in no chosen set"]),
    ],
)
def test_what_is_wrong_with_a_solution_is_listed(chosen, violations):
    checked = check_cover(ODD, chosen)

    assert list(checked.violations) == violations
    assert checked.value is None


def test_at_most_ten_violations_are_listed():
    assert len(check_cover(ODD, list(range(100, 200))).violations) == 10
    assert len(check_cover(SetSystem([list(range(50)), []]), [1]).violations) == 10


def test_ids_of_a_solution_are_the_callers():
    system = SetSystem([[1], [2]], costs=[0.1, 0.2], index_base=1)

    assert check_cover(system, [1, 2]).value == math.fsum([0.1, 0.2])


def test_the_proof_imports_nothing_of_a_solver():
    allowed = {"arrays", "proofs", "set_system", "verify", "canonical", "graph", "pairs"}
    root = Path(verifier.__file__).parent
    waiting, seen = [root / "verify_set_cover.py"], set()
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("solvers.graphs."):
                parts = node.module.split(".")[2:]
                assert parts[0] in allowed, (path.name, node.module)
                waiting.append(root.joinpath(*parts).with_suffix(".py"))
