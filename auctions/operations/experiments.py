"""Mechanisms compared on the same instances: a grid of simulations that goes on where it was stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from auctions.mechanism.budget import Mechanism
from auctions.mechanism.comparison import RUN_COLUMNS, TABLE_COLUMNS, as_csv, paired_tests, table_of
from auctions.mechanism.config import read_parameters
from auctions.mechanism.estimate import Estimate, estimate
from auctions.mechanism.experiment import RunSpec, run_all
from auctions.mechanism.simulation import configuration_of
from auctions.mechanism.workbench import PARTS
from auctions.operations.instance_source import InstanceForm, read_instance
from auctions.operations.mechanism_fields import (
    MOST_QUESTIONS,
    MOST_REPORTS,
    EstimateFields,
    MechanismName,
    ParameterFields,
    PresetName,
    Variants,
)
from auctions.operations.search_fields import RunOptions
from auctions.operations.supply import Flag, Integer, Number
from solvers.operation import Context, ForesolveError, InvalidInput, MapFailure, Operation, Resources, TooLarge

MOST_RUNS = 10_000

EXAMPLES: dict[str, dict[str, Any]] = {
    "Two clock auctions on two instances": {
        "domains": ["srvm"],
        "instance_seeds": [1, 2],
        "mechanisms": [
            {"name": "cca", "label": "slow", "parameters": {"increment": 0.2}},
            {"name": "cca", "label": "fast", "parameters": {"increment": 0.5}},
        ],
        "query_budget": 8,
        "report_at": [4],
        "baseline": "slow",
    },
}


class ComparedMechanism(BaseModel):
    """A mechanism as it stands in the tables."""

    model_config = ConfigDict(extra="forbid")

    name: MechanismName
    label: str | None = Field(None, min_length=1, max_length=200, description="What it is called; default: its name.")
    preset: PresetName = "default"
    parameters: ParameterFields = {}

    @property
    def called(self) -> str:
        """Its label."""
        return self.label or self.name


class ExperimentRequest(BaseModel):
    """Instances and mechanisms, every one of which runs on every instance with every seed."""

    model_config = ConfigDict(extra="forbid")

    instances: list[InstanceForm] | None = Field(None, min_length=1)
    domains: list[str] | None = Field(None, min_length=1, description="In place of `instances`, with `instance_seeds`.")
    instance_seeds: list[Integer] | None = Field(None, min_length=1, description="Make the bidders of every domain.")
    mechanisms: list[ComparedMechanism] = Field(min_length=1)
    seeds: list[Integer] = Field([0], min_length=1, description="Of the mechanisms' own draws.")
    query_budget: Integer | None = Field(None, ge=0, le=MOST_QUESTIONS, description="Questions per bidder; default: 100.")
    report_at: list[Integer] = Field([], max_length=MOST_REPORTS, description="Numbers of questions after which to compare.")
    bid_variants: Variants = ["clock"]
    baseline: str | None = Field(None, description="Label that the others are tested against.")
    confidence: Number = Field(0.95, gt=0, lt=1, description="Of the intervals.")
    estimate_only: Flag = False
    options: RunOptions = Field(default_factory=RunOptions)

    @field_validator("seeds", "instance_seeds", "domains")
    @classmethod
    def _distinct(cls, values: list[Any] | None) -> list[Any] | None:
        if values is not None and len(set(values)) < len(values):
            raise ValueError("one of them is there twice")
        return values

    @model_validator(mode="after")
    def _one_grid(self) -> ExperimentRequest:
        if (self.instances is None) == (self.domains is None):
            raise ValueError("give either instances or domains")
        if (self.domains is None) != (self.instance_seeds is None):
            raise ValueError("domains and instance_seeds go together")
        return self


class TableRow(BaseModel):
    """What a mechanism lost on the instances of a domain after a number of questions."""

    domain: str
    label: str
    variant: str
    questions: int
    n: int = Field(description="Runs behind the mean.")
    mean_loss_percent: float | None
    standard_error: float | None
    low: float | None = Field(description="Of the t interval; null below five runs.")
    high: float | None
    cleared_percent: float
    n_not_deterministic: int


class PairedTest(BaseModel):
    """A paired t test of losses on the same instances with the same seeds."""

    domain: str
    questions: int
    label: str
    baseline: str
    n: int = Field(description="Pairs.")
    mean_difference: float | None = Field(description="Loss of the label less that of the baseline, in percent.")
    low: float | None = Field(description="Of the t interval; null below five pairs.")
    high: float | None
    p_value: float | None


class RunLine(BaseModel):
    """A run after a number of questions, by one variant of bids."""

    domain: str
    instance_seed: int | None
    seed: int
    label: str
    mechanism: Mechanism
    preset: str
    variant: str
    questions: int
    demand_queries: int
    value_queries: int
    efficiency: float | None
    loss_percent: float | None
    revenue: float | None
    relative_revenue: float | None
    cleared: bool
    gap: float
    deterministic: bool
    seconds: float


class RunFailure(BaseModel):
    """A run that failed."""

    index: int = Field(description="Of the run: instances outermost, then mechanisms, then seeds.")
    problem: dict[str, Any]


class ExperimentFiles(BaseModel):
    """Ids of CSV files."""

    runs_csv: str
    table_csv: str


class ExperimentResult(BaseModel):
    """What the comparison says; with `estimate_only` the estimate alone."""

    estimate: EstimateFields
    n_runs: int = Field(description="That the grid has.")
    n_finished: int
    stopped_by: Literal["time_limit", "cancelled"] | None = Field(None, description="What ended it before all runs were done.")
    table: list[TableRow] = []
    tests: list[PairedTest] = []
    runs: list[RunLine] = []
    failures: list[RunFailure] = []
    files: ExperimentFiles | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """An instance of the grid: how runs name it, what domain it is of, and where the request has it."""

    form: dict[str, Any]
    domain: str
    pointer: str


def run_experiment(request: ExperimentRequest, context: Context) -> ExperimentResult:
    """Carry out a request."""
    return _Experiment(request, context).run()


class _Experiment:
    """An experiment at work, and the records as they stand."""

    def __init__(self, request: ExperimentRequest, context: Context) -> None:
        self._request = request
        self._context = context
        self._check_labels()
        self._places = _places(request, context)
        n_runs = len(self._places) * len(request.mechanisms) * len(request.seeds)
        if n_runs > MOST_RUNS:
            raise TooLarge(f"{n_runs} runs; an experiment has at most {MOST_RUNS}")
        self._estimate = self._estimated()
        self._specs = self._runs()
        self._records: dict[str, dict[str, Any]] = {}
        self._failures: list[RunFailure] = []
        self._stopped_by: Literal["time_limit", "cancelled"] | None = None
        self._longest = 0.0

    def run(self) -> ExperimentResult:
        """Run what is missing."""
        if self._request.estimate_only:
            return self._told()
        kept: Mapping[str, Any] = json.loads(self._context.resume) if self._context.resume else {}
        known = {spec.key for spec in self._specs}
        self._records = {key: record for key, record in kept.items() if key in known}
        self._report()
        self._last = self._context.elapsed
        results = run_all(
            self._specs,
            self._context.map,
            finished=dict(self._records),
            on_finished=self._keep,
            cancelled=self._is_over,
        )
        # What was not begun comes after all that was, so that the failures belong to the first runs without a record.
        failed = [outcome for outcome in results if isinstance(outcome, MapFailure)]
        without = [index for index, spec in enumerate(self._specs) if spec.key not in self._records]
        self._failures = [
            RunFailure(index=index, problem=failure.problem) for index, failure in zip(without, failed, strict=False)
        ]
        if len(self._records) + len(failed) == len(self._specs):
            self._stopped_by = None
        result = self._told()
        result.files = self._files(result)
        return result

    def _keep(self, key: str, record: dict[str, Any]) -> None:
        now = self._context.elapsed
        self._longest, self._last = max(self._longest, now - self._last), now
        self._records[key] = record
        self._context.checkpoint(json.dumps(self._records).encode())
        self._report()

    def _report(self) -> None:
        self._context.report(
            fraction=len(self._records) / len(self._specs),
            finished=len(self._records),
            runs=len(self._specs),
            estimate=self._estimate.seconds,
            snapshot=self._as_it_stands,
        )

    def _as_it_stands(self) -> ExperimentResult:
        return self._told().model_copy(update={"stopped_by": "cancelled" if self._context.cancelled else "time_limit"})

    def _is_over(self) -> bool:
        """Tell whether to end: on request, or when another run as long as the longest would not end in time."""
        if self._context.cancelled:
            self._stopped_by = "cancelled"
        elif self._context.remaining <= self._longest:
            self._stopped_by = "time_limit"
        return self._stopped_by is not None

    def _told(self) -> ExperimentResult:
        lines = self._lines()
        baseline, confidence = self._request.baseline, self._request.confidence
        tests = [] if baseline is None else paired_tests(lines, baseline, confidence=confidence)
        return ExperimentResult(
            estimate=self._estimate,
            n_runs=len(self._specs),
            n_finished=len(self._records),
            stopped_by=self._stopped_by,
            table=[TableRow.model_validate(row) for row in table_of(lines, confidence)],
            tests=[PairedTest.model_validate(test) for test in tests],
            runs=[RunLine.model_validate(line) for line in lines],
            failures=self._failures,
        )

    def _lines(self) -> list[dict[str, Any]]:
        finished = [self._records[spec.key] for spec in self._specs if spec.key in self._records]
        return [line for record in finished for line in record["lines"]]

    def _files(self, result: ExperimentResult) -> ExperimentFiles:
        runs = as_csv(self._lines(), RUN_COLUMNS)
        table = as_csv([row.model_dump() for row in result.table], TABLE_COLUMNS)
        save = self._context.files.save
        return ExperimentFiles(
            runs_csv=save(runs.encode(), name="runs.csv", media_type="text/csv"),
            table_csv=save(table.encode(), name="table.csv", media_type="text/csv"),
        )

    def _check_labels(self) -> None:
        labels = [mechanism.called for mechanism in self._request.mechanisms]
        for number, label in enumerate(labels):
            if label in labels[:number]:
                raise InvalidInput(f"two mechanisms are called {label!r}", pointer=f"/mechanisms/{number}/label")
        if self._request.baseline not in (None, *labels):
            raise InvalidInput(f"no mechanism is called {self._request.baseline!r}", pointer="/baseline")
        for place, seed in enumerate(self._request.seeds):
            if not 0 <= seed < 2**63:
                raise InvalidInput("a seed is an integer from 0 to 2^63 - 1", pointer=f"/seeds/{place}")

    def _estimated(self) -> EstimateFields:
        """Return the seconds of all runs, by those of one instance of each domain; what cannot be run is refused."""
        total = Estimate(dict.fromkeys(PARTS, 0.0))
        for domain in dict.fromkeys(place.domain for place in self._places):
            alike = [place for place in self._places if place.domain == domain]
            instance = read_instance(alike[0].form, self._context, pointer=alike[0].pointer)
            n_runs = len(alike) * len(self._request.seeds)
            for number, mechanism in enumerate(self._request.mechanisms):
                try:
                    parameters = read_parameters({"preset": mechanism.preset} | mechanism.parameters)
                    config = configuration_of(
                        instance, mechanism.name, self._request.seeds[0], self._request.query_budget, parameters
                    )
                except ForesolveError as fault:
                    if (fault.pointer or "").startswith("/parameters"):
                        fault.pointer = f"/mechanisms/{number}{fault.pointer}"
                    raise
                one = estimate(config)
                total = total + Estimate({part: n_runs * one.parts[part] for part in PARTS})
        return EstimateFields.of(total)

    def _runs(self) -> list[RunSpec]:
        request = self._request
        return [
            RunSpec(
                instance=place.form,
                mechanism=mechanism.name,
                label=mechanism.called,
                parameters={"preset": mechanism.preset} | mechanism.parameters,
                seed=seed,
                query_budget=request.query_budget,
                report_at=tuple(request.report_at),
                bid_variants=tuple(request.bid_variants),
            )
            for place in self._places
            for mechanism in request.mechanisms
            for seed in request.seeds
        ]


def _places(request: ExperimentRequest, context: Context) -> list[_Place]:
    """Return the instances of the grid, each read once so that a fault is told before anything runs."""
    if request.instances is not None:
        return [_given(form, context, f"/instances/{number}") for number, form in enumerate(request.instances)]
    assert request.domains is not None
    assert request.instance_seeds is not None
    places = []
    for number, domain in enumerate(request.domains):
        for place, seed in enumerate(request.instance_seeds):
            form = {"domain": domain, "seed": seed}
            try:
                instance = read_instance(form, context, pointer="")
            except ForesolveError as fault:
                fault.pointer = f"/domains/{number}" if fault.pointer == "/domain" else f"/instance_seeds/{place}"
                raise
            places.append(_Place(form, instance.domain, f"/instance_seeds/{place}"))
    return places


def _given(form: dict[str, Any], context: Context, pointer: str) -> _Place:
    instance = read_instance(form, context, pointer=pointer)
    # A run may be on a machine that has no such file, and is known by the whole of what it depends on.
    whole = form if "domain" in form and "schema" not in form else instance.to_dict()
    return _Place(whole, instance.domain, pointer)


EXPERIMENTS: Operation[ExperimentRequest, ExperimentResult] = Operation(
    name="auctions-experiments",
    path="auctions/experiments",
    request=ExperimentRequest,
    result=ExperimentResult,
    run=run_experiment,
    summary="Compare mechanisms on the same instances.",
    description="""
Every mechanism runs on every instance with every seed. The table has mean efficiency losses with t intervals; with a `baseline`, paired t
tests on the same instances and seeds. With fewer than five runs behind a mean only the runs speak: no interval, no test. A job that was
stopped is resumed with `POST /v1/jobs/{id}/resume` and runs only what is missing.
""",
    resources=Resources(time_limit=3600.0, memory_mb=4096),
    examples=EXAMPLES,
    volatile=("estimate", "runs.seconds", "files"),
)
