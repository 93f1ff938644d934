"""A whole auction with simulated bidders, followed round by round."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from auctions.domains.instance import Instance
from auctions.mechanism.config import read_parameters
from auctions.mechanism.estimate import estimate
from auctions.mechanism.parameters import Parameters
from auctions.mechanism.simulation import RoundTrace, Simulation, configuration_of, simulate
from auctions.mechanism.workbench import Workbench
from auctions.operations.instance_source import InstanceForm, read_instance
from auctions.operations.mechanism_fields import (
    MOST_QUESTIONS,
    MOST_REPORTS,
    EstimateFields,
    MechanismName,
    ParameterFields,
    PresetName,
    PricingRule,
    Variants,
)
from auctions.operations.search_fields import Outcome, RunOptions
from auctions.operations.supply import Flag, Integer
from solvers.operation import Context, ForesolveError, Operation, Resources

EXAMPLES: dict[str, dict[str, Any]] = {
    "A clock auction of twelve rounds": {
        "domain": "gsvm",
        "instance_seed": 1,
        "mechanism": "cca",
        "query_budget": 12,
        "bid_variants": ["clock", "raised"],
        "report_at": [6],
    },
    "How long a clock auction of 50 rounds would take": {
        "instance": {"domain": "srvm", "seed": 1},
        "mechanism": "cca",
        "query_budget": 50,
        "estimate_only": True,
    },
}


class SimulationRequest(BaseModel):
    """Bidders, a mechanism, and how many questions it may ask."""

    model_config = ConfigDict(extra="forbid")

    instance: InstanceForm | None = None
    domain: str | None = Field(None, max_length=100, description="In place of `instance`: drawn by `instance_seed`.")
    instance_seed: Integer | None = Field(None, description="Makes the bidders.")
    mechanism: MechanismName
    preset: PresetName = "default"
    seed: Integer = Field(0, ge=0, lt=2**63, description="Of the mechanism's own draws.")
    query_budget: Integer | None = Field(
        None, ge=0, le=MOST_QUESTIONS, description="Questions per bidder; 100 unless `parameters` has counts."
    )
    parameters: ParameterFields = {}
    report_at: list[Integer] = Field(
        [], max_length=MOST_REPORTS, description="Numbers of questions after which to say what the auction would come to."
    )
    bid_variants: Variants = ["clock"]
    activity_rule: Literal["off", "warn", "enforce"] = "off"
    estimate_only: Flag = Field(False, description="Say how long it would take, and do not run it.")
    options: RunOptions = Field(default_factory=RunOptions)

    @model_validator(mode="after")
    def _one_instance(self) -> SimulationRequest:
        if (self.instance is None) == (self.domain is None):
            raise ValueError("give either an instance or a domain")
        if (self.domain is None) != (self.instance_seed is None):
            raise ValueError("a domain and an instance_seed go together")
        return self

    def read_instance(self, context: Context) -> Instance:
        """Return the bidders and goods."""
        if self.instance is not None:
            return read_instance(self.instance, context)
        form = {"domain": self.domain, "seed": self.instance_seed}
        try:
            return read_instance(form, context, pointer="")
        except ForesolveError as fault:
            fault.pointer = {"/seed": "/instance_seed"}.get(fault.pointer or "", fault.pointer)
            raise

    def read_parameters(self) -> Parameters:
        """Return the parameters, those of the preset where nothing else is said."""
        return read_parameters({"preset": self.preset, "activity_rule": self.activity_rule} | self.parameters)


class QuestionCounts(BaseModel):
    """What a bidder was asked."""

    demand: int
    value: int
    empty: int = Field(description="Value queries about nothing.")
    repeated: int


class RoundSeconds(BaseModel):
    """Wall-clock time of a round's parts."""

    training: float
    search: float
    wdp: float


class RoundFields(BaseModel):
    """A round of the auction."""

    round: int
    phase: str
    kind: Literal["dq", "vq"] = Field(description="Demand query or value query.")
    prices: list[float] | None
    bundles: list[list[int] | None] | None = Field(description="Of each bidder the bundle whose value was asked.")
    answers: list[list[int] | float | None]
    over_demand: list[int] | None
    clearing_error: float | None = Field(description="Sum of squares of over- and under-demand.")
    predicted_clearing_error: float | None
    clearing_potential: float | None = Field(description="As the networks predicted it.")
    bids_welfare: float | None = Field(description="Of the best allocation by the bids so far.")
    efficiency: float | None = Field(description="Of that allocation, at true values.")
    loss_percent: float | None
    seconds: RoundSeconds


class ReportFields(BaseModel):
    """What the auction would have come to after a number of questions."""

    questions: int
    variant: str
    demand_queries: int
    value_queries: int
    efficiency: float | None
    loss_percent: float | None
    gap: float
    cleared: bool
    revenue: float | None = Field(description="At the end, by the auction's own bids.")


class SimulationFiles(BaseModel):
    """Files that belong to a simulation."""

    log: str = Field(description="Id of the auction's state as JSON, with the log of all events.")


