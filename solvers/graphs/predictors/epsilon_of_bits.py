"""How good the bits of a prediction are, as an operation: by how they agree with each other or with known solutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, model_validator

from solvers.graphs.any_instance import AnyInstance, AnyProblem, body_of
from solvers.graphs.arrays import Array, list_of
from solvers.graphs.epsilon import Method, estimate_epsilon, pooled_epsilon
from solvers.graphs.predictors.predictor import quality_warnings
from solvers.graphs.predictors.solved_instances import Notes, SolutionIds, below, place, read_subjects
from solvers.graphs.predictors.subjects import Subject, read_subject
from solvers.graphs.result import WarningEntry
from solvers.operation import Context, InvalidInput, Operation, Resources

DESCRIPTION = """
A bit is right with probability 1/2 + epsilon. `moment` tells epsilon from how often two bits about one vertex agree, `em` fits two sides
that may be predicted unequally well; both take the bits as independent, and copies of one label for perfect. `reference` counts the right
bits, and sees their correlation. A reference cut is turned over, component by component, where the bits agree better with it so.

One instance says little. Give `instances`, past ones with their bits and, as `reference`, the solutions that were found since: they are
pooled into one epsilon, with an interval that is as much narrower, which a solve of the next instance takes as the `epsilon` of its
predictions, and the correlation as their `overdispersion`. An epsilon below 0 means bits that are wrong more often than right; a warning
then says that turned over they would predict.
"""

_PAST_BITS = [
    {"edges": [[0, 1], [0, 2], [0, 3], [1, 2]], "edge_bits": [[1, 0], [1, 0], [1, 1], [0, 1]], "reference": [0, 1]},
    {"edges": [[0, 1], [1, 2], [2, 3]], "edge_bits": [[0, 1], [1, 0], [1, 0]], "reference": [1, 2]},
    {"edges": [[0, 1], [1, 2], [2, 3], [3, 4]], "edge_bits": [[0, 1], [1, 1], [0, 0], [1, None]], "reference": [1, 3]},
]

EXAMPLES: dict[str, dict[str, Any]] = {
    "Bits alone": {
        "problem": "vertex-cover",
        "edges": [[0, 1], [0, 2], [0, 3], [1, 2]],
        "edge_bits": [[1, 0], [1, 0], [1, 1], [0, None]],
    },
    "Bits and the cover that they are about": {
        "problem": "vertex-cover",
        "edges": [[0, 1], [0, 2], [0, 3], [1, 2]],
        "edge_bits": [[1, 0], [1, 0], [1, 1], [0, None]],
        "reference": [0, 1],
    },
    "Bits of a cut that is turned over": {
        "problem": "max-cut",
        "edges": [[0, 1], [1, 2], [2, 3]],
        "edge_bits": [[1, 0], [0, 1], [1, 1]],
        "reference": [0, 1, 0, 1],
        "method": "reference",
    },
    "Three past instances with their covers": {"problem": "vertex-cover", "instances": _PAST_BITS},
    "Bits about the sets of a cover": {
        "problem": "set-cover",
        "sets": [[0, 1, 2], [2, 3], [3, 4]],
        "incidence_bits": [[1, 1, 0], [0, 1], [1, None]],
        "reference": [0, 2],
    },
}

_BIT = {"anyOf": [{"type": "integer", "enum": [0, 1]}, {"type": "null"}]}


class BitsAboutInstance(AnyInstance):
    """Bits about a graph or set system and, if it is known, the solution that they are about."""

    edge_bits: Annotated[list[Any], list_of({"type": "array", "items": _BIT, "minItems": 2, "maxItems": 2})] | None = Field(
        None, description="Row e has a bit about each end of edge e, as in the `predictions` of a solve."
    )
    edge_bits_flat: Annotated[list[Any], list_of({"type": "integer", "enum": [0, 1, -1]})] | None = Field(
        None, description="`edge_bits` row after row in one list, -1 where there is no bit."
    )
    incidence_bits: Annotated[list[Any], list_of({"type": "array", "items": _BIT})] | None = Field(
        None, description="Of a set system: row j has a bit for every element of set j."
    )
    reference: SolutionIds | None = Field(
        None, description="A solution as a solve returns it: ids of vertices or sets, or of a cut the side of every vertex."
    )

    @model_validator(mode="after")
    def _has_bits(self) -> Self:
        self.require_bits()
        return self

    @property
    def bits(self) -> dict[str, Any]:
        """The fields with bits that are given."""
        names = ("edge_bits", "edge_bits_flat", "incidence_bits")
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def require_bits(self) -> None:
        """Refuse with a ValueError what has no bits, or several tables of them."""
        if len(self.bits) != 1:
            raise ValueError("give one of edge_bits, edge_bits_flat and incidence_bits")


class EpsilonRequest(BitsAboutInstance):
    """Bits about one instance, or about several."""

    problem: AnyProblem = Field(description="The problem whose solution the bits predict.")
    instances: list[BitsAboutInstance] | None = Field(
        None, min_length=1, description="Several instances, each with its bits, in place of the one."
    )
    method: Method | None = Field(
        None, description="Default: `reference` if there is one, of every instance if there are several, else `moment`."
    )

    @model_validator(mode="after")
    def _is_one_instance(self) -> Self:
        if self.instances is None:
            self.require_one_instance_of(self.problem)
        elif stray := self.model_fields_set & set(BitsAboutInstance.model_fields):
            raise ValueError(f"give one instance or 'instances', not both: {', '.join(sorted(stray))}")
        return self

    @model_validator(mode="after")
    def _has_bits(self) -> Self:
        if self.instances is None:
            self.require_bits()
        if self.method == "reference" and any(one.reference is None for one in self.instances or [self]):
            raise ValueError("method 'reference' counts right bits and needs a reference")
        return self


class EpsilonResult(BaseModel):
    """What the bits say of their own quality."""

    model_config = ConfigDict(extra="forbid")

    epsilon: float | None = Field(
        description="Null where the bits cannot tell; negative where they are wrong more often than right."
    )
    interval: tuple[float, float] | None = Field(
        description="95 % interval; null for `em`. Against a reference, correlated bits count for as few as they are worth."
    )
    asymmetry: float | None = Field(description="abs(P(1 | in) + P(1 | out) - 1): 0 where both sides are predicted equally well.")
    overdispersion: float | None = Field(
        description="Correlation of the bits about one vertex or set; only seen against a reference."
    )
    method: Method = Field(description="How it was estimated.")
    bits: int = Field(description="Bits that are not missing.", ge=0)
    by_instance: list[float | None] | None = Field(
        None, description="Of several instances, the epsilon of each by itself, in order."
    )
    warnings: list[WarningEntry] = Field(default_factory=list, description="What was repaired of the instance, or is odd.")


class _Told(NamedTuple):
    """What the bits of one instance speak of, the bits, and the solution, if it is known."""

    about: Array
    bits: Array
    reference: Array | None


def run_estimate_epsilon(request: EpsilonRequest, context: Context) -> EpsilonResult:
    """Carry out a request."""
    if request.instances is None:
        subject = read_subject(request, request.problem, context)
        warnings = [WarningEntry.model_validate(repair) for repair in subject.instance.warnings]
        return _estimate([_told(request, subject)], request.method, warnings)
    told, notes = [], Notes()
    for index, (one, subject) in enumerate(read_subjects(request.instances, request.problem, context)):
        with below(place(index)):
            told.append(_told(one, subject))
        notes.add_repairs(index, subject)
    found = _estimate(told, request.method, notes.warnings)
    found.by_instance = [estimate_epsilon(one.about, one.bits, one.reference, found.method).epsilon for one in told]
    return found


def _estimate(told: Sequence[_Told], method: Method | None, warnings: list[WarningEntry]) -> EpsilonResult:
    chosen: Method = method or ("moment" if any(one.reference is None for one in told) else "reference")
    estimate = pooled_epsilon(told, chosen)
    if estimate.epsilon is not None and estimate.epsilon < 0:
        warnings += quality_warnings(estimate.epsilon, "the bits")
    return EpsilonResult(
        epsilon=estimate.epsilon,
        interval=estimate.interval,
        asymmetry=estimate.asymmetry,
        overdispersion=estimate.overdispersion,
        method=chosen,
        bits=sum(int((one.bits >= 0).sum()) for one in told),
        warnings=warnings,
    )


def _told(given: BitsAboutInstance, subject: Subject) -> _Told:
    (field,) = given.bits
    if field.removesuffix("_flat") != subject.bits_form:
        raise InvalidInput(f"{subject.problem} has {subject.bits_form}, not {field}", pointer=f"/{field}")
    about, bits = subject.read_bits(given.bits)
    if given.reference is None:
        return _Told(about, bits, None)
    truth = subject.truth_of(given.reference, "/reference")
    for_side_1 = np.where(bits < 0, 0, 2 * bits.astype(np.int64) - 1)
    wanted = np.bincount(about.ravel(), for_side_1.ravel(), minlength=subject.num_items)
    return _Told(about, bits, subject.turned(truth, wanted))


def from_objects(instance: Any, predictions: Any, *, problem: AnyProblem, reference: Any = None) -> dict[str, Any]:
    """Return the body that asks how good the bits about a graph or set system in memory are.

    Parameters
    ----------
    instance : object
        As the problem's own operation takes it.
    predictions : EdgePredictions or IncidencePredictions
    problem : str
    reference : array_like, optional
        A solution as a solve returns it.

    Examples
    --------
    >>> from solvers.graphs.predictions import EdgePredictions
    >>> from_objects([[0, 1]], EdgePredictions([[0, 1]]), problem="max-cut")["edge_bits_flat"]
    [0, 1]
    """
    body = body_of(problem)(instance, predictions)
    held = body.pop("predictions")
    forms = ("edge_bits_flat", "incidence_bits")
    body |= {"problem": problem} | {name: held[name] for name in forms if name in held}
    return body if reference is None else body | {"reference": np.asarray(reference).tolist()}


GRAPHS_PREDICTIONS_ESTIMATE_EPSILON: Operation[EpsilonRequest, EpsilonResult] = Operation(
    name="graphs-predictions-estimate-epsilon",
    path="graphs/predictions/estimate-epsilon",
    request=EpsilonRequest,
    result=EpsilonResult,
    run=run_estimate_epsilon,
    summary="Estimate how often the bits of a prediction are right.",
    description=DESCRIPTION,
    resources=Resources(time_limit=30.0, memory_mb=4096),
    examples=EXAMPLES,
    volatile=(),
    from_objects=from_objects,
)
