"""Which mechanism a request runs and how: the parameters, and what is told of the time it will take."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, Field, WithJsonSchema

from auctions.mechanism.budget import Mechanism
from auctions.mechanism.estimate import Estimate
from auctions.mechanism.parameters import Parameters, Preset
from auctions.mechanism.supplementary import Variant

MOST_QUESTIONS = 10_000
MOST_REPORTS = 1_000

ParameterFields: TypeAlias = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "type": "object",
            "description": "What differs from the preset, by name: " + ", ".join(sorted(Parameters.model_fields)) + ".",
        }
    ),
]

MechanismName: TypeAlias = Annotated[
    Mechanism,
    Field(
        description="`cca`: a clock auction; `ml_cca`: with demand queries chosen by networks; `mlca`, `boca`: value queries chosen by "
        "networks, by their mean or an upper bound; `mlhca`: both kinds."
    ),
]
PresetName: TypeAlias = Annotated[Preset, Field(description="`reference`: as published; `default`: with this project's repairs.")]
Variants: TypeAlias = Annotated[
    list[Variant],
    Field(
        min_length=1,
        max_length=4,
        description="Bids that reports go by: those the answers imply (`clock`), the same bundles at true value (`raised`), with the 5 or "
        "100 bundles of highest utility at the last clock prices (`profit_max_5`, `profit_max_100`).",
    ),
]
PricingRule = Literal["vcg", "core", "clearing", "pay_as_bid"]


class EstimateParts(BaseModel):
    """Seconds per part."""

    training: float
    search: float
    wdp: float


class EstimateFields(BaseModel):
    """Seconds that it is expected to take, told before it runs."""

    seconds: float
    low: float = Field(description="Half of it.")
    high: float = Field(description="Double of it.")
    parts: EstimateParts

    @classmethod
    def of(cls, estimate: Estimate) -> EstimateFields:
        """Return what is told of an estimate."""
        return cls.model_validate(estimate.to_dict())
