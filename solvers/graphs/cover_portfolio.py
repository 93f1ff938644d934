"""One run for vertex cover or independent set: what is tried in which order.

The run looks for an independent set of greatest weight; for vertex cover, what that leaves out is the answer. Reductions come first,
then greedy sets, then the search. Bounds come after its first slices: partitions into cliques, then the linear relaxation, whose
colouring is a cover with a promised ratio. As many graphs are settled by branch and bound within a second, a short attempt follows;
the exact finish takes what time the search leaves.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.canonical import Instance
from solvers.graphs.course import BOUND_SHARE, EXACT_SHARE, LIKELY_EXACT_SHARE, SMALL_SHARE, Course
from solvers.graphs.cover_bounds import (
    clique_cover_bound,
    local_ratio_bound,
    matching_cover_bound,
    on_independent_sets,
    relaxation_bound,
)
from solvers.graphs.cover_candidates import MembershipCandidate, cover_candidates, independent_set_candidates
from solvers.graphs.cover_kernel import CoverKernel, CoverSpace, VertexComponent
from solvers.graphs.exact_finish import ExactFinish, ExactPart
from solvers.graphs.exact_independent_sets import (
    ATTEMPT,
    BY_CLOCK,
    BY_WORK,
    Effort,
    ends_by_cliques,
    finished_set,
    looks_finishable,
    set_at_once,
)
from solvers.graphs.guarantee import RatioGuarantee, colouring_guarantee, local_ratio_guarantee
from solvers.graphs.hochbaum import coloured_cover
from solvers.graphs.local_ratio import local_ratio_cover
from solvers.graphs.min_degree_greedy import completed_in_order, extended_greedily, min_degree_greedy
from solvers.graphs.progress import AsCounted, Complement, Progress
from solvers.graphs.search_parts import Candidate
from solvers.graphs.turns import Allowance
from solvers.graphs.vertex_search import advice_free_search, advice_search
from solvers.graphs.vertex_solution import total_weight

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
    course : Course

    Attributes
    ----------
    progress : Progress
    kernel : CoverKernel
    cover_guarantee : RatioGuarantee or None
        How many times the least weight the cover weighs at most, by the stages that were carried out.
    followed : FollowedRule or None
    """

    def __init__(self, instance: Instance, is_cover: bool, course: Course) -> None:
        self._is_cover = is_cover
        self._course = course
        self._clock = course.clock
        self.cover_guarantee: RatioGuarantee | None = None
        self.followed: FollowedRule | None = None
        kernel = CoverKernel(
            instance.num_vertices,
            instance.edges,
            instance.vertex_weights,
            instance.loops,
            stop=self._clock.after(REDUCTION_SHARE),
            is_over=self._clock.is_over,
        )
        self._clock.lap("reductions")
        self._finish = ExactFinish(course, kernel.components, set_at_once, looks_finishable)
        self._space = CoverSpace(kernel, self._finish.settle())
        self.kernel = kernel
        sense = Complement(total_weight(instance), kernel.is_integral) if is_cover else AsCounted()
        self.progress = course.keep(Progress(self._space, sense))
        self._components = [kernel.components[index] for index in self._space.open]
        self._has_finish = any(self._finish.has_prospects(index) for index in self._space.open)
        self._greedy = np.zeros(self._space.num_vertices, np.int8)
        self._clock.lap("exact")

    @property
    def weight_found(self) -> int:
        """Weight of the best independent set in kernel units, of the whole graph."""
        return self.progress.best.value + self._space.settled_value + self.kernel.reduction.constant

    def run(self) -> None:
        """Carry out the plan of the method until it is done or there is a reason to stop."""
        self.progress.start()
        # Whatever the time, there is an answer better than none.
        self._start_greedily()
        method = self._course.options.method
        self._course.follow(partial(stage, self) for stage in _STAGES[method])

    def _start_greedily(self) -> None:
        if not self._components:
            # What reductions settle leaves nothing to colour.
            self.cover_guarantee = colouring_guarantee(1.0)
            return
        csr, weights = self._space.csr, self._space.weights
        greedy = min_degree_greedy(csr, weights, stop=self._clock.is_over)
        # If that was cut short, the rest is taken as it comes.
        self._greedy = completed_in_order(csr, greedy, np.arange(len(greedy))).astype(np.int8)
        self.progress.offer_free(self._greedy, "greedy")
        if not self._clock.is_over():
            packed = local_ratio_cover(csr, weights)
            self.cover_guarantee = local_ratio_guarantee()
            self._offer_free(~packed.members, "local_ratio")
        self._clock.lap("greedy")

    # The search.

    def _search(self) -> None:
        """Let the two parts take turns, the bounds and a short attempt at the optimum coming in after their first."""
        self._course.search(
            self._advice_free_part, self._advice_part, (self._bound, self._attempt), finish_share=self._finish_share
        )

    @property
    def _finish_share(self) -> float:
        if not self._has_finish:
            return 0.0
        is_likely = all(ends_by_cliques(component) for component in self._components)
        return LIKELY_EXACT_SHARE if is_likely else EXACT_SHARE

    def _warm_up(self) -> None:
        self._course.warm_up(self._advice_free_part, self._advice_part)

    def _advice_free_part(self, allowance: Allowance, rng: np.random.Generator) -> Iterator[None]:
        progress = self.progress
        return advice_free_search(self._space, progress.offer_free, progress.free, self._greedy, allowance, rng)

    def _advice_part(self, allowance: Allowance, rng: np.random.Generator) -> Iterator[None]:
        progress = self.progress
        return advice_search(self._space, progress.offer_advised, progress.advised, self._candidates(), allowance, rng)

    def _candidates(self) -> Iterator[Candidate]:
        """Yield what the advice suggests of the graph without weightless vertices, as independent sets of the search space."""
        course = self._course
        if course.advice is None:
            return
        suggest = cover_candidates if self._is_cover else independent_set_candidates
        suggested: Iterator[MembershipCandidate] = suggest(
            course.advice.about(self.kernel.base_vertices),
            self.kernel.base,
            self.kernel.base_weights,
            method=course.options.method,
            threshold=course.options.threshold,
            stop=course.must_stop,
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
            if self._course.must_stop():
                return
        self._clock.lap("advice")

    def _offer_free(self, members: np.ndarray, source: str) -> None:
        extended = extended_greedily(self._space.csr, self._space.weights, members)
        self.progress.offer_free(extended.astype(np.int8), source)

    # The bounds.

    def _bound(self) -> None:
        """Bound every component by cliques and by the linear relaxation, and offer the cover that the latter's colouring gives."""
        stop = self._clock.after(BOUND_SHARE)
        independent = np.zeros(self._space.num_vertices, np.bool_)
        ratios: list[float | None] = []
        for part, component in enumerate(self._components):
            if self._course.must_stop() or stop():
                break
            csr = self._space.csr_of(part)
            self._offer_bound(part, component, clique_cover_bound(csr, component.weights, stop=stop)[0])
            coloured = coloured_cover(csr, component.weights, stop=stop)
            independent[self._space.slices[part]] = ~coloured.members
            ratios.append(coloured.ratio)
            self._offer_bound(part, component, relaxation_bound(coloured.relaxation))
            if not coloured.relaxation.is_optimal:
                self._offer_bound(part, component, local_ratio_bound(local_ratio_cover(csr, component.weights)))
                self._offer_bound(part, component, matching_cover_bound(csr, component.weights, stop=stop))
        self._clock.lap("bounds")
        if len(ratios) == len(self._components):
            proven = [ratio for ratio in ratios if ratio is not None]
            if len(proven) == len(ratios):
                self.cover_guarantee = colouring_guarantee(max(proven))
            self._offer_free(independent, "hochbaum")
            self._clock.lap("rounding")

    def _offer_bound(self, part: int, component: VertexComponent, on_covers: Bound) -> None:
        self.progress.offer_bound(part, on_independent_sets(on_covers, component.weights))

    # The exact methods.

    def _attempt(self) -> None:
        """Solve what takes a short while."""
        until = self._clock.end_of_share(SMALL_SHARE)
        self._solve(ATTEMPT, lambda: until - time.monotonic())

    def _finish_exactly(self) -> None:
        """Solve what is open, as far as the time goes."""
        if self._course.by_iterations:
            self._solve(BY_WORK, lambda: math.inf)
        else:
            self._solve(BY_CLOCK, lambda: self._clock.remaining)

    def _solve(self, effort: Effort, remaining: Callable[[], float]) -> None:
        def finished(
            component: VertexComponent, hint: np.ndarray, known: Bound, narrow: bool, seconds: float
        ) -> ExactPart | None:
            return finished_set(
                component,
                hint == 1,
                known,
                # An attempt leaves large tables to the finish.
                narrow=narrow and effort is not ATTEMPT,
                seed=self._course.options.seed,
                seconds=seconds,
                effort=effort,
                stop=self._course.must_stop,
            )

        self._finish.solve(self.progress, finished, remaining)


_STAGES: dict[str, tuple[Callable[[CoverPortfolio], None], ...]] = {
    "auto": (CoverPortfolio._search, CoverPortfolio._finish_exactly),
    "local_search": (CoverPortfolio._search,),
    "exact": (CoverPortfolio._warm_up, CoverPortfolio._bound, CoverPortfolio._finish_exactly),
    "paper": (CoverPortfolio._bound, CoverPortfolio._follow_the_paper),
    "greedy": (CoverPortfolio._bound,),
}
"""After the greedy sets, which always come first. ``sdp`` is for cuts alone."""
