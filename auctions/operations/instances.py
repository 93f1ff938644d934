"""Draw, import and keep instances of the value domains."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from auctions.operations.instance_source import InstanceForm, read_instance
from auctions.operations.search_fields import RunOptions
from solvers.operation import Context, Operation, Resources

EXAMPLES: dict[str, dict[str, Any]] = {
    "Seven bidders for 18 licences": {"instance": {"domain": "gsvm", "seed": 1}},
    "A smaller world, from NumPy's generator": {
        "instance": {
            "domain": "lsvm",
            "seed": 7,
            "rng": "numpy",
            "parameters": {"rows": 2, "columns": 3, "n_regional": 2},
        }
    },
}


class InstanceRequest(BaseModel):
    """An instance."""

    model_config = ConfigDict(extra="forbid")

    instance: InstanceForm
    options: RunOptions = Field(default_factory=RunOptions)


class InstanceSummary(BaseModel):
    """What an instance is."""

    domain: str
    n_bidders: int
    n_goods: int
    capacities: list[int] = Field(description="Units of each good.")
    good_names: list[str]
    bidder_types: list[str]
    monotone: bool = Field(description="Whether more of a good never lowers a value.")


class InstanceResult(BaseModel):
    """The whole instance, and where it is kept."""

    instance: dict[str, Any] = Field(description="In its schema; it can be sent back as it is.")
    file: str = Field(description="Id of a file with the same document, to be named as `{file: id}`.")
    summary: InstanceSummary


def run_instances(request: InstanceRequest, context: Context) -> InstanceResult:
    """Carry out a request."""
    instance = read_instance(request.instance, context)
    document = instance.to_dict()
    content = json.dumps(document, allow_nan=False).encode()
    return InstanceResult(
        instance=document,
        file=context.files.save(content, name=f"{instance.domain.lower()}.json", media_type="application/json"),
        summary=InstanceSummary(
            domain=instance.domain,
            n_bidders=instance.n_bidders,
            n_goods=instance.n_goods,
            capacities=instance.capacities.tolist(),
            good_names=list(instance.good_names),
            bidder_types=list(instance.bidder_types),
            monotone=instance.monotone,
        ),
    )


INSTANCES: Operation[InstanceRequest, InstanceResult] = Operation(
    name="auctions-instances",
    path="auctions/instances",
    request=InstanceRequest,
    result=InstanceResult,
    run=run_instances,
    summary="Draw or import an instance: goods, and bidders who value bundles of them.",
    description="""
The value models of SATS (Weiss, Lubin, Seuken, AAMAS 2017), the same to the last bit by seed, without Java. The answer holds every number
that values depend on, and names a file of the same content for later requests.
""",
    resources=Resources(time_limit=60.0),
    examples=EXAMPLES,
    volatile=("file",),
    from_file=lambda file_id: {"instance": {"file": file_id}},
)
