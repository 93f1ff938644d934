"""A whole auction with simulated bidders: what it asked, what came of it, and how efficient that was.

The mechanism sees values only through answers; the instance is asked for them here, and once more at the end to say what the allocation is
worth and what the best one would have been.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from auctions.bundles import Bundles
from auctions.domains.instance import Instance
from auctions.mechanism.budget import Mechanism
from auctions.mechanism.certified import Certificates, certificates_of
from auctions.mechanism.config import AuctionConfig
from auctions.mechanism.domain_tables import START_SHARE
from auctions.mechanism.parameters import Parameters
from auctions.mechanism.rules import configure
from auctions.mechanism.session import Session
from auctions.mechanism.settlement import Settlement, settle, winning_allocation
from auctions.mechanism.state import AuctionState, Round
from auctions.mechanism.supplementary import VARIANTS, Variant, variant_bids
from auctions.mechanism.truthful_bidders import bidders_of, start_prices_of, truthful_answer
from auctions.mechanism.workbench import PARTS, Part, Workbench
from auctions.outcome import AllocationResult
from solvers.operation import InvalidInput


@dataclass(frozen=True, slots=True)
class RoundTrace:
    """A round as the trace shows it.

    Attributes
    ----------
    round : Round
    bids_welfare, efficiency : float, optional
        Of the best allocation by the bids so far; None where the trace was not asked for.
    seconds : dict
        Wall-clock time per part, from the end of the round before to the end of this one.
    """

    round: Round
    bids_welfare: float | None
    efficiency: float | None
    seconds: dict[str, float]

    def to_dict(self) -> dict[str, Any]:
        """Return the trace as JSON values."""
        round_, notes = self.round, self.round.notes
        return {
            "round": round_.number,
            "phase": round_.phase,
            "kind": round_.kind,
            "prices": None if round_.prices is None else list(round_.prices),
            "bundles": None if round_.bundles is None else [None if x is None else list(x) for x in round_.bundles],
            "answers": [list(answer) if isinstance(answer, tuple) else answer for answer in round_.answers],
            "over_demand": None if round_.over_demand is None else list(round_.over_demand),
            "clearing_error": round_.clearing_error,
            "predicted_clearing_error": notes.get("predicted_clearing_error"),
            "clearing_potential": notes.get("clearing_potential"),
            "bids_welfare": self.bids_welfare,
            "efficiency": self.efficiency,
            "loss_percent": loss_percent(self.efficiency),
            "seconds": self.seconds,
        }


@dataclass(frozen=True, slots=True)
class Report:
    """What an auction would have come to after a number of questions.

    Attributes
    ----------
    questions : int
        Asked for; the auction may have ended before.
    variant : str
        Which bids decide.
    efficiency : float, optional
        None if the optimum is 0.
    gap : float
        Of the winner determination.
    revenue : float, optional
        Of the auction as it ended, in its last report by its own bids only.
    """

    questions: int
    variant: Variant
    demand_queries: int
    value_queries: int
    efficiency: float | None
    gap: float
    cleared: bool
    revenue: float | None = None

    @property
    def loss_percent(self) -> float | None:
        """The efficiency loss in percent."""
        return loss_percent(self.efficiency)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__} | {"loss_percent": self.loss_percent}


@dataclass(frozen=True, slots=True)
class Simulation:
    """A simulated auction.

    Attributes
    ----------
    state : AuctionState
        With the whole log.
    settlement : Settlement
    optimum : AllocationResult
        The efficient allocation of the instance.
    efficiency : float, optional
        None if the optimum is 0.
    trace : list of RoundTrace
    reports : list of Report
    certificates : Certificates
    deterministic : bool
        Whether the same seeds give the same auction.
    seconds : dict
        Wall-clock time per part, and in all.
    """

    state: AuctionState
    settlement: Settlement
    optimum: AllocationResult
    efficiency: float | None
    trace: list[RoundTrace]
    reports: list[Report]
    certificates: Certificates
    deterministic: bool
    seconds: dict[str, float]

    @property
    def cleared(self) -> bool:
        """Whether a round cleared, ended there or not."""
        return any(round_.cleared for round_ in self.state.rounds)

    def to_dict(self) -> dict[str, Any]:
        """Return the simulation as JSON values."""
        settlement, optimum = self.settlement, self.optimum
        outcome = settlement.outcome
        return {
            "outcome": {
                "allocation": outcome.allocation.tolist(),
                "values": outcome.values.tolist(),
                "welfare": outcome.welfare,
                "bound": outcome.bound,
                "gap": outcome.gap,
                "status": outcome.status,
                "stopped_by": outcome.stopped_by,
                "deterministic": outcome.deterministic,
                "method": outcome.method,
                "seconds": outcome.seconds,
            },
            "payments": settlement.payments.tolist(),
            "pricing": settlement.pricing,
            "payments_error_bound": settlement.error_bound.tolist(),
            "payments_exact": settlement.exact,
            "core": settlement.core,
            "revenue": settlement.revenue,
            "relative_revenue": settlement.revenue / optimum.welfare if optimum.welfare else None,
            "efficiency": self.efficiency,
            "loss_percent": loss_percent(self.efficiency),
            "optimal_welfare": optimum.welfare,
            "optimal_bound": optimum.bound,
            "cleared": self.cleared,
            "clearing_prices": None if settlement.clearing_prices is None else list(settlement.clearing_prices),
            "deterministic": self.deterministic,
            "certificates": self.certificates.to_dict(),
            "questions": questions_per_bidder(self.state),
            "rounds": [trace.to_dict() for trace in self.trace],
            "reports": [report.to_dict() for report in self.reports],
            "seconds": self.seconds,
        }


@dataclass(eq=False)
class _Run:
    """The parts of a simulation that its rounds add to."""

    instance: Instance
    session: Session
    optimum: AllocationResult
    report_at: tuple[int, ...]
    variants: tuple[Variant, ...]
    every_round: bool
    trace: list[RoundTrace] = field(default_factory=list)
    reports: list[Report] = field(default_factory=list)
    last: Bundles | None = None

    def report(self, questions: int) -> None:
        """Add a line per variant for what the auction would come to now."""
        for variant in self.variants:
            result = self.outcome(variant)
            self.reports.append(
                Report(
                    questions=questions,
                    variant=variant,
                    demand_queries=sum(round_.kind == "dq" for round_ in self.session.state.rounds),
                    value_queries=sum(round_.kind == "vq" for round_ in self.session.state.rounds),
                    efficiency=self.efficiency(result.allocation),
                    gap=result.gap,
                    cleared=any(round_.cleared for round_ in self.session.state.rounds),
                )
            )

    def outcome(self, variant: Variant = "clock") -> AllocationResult:
        """Return the allocation that would win now; after a round that ended the auction, its answers."""
        state = self.session.state
        if state.has_cleared:
            return settle(state).outcome
        return winning_allocation(state, self.session.workbench, variant_bids(state, self.instance, variant), self.last)

    def efficiency(self, allocation: Bundles) -> float | None:
        """Return the welfare of an allocation as a share of the optimum."""
        welfare = float(self.instance.allocation_values(allocation).sum())
        # A search for the optimum that was stopped may have found less than the auction has.
        best = max(self.optimum.welfare, welfare)
        return welfare / best if best > 0 else None

    def record(self, round_: Round, seconds: dict[Part, float]) -> None:
        """Add a closed round to the trace."""
        welfare = efficiency = None
        if self.every_round:
            result = self.outcome()
            self.last = result.allocation
            welfare, efficiency = result.welfare, self.efficiency(result.allocation)
        spent = self.session.workbench.seconds
        self.trace.append(RoundTrace(round_, welfare, efficiency, {part: spent[part] - seconds[part] for part in PARTS}))


def simulate(
    instance: Instance,
    mechanism: Mechanism = "mlhca",
    *,
    seed: int = 0,
    query_budget: int | None = None,
    parameters: Mapping[str, Any] | Parameters | None = None,
    report_at: Sequence[int] = (),
    bid_variants: Sequence[Variant] = ("clock",),
    every_round: bool = True,
    optimum: AllocationResult | None = None,
    workbench: Workbench | None = None,
    on_round: Callable[[RoundTrace, Callable[[], Simulation]], None] | None = None,
) -> Simulation:
    """Run an auction with truthful bidders.

    Parameters
    ----------
    instance : Instance
        Made by its own seed.
    mechanism : {"cca", "ml_cca", "mlca", "boca", "mlhca"}
    seed : int
        Of the mechanism's draws.
    query_budget : int, optional
        Questions per bidder; 100 unless said otherwise.
    parameters : mapping or Parameters, optional
    report_at : sequence of int
        Numbers of questions after which to say what the auction would come to; the end is always reported.
    bid_variants : sequence of {"clock", "raised", "profit_max_5", "profit_max_100"}
        Which bids the reports go by.
    every_round : bool
        Whether the trace has the welfare of every round.
    optimum : AllocationResult, optional
        The efficient allocation, if it is known already.
    workbench : Workbench, optional
    on_round : callable, optional
        Sees every round as it is traced, with a function that returns the auction as if it ended there.

    Raises
    ------
    InvalidInput
        If something is malformed.

    Examples
    --------
    >>> from auctions.domains import srvm
    >>> simulation = simulate(srvm(1), "cca", query_budget=5)
    >>> len(simulation.trace), 0 <= simulation.efficiency <= 1
    (5, True)
    """
    started = time.perf_counter()
    workbench = Workbench() if workbench is None else workbench
    for index, variant in enumerate(bid_variants):
        if variant not in VARIANTS:
            raise InvalidInput(
                f"there is no variant {variant!r}; there are {', '.join(VARIANTS)}", pointer=f"/bid_variants/{index}"
            )
    session = Session.start(configuration_of(instance, mechanism, seed, query_budget, parameters), workbench)
    optimum = instance.efficient_allocation(cancelled=workbench.cancelled) if optimum is None else optimum
    workbench.deterministic &= optimum.deterministic
    run = _Run(instance, session, optimum, tuple(sorted(set(report_at))), tuple(bid_variants), every_round)

    def so_far() -> Simulation:
        settlement = settle(session.state, workbench)
        return Simulation(
            state=session.state,
            settlement=settlement,
            optimum=optimum,
            efficiency=run.efficiency(settlement.allocation),
            trace=list(run.trace),
            reports=list(run.reports),
            certificates=certificates_of(session.state, settlement.allocation),
            deterministic=workbench.deterministic,
            seconds={part: workbench.seconds[part] for part in PARTS} | {"total": time.perf_counter() - started},
        )

    questions = 0
    while not workbench.cancelled():
        before = {part: workbench.seconds[part] for part in PARTS}
        round_ = session.advance()
        if round_ is None:
            break
        _answer_all(session, instance, round_)
        questions += any(round_.asked)
        run.record(round_, before)
        if on_round is not None:
            on_round(run.trace[-1], so_far)
        if questions in run.report_at:
            run.report(questions)
    for later in run.report_at:
        if later > questions:
            run.report(later)
    if workbench.cancelled():
        workbench.deterministic = False
    total = session.state.config.counts.total
    if total not in run.report_at:
        run.report(total)
    simulation = so_far()
    reports = [
        replace(report, revenue=simulation.settlement.revenue)
        if report.variant == "clock" and report.questions == max(total, questions)
        else report
        for report in run.reports
    ]
    return replace(simulation, reports=reports)


def configuration_of(
    instance: Instance,
    mechanism: Mechanism,
    seed: int = 0,
    query_budget: int | None = None,
    parameters: Mapping[str, Any] | Parameters | None = None,
) -> AuctionConfig:
    """Return the configuration of an auction of an instance's goods among its bidders."""
    return configure(
        mechanism,
        instance.capacities.tolist(),
        bidders=bidders_of(instance),
        domain=instance.domain.lower(),
        start_prices=start_prices_of(instance, START_SHARE),
        query_budget=query_budget,
        parameters=parameters,
        seed=seed,
    )


