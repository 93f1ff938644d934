"""Many instances of one problem in one request, each answered by that problem's own operation.

A bad instance is a problem in its place and costs the others nothing. One deadline covers all: an instance may use an equal share of
the time that is left when it is begun, so that what the early ones do not need is there for the later ones.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)

from solvers.field_faults import from_validation_error
from solvers.graphs.arrays import as_written, list_of
from solvers.graphs.independent_set import INDEPENDENT_SET
from solvers.graphs.max_cut import MAX_CUT, PETERSEN_EDGES, CutOptions
from solvers.graphs.request import SearchOptions
from solvers.graphs.result import GraphResult
from solvers.graphs.set_cover import SET_COVER
from solvers.graphs.vertex_cover import VERTEX_COVER
from solvers.operation import Context, ForesolveError, InvalidInput, MapFailure, Operation, Resources, Snapshot

SOLVERS: dict[str, Operation[Any, GraphResult]] = {
    operation.name: operation for operation in (MAX_CUT, VERTEX_COVER, INDEPENDENT_SET, SET_COVER)
}
"""Who answers the instances, by problem."""

MOST_INSTANCES = 10_000

EXAMPLES: dict[str, dict[str, Any]] = {
    "Largest cuts of three graphs": {
        "problem": "max-cut",
        "instances": [
            {"num_vertices": 10, "edges": PETERSEN_EDGES},
            {"edges": [["a", "b"], ["b", "c"], ["c", "a"]], "edge_weights": [2, 3, -1]},
            {"graph": {"text": "3 3\n1 2 1\n2 3 1\n1 3 -1\n"}},
        ],
        "options": {"max_iterations": 100},
    },
    "Vertex covers with weights of vertices": {
        "problem": "vertex-cover",
        "instances": [
            {"edges": [[0, 1], [0, 2], [0, 3]], "vertex_weights": [2, 1, 1, 1]},
            {"num_vertices": 10, "edges": PETERSEN_EDGES},
        ],
        "options": {"max_iterations": 100},
    },
    "Covers by sets, one of which there is not": {
        "problem": "set-cover",
        "instances": [{"sets": [[0, 1], [1, 2], [0, 2]], "costs": [3, 1, 2]}, {"num_elements": 3, "sets": [[0], [1]]}],
        "options": {"max_iterations": 100},
    },
    "Predictions, and an instance that is none": {
        "problem": "max-cut",
        "instances": [
            {"edges": [[0, 1], [1, 2]], "predictions": {"edge_bits": [[0, 1], [1, 0]], "epsilon": 0.1}},
            {"edges": [[0, 1], [1, None]]},
        ],
        "options": {"max_iterations": 100, "seed": 1},
    },
}

DESCRIPTION = f"""
Solves up to {MOST_INSTANCES} instances of one problem. Each is an object with the fields of that problem's own operation, predictions
included, but for `options`, which are common to all. The answers come in the order of the instances: a `result`, as that operation
gives it, or a `problem` document (RFC 9457; its `type` is explained under `/problems/`) with pointers into this request.

