"""Learn what bundles are worth to bidders from what they chose and said."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from auctions.networks.hyperparameters import Hyperparameters, hyperparameters
from auctions.networks.initialisation import Initialisation
from auctions.networks.mvnn import MVNN
from auctions.networks.training import TrainingOptions
from auctions.operations.answer_fields import DemandAnswerFields, LimitFields, read_demand_answers, read_value_answers
from auctions.operations.bid_fields import BidFields
from auctions.operations.network_fields import NetworkFields
from auctions.operations.search_fields import RunOptions
from auctions.operations.supply import Flag, Goods, Integer, Number, Supply
from solvers.operation import Conflict, Context, ForesolveError, Operation, Resources

MOST_ANSWERS = 10_000
INITIALISATION = ("init_E", "init_Var", "init_b", "init_bias", "init_little_const", "cutoff_range", "initialisation")

EXAMPLES: dict[str, dict[str, Any]] = {
    "Two bidders, who chose and who said": {
        "capacities": [2, 1],
        "good_names": ["slot", "room"],
        "bidders": [
            {
                "demand": [{"prices": [10, 15], "bundle": [2, 1]}, {"prices": [25, 30], "bundle": {"slot": 1}}],
                "value": [{"bundle": [2, 0], "value": 55}],
            },
            {"value": [{"bundle": [1, 0], "value": 30}, {"bundle": [1, 1], "value": 48}], "hyperparameters": {"epochs": 100}},
        ],
        "phase": "value",
        "seed": 1,
    },
}


class HyperparameterFields(BaseModel):
    """Changes to the size, the start and the training of a network; what is left out is the table's."""

    model_config = ConfigDict(extra="forbid")

    hidden_layer_sizes: list[Integer] | None = Field(None, max_length=10)
    skip_connection: Flag | None = Field(None, description="Whether goods also act linearly.")
    learning_rate: Number | None = Field(None, gt=0, le=10)
    weight_decay: Number | None = Field(None, ge=0, le=10)
    epochs: Integer | None = Field(None, ge=1, le=100_000)
    loss: Literal["mae", "mse"] | None = Field(None, description="Of value answers.")
    cached_solution_frequency: Integer | None = Field(None, ge=1, le=100_000)
    batch_size_vq: Integer | None = Field(None, ge=1, le=10_000)
    clip_grad_norm: Number | None = Field(None, gt=0)
    refresh: Literal["epoch", "step"] | None = None
    initialisation: Literal["custom", "glorot", "zero"] | None = None
    init_E: Number | None = Field(None, gt=0)
    init_Var: Number | None = Field(None, gt=0)
    init_b: Number | None = Field(None, ge=0)
    init_bias: Number | None = Field(None, ge=0)
    init_little_const: Number | None = Field(None, ge=0)
    cutoff_range: list[Number] | None = Field(None, min_length=2, max_length=2)

    def changed(self, settings: Hyperparameters) -> Hyperparameters:
        """Return the settings with the changes made."""
        given = self.model_dump(exclude_none=True)
        start = {name: given.pop(name) for name in INITIALISATION if name in given}
        if "initialisation" in start:
            start["scheme"] = start.pop("initialisation")
        if "cutoff_range" in start:
            start["cutoff_range"] = tuple(start["cutoff_range"])
        sizes = given.pop("hidden_layer_sizes", None)
        skip = given.pop("skip_connection", None)
        initialisation: Initialisation = replace(settings.initialisation, **start)
        options: TrainingOptions = replace(settings.options, **given)
        return Hyperparameters(
            settings.hidden_layer_sizes if sizes is None else tuple(sizes),
            settings.skip_connection if skip is None else skip,
            options,
            initialisation,
        )


class LearnedBidder(BaseModel):
    """A bidder's answers."""

    model_config = ConfigDict(extra="forbid")

    demand: list[DemandAnswerFields] = Field([], max_length=MOST_ANSWERS, description="What it chose at prices.")
    value: list[BidFields] = Field([], max_length=MOST_ANSWERS, description="What it said that bundles are worth.")
    scale: Number | None = Field(
        None, gt=0, description="Money in a unit of the network; default: the greatest value that the answers name or imply."
    )
    limits: LimitFields | None = Field(None, description="What it may hold at most.")
    bidder_type: str | None = Field(None, max_length=100, description="Picks the table where the domain has several.")
    hyperparameters: HyperparameterFields = Field(default_factory=HyperparameterFields)