def questions_per_bidder(state: AuctionState) -> list[dict[str, int]]:
    """Return how many questions each bidder was asked: of each kind, about the empty bundle, and for the second time."""
    counts = [{"demand": 0, "value": 0, "empty": 0, "repeated": 0} for _ in state.bidders]
    seen: list[set[Any]] = [set() for _ in state.bidders]
    for round_ in state.rounds:
        for bidder, count in enumerate(counts):
            if not round_.asked[bidder]:
                continue
            question = round_.prices if round_.bundles is None else round_.bundles[bidder]
            assert question is not None
            count["demand" if round_.kind == "dq" else "value"] += 1
            count["empty"] += round_.kind == "vq" and not any(question)
            count["repeated"] += (round_.kind, question) in seen[bidder]
            seen[bidder].add((round_.kind, question))
    return counts


def loss_percent(efficiency: float | None) -> float | None:
    """Return the efficiency loss in percent.

    Examples
    --------
    >>> loss_percent(0.75)
    25.0
    """
    return None if efficiency is None else 100 * (1 - efficiency)


def _answer_all(session: Session, instance: Instance, round_: Round) -> None:
    for bidder, is_asked in enumerate(round_.asked):
        if is_asked:
            session.answer(bidder, truthful_answer(instance, bidder, round_))
    if round_.is_open:
        session.close_round()