`time_limit` covers the whole batch; every instance may use an equal share of what is left when it is begun. With `max_iterations` an
instance may use all that is left, and the same seed gives the same answers. An instance that the time does not reach is a problem of
type `not-begun`.
"""


class NotBegun(ForesolveError):
    """The batch ended before this instance had an answer: give it more time, fewer instances or fewer iterations."""

    type = "not-begun"
    title = "The batch ended before this instance was answered"
    status = 504


def _known(problem: str) -> str:
    if problem not in SOLVERS:
        raise ValueError(f"{as_written(problem)} is none of {', '.join(SOLVERS)}")
    return problem


def _options_of(value: Any, info: ValidationInfo) -> Any:
    operation = SOLVERS[info.data.get("problem", "max-cut")]
    return TypeAdapter(operation.request.model_fields["options"].annotation).validate_python(value)


class BatchRequest(BaseModel):
    """Instances of one problem, and how to search for their solutions."""

    model_config = ConfigDict(extra="forbid")

    problem: Annotated[str, AfterValidator(_known), WithJsonSchema({"type": "string", "enum": list(SOLVERS)})] = Field(
        description="What is to be solved, by the name of its operation."
    )
    instances: Annotated[list[Any], list_of({"type": "object"})] = Field(
        max_length=MOST_INSTANCES, description="Request bodies of that operation without `options`."
    )
    options: Annotated[Any, PlainValidator(_options_of, json_schema_input_type=SearchOptions | CutOptions)] = Field(
        default_factory=dict,
        validate_default=True,
        description="Those of that operation, common to all instances; `time_limit` is that of the batch.",
    )


class BatchAnswer(BaseModel):
    """What became of one instance: a result or a problem."""

    model_config = ConfigDict(extra="forbid")

    result: GraphResult | None = Field(None, description="As the problem's own operation gives it; null if there is a problem.")
    problem: dict[str, Any] | None = Field(None, description="Why there is no result: `type`, `title`, `status`, `detail`, ..")


class BatchResult(BaseModel):
    """The answers, in the order of the instances."""

    model_config = ConfigDict(extra="forbid")

    results: list[BatchAnswer] = Field(description="One for every instance, in order.")
    solved: int = Field(description="How many instances have a result.")
    stopped_by: Literal["completed", "time_limit", "cancelled"] = Field(
        description="`completed`: every instance was begun before the time was up."
    )


def run_batch(request: BatchRequest, context: Context) -> BatchResult:
    """Carry out a request."""
    return _Batch(request, context).run()


class _Batch:
    """A batch at work, and the answers as they stand."""

    def __init__(self, request: BatchRequest, context: Context) -> None:
        self._operation = SOLVERS[request.problem]
        self._instances = request.instances
        self._options = request.options
        self._context = context
        self._deadline = min(context.deadline, context.started + GRAPHS_BATCH.time_limit(request))
        self._results: dict[int, GraphResult] = {}
        self._stopped_by: Literal["completed", "time_limit", "cancelled"] = "completed"

    def run(self) -> BatchResult:
        outcomes = self._context.map(self._solve, list(enumerate(self._instances)))
        answers = [
            BatchAnswer(problem=outcome.problem) if isinstance(outcome, MapFailure) else BatchAnswer(result=outcome)
            for outcome in outcomes
        ]
        return BatchResult(results=answers, solved=len(self._results), stopped_by=self._stopped_by)

    def _solve(self, item: tuple[int, Any]) -> GraphResult:
        position, instance = item
        self._require_time()
        context = self._context_of(position)
        try:
            request = self._request(position, instance, context)
            self._results[position] = self._operation.run(request, context)
        except ForesolveError as fault:
            if fault.pointer is not None:
                fault.pointer = _place(position) + fault.pointer
            raise
        self._report(position + 1, {}, None)
        return self._results[position]

    def _require_time(self) -> None:
        if self._context.cancelled:
            self._stopped_by = "cancelled"
            raise NotBegun("the batch was cancelled before this instance was begun")
        if time.monotonic() >= self._deadline:
            self._stopped_by = "time_limit"
            raise NotBegun("the time of the batch was up before this instance was begun")

    def _context_of(self, position: int) -> Context:
        """Return the surroundings of one instance: those of the batch, with a share of the time."""
        left = self._deadline - time.monotonic()
        # Iterations end a search by themselves; a share of the time would make its answer depend on the machine.
        among = 1 if self._options.max_iterations is not None else len(self._instances) - position
        return Context(
            time_limit=max(left, 0.0) / among,
            seed=self._context.seed,
            device=self._context.device,
            files=self._context.files,
            limits=self._context.limits,
            on_report=lambda members, snapshot: self._report(position, members, snapshot),
            is_cancelled=self._context.is_cancelled,
        )

    def _request(self, position: int, instance: Any, context: Context) -> BaseModel:
        if not isinstance(instance, dict):
            raise InvalidInput(f"{as_written(instance)} is no instance; give an object with the fields of one", pointer="")
        if "options" in instance:
            raise InvalidInput("options are common to all instances and stand beside them", pointer="/options")
        document = instance | {"options": self._options.model_copy(update={"time_limit": context.time_limit})}
        try:
            request: BaseModel = self._operation.request.model_validate(document)
        except ValidationError as error:
            refused = from_validation_error(error, document, within=_place(position))
            raise InvalidInput(refused["detail"], errors=refused["errors"]) from None
        return request

    def _report(self, position: int, members: dict[str, Any], snapshot: Snapshot | None) -> None:
        share = members.get("fraction") or 0.0
        self._context.report(
            fraction=(position + share) / len(self._instances),
            solved=len(self._results),
            snapshot=lambda: self._so_far(position, snapshot),
        )

    def _so_far(self, position: int, snapshot: Snapshot | None) -> BatchResult:
        """Return the answers that there are, that of the instance at work as it stands."""
        found: dict[int, Any] = dict(self._results)
        if snapshot is not None:
            found[position] = snapshot()
        open_problem = NotBegun("the batch ended before this instance had an answer").problem()
        answers = [
            BatchAnswer(result=found[index]) if index in found else BatchAnswer(problem=open_problem)
            for index in range(len(self._instances))
        ]
        stopped_by: Literal["cancelled", "time_limit"] = "cancelled" if self._context.cancelled else "time_limit"
        return BatchResult(results=answers, solved=len(found), stopped_by=stopped_by)


def _place(position: int) -> str:
    return f"/instances/{position}"


def from_objects(
    instances: Sequence[Any], predictions: Sequence[Any] | None = None, *, problem: str = "max-cut", **options: Any
) -> dict[str, Any]:
    """Return the body that asks about many instances in memory.

    Parameters
    ----------
    instances : sequence
        Each as the problem's own operation takes it.
    predictions : sequence, optional
        For every instance a prediction, a list of them, or None.
    problem : str
        Name of the operation.
    **options
        Fields of `options`, such as `time_limit`.

    Raises
    ------
    InvalidInput
        If there are not as many predictions as instances, or an object has no place in a request.

    Examples
    --------
    >>> from_objects([[[0, 1]]], seed=1)["instances"]
    [{'num_vertices': 2, 'index_base': 0, 'edges_flat': [0, 1]}]
    """
    if problem not in SOLVERS:
        raise InvalidInput(f"{as_written(problem)} is none of {', '.join(SOLVERS)}", pointer="/problem")
    about = [None] * len(instances) if predictions is None else list(predictions)
    if len(about) != len(instances):
        raise InvalidInput(f"{len(about)} predictions for {len(instances)} instances", pointer="/instances")
    one_body = SOLVERS[problem].from_objects
    assert one_body is not None
    body: dict[str, Any] = {"problem": problem}
    body["instances"] = [one_body(instance, one) for instance, one in zip(instances, about, strict=True)]
    if options:
        body["options"] = {name: value.item() if isinstance(value, np.generic) else value for name, value in options.items()}
    return body


def warm() -> None:
    """Compile, or load from the cache, all that a run may call."""
    for operation in SOLVERS.values():
        if operation.warm is not None:
            operation.warm()


GRAPHS_BATCH = Operation(
    name="graphs-batch",
    path="graphs/batch",
    summary="Solve many instances of one problem in one request.",
    description=DESCRIPTION,
    request=BatchRequest,
    result=BatchResult,
    run=run_batch,
    resources=Resources(time_limit=60.0, memory_mb=4096),
    examples=EXAMPLES,
    volatile=("results.result.timings", "results.result.history.seconds"),
    warm=warm,
    from_objects=from_objects,
)
