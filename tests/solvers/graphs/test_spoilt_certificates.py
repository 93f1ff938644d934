"""Every certificate that the solvers make, spoilt in one place: it is refused, or what it still proves is on the right side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from solvers.graphs.batch import SOLVERS
from solvers.graphs.bounds import BoundsRequest, run_bounds
from solvers.graphs.verification import VerifyRequest, run_verify
from solvers.operation import Context
from tests.solvers.graphs.hostile_documents import at, replaced, spots
from tests.solvers.graphs.weighted_vertices import random_edges

OF_CUTS = ("trivial", "sdp_dual", "odd_cycles", "elimination", "enumeration", "reduced")
OF_VERTICES = ("trivial", "matching", "edge_packing", "clique_partition", "elimination", "enumeration", "reduced")
OF_SETS = ("trivial", "lagrangian", "enumeration")
KINDS = {"max-cut": OF_CUTS, "vertex-cover": OF_VERTICES, "independent-set": OF_VERTICES, "set-cover": OF_SETS}

every_kind = pytest.mark.parametrize(("problem", "kind"), [(problem, kind) for problem in KINDS for kind in KINDS[problem]])


def drawn(problem: str, seed: int) -> dict[str, Any]:
    """Return a small instance: with loops and two parts, or a system of sets."""
    rng = np.random.default_rng(seed)
    if problem == "set-cover":
        sets = [rng.choice(8, 3, replace=False).tolist() for _ in range(9)]
        return {"sets": [*sets, list(range(8))], "costs": [*rng.integers(1, 7, 9).tolist(), 20]}
    edges = random_edges(9, 17, rng).tolist()
    body: dict[str, Any] = {"num_vertices": 13, "edges": [*edges, [9, 10], [10, 11], [11, 9], [11, 12], [4, 4]]}
    if problem == "max-cut":
        return body | {"edge_weights": rng.integers(-2, 6, len(body["edges"])).tolist()}
    return body | {"vertex_weights": rng.integers(1, 7, 13).tolist() if seed % 2 else None}


def optimum(problem: str, body: dict[str, Any]) -> float:
    operation = SOLVERS[problem]
    result = operation.run(operation.request.model_validate(body | {"options": {"max_iterations": 100}}), Context())
    assert result.optimal
    return result.value


def proven(problem: str, body: dict[str, Any], certificate: dict[str, Any]) -> Any:
    return run_verify(VerifyRequest.model_validate(body | {"problem": problem, "certificate": certificate}), Context())


def spoilt(certificate: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the certificate with one number changed, one item left out or doubled, or two neighbours exchanged."""
    for path in spots(certificate):
        value = at(certificate, path)
        if type(value) in (int, float):
            for other in (value + 1, value - 1, 0, 2 * value + 1):
                yield replaced(certificate, path, other)
        elif isinstance(value, list) and value:
            yield replaced(certificate, path, value[1:])
            yield replaced(certificate, path, [*value, value[0]])
            yield replaced(certificate, path, [value[-1], *value[1:-1], value[0]])


def test_every_kind_of_a_problem_is_tried() -> None:
    for problem, kinds in KINDS.items():
        body = drawn(problem, 1) | {"problem": problem}
        tried = {outcome.kind for outcome in run_bounds(BoundsRequest.model_validate(body), Context(seed=0)).kinds}
        assert tried <= set(kinds), problem


@every_kind
@pytest.mark.parametrize("seed", range(4))
def test_a_spoilt_certificate_is_refused_or_proves_a_bound_on_the_right_side(problem: str, kind: str, seed: int) -> None:
    body = drawn(problem, seed)
    best, side = optimum(problem, body), 1 if problem in ("max-cut", "independent-set") else -1
    found = run_bounds(BoundsRequest.model_validate(body | {"problem": problem, "kinds": [kind]}), Context(seed=0))

    whole = proven(problem, body, found.certificate)
    assert (found.bound_kind, whole.bound, whole.bound_proved, whole.faults) == (kind, found.bound, True, [])
    assert side * whole.bound >= side * best

    for certificate in spoilt(found.certificate):
        again = proven(problem, body, certificate)
        assert bool(again.faults) == (again.bound is None), certificate
        assert again.bound is None or side * again.bound >= side * best, certificate


@pytest.mark.parametrize(
    ("problem", "wrapper"),
    [(problem, wrapper) for problem in KINDS for wrapper in ("search", "sum") if (problem, wrapper) != ("set-cover", "sum")],
)
def test_a_spoilt_certificate_within_another_is_refused_or_proves_a_bound_on_the_right_side(problem: str, wrapper: str) -> None:
    body = drawn(problem, 1)
    best, side = optimum(problem, body), 1 if problem in ("max-cut", "independent-set") else -1
    inner: dict[str, Any] = {"kind": "enumeration"}
    certificate = {"kind": "search", "solver": "none", "version": "0", "nodes": 0, "fallback": inner}
    if wrapper == "sum":
        parts = [list(range(9)), [9, 10, 11, 12]]
        certificate = {"kind": "sum", "parts": [{"vertices": part, "certificate": inner} for part in parts]}

    whole = proven(problem, body, certificate)

    assert (whole.bound, whole.bound_proved, whole.faults) == (best, wrapper == "sum", [])
    for other in spoilt(certificate):
        again = proven(problem, body, other)
        assert again.bound is None or side * again.bound >= side * best, other


@pytest.mark.parametrize("problem", KINDS)
def test_a_certificate_of_another_instance_proves_nothing_wrong(problem: str) -> None:
    side = 1 if problem in ("max-cut", "independent-set") else -1
    for seed, kind in [(seed, kind) for seed in range(3) for kind in KINDS[problem]]:
        other = run_bounds(
            BoundsRequest.model_validate(drawn(problem, seed) | {"problem": problem, "kinds": [kind]}), Context(seed=0)
        )
        body = drawn(problem, seed + 10)

        again = proven(problem, body, other.certificate)

        assert again.bound is None or side * again.bound >= side * optimum(problem, body), (seed, kind)
