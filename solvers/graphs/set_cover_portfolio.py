"""One set cover run: what is tried in which order.

Reductions come first, then the greedy cover, then the search. Bounds come after its first slices: subgradient ascent, then the linear
relaxation. As many covers are settled by branch and bound within a second, a short attempt follows the bounds; the exact finish takes
what time the search leaves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial

import numpy as np

from solvers.graphs.course import BOUND_SHARE, EXACT_SHARE, LIKELY_EXACT_SHARE, SMALL_SHARE, Course
from solvers.graphs.cover_enumeration import MAX_SETS, enumerate_covers
from solvers.graphs.cover_progress import CoverProgress, LowerBound
from solvers.graphs.cp_sat import Limits
from solvers.graphs.exact_sets import cp_sat_cover, highs_cover
from solvers.graphs.greedy_cover_sets import greedy_cover, without_redundant
from solvers.graphs.incidence import Incidence
from solvers.graphs.integer_weights import IntegerWeights
from solvers.graphs.lagrangian_bound import LARGEST_LP, Subgradient, exact_prices, lp_prices
from solvers.graphs.learned_set_cover import set_cover_candidates
from solvers.graphs.search_claim import SearchClaim
from solvers.graphs.search_parts import Candidate
from solvers.graphs.set_cover_search import advice_free_search, advice_search
from solvers.graphs.set_reductions import reduce_sets
from solvers.graphs.turns import Allowance

# Before the linear relaxation, and where that is too large.
FEW_ITERATIONS, MANY_ITERATIONS = 400, 2000
ITERATIONS_PER_CALL = 20

# Where the clock only guards, the simplex method ends by iterations, about a second's worth of them.
LP_WORK, LEAST_LP_ITERATIONS, MOST_LP_ITERATIONS = 2_000_000_000, 200, 50_000

# Reading and presolving a program, which cannot be interrupted.
LP_SECONDS_PER_ENTRY, MIP_SECONDS_PER_ENTRY = 3e-6, 6e-6

# Entries beyond which branch and bound has no prospects, and CP-SAT's clauses take longer to write than they are worth; up to the
# last a proof is likely.
LARGEST_FOR_HIGHS, LARGEST_FOR_CP_SAT, PROMISING_FOR_EXACT = 2_000_000, 300_000, 50_000

# In CP-SAT's deterministic unit, up to a few seconds each.
SHORT_WORK, LONG_WORK = 0.3, 1.5

# Of the exact finish; HiGHS has the rest. Where all sets cost the same, logic and symmetry prove more than linear programs do.
CP_SAT_SHARE, CP_SAT_SHARE_OF_EQUALS = 0.4, 0.75


class SetCoverPortfolio:
    """A set cover run.

    Parameters
    ----------
    incidence : Incidence
        Every element in some set.
    grid : IntegerWeights
        How the costs came from the caller's.
    course : Course

    Attributes
    ----------
    progress : CoverProgress
    """

    def __init__(self, incidence: Incidence, grid: IntegerWeights, course: Course) -> None:
        self._original = incidence
        self._course = course
        self._clock = course.clock
        reduction = reduce_sets(incidence, stop=self._clock.after(SMALL_SHARE))
        self._clock.lap("reductions")
        self.progress = course.keep(CoverProgress(reduction, grid))
        self._kernel = reduction.kernel

    def run(self) -> None:
        """Carry out the plan of the method until it is done or there is a reason to stop."""
        # Whatever the time, there is an answer better than none.
        self._start_greedily()
        method = self._course.options.method
        self._course.follow(partial(stage, self) for stage in _STAGES[method])

    def _start_greedily(self) -> None:
        members = np.zeros(self._kernel.num_sets, bool)
        members[greedy_cover(self._kernel)] = True
        self._greedy = without_redundant(self._kernel, members)
        source = "greedy" if self._kernel.num_elements else "reductions"
        self.progress.offer_free(self._greedy, source)
        self._clock.lap("greedy")
        self._offer_prices(Subgradient(self._kernel, self._kernel.cost_of(self._greedy)).prices)
        self._clock.lap("bounds")

    # The search.

    def _search(self) -> None:
        """Let the two parts take turns, the bounds and a short attempt at the optimum coming in after their first."""
        self._course.search(
            self._advice_free_part,
            self._advice_part,
            (self._ascend, self._relax, self._attempt),
            finish_share=self._finish_share,
        )

    @property
    def _finish_share(self) -> float:
        if not self._has_finish:
            return 0.0
        return LIKELY_EXACT_SHARE if len(self._kernel.elements) <= PROMISING_FOR_EXACT else EXACT_SHARE

    def _warm_up(self) -> None:
        self._course.warm_up(self._advice_free_part, self._advice_part)

    def _advice_free_part(self, allowance: Allowance, rng: np.random.Generator) -> Iterator[None]:
        progress = self.progress
        return advice_free_search(self._kernel, progress.offer_free, progress.free, self._greedy, allowance, rng)

    def _advice_part(self, allowance: Allowance, rng: np.random.Generator) -> Iterator[None]:
        progress = self.progress
        return advice_search(self._kernel, progress.offer_advised, progress.advised, self._candidates(), allowance, rng)

    def _candidates(self) -> Iterator[Candidate]:
        course = self._course
        if course.advice is None:
            return iter(())
        return set_cover_candidates(
            course.advice.about(self.progress.reduction.sets),
            self._kernel,
            method=course.options.method,
            threshold=course.options.threshold,
            stop=course.must_stop,
        )

    def _follow_the_paper(self) -> None:
        """Take the advice's own covers; the low-degree part alone is the greedy cover."""
        for source, threshold, members in self._candidates():
            self.progress.offer_advised(members, source, threshold)
            if self._course.must_stop():
                return
        self._clock.lap("advice")

    # The bounds.

    def _ascend(self) -> None:
        """Raise the prices by subgradients."""
        iterations, share = (FEW_ITERATIONS, SMALL_SHARE) if self._has_program else (MANY_ITERATIONS, BOUND_SHARE)
        stop = self._clock.after(share)
        assert self.progress.best.cost is not None
        ascent = Subgradient(self._kernel, self.progress.best.cost)
        while not ascent.converged and ascent.iterations_done < iterations and not (stop() or self._course.must_stop()):
            ascent.advance(min(ITERATIONS_PER_CALL, iterations - ascent.iterations_done))
        self._offer_prices(ascent.prices)
        self._clock.lap("bounds")

    def _relax(self) -> None:
        """Solve the linear relaxation; the dual simplex method has prices to offer even where it does not end."""
        if not self._has_program:
            return
        entries = len(self._kernel.elements)
        limit = min(MOST_LP_ITERATIONS, max(LEAST_LP_ITERATIONS, LP_WORK // entries)) if self._course.by_iterations else None
        found = lp_prices(
            self._kernel,
            time_limit=self._program_seconds,
            iteration_limit=limit,
            stop=self._course.must_stop,
        )
        if found is not None:
            self._clock.decided |= not (self._course.by_iterations or found.is_optimal)
            self._offer_prices(found.prices)
        self._clock.lap("bounds")

    @property
    def _has_program(self) -> bool:
        """Whether the linear relaxation is small enough for its share of the time."""
        entries = len(self._kernel.elements)
        return 0 < entries <= LARGEST_LP and entries * LP_SECONDS_PER_ENTRY <= self._program_seconds

    @property
    def _program_seconds(self) -> float:
        return math.inf if self._course.by_iterations else BOUND_SHARE * self._clock.total

    def _offer_prices(self, prices: np.ndarray) -> None:
        self.progress.offer_prices(exact_prices(self._original, self.progress.reduction.lift_multipliers(prices)))

    # The exact methods.

    def _attempt(self) -> None:
        """Settle what takes a short while."""
        if not self._course.is_exact:
            return
        # Whoever checks an enumeration has only the whole instance.
        if self._original.num_sets <= MAX_SETS:
            self._enumerate()
        elif self._has_finish:
            self._offer_exact(self._by_cp_sat(SHORT_WORK, SMALL_SHARE * self._clock.total))
        self._clock.lap("exact")

    def _finish_exactly(self) -> None:
        """Prove the optimum, as far as the time goes."""
        if self._original.num_sets <= MAX_SETS:
            self._enumerate()
        elif self._has_finish:
            costs = self._kernel.costs
            share = CP_SAT_SHARE_OF_EQUALS if (costs == costs[0]).all() else CP_SAT_SHARE
            self._offer_exact(self._by_cp_sat(LONG_WORK, share * self._clock.remaining))
            takes = len(self._kernel.elements) * MIP_SECONDS_PER_ENTRY
            if not (self._course.must_stop() or self._course.by_iterations) and takes < self._clock.remaining:
                self._offer_exact(self._by_highs())
        self._clock.lap("exact")

    @property
    def _has_finish(self) -> bool:
        """Whether an exact method can read the kernel in the time that is kept for it."""
        entries = len(self._kernel.elements)
        if not self._course.is_exact or not entries:
            return False
        if entries <= LARGEST_FOR_CP_SAT:
            return True
        kept = self._clock.total * (1.0 if self._course.options.method == "exact" else EXACT_SHARE)
        return entries <= LARGEST_FOR_HIGHS and entries * MIP_SECONDS_PER_ENTRY < kept and not self._course.by_iterations

    def _enumerate(self) -> None:
        found = enumerate_covers(self._kernel, self._best_members(), stop=self._course.must_stop)
        if found is None:
            return
        self.progress.offer(found.members, "exact")
        units = Fraction(found.cost + self.progress.reduction.constant)
        self.progress.offer_bound(LowerBound("enumeration", units, {"kind": "enumeration"}))

    def _by_cp_sat(self, work: float, seconds: float) -> SearchClaim | None:
        if len(self._kernel.elements) > LARGEST_FOR_CP_SAT:
            return None
        limits = Limits(work=work) if self._course.by_iterations else Limits(seconds)
        return cp_sat_cover(
            self._kernel,
            self._best_members(),
            limits=limits._replace(stop=self._course.must_stop),
            seed=self._course.options.seed,
        )

    def _by_highs(self) -> SearchClaim:
        return highs_cover(
            self._kernel,
            self._best_members(),
            seed=self._course.options.seed,
            time_limit=self._clock.remaining,
            stop=self._course.must_stop,
        )

    def _best_members(self) -> np.ndarray:
        assert self.progress.best.members is not None
        return self.progress.best.members

    def _offer_exact(self, found: SearchClaim | None) -> None:
        if found is None:
            return
        self._clock.decided |= not (self._course.by_iterations or found.is_optimal)
        self.progress.offer(found.solution, "exact")
        units = Fraction(found.bound + self.progress.reduction.constant)
        self.progress.offer_bound(LowerBound("search", units, found.certificate({})))


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
