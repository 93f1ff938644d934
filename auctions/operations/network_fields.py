"""Value networks of a request: in it, or in a file that `mvnn/fit` made."""

from __future__ import annotations

import json
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from auctions.networks.mvnn import MVNN
from auctions.operations.answer_fields import LimitFields
from auctions.operations.supply import Goods, Number
from solvers.operation import Context, ForesolveError, InvalidInput


class NetworkFields(BaseModel):
    """A network and the money in a unit of its output."""

    model_config = ConfigDict(extra="ignore")

    network: dict[str, Any] = Field(
        description="{m, capacities, layers: [{weight, bias, cutoff}], output_weight, skip_weight}, a row of `weight` per unit."
    )
    scale: Annotated[Number, Field(gt=0)] = Field(description="The network's output times this is the value of a bundle.")


class NetworkFile(BaseModel):
    """A file that `mvnn/fit` made."""

    model_config = ConfigDict(extra="forbid")

    file: str = Field(description="Id of the file.")


Networks = list[NetworkFields] | NetworkFile
BidderLimits = list[LimitFields | None]
_IN_FILE = TypeAdapter(list[NetworkFields])


def read_networks(networks: Networks, context: Context) -> list[MVNN]:
    """Return the networks, all of the same goods.

    Raises
    ------
    InvalidInput
        If one is malformed, with its place, or there is none.
    """
    if isinstance(networks, NetworkFile):
        fields, place = _in_file(networks.file, context), "/networks/file"
    else:
        fields, place = networks, None
    context.require("max_bidders", len(fields), "bidders", pointer="/networks")
    if not fields:
        raise InvalidInput("there is no network", pointer="/networks")
    models = []
    for index, one in enumerate(fields):
        try:
            models.append(MVNN.from_dict(one.network, one.scale))
        except ForesolveError as fault:
            pointer = f"/networks/{index}/network{fault.pointer or ''}" if place is None else place
            raise InvalidInput(f"network {index}: {fault.detail}", pointer=pointer) from None
        if models[-1].architecture.capacities != models[0].architecture.capacities:
            raise InvalidInput(
                f"network {index} is of other goods than network 0", pointer=place or f"/networks/{index}/network/capacities"
            )
    context.require("max_goods", models[0].architecture.n_goods, "goods", pointer="/networks")
    return models


def limited(models: list[MVNN], limits: BidderLimits | None) -> list[MVNN]:
    """Return the networks as those of bidders who may hold no more than the limits say."""
    if limits is None:
        return models
    if len(limits) != len(models):
        raise InvalidInput(f"{len(limits)} limits for {len(models)} networks", pointer="/limits")
    goods = goods_of(models)
    for bidder, (model, own) in enumerate(zip(models, limits, strict=True)):
        if own is not None:
            model.limits = own.limits(goods, f"/limits/{bidder}")
    return models


def goods_of(models: list[MVNN], names: list[str] | None = None) -> Goods:
    """Return the goods that networks are of."""
    capacities = models[0].architecture.capacities
    return Goods(np.array(capacities, dtype=np.int64), names or [f"good_{good}" for good in range(len(capacities))])


def _in_file(file_id: str, context: Context) -> list[NetworkFields]:
    try:
        with context.files.open(file_id) as stream:
            document = json.loads(stream.read())
        return _IN_FILE.validate_python(document["networks"])
    except ForesolveError as fault:
        raise type(fault)(fault.detail, pointer="/networks/file") from None
    except (ValueError, KeyError, TypeError, RecursionError, ValidationError):
        raise InvalidInput("the file holds no networks", pointer="/networks/file") from None
