"""One MaxCut run: what is tried in which order, and how the time is shared out.

Reductions come first, then cheap bounds, then the search in two parts that alternate in slices that double, then the exact finish.
The semidefinite relaxation is solved after the first slices, so that there is an answer early and a bound soon after; its rounded
cuts are starts of the advice-free part (Goemans and Williamson, "Improved Approximation Algorithms for Maximum Cut and
Satisfiability Problems Using Semidefinite Programming", Journal of the ACM 42, 1995).

One absolute deadline covers everything. With `max_iterations` no stage looks at the clock: searches end by iterations, bounds by
sweeps, exact methods by work; then the same seed gives the same answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from solvers.graphs.advice import Advice
from solvers.graphs.annealing import descend
from solvers.graphs.bound import Bound, trivial_bound
from solvers.graphs.candidates import advice_candidates
from solvers.graphs.components import balanced_sides
from solvers.graphs.cp_sat import cp_sat_max_cut
from solvers.graphs.csr import Csr, build_csr
from solvers.graphs.elimination import elimination_optimum, plan_elimination
from solvers.graphs.enumeration import enumerate_max_cut
from solvers.graphs.greedy_cut import greedy_cut
from solvers.graphs.incumbent import Incumbent
from solvers.graphs.kernel import Component, Kernel, SearchSpace
from solvers.graphs.low_rank_sdp import LowRankSdp
from solvers.graphs.odd_cycles import odd_cycle_bound
from solvers.graphs.request import SearchOptions
from solvers.graphs.rounding import hyperplane_sides
from solvers.graphs.search_parts import Allowance, advice_free_search, advice_search
from solvers.graphs.upper_bound import UpperBound
from solvers.operation import Context

SEARCH_SHARE, BOUND_SHARE, EXACT_SHARE = 0.70, 0.15, 0.15

# Of the time, for what is cheap on most graphs but not on the largest: odd cycles, roundings, a look for components of small width.
SMALL_SHARE = 0.05

# Kept back for lifting, checking and writing the answer: seconds per vertex or edge, and a share of the time limit.
FINISH_SECONDS_PER_ITEM, FINISH_SHARE = 3e-7, 0.01

RELATIVE_TOLERANCE = 1e-9
FIRST_SLICE = 1 / 64
SDP_SWEEPS = 20
HYPERPLANES = 128
ROUNDED_STARTS = 8

# Entries of elimination tables, about 5 ns each, that are always worth it before the search: half a second.
EARLY_TABLE_ENTRIES = 100_000_000
LARGEST_ENUMERATED = 25

# Beyond this branch and bound has proven nothing about a cut within minutes.
LARGEST_FOR_CP_SAT = 200

# In CP-SAT's deterministic unit, a few seconds each here.
CP_SAT_WORK = 1.0


class HistoryEntry(NamedTuple):
    """A better value or a better bound, when it came, and from where."""

    seconds: float
    value: float
    bound: float
    source: str


class Portfolio:
    """A MaxCut run and what it has found so far.

    Parameters
    ----------
    num_vertices : int
    edges : int32 array of shape (m, 2)
    weights : array of shape (m,)
    advice : Advice or None
    options : SearchOptions
    context : Context
    on_progress : callable
        Called after every better value or bound.

    Attributes
    ----------
    best, free, advised : Incumbent
        Of everything, of the advice-free part, and of the advice part.
    upper_bound : UpperBound
    history : list of HistoryEntry
    timings : dict of str to float
        Seconds per stage.
    threshold_used : int or None
        Of the advice's cut that the best one came from.
    solved_prefix : int or None
        Heaviest edges that each row of the advice's linear program lost, if it was solved.
    rounded_relaxation : bool
        Whether the semidefinite relaxation was rounded.
    clock_decided : bool
        Whether any stage ended because of the clock, so that another run may end elsewhere.
    stopped_by : str
    """

    def __init__(
        self,
        num_vertices: int,
        edges: np.ndarray,
        weights: np.ndarray,
        advice: Advice | None,
        options: SearchOptions,
        context: Context,
        on_progress: Callable[[], None],
    ) -> None:
        self._options = options
        self._context = context
        self._on_progress = on_progress
        self._advice = advice
        self._counts_iterations = options.max_iterations is not None
        self._finish_seconds = FINISH_SHARE * min(context.remaining, 60.0) + FINISH_SECONDS_PER_ITEM * (num_vertices + len(edges))
        self._time = context.remaining - self._finish_seconds
        self._streams = [np.random.default_rng([options.seed, stream]) for stream in range(3)]
        self._roundings: list[np.ndarray] = []
        self._allowances: list[Allowance] = []
        self.history: list[HistoryEntry] = []
        self.timings: dict[str, float] = {}
        self.clock_decided = False
        self.threshold_used: int | None = None
        self.solved_prefix: int | None = None
        self.rounded_relaxation = False
        self._candidate_threshold: int | None = None
        self._start_threshold: int | None = None
        self._stopwatch = time.monotonic()

        self._is_narrow: dict[int, bool] = {}
        self.kernel = Kernel(num_vertices, edges, weights, stop=self._is_out_of_time)
        self._lap("reductions")
        self.space = SearchSpace(self.kernel, self._settled())
        self._lap("exact")
        self.upper_bound = UpperBound(self.space)
        first_source = "exact" if any(bound.kind != "trivial" for _, _, bound in self.space.settled.values()) else "reductions"
        self.best, self.free, self.advised = (Incumbent(self.space, first_source) for _ in range(3))

    # What the run knows.

    @property
    def value(self) -> float:
        """Value of the best cut, in the caller's unit."""
        return self.kernel.in_callers_unit(self.best.value + self.space.settled_value)

    @property
    def value_without_predictions(self) -> float:
        """Value of the advice-free part's best cut; with no predictions, of the best."""
        if self._advice is None:
            return self.value
        return self.kernel.in_callers_unit(self.free.value + self.space.settled_value)

    @property
    def bound(self) -> float:
        """No cut is worth more, in the caller's unit."""
        return self.upper_bound.value

    @property
    def is_optimal(self) -> bool:
        """Whether value and bound agree: exactly for whole weights, to `RELATIVE_TOLERANCE` for others."""
        slack = 0.0 if self.kernel.is_integral else RELATIVE_TOLERANCE * max(1.0, abs(self.bound))
        return self.value >= self.bound - slack

    @property
    def sides(self) -> np.ndarray:
        """The best cut of the caller's graph."""
        return self.kernel.lift(self.space.to_kernel(self.best.sides))

    @property
    def stopped_by(self) -> str:
        """Why the run ended: a reason to stop, a spent allowance, or nothing left to do."""
        reason = self._reason_to_stop()
        if reason is not None:
            return reason
        if self._options.method in ("auto", "local_search"):
            return "max_iterations" if self._counts_iterations else "time_limit"
        return "completed"

    # What it does.

    def run(self) -> None:
        """Carry out the plan of `options.method` until it is done or there is a reason to stop."""
        self._start_greedily()
        if self._options.method == "greedy" or self._must_stop():
            return
        stages = _STAGES[self._options.method]
        for stage in stages:
            stage(self)
            if self._must_stop():
                return

    def _start_greedily(self) -> None:
        if not self.space.num_vertices:
            self._record(self.best.source)
            return
        sides, _ = descend(self.space.csr, greedy_cut(self.space.csr), stop=self._is_out_of_time)
        self._offer_free(sides, "greedy")
        if not self.history:
            self._record(self.best.source)
        self._lap("greedy")

    def _bound_cheaply(self) -> None:
        stop = self._stop_after(SMALL_SHARE)
        for part, component in enumerate(self._open_components()):
            if stop():
                break
            self._offer_bound(part, odd_cycle_bound(_csr_of(component), stop=stop))
        self._lap("bounds")

    def _relax(self) -> None:
        """Solve the semidefinite relaxation, offer its bounds, and round it."""
        started = time.monotonic()
        until = math.inf if self._counts_iterations else started + BOUND_SHARE * self._time
        # A proof may take the exact finish's share as well where there is nothing to finish.
        proof_share = BOUND_SHARE if self._has_exact_finish() else BOUND_SHARE + EXACT_SHARE
        proven_until = None if self._counts_iterations else started + proof_share * self._time
        components = self._open_components()
        roundings = [np.zeros((HYPERPLANES, component.num_vertices), np.int8) for component in components]
        for part, component in enumerate(components):
            if self._must_stop() or time.monotonic() > until:
                self.clock_decided = True
                break
            sdp = LowRankSdp(_csr_of(component), seed=int(self._streams[2].integers(2**62)))
            while not sdp.converged and not self._must_stop():
                if time.monotonic() > until:
                    self.clock_decided = True
                    break
                sdp.advance(SDP_SWEEPS)
            roundings[part] = hyperplane_sides(sdp.vectors, HYPERPLANES, self._streams[2])
            bound = sdp.dual_bound(integral=False, deadline=proven_until, stop=self._must_stop)
            if bound is not None:
                self._offer_bound(part, bound)
        self._lap("bounds")
        self._round(np.concatenate(roundings, axis=1))
        self._lap("rounding")

    def _round(self, cuts: np.ndarray) -> None:
        descended: list[tuple[int, np.ndarray]] = []
        stop = self._stop_after(SMALL_SHARE)
        for sides in cuts:
            if self._must_stop() or (descended and stop()):
                break
            local, _ = descend(self.space.csr, sides)
            self._offer_free(local, "sdp_rounding")
            descended.append((int(self.space.part_values(local).sum()), local))
        self.rounded_relaxation = len(descended) == len(cuts)
        descended.sort(key=lambda pair: -pair[0])
        self._roundings = [local for _, local in descended[:ROUNDED_STARTS]]

    def _search(self) -> None:
        """Let the two parts take turns, the relaxation coming in after their first."""
        rounds = self._rounds()
        next(rounds)
        for bound in (self._bound_cheaply, self._relax):
            if self._must_stop():
                return
            bound()
        self._hand_on_bound_time()
        for _ in rounds:
            if self._must_stop():
                return

    def _hand_on_bound_time(self) -> None:
        """Give the search what the bounds left of their share, or take from it what they took beyond."""
        unused = BOUND_SHARE * self._time - self.timings.get("bounds", 0.0)
        for allowance in self._allowances:
            allowance.seconds += unused / len(self._allowances)

    def _warm_up(self) -> None:
        next(self._rounds())

    def _rounds(self) -> Iterator[None]:
        parts = self._parts()
        self._allowances = [allowance for _, allowance in parts]
        share = FIRST_SLICE
        while any(not allowance.is_spent for _, allowance in parts):
            for work, allowance in parts:
                self._spend(work, allowance, share)
                if self._must_stop():
                    break
            self._lap("search")
            yield
            share *= 2

    def _parts(self) -> list[tuple[Iterator[int], Allowance]]:
        free_allowance = self._allowance()
        free = advice_free_search(self.space, self._offer_free, self.free, self._rounded_start, free_allowance, self._streams[0])
        if self._advice is None:
            return [(free, free_allowance)]
        advised_allowance = self._allowance()
        advised = advice_search(
            self.space, self._offer_advised, self.advised, self._candidates(), advised_allowance, self._streams[1]
        )
        return [(advised, advised_allowance), (free, free_allowance)]

    def _allowance(self) -> Allowance:
        if self._options.max_iterations is not None:
            return Allowance(iterations=self._options.max_iterations)
        share = SEARCH_SHARE if self._has_exact_finish() else SEARCH_SHARE + EXACT_SHARE
        return Allowance(seconds=share * self._time / (1 if self._advice is None else 2))

    def _spend(self, work: Iterator[int], allowance: Allowance, share: float) -> None:
        while allowance.share < min(share, 1) and not self._must_stop():
            started = time.monotonic()
            iterations = next(work)
            allowance.charge(iterations, time.monotonic() - started)
        self.clock_decided |= not self._counts_iterations

    def _rounded_start(self, index: int) -> np.ndarray | None:
        return self._roundings[index % len(self._roundings)] if self._roundings else None

    def _candidates(self) -> Iterator[tuple[str, np.ndarray]]:
        assert self._advice is not None
        for candidate in advice_candidates(
            self._advice,
            self.kernel.original_csr,
            method=self._options.method,
            threshold=self._options.threshold,
            remaining=lambda: self._context.remaining,
            max_iterations=self._options.max_iterations,
            stop=self._must_stop,
        ):
            self._candidate_threshold = candidate.threshold
            if candidate.source == "wide_lp":
                self.solved_prefix = candidate.threshold
            yield candidate.source, self.space.from_original(candidate.sides)

    def _follow_the_paper(self) -> None:
        """Take the advice's own cuts; the low-degree part is the rounded relaxation."""
        if self._advice is not None:
            for name, sides in self._candidates():
                if self._must_stop():
                    return
                local, _ = descend(self.space.csr, sides)
                self._offer_advised(local, name)
        self._lap("advice")

    def _finish_exactly(self) -> None:
        deadline = self._context.deadline - self._finish_seconds
        parts = sorted(range(len(self.space.open)), key=lambda part: self._open_components()[part].num_vertices)
        for part in parts:
            if self._must_stop():
                break
            value, hint = self.best.part(part)
            if value >= self.upper_bound.parts[part].value:
                continue
            found = self._solve_exactly(self._open_components()[part], hint, self.upper_bound.parts[part], deadline)
            if found is None:
                continue
            sides, bound = found
            whole = self.best.sides.copy()
            whole[self.space.slices[part]] = sides
            self._offer(whole, "exact")
            self._offer_bound(part, bound)
        self._lap("exact")

    def _solve_exactly(
        self, component: Component, hint: np.ndarray, known: Bound, deadline: float
    ) -> tuple[np.ndarray, Bound] | None:
        tables = elimination_optimum(component.num_vertices, component.edges, component.weights, stop=self._must_stop)
        if tables is not None:
            return tables.sides, Bound(tables.value, "elimination", {"kind": "elimination", "order": tables.order})
        if component.num_vertices > LARGEST_FOR_CP_SAT:
            return None
        found = cp_sat_max_cut(
            component.num_vertices,
            component.edges,
            component.weights,
            hint,
            seed=self._options.seed,
            time_limit=max(0.0, deadline - time.monotonic()),
            deterministic_time_limit=CP_SAT_WORK if self._counts_iterations else None,
            stop=self._must_stop,
        )
        if found is None:
            return None
        self.clock_decided |= not self._counts_iterations and not found.optimal
        return found.sides, Bound(found.bound, "search", found.certificate(known.certificate))

    def _has_exact_finish(self) -> bool:
        return self._options.method in ("auto", "exact") and any(
            self._is_narrow.get(index, False) or self.kernel.components[index].num_vertices <= LARGEST_FOR_CP_SAT
            for index in self.space.open
        )

    def _settled(self) -> dict[int, tuple[int, np.ndarray, Bound]]:
        """Solve the components whose optimum costs next to nothing."""
        settled: dict[int, tuple[int, np.ndarray, Bound]] = {}
        stop = self._stop_after(SMALL_SHARE)
        for index, component in enumerate(self.kernel.components):
            if stop():
                break
            found = self._settle(index, component, stop)
            if found is not None:
                settled[index] = found
        return settled

    def _settle(self, index: int, component: Component, stop: Callable[[], bool]) -> tuple[int, np.ndarray, Bound] | None:
        sides = balanced_sides(component.num_vertices, component.edges, component.weights)
        if sides is not None:
            bound = trivial_bound(component.weights)
            return int(bound.value), sides, bound
        if self._options.method not in ("auto", "exact"):
            return None
        if component.num_vertices <= LARGEST_ENUMERATED:
            enumerated = enumerate_max_cut(component.num_vertices, component.edges, component.weights, stop=stop)
            if enumerated is None:
                return None
            value, sides = enumerated
            return value, sides, Bound(value, "enumeration", {"kind": "enumeration"})
        plan = plan_elimination(component.num_vertices, component.edges, stop=stop)
        self._is_narrow[index] = plan is not None
        if plan is None or plan.table_entries > EARLY_TABLE_ENTRIES:
            return None
        tables = elimination_optimum(component.num_vertices, component.edges, component.weights, stop=self._is_out_of_time)
        if tables is None:
            return None
        return tables.value, tables.sides, Bound(tables.value, "elimination", {"kind": "elimination", "order": tables.order})

    def _open_components(self) -> list[Component]:
        return [self.kernel.components[index] for index in self.space.open]

    # How it keeps account.

    def _offer_free(self, sides: np.ndarray, source: str) -> bool:
        improved = self.free.offer(sides, source)
        if self._offer(sides, source):
            self.threshold_used = None
            return True
        return improved

    def _offer_advised(self, sides: np.ndarray, source: str) -> bool:
        improved = self.advised.offer(sides, source)
        if improved and source != "advice_local_search":
            self._start_threshold = self._candidate_threshold
        if self._offer(sides, source):
            self.threshold_used = self._start_threshold
            return True
        return improved

    def _offer(self, sides: np.ndarray, source: str) -> bool:
        if not self.best.offer(sides, source):
            return False
        self._record(source)
        return True

    def _offer_bound(self, part: int, bound: Bound) -> None:
        before = self.bound
        if self.upper_bound.offer(part, bound) and self.bound < before:
            self._record(bound.kind)

    def _record(self, source: str) -> None:
        self.history.append(HistoryEntry(self._context.elapsed, self.value, self.bound, source))
        self._on_progress()

    def _lap(self, stage: str) -> None:
        now = time.monotonic()
        self.timings[stage] = self.timings.get(stage, 0.0) + now - self._stopwatch
        self._stopwatch = now

    def _must_stop(self) -> bool:
        return self._reason_to_stop() is not None

    def _is_out_of_time(self) -> bool:
        return self._context.cancelled or time.monotonic() >= self._context.deadline - self._finish_seconds

    def _stop_after(self, share: float) -> Callable[[], bool]:
        """Return what tells a stage that it has used its share of the time; with `max_iterations` the deadline alone."""
        until = math.inf if self._counts_iterations else time.monotonic() + share * self._time

        def stop() -> bool:
            if time.monotonic() < until:
                return self._is_out_of_time()
            self.clock_decided = True
            return True

        return stop

    def _reason_to_stop(self) -> str | None:
        if self.is_optimal:
            return "optimal"
        if self._options.target is not None and self.value >= self._options.target:
            return "target"
        if self._context.cancelled:
            return "cancelled"
        return "time_limit" if self._is_out_of_time() else None


def _csr_of(component: Component) -> Csr:
    return build_csr(component.num_vertices, component.edges, component.weights)


_STAGES: dict[str, tuple[Callable[[Portfolio], None], ...]] = {
    "auto": (Portfolio._search, Portfolio._finish_exactly),
    "local_search": (Portfolio._search,),
    "exact": (Portfolio._warm_up, Portfolio._bound_cheaply, Portfolio._relax, Portfolio._finish_exactly),
    "sdp": (Portfolio._relax,),
    "paper": (Portfolio._bound_cheaply, Portfolio._follow_the_paper, Portfolio._relax),
}
