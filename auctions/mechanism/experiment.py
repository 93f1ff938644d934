"""Mechanisms compared on the same instances: a grid of simulations, and what it says.

Every run is a value of its own (:class:`RunSpec` in, plain JSON out), so that runs can be spread over processes, kept as they finish, and
taken up again after a stop. With fewer than five runs behind a mean only the runs speak: no interval, no test.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from importlib.metadata import version
from itertools import islice
from typing import Any

from auctions.domains import draw_instance, read_instance
from auctions.domains.instance import Instance
from auctions.mechanism.budget import Mechanism
from auctions.mechanism.simulation import simulate
from auctions.mechanism.supplementary import Variant
from auctions.outcome import AllocationResult

MapRuns = Callable[[Callable[["RunSpec"], dict[str, Any]], Iterable["RunSpec"]], Iterable[Any]]


@dataclass(frozen=True)
class RunSpec:
    """One simulation of an experiment.

    Attributes
    ----------
    instance : dict
        The arguments of :func:`~auctions.domains.draw_instance`, or a whole instance with its `schema`.
    mechanism : str
    label : str
        What the mechanism with its parameters is called in tables.
    parameters : dict
    seed : int
    query_budget : int, optional
    report_at : tuple of int
    bid_variants : tuple of str
    """

    instance: dict[str, Any]
    mechanism: Mechanism
    label: str
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    query_budget: int | None = None
    report_at: tuple[int, ...] = ()
    bid_variants: tuple[Variant, ...] = ("clock",)

    @property
    def key(self) -> str:
        """Names the run by all that its result depends on, the package's version included."""
        return _digest(asdict(self) | {"version": version("foresolve")})


def run_one(spec: RunSpec) -> dict[str, Any]:
    """Simulate one run and return its record, one line per number of questions and variant of bids."""
    instance, optimum = _instance_and_optimum(json.dumps(spec.instance, sort_keys=True))
    simulation = simulate(
        instance,
        spec.mechanism,
        seed=spec.seed,
        query_budget=spec.query_budget,
        parameters=spec.parameters,
        report_at=spec.report_at,
        bid_variants=spec.bid_variants,
        every_round=False,
        optimum=optimum,
    )
    shared = {
        "instance": _digest(spec.instance),
        "domain": instance.domain.lower(),
        "instance_seed": spec.instance.get("seed"),
        "seed": spec.seed,
        "label": spec.label,
        "mechanism": spec.mechanism,
        "preset": simulation.state.config.parameters.preset,
    }
    welfare = optimum.welfare
    lines = [
        shared
        | {
            "variant": report.variant,
            "questions": report.questions,
            "demand_queries": report.demand_queries,
            "value_queries": report.value_queries,
            "efficiency": report.efficiency,
            "loss_percent": report.loss_percent,
            "revenue": report.revenue,
            "relative_revenue": report.revenue / welfare if report.revenue is not None and welfare else None,
            "cleared": report.cleared,
            "gap": report.gap,
            "deterministic": simulation.deterministic,
            "seconds": simulation.seconds["total"],
        }
        for report in simulation.reports
    ]
    return {"key": spec.key, "lines": lines, "seconds": simulation.seconds, "questions": len(simulation.state.rounds)}


def run_all(
    specs: Sequence[RunSpec],
    map_runs: MapRuns,
    *,
    finished: Mapping[str, dict[str, Any]] | None = None,
    on_finished: Callable[[str, dict[str, Any]], None] | None = None,
    batch: int = 1,
    cancelled: Callable[[], bool] = lambda: False,
) -> list[Any]:
    """Run what is missing of an experiment and return all records in the order of `specs`.

    Parameters
    ----------
    specs : sequence of RunSpec
    map_runs : callable
        Applies a function to runs, in order, such as a context's `map`; what it puts in the place of a failed run is passed on.
    finished : mapping of str to dict, optional
        Records that are there already, by the runs' keys.
    on_finished : callable, optional
        Receives the key and record of every run as soon as its batch is done.
    batch : int
        Runs that are handed to `map_runs` at a time.
    cancelled : callable
        Asked between batches; what has not run by then is left out.
    """
    records = dict(finished or {})
    missing = iter([spec for spec in specs if spec.key not in records])
    failures: dict[str, Any] = {}
    while (group := list(islice(missing, batch))) and not cancelled():
        for spec, record in zip(group, map_runs(run_one, group), strict=True):
            if not isinstance(record, dict):
                failures[spec.key] = record
                continue
            records[spec.key] = record
            if on_finished is not None:
                on_finished(spec.key, record)
    return [records[spec.key] if spec.key in records else failures[spec.key] for spec in specs if spec.key in records | failures]


def _digest(document: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()[:32]


@lru_cache(maxsize=2)
def _instance_and_optimum(document: str) -> tuple[Instance, AllocationResult]:
    """Build an instance once for all the runs on it that follow each other in a process."""
    spec = json.loads(document)
    instance = read_instance(spec) if "schema" in spec else draw_instance(**spec)
    return instance, instance.efficient_allocation()
