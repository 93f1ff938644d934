"""Least-cost cover by sets, with or without predictions.

The use of predictions follows Aamand, Chen, Gollapudi, Silwal and Wu, "Improved Approximations for Hard Graph Problems using
Predictions" (ICML 2025), on set cover: large sets, which have many votes, follow them, the rest is covered without predictions, and
the better answer is kept. Beside it runs a search that never sees the predictions, so that the answer is never worse than that
search's. Symbols: eps -> `epsilon`, Delta -> `threshold`.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from solvers.graphs.advice import Advice
from solvers.graphs.answer import DEFAULT_TIME_LIMIT, Answer, Found
from solvers.graphs.course import Course
from solvers.graphs.greedy_cover_sets import harmonic_ratio
from solvers.graphs.incidence import build_incidence
from solvers.graphs.incidence_predictions import sample_incidence_predictions
from solvers.graphs.integer_weights import to_integers
from solvers.graphs.learned_set_cover import tally_sets
from solvers.graphs.library_files import with_files_loaded
from solvers.graphs.request import SearchOptions
from solvers.graphs.result import RELATIVE_TOLERANCE, GraphResult, Guarantee, ReducedSize
from solvers.graphs.set_cover_portfolio import SetCoverPortfolio
from solvers.graphs.set_cover_request import SetCoverRequest, SetPredictions, from_file, from_objects
from solvers.graphs.set_system import SetSystem
from solvers.graphs.verify_set_cover import check_cover
from solvers.operation import Context, Operation, Resources

FILE_NAME = "sets.txt"

EXAMPLES: dict[str, dict[str, Any]] = {
    "Five sets, at a cost each": {
        "num_elements": 6,
        "sets": [[0, 1, 2], [2, 3], [3, 4, 5], [0, 5], [1, 4]],
        "costs": [3, 1, 3, 1, 2],
        "options": {"max_iterations": 1000},
    },
    "Named elements": {
        "sets": [["north", "east"], ["east", "south"], ["south", "west"], ["west", "north"]],
        "options": {"max_iterations": 1000},
    },
    "A bit for every element of every set": {
        "num_elements": 5,
        "sets": [[0, 1], [1, 2, 3], [3, 4], [0, 4]],
        "predictions": {"incidence_bits": [[0, 1], [1, 1, None], [0, 0], [1, 1]], "epsilon": 0.3},
        "options": {"max_iterations": 1000, "method": "local_search"},
    },
    "A probability for every set": {
        "num_elements": 4,
        "sets": [[0, 1], [1, 2], [2, 3], [3, 0]],
        "predictions": {"set_probabilities": [0.9, 0.2, 0.8, None]},
        "options": {"max_iterations": 1000},
    },
    "A text in the OR-Library's format": {
        "graph": {"text": "3 3\n1 1 2\n2 1 3\n2 1 2\n2 2 3\n", "format": "orlib"},
        "options": {"max_iterations": 1000},
    },
}

DESCRIPTION = """
Finds a cheap choice of sets that together contain every element, and proves a lower bound on the cost of every such choice. Give the
sets inline, or as a text or file in the OR-Library's format (`orlib`), that of its railway instances (`rail`) or of Steiner triples
(`steiner`).

`predictions` about one least-cost cover may be a bit for every element of every set, labels or probabilities of sets, complete or not,
right or wrong: the answer is never worse than `value_without_predictions`, which the same run finds without looking at them.

The run ends when value and bound meet, at `target`, or at `time_limit`; with `max_iterations` the same seed gives the same answer.
`graphs/verify` proves the `certificate` again.
"""


def run_set_cover(request: SetCoverRequest, context: Context) -> GraphResult:
    """Carry out a request; :func:`set_cover` is the library's form of it."""
    system = request.read_system(context)
    return solve_set_cover(system, request.read_predictions(system), request.options, context)


def solve_set_cover(
    system: SetSystem, predictions: list[SetPredictions], options: SearchOptions, context: Context
) -> GraphResult:
    """Return a cheap cover of a set system, with a proven lower bound.

    Raises
    ------
    Infeasible
        If an element is in no set.
    """
    system.require_coverable()
    advice = tally_sets(predictions, system) if predictions else None
    size = len(system.elements) + system.num_sets + system.num_elements
    course = Course(advice, options, context, time_limit=DEFAULT_TIME_LIMIT, size=size)
    run = _Run(system, advice, course)
    answer = Answer(run.found, system, advice, course)
    run.portfolio.run()
    return answer.result(FILE_NAME, lambda solution: "".join(f"{chosen}\n" for chosen in solution))


