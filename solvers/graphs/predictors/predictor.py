"""A predictor: a fitted model, what it is for and how good it is, kept as a JSON file that its id names."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from solvers.graphs.arrays import Array
from solvers.graphs.canonical import Instance, canonicalise
from solvers.graphs.graph import Graph
from solvers.graphs.predictors.cross_validation import CrossValidation, HeldBack, assess, cross_validate
from solvers.graphs.predictors.features import VertexFeatures
from solvers.graphs.predictors.forecast import Forecast
from solvers.graphs.predictors.frequency import FrequencyTable
from solvers.graphs.predictors.logistic import LogisticModel, measure
from solvers.graphs.predictors.solved_instances import Problem, Solved, truth_of
from solvers.operation import Context, InvalidInput
from solvers.resource import ResourceKind

ModelName = Literal["frequency", "logistic"]


class PredictorSummary(BaseModel):
    """What a predictor is for, and how good it was on instances that were held back from it."""

    model_config = ConfigDict(extra="forbid")

    problem: Problem = Field(description="The problem whose solutions it predicts.")
    model: ModelName = Field(description="What it learnt: frequencies of vertices, or a regression on features of the graph.")
    num_instances: int = Field(description="Past instances that it learnt from.", ge=1)
    cross_validation: CrossValidation | None = Field(
        description="How good it is; null if there were not two instances, or no time."
    )


class Predictor(BaseModel):
    """The content of a predictor's file."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    problem: Problem
    num_instances: int = Field(ge=1)
    model: Annotated[FrequencyTable | LogisticModel, Field(discriminator="kind")]
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

    def forecast(self, instance: Instance, context: Context) -> Forecast:
        """Return what the model says of a new graph."""
        if isinstance(self.model, FrequencyTable):
            return self.model.forecast(instance)
        measured = VertexFeatures(instance, self.problem, stop=lambda: context.stop)
        return self.model.forecast(measured, instance.edges)


class Fitted(NamedTuple):
    """A predictor, and whether the clock kept it from being cross-validated in full."""

    predictor: Predictor
    is_cut_short: bool


def fit_predictor(
    solved: Sequence[Solved], problem: Problem, model: ModelName, *, folds: int, seed: int, context: Context
) -> Fitted:
    """Learn from all instances, and measure how good that is by learning from all folds but one at a time."""
    measured = measure(solved, problem, lambda: context.stop) if model == "logistic" else []

    def learn(chosen: Sequence[int] | Array) -> FrequencyTable | LogisticModel:
        past = [solved[index] for index in chosen]
        if model == "frequency":
            return FrequencyTable.fit(past, problem)
        return LogisticModel.fit(past, [measured[index] for index in chosen], problem, seed)

    def predict(learnt_from: Array, held_back: Array) -> list[HeldBack]:
        learnt = learn(learnt_from)
        return [
            HeldBack(
                solved[index],
                learnt.forecast(solved[index].instance)
                if isinstance(learnt, FrequencyTable)
                else learnt.forecast(measured[index], solved[index].instance.edges),
            )
            for index in held_back
        ]

    everything = learn(range(len(solved)))
    folds = min(folds, len(solved))
    held_back = cross_validate(len(solved), folds, seed, predict, lambda: context.stop) if folds > 1 else []
    predictor = Predictor(
        problem=problem,
        num_instances=len(solved),
        model=everything,
        cross_validation=assess(held_back, folds, problem) if held_back else None,
    )
    return Fitted(predictor, folds > 1 and len(held_back) < len(solved))


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
    instance = canonicalise(Graph(6, edges))
    past = [Solved(instance, truth_of(list(cut), "max-cut", instance, "")) for cut in cuts]
    return _content(fit_predictor(past, "max-cut", "frequency", folds=5, seed=0, context=Context()).predictor)


@cache
def demo_of_independent_sets() -> bytes:
    """Return a regression on twelve trees, whose largest independent sets are found leaf by leaf."""
    past = []
    for number in range(12):
        parents = [(v * v * 7 + v * number + 3 * number) % v for v in range(1, 40)]
        instance = canonicalise(Graph(40, [[v, parent] for v, parent in enumerate(parents, start=1)]))
        past.append(Solved(instance, _largest_set_of_tree(parents)))
    return _content(fit_predictor(past, "independent-set", "logistic", folds=4, seed=0, context=Context()).predictor)


def _largest_set_of_tree(parents: Sequence[int]) -> Array:
    is_in = np.ones(len(parents) + 1, np.int8)
    for v in range(len(parents), 0, -1):
        if is_in[v]:
            is_in[parents[v - 1]] = 0
    return is_in


def _content(predictor: Predictor) -> bytes:
    return predictor.model_dump_json().encode()


PREDICTORS = ResourceKind(
    name="predictor",
    path="graphs/predictors",
    media_type="application/vnd.foresolve.predictor+json",
    view=PredictorSummary,
    show=_show,
    summary="A predictor learnt from past solved instances, which `graphs/predictions/predict` applies to a new one.",
    demos={"demo-cuts": demo_of_cuts, "demo-independent-sets": demo_of_independent_sets},
)
