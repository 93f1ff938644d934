"""One set cover run: what is tried in which order, and how the time is shared out.

Reductions come first, then the greedy cover, then the search in two parts that alternate in slices that double. Bounds come after the
first slices: subgradient ascent, then the linear relaxation. As many covers are settled by branch and bound within a second, a short
attempt follows the bounds; the exact finish takes what time the search leaves.

One absolute deadline covers everything. With `max_iterations` no stage looks at the clock: searches end by steps, bounds by
iterations, exact methods by work; then the same seed gives the same answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from solvers.graphs.advice import Advice
from solvers.graphs.cover_enumeration import MAX_SETS, enumerate_covers
from solvers.graphs.cover_progress import CoverProgress, LowerBound
from solvers.graphs.exact_sets import ExactCover, cp_sat_cover, highs_cover
from solvers.graphs.greedy_cover_sets import greedy_cover, without_redundant
from solvers.graphs.incidence import Incidence
from solvers.graphs.integer_weights import IntegerWeights
from solvers.graphs.lagrangian_bound import LARGEST_LP, Subgradient, exact_prices, lp_prices
from solvers.graphs.learned_set_cover import SetCandidate, set_cover_candidates
from solvers.graphs.portfolio import BOUND_SHARE, EXACT_SHARE, SEARCH_SHARE, SMALL_SHARE
from solvers.graphs.request import SearchOptions
from solvers.graphs.run_clock import RunClock
from solvers.graphs.set_cover_search import advice_free_search, advice_search
from solvers.graphs.set_reductions import reduce_sets
from solvers.graphs.turns import Allowance, Turns
from solvers.operation import Context

# Before the linear relaxation, and where that is too large.
FEW_ITERATIONS, MANY_ITERATIONS = 400, 2000
ITERATIONS_PER_CALL = 20

# Where the clock only guards, the simplex method ends by iterations, about a second's worth of them.
LP_WORK, LEAST_LP_ITERATIONS, MOST_LP_ITERATIONS = 2_000_000_000, 200, 50_000

# Reading and presolving a program, which cannot be interrupted.
LP_SECONDS_PER_ENTRY, MIP_SECONDS_PER_ENTRY = 3e-6, 6e-6

# Entries beyond which branch and bound has no prospects, and CP-SAT's clauses take longer to write than they are worth; up to the
# last the search has mostly found the optimum early, and half of its time serves better to prove that.
LARGEST_FOR_HIGHS, LARGEST_FOR_CP_SAT, PROMISING_FOR_EXACT = 2_000_000, 300_000, 50_000

# In CP-SAT's deterministic unit, up to a few seconds each.
SHORT_WORK, LONG_WORK = 0.3, 1.5

CP_SAT_SHARE = 0.4
"""Of the exact finish; HiGHS has the rest."""


class SetCoverPortfolio:
    """A set cover run.

    Parameters
    ----------
    incidence : Incidence
        Every element in some set.
    grid : IntegerWeights
        How the costs came from the caller's.
    advice : Advice or None
    options : SearchOptions
    time_limit : float
        Seconds from the start of `context`.
    context : Context
    on_progress : callable
        Called after every better value or bound.

    Attributes
    ----------
    progress : CoverProgress
    clock : RunClock
    """

    def __init__(
        self,
        incidence: Incidence,
        grid: IntegerWeights,
        advice: Advice | None,
        options: SearchOptions,
        time_limit: float,
        context: Context,
        on_progress: Callable[[], None],
    ) -> None:
        self._original = incidence
        self._advice = advice
        self._options = options
        self._by_iterations = options.max_iterations is not None
        self._allowances: list[Allowance] = []
        self._streams = [np.random.default_rng([options.seed, stream]) for stream in range(2)]
        size = len(incidence.elements) + incidence.num_sets + incidence.num_elements
        self.clock = RunClock(context, time_limit=time_limit, size=size, counts_iterations=self._by_iterations)
        reduction = reduce_sets(incidence, stop=self.clock.after(SMALL_SHARE))
        self.clock.lap("reductions")
        self.progress = CoverProgress(reduction, grid, lambda: context.elapsed, on_progress)
        self._kernel = reduction.kernel

    @property
    def iterations(self) -> int:
        """Iterations of local search so far, of both parts."""
        return sum(allowance.spent_iterations for allowance in self._allowances)

    @property
    def value_without_predictions(self) -> float:
        """Cost of the advice-free part's cheapest cover; with no predictions, of the cheapest."""
        return self.progress.value if self._advice is None else self.progress.value_without_advice

    @property
    def stopped_by(self) -> str:
        """Why the run ended: a reason to stop, a spent allowance, or nothing left to do."""
        searched = self._options.method in ("auto", "local_search")
        return self.clock.how_it_ended(self._reason_to_stop(), searched=searched)

    def run(self) -> None:
        """Carry out the plan of `options.method` until it is done or there is a reason to stop."""
        # Whatever the time, there is an answer better than none.
        self._start_greedily()
        for stage in _STAGES[self._options.method]:
            if self._must_stop():
                return
            stage(self)

    def _start_greedily(self) -> None:
        members = np.zeros(self._kernel.num_sets, bool)
        members[greedy_cover(self._kernel)] = True
        self._greedy = without_redundant(self._kernel, members)
        source = "greedy" if self._kernel.num_elements else "reductions"
        self.progress.offer_free(self._greedy, source)
        self.clock.lap("greedy")
        self._offer_prices(Subgradient(self._kernel, self._kernel.cost_of(self._greedy)).prices)
        self.clock.lap("bounds")

    # The search.

    def _search(self) -> None:
        """Let the two parts take turns, the bounds and a short attempt at the optimum coming in after their first."""
        turns = self._turns()
        rounds = turns.rounds()
        next(rounds)
        for stage in (SetCoverPortfolio._ascend, SetCoverPortfolio._relax, SetCoverPortfolio._attempt):
            if self._must_stop():
                return
            stage(self)
        unused = BOUND_SHARE * self.clock.total - self.clock.timings.get("bounds", 0.0)
        # What the bounds left of their share is the search's only where nothing else needs it.
        turns.give(min(0.0, unused) if self._has_finish else unused)
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
        free = advice_free_search(self._kernel, progress.offer_free, progress.free, self._greedy, allowance, self._streams[0])
        if self._advice is None:
            return [(free, allowance)]
        advised_allowance = self._allowance()
        advised = advice_search(
            self._kernel, progress.offer_advised, progress.advised, self._candidates(), advised_allowance, self._streams[1]
        )
        return [(advised, advised_allowance), (free, allowance)]

    def _allowance(self) -> Allowance:
        if self._options.max_iterations is not None:
            return Allowance(iterations=self._options.max_iterations)
        share = SEARCH_SHARE + EXACT_SHARE
        if self._has_finish:
            share = SEARCH_SHARE / 2 if len(self._kernel.elements) <= PROMISING_FOR_EXACT else SEARCH_SHARE
        return Allowance(seconds=share * self.clock.total / (1 if self._advice is None else 2))

    def _candidates(self) -> Iterator[SetCandidate]:
        if self._advice is None:
            return iter(())
        return set_cover_candidates(
            self._advice.about(self.progress.reduction.sets),
            self._kernel,
            method=self._options.method,
            threshold=self._options.threshold,
            stop=self._must_stop,
        )

    def _follow_the_paper(self) -> None:
        """Take the advice's own covers; the low-degree part alone is the greedy cover."""
        for source, threshold, members in self._candidates():
            self.progress.offer_advised(members, source, threshold)
            if self._must_stop():
                return
        self.clock.lap("advice")

    # The bounds.

    def _ascend(self) -> None:
        """Raise the prices by subgradients."""
        iterations, share = (FEW_ITERATIONS, SMALL_SHARE) if self._has_program else (MANY_ITERATIONS, BOUND_SHARE)
        stop = self.clock.after(share)
        assert self.progress.best.cost is not None
        ascent = Subgradient(self._kernel, self.progress.best.cost)
        while not ascent.converged and ascent.iterations_done < iterations and not (stop() or self._must_stop()):
            ascent.advance(min(ITERATIONS_PER_CALL, iterations - ascent.iterations_done))
        self._offer_prices(ascent.prices)
        self.clock.lap("bounds")

    def _relax(self) -> None:
        """Solve the linear relaxation; the dual simplex method has prices to offer even where it does not end."""
        if not self._has_program:
            return
        entries = len(self._kernel.elements)
        limit = min(MOST_LP_ITERATIONS, max(LEAST_LP_ITERATIONS, LP_WORK // entries)) if self._by_iterations else None
        found = lp_prices(
            self._kernel,
            time_limit=self._program_seconds,
            iteration_limit=limit,
            stop=self._must_stop,
        )
        if found is not None:
            self.clock.decided |= not (self._by_iterations or found.is_optimal)
            self._offer_prices(found.prices)
        self.clock.lap("bounds")

    @property
    def _has_program(self) -> bool:
        """Whether the linear relaxation is small enough for its share of the time."""
        entries = len(self._kernel.elements)
        return 0 < entries <= LARGEST_LP and entries * LP_SECONDS_PER_ENTRY <= self._program_seconds

    @property
    def _program_seconds(self) -> float:
        return math.inf if self._by_iterations else BOUND_SHARE * self.clock.total

    def _offer_prices(self, prices: np.ndarray) -> None:
        self.progress.offer_prices(exact_prices(self._original, self.progress.reduction.lift_multipliers(prices)))

    # The exact methods.

    def _attempt(self) -> None:
        """Settle what takes a short while."""
        if not self._is_exact:
            return
        # Whoever checks an enumeration has only the whole instance.
        if self._original.num_sets <= MAX_SETS:
            self._enumerate()
        elif self._has_finish:
            self._offer_exact(self._by_cp_sat(SHORT_WORK, SMALL_SHARE * self.clock.total))
        self.clock.lap("exact")

    def _finish_exactly(self) -> None:
        """Prove the optimum, as far as the time goes."""
        if self._original.num_sets <= MAX_SETS:
            self._enumerate()
        elif self._has_finish:
            self._offer_exact(self._by_cp_sat(LONG_WORK, CP_SAT_SHARE * self.clock.remaining))
            takes = len(self._kernel.elements) * MIP_SECONDS_PER_ENTRY
            if not (self._must_stop() or self._by_iterations) and takes < self.clock.remaining:
                self._offer_exact(self._by_highs())
        self.clock.lap("exact")

    @property
    def _has_finish(self) -> bool:
        return self._is_exact and 0 < len(self._kernel.elements) <= LARGEST_FOR_HIGHS

    @property
    def _is_exact(self) -> bool:
        return self._options.method in ("auto", "exact")

    def _enumerate(self) -> None:
        found = enumerate_covers(self._kernel, self._best_members(), stop=self._must_stop)
        if found is None:
            return
        self.progress.offer(found.members, "exact")
        units = Fraction(found.cost + self.progress.reduction.constant)
        self.progress.offer_bound(LowerBound("enumeration", units, {"kind": "enumeration"}))

    def _by_cp_sat(self, work: float, seconds: float) -> ExactCover | None:
        if len(self._kernel.elements) > LARGEST_FOR_CP_SAT:
            return None
        return cp_sat_cover(
            self._kernel,
            self._best_members(),
            seed=self._options.seed,
            time_limit=math.inf if self._by_iterations else seconds,
            deterministic_time_limit=work if self._by_iterations else None,
            stop=self._must_stop,
        )

    def _by_highs(self) -> ExactCover:
        return highs_cover(
            self._kernel, self._best_members(), seed=self._options.seed, time_limit=self.clock.remaining, stop=self._must_stop
        )

    def _best_members(self) -> np.ndarray:
        assert self.progress.best.members is not None
        return self.progress.best.members

    def _offer_exact(self, found: ExactCover | None) -> None:
        if found is None:
            return
        self.clock.decided |= not (self._by_iterations or found.is_optimal)
        self.progress.offer(found.members, "exact")
        units = Fraction(found.bound + self.progress.reduction.constant)
        self.progress.offer_bound(LowerBound("search", units, found.certificate({})))

    def _must_stop(self) -> bool:
        return self._reason_to_stop() is not None

    def _reason_to_stop(self) -> str | None:
        if self.progress.is_optimal:
            return "optimal"
        if self._options.target is not None and self.progress.value <= self._options.target:
            return "target"
        return self.clock.reason_to_stop()


_STAGES: dict[str, tuple[Callable[[SetCoverPortfolio], None], ...]] = {
    "auto": (SetCoverPortfolio._search, SetCoverPortfolio._finish_exactly),
    "local_search": (SetCoverPortfolio._search,),
    "exact": (
        SetCoverPortfolio._warm_up,
        SetCoverPortfolio._ascend,
        SetCoverPortfolio._relax,
        SetCoverPortfolio._finish_exactly,
    ),
    "paper": (SetCoverPortfolio._ascend, SetCoverPortfolio._follow_the_paper, SetCoverPortfolio._relax),
    "greedy": (SetCoverPortfolio._ascend,),
}
"""After the greedy cover, which always comes first. ``sdp`` is for cuts alone."""
