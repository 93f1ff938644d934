"""How a run goes, whatever its problem: stages one after another, and a search whose two parts take turns.

The *advice-free part* never sees the advice; the *advice part* starts from it and comes on top. They alternate in slices that double.
What comes between, bounds above all, follows their first slices, so that there is an answer early and a bound soon after.

One absolute deadline covers everything. With `max_iterations` no stage looks at the clock: searches end by iterations, bounds by sweeps,
exact methods by work; then the same seed gives the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from solvers.graphs.account import Account
from solvers.graphs.advice import Advice
from solvers.graphs.request import SearchOptions
from solvers.graphs.run_clock import RunClock
from solvers.graphs.turns import Allowance, Turns
from solvers.operation import Context

SEARCH_SHARE, BOUND_SHARE, EXACT_SHARE = 0.70, 0.15, 0.15

# Where the search mostly finds the optimum early, and its time serves better to prove that.
LIKELY_EXACT_SHARE = 0.60

# Of the time, for what is cheap on most instances but not on the largest.
SMALL_SHARE = 0.05

STREAMS = 3

AnyAccount = TypeVar("AnyAccount", bound=Account[Any])

Stage = Callable[[], None]

Part = Callable[[Allowance, np.random.Generator], Iterator[None]]
"""Begins one part of a search."""


class Course:
    """The course of a run.

    Parameters
    ----------
    advice : Advice or None
    options : SearchOptions
    context : Context
    time_limit : float
        Seconds from the start of `context`, unless the options say otherwise.
    size : int
        Vertices and edges, or the like, of the answer that must be written in the end.

    Attributes
    ----------
    advice : Advice or None
        None as well if it says nothing.
    options : SearchOptions
    context : Context
    clock : RunClock
    streams : list of numpy.random.Generator
        One for each part of the search, and a third.
    by_iterations : bool
        Whether the clock only guards.
    on_progress : callable
        Called after every better value or bound.
    """

    def __init__(self, advice: Advice | None, options: SearchOptions, context: Context, *, time_limit: float, size: int) -> None:
        self.advice = None if advice is None or advice.is_empty else advice
        self.options = options
        self.context = context
        self.by_iterations = options.max_iterations is not None
        seconds = time_limit if options.time_limit is None else options.time_limit
        self.clock = RunClock(context, time_limit=seconds, size=size, counts_iterations=self.by_iterations)
        self.streams = [np.random.default_rng([options.seed, stream]) for stream in range(STREAMS)]
        self.on_progress: Callable[[], None] = lambda: None
        self._account: Account[Any] | None = None
        self._allowances: list[Allowance] = []

    def keep(self, account: AnyAccount) -> AnyAccount:
        """Take the account of what is found, which tells whether the run has reached its goal, and return it."""
        account.tell(lambda: self.context.elapsed, lambda: self.on_progress())
        self._account = account
        return account

    @property
    def account(self) -> Account[Any]:
        assert self._account is not None
        return self._account

    @property
    def is_exact(self) -> bool:
        """Whether the method proves optima as well as it can."""
        return self.options.method in ("auto", "exact")

    @property
    def iterations(self) -> int:
        """Iterations of local search so far, of both parts."""
        return sum(allowance.spent_iterations for allowance in self._allowances)

    @property
    def value_without_predictions(self) -> float:
        """Value of the advice-free part's best solution; with no predictions, of the best."""
        return self.account.value if self.advice is None else self.account.value_without_advice

    @property
    def stopped_by(self) -> str:
        """Why the run ended: a reason to stop, a spent allowance, or nothing left to do."""
        searched = bool(self._allowances) and self.options.method in ("auto", "local_search")
        return self.clock.how_it_ended(self._reason_to_stop(), searched=searched)

    def must_stop(self) -> bool:
        """Return whether there is a reason to end the run."""
        return self._reason_to_stop() is not None

    def follow(self, stages: Iterable[Stage]) -> None:
        """Carry out stages until all are done or there is a reason to stop."""
        for stage in stages:
            if self.must_stop():
                return
            stage()

    def search(self, free: Part, advised: Part, between: Iterable[Stage], *, finish_share: float) -> None:
        """Let the two parts take turns.

        Parameters
        ----------
        free, advised : callable
            Begin the parts; the second only if there is advice.
        between : iterable of callable
            Stages that come in after the parts' first slices.
        finish_share : float
            Of the time, what is kept for an exact finish; 0 where there is none.
        """
        turns = self._turns(free, advised, SEARCH_SHARE + EXACT_SHARE - finish_share)
        rounds = turns.rounds()
        next(rounds)
        self.follow(between)
        unused = BOUND_SHARE * self.clock.total - self.clock.timings.get("bounds", 0.0)
        # What the bounds left of their share is the search's but where the finish has better use for it.
        turns.give(min(0.0, unused) if finish_share > EXACT_SHARE else unused)
        for _ in rounds:
            if self.must_stop():
                return

    def warm_up(self, free: Part, advised: Part) -> None:
        """Let each part have its first slice."""
        next(self._turns(free, advised, SEARCH_SHARE).rounds())

    def _turns(self, free: Part, advised: Part, share: float) -> Turns:
        begins = [(free, self.streams[0])]
        if self.advice is not None:
            begins.insert(0, (advised, self.streams[1]))
        parts = []
        for begin, stream in begins:
            allowance = self._allowance(share / len(begins))
            parts.append((begin(allowance, stream), allowance))
        self._allowances = [allowance for _, allowance in parts]
        return Turns(parts, self.clock, self.must_stop)

    def _allowance(self, share: float) -> Allowance:
        if self.options.max_iterations is not None:
            return Allowance(iterations=self.options.max_iterations)
        return Allowance(seconds=share * self.clock.total)

    def _reason_to_stop(self) -> str | None:
        if self.account.is_optimal:
            return "optimal"
        if self.account.is_settled:
            return "completed"
        if self.options.target is not None and self.account.reaches(self.options.target):
            return "target"
        return self.clock.reason_to_stop()