class MvnnFitRequest(Supply):
    """Answers of bidders."""

    bidders: list[LearnedBidder] = Field(min_length=1)
    phase: Literal["demand", "value"] = Field(description="Which questions come next: picks the hyper-parameters.")
    domain: str | None = Field(None, max_length=100, description="Whose table of hyper-parameters to take, such as gsvm.")
    seed: Integer = Field(0, ge=0, lt=2**63, description="Of first parameters and visiting orders.")
    options: RunOptions = Field(default_factory=RunOptions)


class LossCurves(BaseModel):
    """Mean loss of each epoch, in units of the network; empty without answers of the kind."""

    demand: list[float]
    value: list[float]


class LearnedNetwork(NetworkFields):
    """A bidder's network."""

    loss_curve: LossCurves
    n_parameters: int
    monotonicity_violations: int = Field(description="Pairs of value answers that no monotone value has.")
    deterministic: bool = Field(description="Whether the same request gets the same network.")


class MvnnFitResult(BaseModel):
    """Networks of all bidders."""

    networks: list[LearnedNetwork]
    file: str = Field(description="Id of a file with the networks, to be named as `{file: id}`.")


def run_mvnn_fit(request: MvnnFitRequest, context: Context) -> MvnnFitResult:
    """Carry out a request."""
    goods = request.goods(context)
    context.require("max_bidders", len(request.bidders), "bidders", pointer="/bidders")
    models = [_untrained(bidder, request, goods, number) for number, bidder in enumerate(request.bidders)]
    answers = [
        (
            read_demand_answers(bidder.demand, goods, f"/bidders/{number}/demand"),
            read_value_answers(bidder.value, goods, f"/bidders/{number}/value"),
        )
        for number, bidder in enumerate(request.bidders)
    ]
    networks = []
    for number, ((model, options), (demand, value)) in enumerate(zip(models, answers, strict=True)):
        if context.stop:
            raise Conflict(f"time ran out, or the job was cancelled, after {number} of {len(models)} networks")
        model.fit(demand, value, scale=request.bidders[number].scale, options=options)
        networks.append(_told(model))
        context.report(fraction=(number + 1) / len(models), networks=number + 1)
    content = json.dumps({"networks": [network.model_dump(include={"network", "scale"}) for network in networks]}).encode()
    return MvnnFitResult(networks=networks, file=context.files.save(content, name="networks.json", media_type="application/json"))


def _untrained(bidder: LearnedBidder, request: MvnnFitRequest, goods: Goods, number: int) -> tuple[MVNN, TrainingOptions]:
    try:
        settings = hyperparameters(request.domain, bidder.bidder_type, request.phase)
    except ForesolveError as fault:
        fault.pointer = f"/bidders/{number}/bidder_type"
        raise
    try:
        settings = bidder.hyperparameters.changed(settings)
        model = MVNN(
            goods.capacities.tolist(),
            settings.hidden_layer_sizes,
            settings.skip_connection,
            initialisation=settings.initialisation,
            random_state=np.random.default_rng([request.seed, number]),
        )
    except ForesolveError as fault:
        fault.pointer = f"/bidders/{number}/hyperparameters{fault.pointer or ''}"
        raise
    if bidder.limits is not None:
        model.limits = bidder.limits.limits(goods, f"/bidders/{number}/limits")
    return model, settings.options


def _told(model: MVNN) -> LearnedNetwork:
    curves = model.loss_curve_
    return LearnedNetwork(
        network=model.to_dict(),
        scale=model.scale_,
        loss_curve=LossCurves(demand=_known(curves.demand), value=_known(curves.value)),
        n_parameters=model.architecture.n_parameters,
        monotonicity_violations=model.monotonicity_violations_,
        deterministic=True,
    )


def _known(losses: NDArray[np.float64]) -> list[float]:
    return [] if np.isnan(losses).all() else losses.tolist()


def warm() -> None:
    """Compile, or load, what the first request would wait for."""
    for body in EXAMPLES.values():
        run_mvnn_fit(MvnnFitRequest.model_validate(body), Context())


MVNN_FIT: Operation[MvnnFitRequest, MvnnFitResult] = Operation(
    name="auctions-mvnn-fit",
    path="auctions/mvnn/fit",
    request=MvnnFitRequest,
    result=MvnnFitResult,
    run=run_mvnn_fit,
    summary="Learn monotone value networks from choices at prices and from values.",
    description="""
A network of non-negative weights and bounded units is 0 for nothing and never falls where a bundle grows (Weissteiner et al., IJCAI 2022;
Soumalias et al., AAAI 2024 and ICML 2025). A choice trains it by the regret that it predicts for it, a value by its error.
""",
    resources=Resources(time_limit=600.0),
    examples=EXAMPLES,
    volatile=("file",),
    warm=warm,
)
