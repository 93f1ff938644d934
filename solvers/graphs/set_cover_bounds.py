"""Lower bounds on the cost of a set cover, each by itself."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from solvers.graphs.bound import Bound
from solvers.graphs.bound_attempts import NotApplicable
from solvers.graphs.cover_enumeration import MAX_SETS, enumerate_covers
from solvers.graphs.cover_progress import CoverProgress, LowerBound
from solvers.graphs.greedy_cover_sets import greedy_cover
from solvers.graphs.incidence import build_incidence
from solvers.graphs.integer_weights import to_integers
from solvers.graphs.lagrangian_bound import LARGEST_LP, Subgradient, exact_prices, lp_prices
from solvers.graphs.set_reductions import reduce_sets
from solvers.graphs.set_system import SetSystem
from solvers.operation import Context

ITERATIONS, ITERATIONS_PER_CALL = 2000, 20


class SetCoverAttempts:
    """Bounds on one set system; see :class:`solvers.graphs.bound_attempts.Attempts`.

    Parameters
    ----------
    system : SetSystem
        Every element in some set.
    context : Context
    """

    kinds: tuple[str, ...] = ("trivial", "enumeration", "lagrangian")
    maximises = False

    def __init__(self, system: SetSystem, context: Context) -> None:
        self._grid = to_integers(system.costs)
        self._incidence = build_incidence(system.num_elements, system.set_ptr, system.elements, self._grid.weights)
        self._context = context

    def attempt(self, kind: str) -> Bound:
        account = CoverProgress(reduce_sets(self._incidence, stop=self._must_stop), self._grid)
        if kind == "enumeration":
            self._enumerate(account)
        elif kind == "lagrangian":
            self._price(account)
        return Bound(account.bound, account.bound_kind, account.certificate())

    def _enumerate(self, account: CoverProgress) -> None:
        if self._incidence.num_sets > MAX_SETS:
            raise NotApplicable(f"{self._incidence.num_sets} sets are more than {MAX_SETS}")
        found = enumerate_covers(self._incidence, self._greedy(), stop=self._must_stop)
        if found is None:
            raise NotApplicable("time ran out")
        account.offer_bound(LowerBound("enumeration", Fraction(found.cost), {"kind": "enumeration"}))

    def _price(self, account: CoverProgress) -> None:
        """Raise prices of the elements by subgradients, then by the linear relaxation, if that is not too large."""
        reduction = account.reduction
        kernel = reduction.kernel
        members = np.zeros(kernel.num_sets, bool)
        members[greedy_cover(kernel)] = True
        ascent = Subgradient(kernel, kernel.cost_of(members))
        while not (ascent.converged or self._context.stop) and ascent.iterations_done < ITERATIONS:
            ascent.advance(ITERATIONS_PER_CALL)
        account.offer_prices(exact_prices(self._incidence, reduction.lift_multipliers(ascent.prices)))
        if 0 < len(kernel.elements) <= LARGEST_LP and not self._context.stop:
            found = lp_prices(kernel, time_limit=self._context.remaining, stop=self._must_stop)
            if found is not None:
                account.offer_prices(exact_prices(self._incidence, reduction.lift_multipliers(found.prices)))

    def _must_stop(self) -> bool:
        return self._context.stop

    def _greedy(self) -> np.ndarray:
        members = np.zeros(self._incidence.num_sets, bool)
        members[greedy_cover(self._incidence)] = True
        return members
