"""Solvers of the set cover problem: ours and its peers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.instances import Members
from benchmarks.peers.exact_engines import rows_of_ones, solve_with_cp_sat, solve_with_highs
from benchmarks.peers.solver import Answer, Clock, Solve, Solver, own_answer, repeated
from solvers.graphs.set_system import SetSystem

# Iterations of OR-Tools' guided local search between two looks at the clock.
ITERATIONS = 10_000


def foresolve(system: SetSystem) -> Solve:
    from solvers.graphs.set_cover import set_cover, warm

    def solve(seed: int, limit: float) -> Answer:
        return own_answer(set_cover(system, time_limit=limit, seed=seed), system.num_sets)

    warm()
    return solve


def cp_sat(system: SetSystem) -> Solve:
    from ortools.sat.python import cp_model

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        model = cp_model.CpModel()
        chosen = [model.new_bool_var("") for _ in range(system.num_sets)]
        for sets in _sets_of_elements(system):
            model.add_bool_or([chosen[position] for position in sets])
        model.minimize(cp_model.LinearExpr.weighted_sum(chosen, system.costs.tolist()))
        # With one worker and the default level its bound stays at 0.
        return solve_with_cp_sat(model, chosen, seed, clock, linearization_level=2)

    return solve


def highs(system: SetSystem) -> Solve:
    import highspy  # noqa: F401

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        rows = rows_of_ones(_sets_of_elements(system), 1.0, np.inf)
        return solve_with_highs(system.costs, rows, maximise=False, size=system.num_sets, seed=seed, clock=clock)

    return solve


def greedy(system: SetSystem) -> Solve:
    """Return Chvátal's greedy algorithm in NumPy: the least cost per newly covered element first."""

    def solve(seed: int, limit: float) -> Answer:
        incidence = _incidence(system)
        by_set = incidence.T.tocsr()
        members = np.zeros(system.num_sets, np.int8)
        is_covered = np.zeros(system.num_elements, bool)
        while not is_covered.all():
            gains = by_set @ (~is_covered).astype(np.int64)
            prices = np.divide(system.costs, gains, out=np.full(system.num_sets, np.inf), where=gains > 0)
            chosen = int(np.argmin(prices))
            members[chosen] = 1
            is_covered[by_set.indices[by_set.indptr[chosen] : by_set.indptr[chosen + 1]]] = True
        return Answer(members, float(system.costs[members == 1].sum()))

    return solve


def ortools_greedy(system: SetSystem) -> Solve:
    from ortools.set_cover.python import set_cover as library

    def solve(seed: int, limit: float) -> Answer:
        model = _ortools_model(system)
        state = library.SetCoverInvariant(model)
        library.GreedySolutionGenerator(state).next_solution()
        return _ortools_answer(state)

    return solve


def ortools_steepest(system: SetSystem) -> Solve:
    from ortools.set_cover.python import set_cover as library

    def solve(seed: int, limit: float) -> Answer:
        model = _ortools_model(system)
        state = library.SetCoverInvariant(model)
        library.GreedySolutionGenerator(state).next_solution()
        library.SteepestSearch(state).next_solution()
        return _ortools_answer(state)

    return solve


def ortools_guided(system: SetSystem) -> Solve:
    from ortools.set_cover.python import set_cover as library

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        model = _ortools_model(system)
        state = library.SetCoverInvariant(model)
        library.GreedySolutionGenerator(state).next_solution()
        library.SteepestSearch(state).next_solution()
        steepest = _ortools_answer(state)
        incidence = _incidence(system)
        search = library.GuidedLocalSearch(state)
        search.initialize()
        search.set_max_iterations(ITERATIONS)

        def attempt() -> tuple[float, Answer]:
            search.next_solution()
            found = _ortools_answer(state)
            # It may stop at sets that leave elements uncovered.
            is_cover = (incidence @ found.members > 0).all()
            return (-state.cost(), found) if is_cover else (-math.inf, steepest)

        guided = repeated(attempt, clock.left)
        return max(guided, (-steepest.claimed, steepest), key=lambda one: one[0])[1]

    return solve


def setcoverpy(system: SetSystem) -> Solve:
    from SetCoverPy import setcover as library

    def solve(seed: int, limit: float) -> Answer:
        clock = Clock(limit)
        covers = _incidence(system).toarray().astype(bool)
        # It draws from NumPy's global stream.
        np.random.seed(seed)

        def attempt() -> tuple[float, Members]:
            # One round of greedy and Lagrangian search; more are repeated here, where the clock is looked at.
            search = library.SetCover(covers, system.costs.astype(float), maxiters=1)
            search.SolveSCP()
            return -float(search.total_cost), search.s.astype(np.int8)

        score, members = repeated(attempt, clock.left)
        return Answer(members, -score)

    return solve


def _incidence(system: SetSystem) -> scipy.sparse.csr_array:
    """Return the matrix with a row for every element and a column for every set."""
    sets = np.repeat(np.arange(system.num_sets), np.diff(system.set_ptr))
    shape = (system.num_elements, system.num_sets)
    return scipy.sparse.csr_array((np.ones(len(sets), np.int64), (system.elements, sets)), shape=shape)


def _sets_of_elements(system: SetSystem) -> list[list[int]]:
    rows = _incidence(system)
    return [some.tolist() for some in np.split(rows.indices, rows.indptr[1:-1])]


def _ortools_model(system: SetSystem) -> Any:
    from ortools.set_cover.python import set_cover as library

    model = library.SetCoverModel()
    for cost, elements in zip(system.costs.tolist(), np.split(system.elements, system.set_ptr[1:-1]), strict=True):
        model.add_empty_subset(float(cost))
        for element in elements.tolist():
            model.add_element_to_last_subset(element)
    model.create_sparse_row_view()
    return model


def _ortools_answer(state: Any) -> Answer:
    return Answer(np.array(state.is_selected(), np.int8), state.cost())


SOLVERS = {
    "foresolve": Solver(foresolve, "foresolve", is_random=True),
    "cp-sat": Solver(cp_sat, "ortools"),
    "highs": Solver(highs, "highspy"),
    "ortools-guided": Solver(ortools_guided, "ortools"),
    "ortools-steepest": Solver(ortools_steepest, "ortools"),
    "ortools-greedy": Solver(ortools_greedy, "ortools"),
    "setcoverpy": Solver(setcoverpy, "SetCoverPy", is_random=True),
    "greedy": Solver(greedy, "numpy"),
}