def set_cover(system: Any, predictions: Any = None, **options: Any) -> GraphResult:
    """Approximate the least-cost cover of a set system, with a proven lower bound.

    Parameters
    ----------
    system : SetSystem, list of sets, or scipy sparse matrix of elements and sets
        Every set costs 1, but in a SetSystem that says otherwise.
    predictions : IncidencePredictions, VertexPredictions (of the sets) or dict, or a list of them, optional
        About one least-cost cover. The answer is never worse than what the same run finds without them.
    **options
        Fields of :class:`solvers.graphs.request.SearchOptions`: `method`, `threshold`, `time_limit` (seconds, default 10),
        `max_iterations`, `target`, `certificate`, `solution_file`, `seed`.

    Returns
    -------
    GraphResult
        `solution` has the chosen sets, `value` their cost, `bound` what no cover costs less than, `certificate` the proof.

    Raises
    ------
    InvalidInput
        If the system, a prediction or an option is malformed, or an element is in no set; it says where.

    Notes
    -----
    The greedy cover, which every run begins with, costs at most H(d) times the optimum, d the size of the largest set [2]_; the rest
    of the run only improves on it.

    References
    ----------
    .. [1] A. Aamand, J. Y. Chen, S. Gollapudi, S. Silwal, H. Wu, "Improved Approximations for Hard Graph Problems using
       Predictions", ICML 2025.
    .. [2] V. Chvatal, "A Greedy Heuristic for the Set-Covering Problem", Mathematics of Operations Research 4 (1979).

    Examples
    --------
    >>> result = set_cover([[0, 1], [1, 2], [0, 2], [3]])
    >>> result.value, result.bound, result.optimal
    (3, 3, True)
    """
    request = SetCoverRequest.of(system, predictions, options=options)
    # Before the clock starts: what is compiled at the first call takes many times longer than most systems.
    warm()
    context = Context(SET_COVER.time_limit(request), SET_COVER.seed(request))
    return with_files_loaded(run_set_cover(request, context), FILE_NAME, context)


class _Run:
    """A portfolio at work, and what it has found."""

    def __init__(self, system: SetSystem, advice: Advice | None, course: Course) -> None:
        self._system = system
        self._advice = advice
        grid = to_integers(system.costs)
        self._incidence = build_incidence(system.num_elements, system.set_ptr, system.elements, grid.weights)
        self.portfolio = SetCoverPortfolio(self._incidence, grid, course)

    def found(self) -> Found:
        progress, system = self.portfolio.progress, self._system
        members = progress.members
        chosen = system.set_ids(np.flatnonzero(members))
        checked = check_cover(system, chosen)
        if checked.value is None:
            raise AssertionError(f"the search's cover is none: {checked.violations[0]}")
        kernel = progress.reduction.kernel
        return Found(
            solution=chosen,
            labels=members.astype(np.int8),
            value=checked.value,
            slack=0.0 if progress.is_integral else progress.rounding + RELATIVE_TOLERANCE * max(1.0, abs(checked.value)),
            reduction=ReducedSize(n=kernel.num_sets, m=kernel.num_elements),
            guarantee=self._guarantee(),
        )

    def _guarantee(self) -> Guarantee:
        # Of the greedy cover, which no run does worse than. Following predictions promises nothing beforehand: copies of many sets make
        # any rule blind.
        promise = harmonic_ratio(self._incidence)
        return Guarantee(name="greedy_harmonic_ratio", value=promise, assumes_independent_predictions=False)


@functools.cache
def warm() -> None:
    """Compile, or load from the cache, all that a run may call; once per process."""
    rng = np.random.default_rng(0)
    for num_sets in (20, 60):
        sets = [rng.choice(40, size=6, replace=False).tolist() for _ in range(num_sets)]
        system = SetSystem([*sets, list(range(40))], costs=[*rng.integers(1, 9, num_sets).tolist(), 100])
        advice = sample_incidence_predictions(system, rng.integers(0, 2, num_sets + 1), 0.2, seed=0)
        for method in ("local_search", "auto"):
            options = {"method": method, "max_iterations": 5000}
            run_set_cover(SetCoverRequest.of(system, advice, options=options), Context())


SET_COVER: Operation[SetCoverRequest, GraphResult] = Operation(
    name="set-cover",
    path="graphs/set-cover",
    request=SetCoverRequest,
    result=GraphResult,
    run=run_set_cover,
    summary="Approximate the least-cost cover of a set system, with a proven lower bound.",
    description=DESCRIPTION,
    resources=Resources(time_limit=DEFAULT_TIME_LIMIT, memory_mb=4096),
    examples=EXAMPLES,
    volatile=("timings", "history.seconds"),
    warm=warm,
    from_file=from_file,
    from_objects=from_objects,
)
