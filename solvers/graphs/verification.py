"""Check a solution and prove its bound again, from the caller's instance alone.

Neither the solution nor the certificate need come from this service, and neither is trusted.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, PlainValidator

from solvers.graphs import adapters
from solvers.graphs.any_instance import AnyInstanceFields, AnyProblem, body_of
from solvers.graphs.arrays import Array, as_written, lightest
from solvers.graphs.canonical import Instance
from solvers.graphs.certificate import load
from solvers.graphs.result import BoundKind, Number, WarningEntry, ratio, relative_gap, tolerance
from solvers.graphs.verify import Proof, prove, prove_cover, prove_independent_set
from solvers.graphs.verify_set_cover import check_cover, prove_set_cover
from solvers.graphs.vertex_solution import ids_in, members_named, value_of, violations_of
from solvers.operation import Context, InvalidInput, Operation, Resources, UnknownFile

MOST_VIOLATIONS = 10
MOST_DIGITS = 19

TRIANGLE = {"num_vertices": 3, "edges": [[0, 1], [1, 2], [2, 0]]}
EXAMPLES: dict[str, dict[str, Any]] = {
    "A largest cut of a triangle, and why": {
        "problem": "max-cut",
        **TRIANGLE,
        "solution": [0, 1, 1],
        "certificate": {"kind": "odd_cycles", "cycles": [[0, 1, 2]]},
    },
    "A solution in text form that forgets a vertex": {"problem": "max-cut", **TRIANGLE, "solution": "0\n1\n"},
    "A certificate that proves nothing": {
        "problem": "max-cut",
        **TRIANGLE,
        "certificate": {"kind": "sdp_dual", "y": [0.1, 0.1, 0.1], "delta": 0.0},
    },
    "A least cover of a triangle, and why": {
        "problem": "vertex-cover",
        **TRIANGLE,
        "solution": [0, 2],
        "certificate": {"kind": "edge_packing", "edges": [0, 1, 2], "y": [1, 1, 1], "scale": 2},
    },
    "Two vertices that are joined": {"problem": "independent-set", **TRIANGLE, "solution": [0, 1]},
    "A cover by sets, and what it costs at least": {
        "problem": "set-cover",
        "sets": [[0, 1], [1, 2], [0, 2]],
        "solution": [0, 1],
        "certificate": {"kind": "lagrangian", "y": [1, 1, 1], "scale": 2},
    },
}

DESCRIPTION = """
Checks a solution (a list of sides or of chosen ids, the text of a solution file, or `{"file": id}`) and a certificate, as a solve
returned it or from elsewhere. Vertices of a certificate are positions from 0, edges rows of the list without duplicates and
self-loops. What is wrong with a solution is in `violations`, what is wrong with a certificate in `faults`; neither is an error of the
request.
"""


class SolutionFile(BaseModel):
    """A solution in an uploaded file."""

    model_config = ConfigDict(extra="forbid")

    file: str = Field(description="Id of a file as a solve writes it.")


def _solution(value: Any) -> Any:
    if value is None or isinstance(value, (list, str, SolutionFile)):
        return value
    if isinstance(value, dict):
        return SolutionFile.model_validate(value)
    raise ValueError(f"{as_written(value)} is neither a list nor a text nor an object that names a file")


class VerifyRequest(AnyInstanceFields):
    """A graph or set system with a solution, a certificate, or both."""

    solution: Annotated[Any, PlainValidator(_solution, json_schema_input_type=list[Any] | str | SolutionFile | None)] = Field(
        None,
        description="Of max-cut the side, 0 or 1, of every vertex in the order of the labels or ids, else the chosen ids; as a text, "
        "one per line, and for vertex-cover in the format of PACE as well.",
    )
    certificate: dict[str, Any] | None = Field(
        None, description="The proof of a bound: `kind` and the fields of that kind, or `kind` and `file`."
    )


class VerifyResult(BaseModel):
    """What is true of the solution and of the bound."""

    model_config = ConfigDict(extra="forbid")

    feasible: bool | None = Field(None, description="Whether the solution is one of this instance; null without a solution.")
    violations: list[str] = Field(default_factory=list, description="Why it is not: the first 10 reasons.")
    value: Number | None = Field(None, description="Objective of the solution in the weights of the request; null if it is none.")
    bound: Number | None = Field(None, description="What the certificate proves: no solution is better.")
    bound_kind: BoundKind | None = Field(None, description="How it was proven.")
    bound_proved: bool = Field(
        False,
        description="Whether all of the certificate was proven; not so where it rests on a search, whose `bound` is then that of "
        "its fallback.",
    )
    ratio: float | None = Field(None, ge=0, le=1, description="The smaller of value and bound over the larger; 1 if both are 0.")
    gap: float | None = Field(None, ge=0, description="|value - bound| / max(1, |bound|).")
    optimal: bool = Field(False, description="Whether value and bound agree; to 1e-9 relative where weights are no integers.")
    faults: list[str] = Field(default_factory=list, description="Why the certificate was refused, and where.")
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired of the graph.")


def run_verify(request: VerifyRequest, context: Context) -> VerifyResult:
    """Carry out a request."""
    result = VerifyResult()
    proof, weights = (_verify_sets if request.problem == "set-cover" else _verify_graph)(request, context, result)
    if request.solution is not None:
        result.feasible = not result.violations
    if proof is not None:
        assert request.certificate is not None
        result.bound, result.bound_proved, result.faults = proof.bound, proof.is_proved, list(proof.faults)
        result.bound_kind = None if proof.bound is None else request.certificate["kind"]
    if result.value is not None and result.bound is not None:
        _compare(result, result.value, result.bound, lightest(weights))
    return result


def _verify_graph(request: VerifyRequest, context: Context, result: VerifyResult) -> tuple[Proof | None, Array]:
    """Fill in what is true of a solution about a graph; return what the certificate proves, if there is one, and the weights."""
    instance = request.read(context)
    weights = instance.edge_weights if request.problem == "max-cut" else instance.vertex_weights
    result.warnings = [WarningEntry.model_validate(warning) for warning in instance.warnings]
    if request.solution is not None:
        check = _check_cut if request.problem == "max-cut" else _check_members
        check(request, instance, context, result)
    if request.certificate is None:
        return None, weights
    graph = (instance.num_vertices, instance.edges)
    tools: dict[str, Any] = {"load": lambda certificate: load(certificate, context), "stop": lambda: context.stop}
    if request.problem == "max-cut":
        return prove(*graph, weights, request.certificate, **tools), weights
    prove_bound = prove_cover if request.problem == "vertex-cover" else prove_independent_set
    return prove_bound(*graph, weights, request.certificate, loops=instance.loops, **tools), weights


def _check_cut(request: VerifyRequest, instance: Instance, context: Context, result: VerifyResult) -> None:
    sides = _sides(request.solution, context)
    result.violations = _violations(sides, instance)
    if not result.violations:
        result.value = _cut_value(instance, np.array(sides, dtype=np.int8))


def _check_members(request: VerifyRequest, instance: Instance, context: Context, result: VerifyResult) -> None:
    assert request.problem in ("vertex-cover", "independent-set")
    solution = request.solution
    given = solution if isinstance(solution, list) else ids_in(_text(solution, context), instance, request.problem)
    members, wrong = members_named(instance, given)
    result.violations = wrong or violations_of(instance, request.problem, members)
    if not result.violations:
        result.value = value_of(instance, members)


def _verify_sets(request: VerifyRequest, context: Context, result: VerifyResult) -> tuple[Proof | None, Array]:
    """Fill in what is true of a cover by sets; return what the certificate proves, if there is one, and the costs."""
    system = request.read_system(context)
    result.warnings = [WarningEntry.model_validate(warning) for warning in system.warnings]
    solution = request.solution
    if solution is not None:
        words = solution if isinstance(solution, list) else _text(solution, context).split()
        checked = check_cover(system, [_whole(word) for word in words])
        result.violations, result.value = list(checked.violations), checked.value
    if request.certificate is None:
        return None, system.costs
    proof = prove_set_cover(
        system,
        request.certificate,
        load=lambda certificate: load(certificate, context),
        stop=lambda: context.stop,
    )
    return proof, system.costs


def _whole(word: Any) -> Any:
    return int(word) if isinstance(word, str) and word.isdecimal() and len(word) < MOST_DIGITS else word


def _sides(solution: list[Any] | str | SolutionFile, context: Context) -> list[Any]:
    if isinstance(solution, list):
        return solution
    return [{"0": 0, "1": 1}.get(line.strip(), line.strip()) for line in _text(solution, context).splitlines() if line.strip()]


def _text(solution: str | SolutionFile, context: Context) -> str:
    if isinstance(solution, str):
        return solution
    try:
        with context.files.open(solution.file) as stream:
            return stream.read().decode()
    except UnknownFile as fault:
        fault.pointer = "/solution/file"
        raise
    except UnicodeDecodeError:
        raise InvalidInput("the file of the solution is not a text", pointer="/solution/file") from None


def _violations(sides: list[Any], instance: Instance) -> list[str]:
    found = []
    if len(sides) != instance.num_vertices:
        found.append(f"{len(sides)} sides for {instance.num_vertices} vertices")
    for position, side in enumerate(sides[: instance.num_vertices]):
        if len(found) == MOST_VIOLATIONS:
            break
        if type(side) is not int or side not in (0, 1):
            found.append(f"vertex {as_written(instance.vertex_id(position))} is on side {as_written(side)}; sides are 0 and 1")
    return found


def _cut_value(instance: Instance, sides: np.ndarray) -> Number:
    separated = sides[instance.edges[:, 0]] != sides[instance.edges[:, 1]]
    weights = instance.edge_weights[separated]
    return int(weights.sum()) if weights.dtype.kind == "i" else math.fsum(weights.tolist())


def _compare(result: VerifyResult, value: Number, bound: Number, least: float) -> None:
    result.gap = relative_gap(value, bound)
    result.ratio = ratio(value, bound)
    is_integral = isinstance(value, int) and isinstance(bound, int)
    result.optimal = value == bound if is_integral else abs(value - bound) <= tolerance(value, bound, least)


def from_file(file_id: str) -> dict[str, Any]:
    """Return the body that asks about the graph in an uploaded file.

    Examples
    --------
    >>> from_file("file_1")
    {'graph': {'file': 'file_1'}, 'problem': 'max-cut'}
    """
    return adapters.from_file(file_id) | {"problem": "max-cut"}


def from_objects(graph: Any, solution: Any = None, certificate: Any = None, *, problem: AnyProblem = "max-cut") -> dict[str, Any]:
    """Return the body that asks about a solution and a certificate of a graph, or a set system, in memory.

    Examples
    --------
    >>> from_objects([[0, 1]], solution=[0, 1])["solution"]
    [0, 1]
    """
    body = body_of(problem)(graph) | {"problem": problem}
    if solution is not None:
        body["solution"] = np.asarray(solution).tolist() if isinstance(solution, np.ndarray) else solution
    return body if certificate is None else body | {"certificate": certificate}


GRAPHS_VERIFY = Operation(
    name="graphs-verify",
    path="graphs/verify",
    summary="Check a solution and prove its bound again, trusting neither.",
    description=DESCRIPTION,
    request=VerifyRequest,
    result=VerifyResult,
    run=run_verify,
    resources=Resources(time_limit=60.0),
    examples=EXAMPLES,
    volatile=(),
    from_file=from_file,
    from_objects=from_objects,
)