class SimulationResult(BaseModel):
    """What the auction asked, what came of it, and how efficient that is; with `estimate_only` the estimate alone."""

    estimate: EstimateFields
    stopped_by: Literal["time_limit", "cancelled"] | None = Field(
        None, description="What ended the auction before its own end: then this is the result so far."
    )
    instance_seed: int | None = None
    seed: int | None = None
    mechanism: str | None = None
    outcome: Outcome | None = Field(None, description="The allocation, valued by the bids.")
    payments: list[float] | None = None
    pricing: PricingRule | None = Field(None, description="`clearing` whenever the last round cleared.")
    payments_error_bound: list[float] | None = None
    payments_exact: bool | None = None
    core: dict[str, Any] | None = Field(None, description="Of core-selecting payments: VCG payments, coalitions, blocking_gap.")
    revenue: float | None = None
    relative_revenue: float | None = Field(None, description="revenue / optimal_welfare.")
    efficiency: float | None = Field(None, description="Welfare at true values / optimal_welfare; null if that is 0.")
    loss_percent: float | None = None
    optimal_welfare: float | None = None
    optimal_bound: float | None = None
    cleared: bool | None = None
    clearing_prices: list[float] | None = None
    deterministic: bool | None = Field(None, description="Whether the same seeds give the same auction.")
    certificates: dict[str, Any] | None = Field(None, description="What the answers alone prove.")
    questions: list[QuestionCounts] | None = Field(None, description="Of each bidder.")
    rounds: list[RoundFields] | None = None
    reports: list[ReportFields] | None = None
    seconds: dict[str, float] | None = None
    files: SimulationFiles | None = None


def run_simulation(request: SimulationRequest, context: Context) -> SimulationResult:
    """Carry out a request."""
    instance = request.read_instance(context)
    parameters = request.read_parameters()
    config = configuration_of(instance, request.mechanism, request.seed, request.query_budget, parameters)
    expected = EstimateFields.of(estimate(config))
    if request.estimate_only:
        return SimulationResult(estimate=expected)
    context.report(fraction=0.0, estimate=expected.seconds)
    pace = _Pace(context)
    total = max(1, config.counts.total)

    def follow(trace: RoundTrace, so_far: Callable[[], Simulation]) -> None:
        pace.lap()
        context.report(
            fraction=min(1.0, trace.round.number / total),
            snapshot=lambda: _told(request, so_far(), expected, "cancelled" if context.cancelled else "time_limit"),
            **round_members(trace),
        )

    simulation = simulate(
        instance,
        request.mechanism,
        seed=request.seed,
        query_budget=request.query_budget,
        parameters=parameters,
        report_at=request.report_at,
        bid_variants=request.bid_variants,
        workbench=Workbench(cancelled=pace.is_over),
        on_round=follow,
    )
    result = _told(request, simulation, expected, pace.stopped_by)
    content = json.dumps(simulation.state.to_dict()).encode()
    result.files = SimulationFiles(log=context.files.save(content, name="auction.json", media_type="application/json"))
    return result


def round_members(trace: RoundTrace) -> dict[str, Any]:
    """Return what is shown of a round while the auction runs."""
    shown = trace.round
    return {
        "round": shown.number,
        "phase": shown.phase,
        "prices": None if shown.prices is None else [round(price, 6) for price in shown.prices],
        "over_demand": None if shown.over_demand is None else int(sum(max(0, units) for units in shown.over_demand)),
        "bids_welfare": trace.bids_welfare,
        "efficiency": trace.efficiency,
    }


class _Pace:
    """Tells when to end: on request, or when another round as long as the longest would not end in time."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._longest = 0.0
        self._last = context.elapsed
        self.stopped_by: Literal["time_limit", "cancelled"] | None = None

    def lap(self) -> None:
        """Take note that a round has ended."""
        now = self._context.elapsed
        self._longest, self._last = max(self._longest, now - self._last), now

    def is_over(self) -> bool:
        """Tell whether to end, and remember why."""
        if self.stopped_by is None:
            if self._context.cancelled:
                self.stopped_by = "cancelled"
            elif self._context.remaining <= self._longest:
                self.stopped_by = "time_limit"
        return self.stopped_by is not None


def _told(
    request: SimulationRequest,
    simulation: Simulation,
    expected: EstimateFields,
    stopped_by: Literal["time_limit", "cancelled"] | None,
) -> SimulationResult:
    document = simulation.to_dict()
    seed = request.instance_seed if request.instance is None else request.instance.get("seed")
    return SimulationResult.model_validate(
        document
        | {
            "estimate": expected,
            "stopped_by": stopped_by,
            "instance_seed": seed if isinstance(seed, int) else None,
            "seed": request.seed,
            "mechanism": request.mechanism,
        }
    )


SIMULATIONS: Operation[SimulationRequest, SimulationResult] = Operation(
    name="auctions-simulations",
    path="auctions/simulations",
    request=SimulationRequest,
    result=SimulationResult,
    run=run_simulation,
    summary="Run an auction with simulated bidders, and say how efficient it is.",
    description="""
MLHCA (Soumalias, Heiss, Weissteiner, Seuken, ICML 2025) and what it is compared with. The bidders answer truthfully; the mechanism sees
their values through answers only. `instance_seed` makes the bidders, `seed` the mechanism's own draws. Progress tells of every round; a
cancel or the time limit ends the auction with what its answers have come to so far. The mechanisms are not strategy-proof.
""",
    resources=Resources(time_limit=3600.0, memory_mb=4096),
    examples=EXAMPLES,
    volatile=(
        "estimate",
        "outcome.seconds",
        "rounds.seconds",
        "seconds",
        "files",
    ),
)
