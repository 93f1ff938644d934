"""One MaxCut run: what is tried in which order.

Reductions come first, then the search, in the middle of which come the bounds: odd cycles, then the semidefinite relaxation, whose
rounded cuts are starts of the advice-free part (Goemans and Williamson, "Improved Approximation Algorithms for Maximum Cut and
Satisfiability Problems Using Semidefinite Programming", Journal of the ACM 42, 1995). The exact finish comes last.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from solvers.graphs.annealing import descend
from solvers.graphs.bound import Bound
from solvers.graphs.candidates import advice_candidates
from solvers.graphs.course import BOUND_SHARE, EXACT_SHARE, SMALL_SHARE, Course
from solvers.graphs.cut_search import advice_free_search, advice_search
from solvers.graphs.exact_cuts import LARGEST_FOR_CP_SAT, cut_at_once, cut_without_conflict, finished_cut
from solvers.graphs.exact_finish import ExactFinish, ExactPart
from solvers.graphs.greedy_cut import greedy_cut
from solvers.graphs.kernel import Component, Kernel, SearchSpace
from solvers.graphs.low_rank_sdp import LowRankSdp
from solvers.graphs.odd_cycles import OddCyclePacking
from solvers.graphs.progress import Progress
from solvers.graphs.rounding import hyperplane_sides
from solvers.graphs.search_parts import Candidate
from solvers.graphs.turns import Allowance

# For the relaxation where nothing else follows but its proof.
WHOLE_SHARE = 0.8

SDP_SWEEPS = 20
HYPERPLANES = 128
ROUNDED_STARTS = 8


class CutPortfolio:
    """A MaxCut run.

    Parameters
    ----------
    num_vertices : int
    edges : int32 array of shape (m, 2)
    weights : array of shape (m,)
    course : Course

    Attributes
    ----------
    progress : Progress
    solved_prefix : int or None
        Heaviest edges that each row of the advice's linear program lost, if it was solved.
    rounded_relaxation : bool
        Whether the semidefinite relaxation was rounded by all hyperplanes.
    """

    def __init__(self, num_vertices: int, edges: np.ndarray, weights: np.ndarray, course: Course) -> None:
        self._course = course
        self._clock = course.clock
        self._roundings: list[np.ndarray] = []
        self._packings: dict[int, OddCyclePacking] = {}
        self.solved_prefix: int | None = None
        self.rounded_relaxation = False
        kernel = Kernel(num_vertices, edges, weights, stop=self._clock.is_over)
        self._clock.lap("reductions")
        self._finish = ExactFinish(
            course, kernel.components, cut_at_once, lambda component: component.num_vertices <= LARGEST_FOR_CP_SAT
        )
        space = SearchSpace(kernel, self._finish.settle(cut_without_conflict))
        self.progress = course.keep(Progress(space))
        self._components = [kernel.components[index] for index in space.open]
        self._has_finish = any(self._finish.has_prospects(index) for index in space.open)
        self._clock.lap("exact")

    def run(self) -> None:
        """Carry out the plan of the method until it is done or there is a reason to stop."""
        self.progress.start()
        if not self._components:
            # Solved, though weights of very different sizes may keep the bound, which allows for their rounding, above the value.
            return
        # Whatever the time, there is an answer better than none.
        self._start_greedily()
        method = self._course.options.method
        self._course.follow(partial(stage, self) for stage in _STAGES[method])

    def _start_greedily(self) -> None:
        csr = self.progress.space.csr
        sides, _ = descend(csr, greedy_cut(csr), stop=self._clock.is_over)
        self.progress.offer_free(sides, "greedy")
        self._clock.lap("greedy")

    # The search.

    def _search(self) -> None:
        """Let the two parts take turns, the bounds coming in after their first."""
        finish_share = EXACT_SHARE if self._has_finish else 0.0
        self._course.search(
            self._advice_free_part, self._advice_part, (self._bound_cheaply, self._relax), finish_share=finish_share
        )

    def _warm_up(self) -> None:
        self._course.warm_up(self._advice_free_part, self._advice_part)

    def _advice_free_part(self, allowance: Allowance, rng: np.random.Generator) -> Iterator[None]:
        progress = self.progress
        return advice_free_search(progress.space, progress.offer_free, progress.free, self._rounded_start, allowance, rng)

    def _advice_part(self, allowance: Allowance, rng: np.random.Generator) -> Iterator[None]:
        progress = self.progress
        return advice_search(progress.space, progress.offer_advised, progress.advised, self._candidates(), allowance, rng)

    def _rounded_start(self, index: int) -> np.ndarray | None:
        return self._roundings[index % len(self._roundings)] if self._roundings else None

    def _candidates(self) -> Iterator[Candidate]:
        course = self._course
        if course.advice is None:
            return
        for candidate in advice_candidates(
            course.advice,
            self.progress.kernel.original_csr,
            method=course.options.method,
            threshold=course.options.threshold,
            remaining=lambda: course.clock.remaining,
            max_iterations=course.options.max_iterations,
            stop=course.must_stop,
        ):
            if candidate.source == "wide_lp":
                self.solved_prefix = candidate.threshold
            yield candidate.source, candidate.threshold, self.progress.space.from_original(candidate.sides)

    def _follow_the_paper(self) -> None:
        """Take the advice's own cuts; the low-degree part is the rounded relaxation."""
        for source, threshold, sides in self._candidates():
            if self._course.must_stop():
                return
            local, _ = descend(self.progress.space.csr, sides)
            self.progress.offer_advised(local, source, threshold)
        self._clock.lap("advice")

    # The bounds.

    def _bound_cheaply(self) -> None:
        stop = self._clock.after(SMALL_SHARE)
        for part in range(len(self._components)):
            if stop():
                break
            self._pack(part, stop)
        self._clock.lap("bounds")

    def _pack(self, part: int, stop: Callable[[], bool]) -> None:
        """Offer the bound of the component's odd cycles, more of them every time."""
        if part not in self._packings:
            self._packings[part] = OddCyclePacking(self.progress.space.csr_of(part))
        packing = self._packings[part]
        packing.advance(stop)
        self.progress.offer_bound(part, packing.bound())

    def _relax(self) -> None:
        """Solve the semidefinite relaxation, offer its bounds, or those of more odd cycles where it has no proof, and round it."""
        share = WHOLE_SHARE if self._course.options.method in ("sdp", "paper") else BOUND_SHARE
        stop = self._clock.after(share)
        # A proof may take the exact finish's share as well where there is nothing to finish.
        proof_share = share if self._has_finish else min(1.0, share + EXACT_SHARE)
        proven_by, is_proof_due = self._clock.end_of_share(proof_share), self._clock.after(proof_share)
        roundings = [np.zeros((HYPERPLANES, component.num_vertices), np.int8) for component in self._components]
        for part in range(len(self._components)):
            if self._course.must_stop() or stop():
                break
            relaxation = LowRankSdp(self.progress.space.csr_of(part), seed=int(self._course.streams[2].integers(2**62)))
            while not (relaxation.converged or self._course.must_stop() or stop()):
                relaxation.advance(SDP_SWEEPS)
            roundings[part] = hyperplane_sides(relaxation.vectors, HYPERPLANES, self._course.streams[2])
            if not self._prove(part, relaxation, proven_by):
                self._pack(part, is_proof_due)
        self._clock.lap("bounds")
        self._round(np.concatenate(roundings, axis=1))
        self._clock.lap("rounding")

    def _prove(self, part: int, relaxation: LowRankSdp, proven_by: float) -> bool:
        """Offer the relaxation's bounds of a component; return whether any could be proven in time."""
        deadline = None if math.isinf(proven_by) else proven_by
        is_proven = False
        for prove in (relaxation.dual_bound, relaxation.eigenvalue_bound):
            bound = prove(integral=False, deadline=deadline, stop=self._course.must_stop)
            if bound is not None:
                self.progress.offer_bound(part, bound)
                is_proven = True
            if relaxation.converged:
                # Then the other bound, of a constant y, is not better.
                break
        return is_proven

    def _round(self, cuts: np.ndarray) -> None:
        space = self.progress.space
        descended: list[tuple[int, np.ndarray]] = []
        stop = self._clock.after(SMALL_SHARE)
        for sides in cuts:
            if self._course.must_stop() or (descended and stop()):
                break
            local, _ = descend(space.csr, sides)
            self.progress.offer_free(local, "sdp_rounding")
            descended.append((int(space.part_values(local).sum()), local))
        self.rounded_relaxation = len(descended) == len(cuts)
        descended.sort(key=lambda pair: -pair[0])
        self._roundings = [local for _, local in descended[:ROUNDED_STARTS]]

    # The exact methods.

    def _finish_exactly(self) -> None:
        """Solve what is open, as far as the time goes."""
        self._finish.solve(self.progress, self._finished, lambda: self._clock.remaining)

    def _finished(self, component: Component, hint: np.ndarray, known: Bound, narrow: bool, seconds: float) -> ExactPart | None:
        course = self._course
        return finished_cut(
            component,
            hint,
            known,
            narrow=narrow,
            seed=course.options.seed,
            seconds=seconds,
            by_work=course.by_iterations,
            stop=course.must_stop,
        )


_STAGES: dict[str, tuple[Callable[[CutPortfolio], None], ...]] = {
    "auto": (CutPortfolio._search, CutPortfolio._finish_exactly),
    "local_search": (CutPortfolio._search,),
    "exact": (CutPortfolio._warm_up, CutPortfolio._bound_cheaply, CutPortfolio._relax, CutPortfolio._finish_exactly),
    "sdp": (CutPortfolio._relax,),
    "paper": (CutPortfolio._bound_cheaply, CutPortfolio._follow_the_paper, CutPortfolio._relax),
    "greedy": (CutPortfolio._bound_cheaply,),
}
"""After the greedy cut, which always comes first."""
