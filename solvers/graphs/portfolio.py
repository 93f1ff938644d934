"""One MaxCut run: what is tried in which order, and how the time is shared out.

Reductions come first, then the search in two parts that alternate in slices that double, then the exact finish. Bounds come after the
first slices, so that there is an answer early and a bound soon after: odd cycles, then the semidefinite relaxation, whose rounded cuts
are starts of the advice-free part (Goemans and Williamson, "Improved Approximation Algorithms for Maximum Cut and Satisfiability
Problems Using Semidefinite Programming", Journal of the ACM 42, 1995).

One absolute deadline covers everything. With `max_iterations` no stage looks at the clock: searches end by iterations, bounds by
sweeps, exact methods by work; then the same seed gives the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from solvers.graphs.advice import Advice
from solvers.graphs.annealing import descend
from solvers.graphs.candidates import advice_candidates
from solvers.graphs.enumeration import MAX_VERTICES
from solvers.graphs.exact_cuts import (
    LARGEST_FOR_CP_SAT,
    ExactCut,
    cut_at_once,
    cut_without_conflict,
    finished_cut,
    is_narrow,
)
from solvers.graphs.greedy_cut import greedy_cut
from solvers.graphs.kernel import Component, Kernel, SearchSpace
from solvers.graphs.low_rank_sdp import LowRankSdp
from solvers.graphs.odd_cycles import odd_cycle_bound
from solvers.graphs.progress import Progress
from solvers.graphs.request import SearchOptions
from solvers.graphs.rounding import hyperplane_sides
from solvers.graphs.run_clock import RunClock
from solvers.graphs.search_parts import advice_free_search, advice_search
from solvers.graphs.turns import Allowance, Turns
from solvers.operation import Context

SEARCH_SHARE, BOUND_SHARE, EXACT_SHARE = 0.70, 0.15, 0.15

# For the relaxation where nothing else follows but its proof.
WHOLE_SHARE = 0.8

# Of the time, for what is cheap on most graphs but not on the largest: odd cycles, roundings, a look for components of small width.
SMALL_SHARE = 0.05

SDP_SWEEPS = 20
HYPERPLANES = 128
ROUNDED_STARTS = 8


class Portfolio:
    """A MaxCut run.

    Parameters
    ----------
    num_vertices : int
    edges : int32 array of shape (m, 2)
    weights : array of shape (m,)
    advice : Advice or None
    options : SearchOptions
    time_limit : float
        Seconds from the start of `context`.
    context : Context
    on_progress : callable
        Called after every better value or bound.

    Attributes
    ----------
    progress : Progress
    clock : RunClock
    solved_prefix : int or None
        Heaviest edges that each row of the advice's linear program lost, if it was solved.
    rounded_relaxation : bool
        Whether the semidefinite relaxation was rounded by all hyperplanes.
    """

    def __init__(
        self,
        num_vertices: int,
        edges: np.ndarray,
        weights: np.ndarray,
        advice: Advice | None,
        options: SearchOptions,
        time_limit: float,
        context: Context,
        on_progress: Callable[[], None],
    ) -> None:
        self._advice = advice
        self._options = options
        self._by_iterations = options.max_iterations is not None
        self._allowances: list[Allowance] = []
        self._streams = [np.random.default_rng([options.seed, stream]) for stream in range(3)]
        self._roundings: list[np.ndarray] = []
        self.solved_prefix: int | None = None
        self.rounded_relaxation = False
        self.clock = RunClock(
            context, time_limit=time_limit, size=num_vertices + len(edges), counts_iterations=self._by_iterations
        )
        kernel = Kernel(num_vertices, edges, weights, stop=self.clock.is_over)
        self.clock.lap("reductions")
        self._narrow: set[int] = set()
        space = SearchSpace(kernel, self._settled(kernel))
        self.progress = Progress(space, lambda: context.elapsed, on_progress)
        self._components = [kernel.components[index] for index in space.open]
        self._has_finish = any(self._looks_finishable(index) for index in space.open)
        self.clock.lap("exact")

    @property
    def iterations(self) -> int:
        """Iterations of local search so far, of both parts."""
        return sum(allowance.spent_iterations for allowance in self._allowances)

    @property
    def value_without_predictions(self) -> float:
        """Value of the advice-free part's best cut; with no predictions, of the best."""
        return self.progress.value if self._advice is None else self.progress.value_without_advice

    @property
    def stopped_by(self) -> str:
        """Why the run ended: a reason to stop, a spent allowance, or nothing left to do."""
        searched = bool(self._components) and self._options.method in ("auto", "local_search")
        return self.clock.how_it_ended(self._reason_to_stop(), searched=searched)

    def run(self) -> None:
        """Carry out the plan of `options.method` until it is done or there is a reason to stop."""
        self.progress.start()
        if not self._components:
            # Solved, though weights of very different sizes may keep the bound, which allows for their rounding, above the value.
            return
        for stage in _STAGES[self._options.method]:
            # Whatever the time, there is an answer better than none.
            if stage is not Portfolio._start_greedily and self._must_stop():
                return
            stage(self)

    def _start_greedily(self) -> None:
        csr = self.progress.space.csr
        sides, _ = descend(csr, greedy_cut(csr), stop=self.clock.is_over)
        self.progress.offer_free(sides, "greedy")
        self.clock.lap("greedy")

    # The search.

    def _search(self) -> None:
        """Let the two parts take turns, the bounds coming in after their first."""
        turns = self._turns()
        rounds = turns.rounds()
        next(rounds)
        for bound in (self._bound_cheaply, self._relax):
            if self._must_stop():
                return
            bound()
        # What the bounds left of their share is the search's, and what they took beyond it is not.
        turns.give(BOUND_SHARE * self.clock.total - self.clock.timings.get("bounds", 0.0))
        for _ in rounds:
            if self._must_stop():
                return

    def _warm_up(self) -> None:
        next(self._turns().rounds())

    def _turns(self) -> Turns:
        parts = self._parts()
        self._allowances = [allowance for _, allowance in parts]
        return Turns(parts, self.clock, self._must_stop)

    def _parts(self) -> list[tuple[Iterator[None], Allowance]]:
        progress = self.progress
        allowance = self._allowance()
        free = advice_free_search(
            progress.space, progress.offer_free, progress.free, self._rounded_start, allowance, self._streams[0]
        )
        if self._advice is None:
            return [(free, allowance)]
        advised_allowance = self._allowance()
        advised = advice_search(
            progress.space, progress.offer_advised, progress.advised, self._candidates(), advised_allowance, self._streams[1]
        )
        return [(advised, advised_allowance), (free, allowance)]

    def _allowance(self) -> Allowance:
        if self._options.max_iterations is not None:
            return Allowance(iterations=self._options.max_iterations)
        share = SEARCH_SHARE if self._has_finish else SEARCH_SHARE + EXACT_SHARE
        return Allowance(seconds=share * self.clock.total / (1 if self._advice is None else 2))

    def _rounded_start(self, index: int) -> np.ndarray | None:
        return self._roundings[index % len(self._roundings)] if self._roundings else None

    def _candidates(self) -> Iterator[tuple[str, int | None, np.ndarray]]:
        if self._advice is None:
            return
        for candidate in advice_candidates(
            self._advice,
            self.progress.kernel.original_csr,
            method=self._options.method,
            threshold=self._options.threshold,
            remaining=lambda: self.clock.remaining,
            max_iterations=self._options.max_iterations,
            stop=self._must_stop,
        ):
            if candidate.source == "wide_lp":
                self.solved_prefix = candidate.threshold
            yield candidate.source, candidate.threshold, self.progress.space.from_original(candidate.sides)

    def _follow_the_paper(self) -> None:
        """Take the advice's own cuts; the low-degree part is the rounded relaxation."""
        for source, threshold, sides in self._candidates():
            if self._must_stop():
                return
            local, _ = descend(self.progress.space.csr, sides)
            self.progress.offer_advised(local, source, threshold)
        self.clock.lap("advice")

    # The bounds.

    def _bound_cheaply(self) -> None:
        stop = self.clock.after(SMALL_SHARE)
        for part, component in enumerate(self._components):
            if stop():
                break
            self.progress.offer_bound(part, odd_cycle_bound(component.csr(), stop=stop))
        self.clock.lap("bounds")

    def _relax(self) -> None:
        """Solve the semidefinite relaxation, offer its bounds, and round it."""
        share = BOUND_SHARE if self._searches else WHOLE_SHARE
        stop = self.clock.after(share)
        # A proof may take the exact finish's share as well where there is nothing to finish.
        proven_by = self.clock.end_of_share(share if self._has_finish else min(1.0, share + EXACT_SHARE))
        roundings = [np.zeros((HYPERPLANES, component.num_vertices), np.int8) for component in self._components]
        for part, component in enumerate(self._components):
            if self._must_stop() or stop():
                break
            relaxation = LowRankSdp(component.csr(), seed=int(self._streams[2].integers(2**62)))
            while not (relaxation.converged or self._must_stop() or stop()):
                relaxation.advance(SDP_SWEEPS)
            roundings[part] = hyperplane_sides(relaxation.vectors, HYPERPLANES, self._streams[2])
            for prove in (relaxation.dual_bound, relaxation.eigenvalue_bound):
                bound = prove(integral=False, deadline=None if math.isinf(proven_by) else proven_by, stop=self._must_stop)
                if bound is not None:
                    self.progress.offer_bound(part, bound)
                if relaxation.converged:
                    # Then the other bound, of a constant y, is not better.
                    break
        self.clock.lap("bounds")
        self._round(np.concatenate(roundings, axis=1))
        self.clock.lap("rounding")

    def _round(self, cuts: np.ndarray) -> None:
        space = self.progress.space
        descended: list[tuple[int, np.ndarray]] = []
        stop = self.clock.after(SMALL_SHARE)
        for sides in cuts:
            if self._must_stop() or (descended and stop()):
                break
            local, _ = descend(space.csr, sides)
            self.progress.offer_free(local, "sdp_rounding")
            descended.append((int(space.part_values(local).sum()), local))
        self.rounded_relaxation = len(descended) == len(cuts)
        descended.sort(key=lambda pair: -pair[0])
        self._roundings = [local for _, local in descended[:ROUNDED_STARTS]]

    # The exact methods.

    def _settled(self, kernel: Kernel) -> dict[int, ExactCut]:
        """Solve the components whose optimum costs next to nothing."""
        settled: dict[int, ExactCut] = {}
        stop = self.clock.after(SMALL_SHARE)
        for index, component in enumerate(kernel.components):
            if stop():
                break
            found = cut_without_conflict(component)
            if found is None and self._is_exact:
                found = self._cut_at_once(index, component, stop)
            if found is not None:
                settled[index] = found
        return settled

    def _cut_at_once(self, index: int, component: Component, stop: Callable[[], bool]) -> ExactCut | None:
        if component.num_vertices > MAX_VERTICES:
            seconds = math.inf if self._by_iterations else SMALL_SHARE * self.clock.total
            if not is_narrow(component, seconds, stop):
                return None
            self._narrow.add(index)
            # Its work is limited already; only the end of the run may interrupt it.
            stop = self.clock.is_over
        return cut_at_once(component, stop)

    def _looks_finishable(self, index: int) -> bool:
        is_small = self.progress.kernel.components[index].num_vertices <= LARGEST_FOR_CP_SAT
        return self._is_exact and (is_small or index in self._narrow)

    def _finish_exactly(self) -> None:
        """Solve what is open, smallest component first, as far as the time goes."""
        progress = self.progress
        for part in sorted(range(len(self._components)), key=lambda part: self._components[part].num_vertices):
            if self._must_stop():
                break
            value, hint = progress.best.part(part)
            known = progress.upper_bound.parts[part]
            if value >= known.value or not self._looks_finishable(progress.space.open[part]):
                continue
            found = finished_cut(
                self._components[part],
                hint,
                known,
                narrow=progress.space.open[part] in self._narrow,
                seed=self._options.seed,
                seconds=self.clock.remaining,
                by_work=self._by_iterations,
                stop=self._must_stop,
            )
            if found is not None:
                self.clock.decided |= not (self._by_iterations or found.is_optimal)
                progress.offer_part(part, found.sides, "exact")
                progress.offer_bound(part, found.bound)
        self.clock.lap("exact")

    @property
    def _searches(self) -> bool:
        return self._options.method in ("auto", "local_search", "exact")

    @property
    def _is_exact(self) -> bool:
        return self._options.method in ("auto", "exact")

    def _must_stop(self) -> bool:
        return self._reason_to_stop() is not None

    def _reason_to_stop(self) -> str | None:
        if self.progress.is_optimal:
            return "optimal"
        if self._options.target is not None and self.progress.value >= self._options.target:
            return "target"
        return self.clock.reason_to_stop()


_STAGES: dict[str, tuple[Callable[[Portfolio], None], ...]] = {
    "auto": (Portfolio._start_greedily, Portfolio._search, Portfolio._finish_exactly),
    "local_search": (Portfolio._start_greedily, Portfolio._search),
    "exact": (
        Portfolio._start_greedily,
        Portfolio._warm_up,
        Portfolio._bound_cheaply,
        Portfolio._relax,
        Portfolio._finish_exactly,
    ),
    "sdp": (Portfolio._start_greedily, Portfolio._relax),
    "paper": (Portfolio._start_greedily, Portfolio._bound_cheaply, Portfolio._follow_the_paper, Portfolio._relax),
    "greedy": (Portfolio._start_greedily, Portfolio._bound_cheaply),
}
