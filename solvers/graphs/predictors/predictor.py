"""A predictor: a fitted model, what it is for and how good it is, kept as a JSON file that its id names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Literal, NamedTuple, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from solvers.graphs.any_instance import AnyProblem
from solvers.graphs.arrays import Array
from solvers.graphs.canonical import canonicalise
from solvers.graphs.graph import Graph
from solvers.graphs.predictors.cross_validation import CrossValidation, HeldBack, assess, cross_validate
from solvers.graphs.predictors.frequency import FrequencyTable
from solvers.graphs.predictors.logistic import LogisticModel
from solvers.graphs.predictors.relaxed import RelaxationModel
from solvers.graphs.predictors.solved_instances import Solved
from solvers.graphs.predictors.subjects import subject_of
from solvers.graphs.result import WarningEntry
from solvers.graphs.set_system import SetSystem
from solvers.operation import Context, InvalidInput
from solvers.resource import ResourceKind

ModelName = Literal["frequency", "logistic", "relaxation"]

Model: TypeAlias = FrequencyTable | LogisticModel | RelaxationModel


class PredictorSummary(BaseModel):
    """What a predictor is for, and how good it was on instances that were held back from it."""

    model_config = ConfigDict(extra="forbid")

    problem: AnyProblem = Field(description="The problem whose solutions it predicts.")
    model: ModelName = Field(description="What it has: frequencies, a regression on features, or the problem's relaxation.")
    num_instances: int = Field(description="Past instances that it learnt from, or was measured on.", ge=1)
    cross_validation: CrossValidation | None = Field(
        description="How good it is; null if there were not two instances, or no time."
    )


class Predictor(BaseModel):
    """The content of a predictor's file."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    problem: AnyProblem
    num_instances: int = Field(ge=1)
    model: Annotated[Model, Field(discriminator="kind")]
    cross_validation: CrossValidation | None = None

    @property
    def summary(self) -> PredictorSummary:
        """What is told of it."""
        return PredictorSummary(
            problem=self.problem,
            model=self.model.kind,
            num_instances=self.num_instances,
            cross_validation=self.cross_validation,
        )


class Fitted(NamedTuple):
    """A predictor, and whether the clock kept it from being cross-validated in full."""

    predictor: Predictor
    is_cut_short: bool


def fit_predictor(solved: Sequence[Solved], model: ModelName, *, folds: int, seed: int, context: Context) -> Fitted:
    """Learn from all instances of one problem, and measure how good that is by learning from all folds but one at a time."""

    def learn(chosen: Sequence[int] | Array) -> Model:
        past = [solved[index] for index in chosen]
        if model == "frequency":
            return FrequencyTable.fit(past)
        return LogisticModel.fit(past, seed) if model == "logistic" else RelaxationModel()

    def predict(learnt_from: Array, held_back: Array) -> list[HeldBack]:
        learnt = learn(learnt_from)
        return [HeldBack(solved[index], learnt.forecast(solved[index].subject)) for index in held_back]

    everything = learn(range(len(solved)))
    folds = min(folds, len(solved))
    held_back = cross_validate(len(solved), folds, seed, predict, lambda: context.stop) if folds > 1 else []
    predictor = Predictor(
        problem=solved[0].subject.problem,
        num_instances=len(solved),
        model=everything,
        cross_validation=assess(held_back, folds) if held_back else None,
    )
    return Fitted(predictor, folds > 1 and len(held_back) < len(solved))


def quality_warnings(epsilon: float | None, of_what: str) -> list[WarningEntry]:
    """Return what is to be said of bits that are right no more often than wrong; they are never turned over without being asked."""
    if epsilon is None or epsilon > 0:
        return []
    if epsilon == 0:
        return [WarningEntry(code="weak-bits", message=f"{of_what} are right no more often than wrong")]
    message = (
        f"{of_what} are wrong more often than right (epsilon {epsilon:.3g}); turned over, 1 for 0 and 0 for 1, they would predict"
    )
    return [WarningEntry(code="mostly-wrong", message=message)]


def read_predictor(content: bytes) -> Predictor:
    """Return the predictor in a file, whoever wrote it.

    Raises
    ------
    InvalidInput
        If the file holds none.
    """
    try:
        return Predictor.model_validate_json(content)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        raise InvalidInput(f"the file holds no predictor: {first['msg']}{f' at {place}' if place else ''}") from None


def _show(content: bytes) -> PredictorSummary:
    return read_predictor(content).summary


@cache
def demo_of_cuts() -> bytes:
    """Return a frequency table of the largest cuts of a ring with a chord, one of which is turned over."""
    edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 3]]
    cuts = ([0, 1, 0, 1, 0, 1], [1, 0, 1, 0, 1, 0], [0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 1, 0], [1, 0, 1, 0, 1, 0])
    subject = subject_of(canonicalise(Graph(6, edges)), "max-cut")
    past = [Solved(subject, subject.truth_of(list(cut), "")) for cut in cuts]
    return _content(fit_predictor(past, "frequency", folds=5, seed=0, context=Context()).predictor)


@cache
def demo_of_independent_sets() -> bytes:
    """Return a regression on twelve trees, whose largest independent sets are found leaf by leaf."""
    past = []
    for number in range(12):
        parents = [(v * v * 7 + v * number + 3 * number) % v for v in range(1, 40)]
        instance = canonicalise(Graph(40, [[v, parent] for v, parent in enumerate(parents, start=1)]), "independent-set")
        past.append(Solved(subject_of(instance, "independent-set"), _largest_set_of_tree(parents)))
    return _content(fit_predictor(past, "logistic", folds=4, seed=0, context=Context()).predictor)


def _largest_set_of_tree(parents: Sequence[int]) -> Array:
    is_in = np.ones(len(parents) + 1, np.int8)
    for v in range(len(parents), 0, -1):
        if is_in[v]:
            is_in[parents[v - 1]] = 0
    return is_in


@cache
def demo_of_covers() -> bytes:
    """Return a regression on twelve lines of stations, each set a range of them, whose cheapest covers are found from left to right."""
    past = []
    for number in range(12):
        lengths = [1 + (7 * first + first * number + 3 * number) % 5 for first in range(40)]
        ranges = [range(first, min(40, first + length)) for first, length in enumerate(lengths)]
        subject = subject_of(SetSystem(ranges, num_elements=40), "set-cover")
        past.append(Solved(subject, _fewest_ranges(ranges)))
    return _content(fit_predictor(past, "logistic", folds=4, seed=0, context=Context()).predictor)


def _fewest_ranges(ranges: Sequence[range]) -> Array:
    chosen = np.zeros(len(ranges), np.int8)
    covered = 0
    while covered < len(ranges):
        # Of those that take up where the cover ends, the one that reaches farthest.
        best = max(range(covered + 1), key=lambda first: ranges[first].stop)
        chosen[best], covered = 1, ranges[best].stop
    return chosen


def _content(predictor: Predictor) -> bytes:
    return predictor.model_dump_json().encode()


PREDICTORS = ResourceKind(
    name="predictor",
    path="graphs/predictors",
    media_type="application/vnd.foresolve.predictor+json",
    view=PredictorSummary,
    show=_show,
    summary="A predictor learnt from past solved instances, which `graphs/predictions/predict` applies to a new one.",
    demos={"demo-cuts": demo_of_cuts, "demo-independent-sets": demo_of_independent_sets, "demo-covers": demo_of_covers},
)
