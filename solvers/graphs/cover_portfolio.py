"""One run for vertex cover or independent set: what is tried in which order, and how the time is shared out.

The run looks for an independent set of greatest weight; for vertex cover, what that leaves out is the answer. Reductions come first,
then greedy sets, then the search in two parts that alternate in slices that double. Bounds come after the first slices: partitions into
cliques, then the linear relaxation, whose colouring is a cover with a promised ratio. As many graphs are settled by branch and bound
within a second, a short attempt follows; the exact finish takes what time the search leaves.

One absolute deadline covers everything. With `max_iterations` no stage looks at the clock: searches end by iterations, exact methods by
work; then the same seed gives the same answer.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from solvers.graphs.advice import Advice
from solvers.graphs.bound import Bound
from solvers.graphs.canonical import Instance
from solvers.graphs.cover_bounds import (
    clique_cover_bound,
    local_ratio_bound,
    matching_cover_bound,
    on_independent_sets,
    relaxation_bound,
)
from solvers.graphs.cover_candidates import MembershipCandidate, cover_candidates, independent_set_candidates
from solvers.graphs.cover_kernel import CoverKernel, CoverSpace, VertexComponent
from solvers.graphs.cover_search_parts import advice_free_search, advice_search
from solvers.graphs.exact_cuts import is_narrow
from solvers.graphs.exact_independent_sets import (
    ATTEMPT,
    BY_CLOCK,
    BY_WORK,
    LARGEST_ENUMERATED,
    Effort,
    ExactSet,
    finished_set,
    looks_finishable,
    set_at_once,
)
from solvers.graphs.guarantee import RatioGuarantee, colouring_guarantee, local_ratio_guarantee
from solvers.graphs.hochbaum import coloured_cover
from solvers.graphs.local_ratio import local_ratio_cover
from solvers.graphs.min_degree_greedy import completed_in_order, extended_greedily, min_degree_greedy
from solvers.graphs.portfolio import BOUND_SHARE, EXACT_SHARE, SEARCH_SHARE, SMALL_SHARE
from solvers.graphs.progress import AsCounted, Complement, Progress
from solvers.graphs.request import SearchOptions
from solvers.graphs.run_clock import RunClock
from solvers.graphs.turns import Allowance, Turns
from solvers.graphs.vertex_solution import total_weight
from solvers.operation import Context

REDUCTION_SHARE = 0.15
"""Of the time, where large graphs would take longer to be reduced as far as the rules go."""


@dataclass(frozen=True)
class FollowedRule:
    """What following the paper's rule gave.

    Attributes
    ----------
    threshold : int
        Votes from which on it trusts the advice.
    value : int
        Weight of the independent set in kernel units, of the whole graph.
    """

    threshold: int
    value: int


class CoverPortfolio:
    """A run for vertex cover or independent set.

    Parameters
    ----------
    instance : Instance
    is_cover : bool
        Whether the answer, and what the advice is about, is a cover; else an independent set.
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
    kernel : CoverKernel
    cover_guarantee : RatioGuarantee or None
        How many times the least weight the cover weighs at most, by the stages that were carried out.
    followed : FollowedRule or None
    """

    def __init__(
        self,
        instance: Instance,
        is_cover: bool,
        advice: Advice | None,
        options: SearchOptions,
        time_limit: float,
        context: Context,
        on_progress: Callable[[], None],
    ) -> None:
        self._is_cover = is_cover
        self._advice = advice
        self._options = options
        self._by_iterations = options.max_iterations is not None
        self._allowances: list[Allowance] = []
        self._streams = [np.random.default_rng([options.seed, stream]) for stream in range(2)]
        self.cover_guarantee: RatioGuarantee | None = None
        self.followed: FollowedRule | None = None
        self.clock = RunClock(
            context,
            time_limit=time_limit,
            size=instance.num_vertices + len(instance.edges),
            counts_iterations=self._by_iterations,
        )
        kernel = CoverKernel(
            instance.num_vertices,
            instance.edges,
            instance.vertex_weights,
            instance.loops,
            stop=self.clock.after(REDUCTION_SHARE),
            is_over=self.clock.is_over,
        )
        self.clock.lap("reductions")
        self._narrow: set[int] = set()
        self._space = CoverSpace(kernel, self._settled(kernel))
        self.kernel = kernel
        sense = Complement(total_weight(instance), kernel.is_integral) if is_cover else AsCounted()
        self.progress = Progress(self._space, lambda: context.elapsed, on_progress, sense)
        self._components = [kernel.components[index] for index in self._space.open]
        self._has_finish = any(self._looks_finishable(index) for index in self._space.open)
        self._greedy = np.zeros(self._space.num_vertices, np.int8)
        self.clock.lap("exact")

    @property
    def iterations(self) -> int:
        """Iterations of local search so far, of both parts."""
        return sum(allowance.spent_iterations for allowance in self._allowances)

    @property
    def value_without_predictions(self) -> float:
        """Value of the advice-free part's best solution; with no predictions, of the best."""
        return self.progress.value if self._advice is None else self.progress.value_without_advice

    @property
    def weight_found(self) -> int:
        """Weight of the best independent set in kernel units, of the whole graph."""
        return self.progress.best.value + self._space.settled_value + self.kernel.reduction.constant

    @property
    def stopped_by(self) -> str:
        """Why the run ended: a reason to stop, a spent allowance, or nothing left to do."""
        searched = self._options.method in ("auto", "local_search")
        return self.clock.how_it_ended(self._reason_to_stop(), searched=searched)

    def run(self) -> None:
        """Carry out the plan of `options.method` until it is done or there is a reason to stop."""
        self.progress.start()
        # Whatever the time, there is an answer better than none.
        self._start_greedily()
        for stage in _STAGES[self._options.method]:
            if self._must_stop():
                return
            stage(self)

    def _start_greedily(self) -> None:
        if not self._components:
            # What reductions settle leaves nothing to colour.
            self.cover_guarantee = colouring_guarantee(1.0)
            return
        csr, weights = self._space.csr, self._space.weights
        greedy = min_degree_greedy(csr, weights, stop=self.clock.is_over)
        # If that was cut short, the rest is taken as it comes.
        self._greedy = completed_in_order(csr, greedy, np.arange(len(greedy))).astype(np.int8)
        self.progress.offer_free(self._greedy, "greedy")
        if not self.clock.is_over():
            packed = local_ratio_cover(csr, weights)
            self.cover_guarantee = local_ratio_guarantee()
            self._offer_free(~packed.members, "local_ratio")
        self.clock.lap("greedy")

    # The search.

    def _search(self) -> None:
        """Let the two parts take turns, the bounds coming in after their first."""
        turns = self._turns()
        rounds = turns.rounds()
        next(rounds)
        if self._must_stop():
            return
        self._bound()
        if self._must_stop():
            return
        self._attempt()
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
        progress, space = self.progress, self._space
        allowance = self._allowance()
        free = advice_free_search(space, progress.offer_free, progress.free, self._greedy, allowance, self._streams[0])
        if self._advice is None:
            return [(free, allowance)]
        advised_allowance = self._allowance()
        advised = advice_search(
            space, progress.offer_advised, progress.advised, self._candidates(), advised_allowance, self._streams[1]
        )
        return [(advised, advised_allowance), (free, allowance)]

    def _allowance(self) -> Allowance:
        if self._options.max_iterations is not None:
            return Allowance(iterations=self._options.max_iterations)
        share = SEARCH_SHARE if self._has_finish else SEARCH_SHARE + EXACT_SHARE
        return Allowance(seconds=share * self.clock.total / (1 if self._advice is None else 2))

    def _candidates(self) -> Iterator[tuple[str, int | None, np.ndarray]]:
        """Yield what the advice suggests of the graph without weightless vertices, as independent sets of the search space."""
        if self._advice is None:
            return
        suggest = cover_candidates if self._is_cover else independent_set_candidates
        suggested: Iterator[MembershipCandidate] = suggest(
            self._advice.about(self.kernel.base_vertices),
            self.kernel.base,
            self.kernel.base_weights,
            method=self._options.method,
            threshold=self._options.threshold,
            stop=self._must_stop,
        )
        for source, threshold, members in suggested:
            independent = ~members if self._is_cover else members
            if source == "paper" and threshold is not None:
                self.followed = FollowedRule(threshold, int(self.kernel.base_weights[independent].sum()))
            yield source, threshold, self._space.from_original(independent)

    def _follow_the_paper(self) -> None:
        """Take the advice's own solution, extended; the low-degree part alone is the greedy one."""
        for source, threshold, members in self._candidates():
            extended = extended_greedily(self._space.csr, self._space.weights, members == 1)
            self.progress.offer_advised(extended.astype(np.int8), source, threshold)
            if self._must_stop():
                return
        self.clock.lap("advice")

    def _offer_free(self, members: np.ndarray, source: str) -> None:
        extended = extended_greedily(self._space.csr, self._space.weights, members)
        self.progress.offer_free(extended.astype(np.int8), source)

    # The bounds.

    def _bound(self) -> None:
        """Bound every component by cliques and by the linear relaxation, and offer the cover that the latter's colouring gives."""
        stop = self.clock.after(BOUND_SHARE)
        independent = np.zeros(self._space.num_vertices, np.bool_)
        ratios: list[float | None] = []
        for part, component in enumerate(self._components):
            if self._must_stop() or stop():
                break
            csr = component.csr()
            self._offer_bound(part, component, clique_cover_bound(csr, component.weights, stop=stop)[0])
            coloured = coloured_cover(csr, component.weights, stop=stop)
            independent[self._space.slices[part]] = ~coloured.members
            ratios.append(coloured.ratio)
            self._offer_bound(part, component, relaxation_bound(coloured.relaxation))
            if not coloured.relaxation.is_optimal:
                self._offer_bound(part, component, local_ratio_bound(local_ratio_cover(csr, component.weights)))
                self._offer_bound(part, component, matching_cover_bound(csr, component.weights, stop=stop))
        self.clock.lap("bounds")
        if len(ratios) == len(self._components):
            proven = [ratio for ratio in ratios if ratio is not None]
            if len(proven) == len(ratios):
                self.cover_guarantee = colouring_guarantee(max(proven))
            self._offer_free(independent, "hochbaum")
            self.clock.lap("rounding")

    def _offer_bound(self, part: int, component: VertexComponent, on_covers: Bound) -> None:
        self.progress.offer_bound(part, on_independent_sets(on_covers, component.weights))

    # The exact methods.

    def _settled(self, kernel: CoverKernel) -> dict[int, tuple[int, np.ndarray, Bound]]:
        """Solve the components whose optimum costs next to nothing."""
        settled: dict[int, tuple[int, np.ndarray, Bound]] = {}
        stop = self.clock.after(SMALL_SHARE)
        for index, component in enumerate(kernel.components if self._is_exact else ()):
            if stop():
                break
            found = self._set_at_once(index, component, stop)
            if found is not None:
                settled[index] = (found.value, found.members, found.bound)
        return settled

    def _set_at_once(self, index: int, component: VertexComponent, stop: Callable[[], bool]) -> ExactSet | None:
        if component.num_vertices > LARGEST_ENUMERATED:
            seconds = math.inf if self._by_iterations else SMALL_SHARE * self.clock.total
            if not is_narrow(component, seconds, stop):
                return None
            self._narrow.add(index)
        # Its work is limited already; only the end of the run may interrupt it.
        return set_at_once(component.num_vertices, component.edges, component.weights, self.clock.is_over)

    def _looks_finishable(self, index: int) -> bool:
        component = self.kernel.components[index]
        return self._is_exact and (index in self._narrow or looks_finishable(component.num_vertices, len(component.edges)))

    def _attempt(self) -> None:
        """Solve what takes a short while."""
        until = self.clock.end_of_share(SMALL_SHARE)
        self._solve(ATTEMPT, lambda: until - time.monotonic())

    def _finish_exactly(self) -> None:
        """Solve what is open, as far as the time goes."""
        if self._by_iterations:
            self._solve(BY_WORK, lambda: math.inf)
        else:
            self._solve(BY_CLOCK, lambda: self.clock.remaining)

    def _solve(self, effort: Effort, remaining: Callable[[], float]) -> None:
        """Give the exact methods what is open, smallest component first."""
        progress = self.progress
        for part in sorted(range(len(self._components)), key=lambda part: self._components[part].num_vertices):
            if self._must_stop() or remaining() <= 0:
                break
            value, hint = progress.best.part(part)
            known = progress.upper_bound.parts[part]
            if value >= known.value or not self._looks_finishable(self._space.open[part]):
                continue
            component = self._components[part]
            found = finished_set(
                component.num_vertices,
                component.edges,
                component.weights,
                hint == 1,
                known,
                # An attempt leaves large tables to the finish.
                narrow=effort is not ATTEMPT and self._space.open[part] in self._narrow,
                seed=self._options.seed,
                seconds=remaining(),
                effort=effort,
                stop=self._must_stop,
            )
            if found is not None:
                self.clock.decided |= not (self._by_iterations or found.is_optimal)
                progress.offer_part(part, found.members.astype(np.int8), "exact")
                progress.offer_bound(part, found.bound)
        self.clock.lap("exact")

    @property
    def _is_exact(self) -> bool:
        return self._options.method in ("auto", "exact")

    def _must_stop(self) -> bool:
        return self._reason_to_stop() is not None

    def _reason_to_stop(self) -> str | None:
        if self.progress.is_optimal:
            return "optimal"
        target = self._options.target
        if target is not None and (self.progress.value <= target if self._is_cover else self.progress.value >= target):
            return "target"
        return self.clock.reason_to_stop()


_STAGES: dict[str, tuple[Callable[[CoverPortfolio], None], ...]] = {
    "auto": (CoverPortfolio._search, CoverPortfolio._finish_exactly),
    "local_search": (CoverPortfolio._search,),
    "exact": (CoverPortfolio._warm_up, CoverPortfolio._bound, CoverPortfolio._finish_exactly),
    "paper": (CoverPortfolio._bound, CoverPortfolio._follow_the_paper),
    "greedy": (CoverPortfolio._bound,),
}
"""After the greedy sets, which always come first. ``sdp`` is for cuts alone."""
