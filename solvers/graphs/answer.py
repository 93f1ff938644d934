"""The result of a run as it stands, at any time: what all problems say of it alike, around the problem's own part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from solvers.graphs.advice import Advice
from solvers.graphs.canonical import Instance
from solvers.graphs.certificate import store_large
from solvers.graphs.course import Course
from solvers.graphs.result import GraphResult, Guarantee, HistoryRow, ReducedSize, WarningEntry, ratio, relative_gap
from solvers.graphs.set_system import SetSystem
from solvers.operation import Context

LARGEST_WITHOUT_FIRST_SIGHT = 100_000
"""Edges; preparing a larger graph may outlast a small time limit, and there is an answer all the same."""

DEFAULT_TIME_LIMIT = 10.0


class Found(NamedTuple):
    """The problem's own part of a result.

    Attributes
    ----------
    solution : list
        As the caller reads it.
    labels : array
        The solution as the advice speaks of it: the 0 or 1 of every vertex or set.
    value : int or float
        Recomputed from scratch, in the caller's weights.
    slack : float
        By how much the search's own account may differ, for its roundings.
    reduction : ReducedSize
    guarantee : Guarantee or None
    """

    solution: list[Any]
    labels: np.ndarray
    value: float
    slack: float
    reduction: ReducedSize
    guarantee: Guarantee | None


class Answer:
    """Reports on a run, and makes its result.

    Parameters
    ----------
    found : callable
        Describes the best solution so far.
    instance : Instance or SetSystem
    advice : Advice or None
    course : Course
    """

    def __init__(self, found: Callable[[], Found], instance: Instance | SetSystem, advice: Advice | None, course: Course) -> None:
        self._found = found
        self._instance = instance
        self._advice = advice
        self._course = course
        self._context = course.context
        course.on_progress = self._report

    def result(self, file_name: str, file_text: Callable[[list[Any]], str]) -> GraphResult:
        """Return the final result, with its proof, and the solution as a file if asked for."""
        options = self._course.options
        snapshot = self._snapshot(self._course.stopped_by)
        certificate = self._course.account.certificate()
        snapshot.bound_kind = certificate["kind"]
        if options.certificate:
            snapshot.certificate = store_large(certificate, self._context)
        if options.solution_file:
            text = file_text(snapshot.solution).encode()
            snapshot.solution_file = self._context.files.save(text, name=file_name, media_type="text/plain")
        return snapshot

    def _report(self) -> None:
        newest = self._course.account.history[-1]
        limit = self._context.time_limit
        self._context.report(
            fraction=min(1.0, self._context.elapsed / limit) if limit else None,
            value=newest.value,
            bound=newest.bound,
            source=newest.source,
            seconds=round(newest.seconds, 3),
            iterations=self._course.iterations,
            snapshot=lambda: self._snapshot("cancelled" if self._context.cancelled else "time_limit"),
        )

    def _snapshot(self, stopped_by: str) -> GraphResult:
        course, account, instance = self._course, self._course.account, self._instance
        found = self._found()
        account.require_agreement(found.value, found.slack)
        return GraphResult(
            solution=found.solution,
            value=found.value,
            bound=account.bound,
            bound_kind=account.bound_kind,
            optimal=account.proves(found.value),
            gap=relative_gap(found.value, account.bound),
            ratio=ratio(found.value, account.bound),
            value_without_predictions=self._value_without_predictions(found.value),
            winner=account.best.source,
            reduction=found.reduction,
            guarantee=found.guarantee,
            history=[HistoryRow(**row._asdict()) for row in account.history],
            stopped_by=stopped_by,
            deterministic=not course.clock.decided,
            warnings=self._warnings(),
            labels=instance.labels,
            index_base=instance.index_base,
            timings={stage: round(seconds, 6) for stage, seconds in course.clock.timings.items()},
            **self._prediction_report(found.labels),
        )

    def _value_without_predictions(self, value: float) -> float:
        account, counted = self._course.account, self._course.value_without_predictions
        if account.is_integral:
            return counted
        # The search's account of rounded weights may be better than the recomputed value by the rounding.
        return min(value, counted) if account.maximises else max(value, counted)

    def _prediction_report(self, labels: np.ndarray) -> dict[str, Any]:
        advice = self._advice
        if advice is None:
            return {}
        estimate = advice.epsilon_estimate
        return {
            "epsilon_used": advice.epsilon_used,
            "epsilon_estimate": None if estimate is None else estimate.epsilon,
            "prediction_agreement": advice.agreement(labels),
            "threshold_used": self._course.account.threshold_used,
        }

    def _warnings(self) -> list[WarningEntry]:
        repairs = [WarningEntry.model_validate(repair) for repair in self._instance.warnings]
        return repairs + ([] if self._advice is None else [WarningEntry(**entry._asdict()) for entry in self._advice.warnings])


def report_at_first_sight(
    instance: Instance, context: Context, solution: Callable[[], list[Any]], value: float, bound: float
) -> None:
    """Report a graph's trivial answer before any work, if the graph is so large that its preparation may outlast the time limit."""
    if len(instance.edges) <= LARGEST_WITHOUT_FIRST_SIGHT:
        return
    context.report(
        value=value,
        bound=bound,
        source="trivial",
        snapshot=lambda: GraphResult(
            solution=solution(),
            value=value,
            bound=bound,
            bound_kind="trivial",
            certificate={"kind": "trivial"},
            optimal=value == bound,
            gap=relative_gap(value, bound),
            ratio=ratio(value, bound),
            value_without_predictions=value,
            winner="reductions",
            reduction=ReducedSize(n=instance.num_vertices, m=len(instance.edges)),
            history=[HistoryRow(seconds=context.elapsed, value=value, bound=bound, source="trivial")],
            stopped_by="time_limit",
            deterministic=False,
            labels=instance.labels,
            index_base=instance.index_base,
        ),
    )
