"""How an auction is run: every choice that a mechanism leaves open, and the two presets that make them all.

"reference" is the published mechanism as its authors' code runs it; "default" adds this project's repairs. A single parameter overrides
either.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from auctions.mechanism.budget import COUNTS

Preset = Literal["reference", "default"]

PRESETS: dict[str, dict[str, Any]] = {
    "reference": {
        "stop_on_clear": False,
        "stop_when_stalled": False,
        "clearing_test": "exact",
        "refresh": "step",
        "marginal_economies": "random",
        "skip_empty_queries": False,
        "scale_from": "demand",
        "start_price_table": "published",
        "price_floor": False,
        "epoch_factor": 1.0,
    },
    "default": {
        "stop_on_clear": True,
        "stop_when_stalled": True,
        "clearing_test": "unsold_is_free",
        "refresh": "epoch",
        "marginal_economies": "balanced",
        "skip_empty_queries": True,
        "scale_from": "all",
        "start_price_table": "per_band",
        "price_floor": True,
        "epoch_factor": 0.1,
    },
}
"""All in which the presets differ."""

Price = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, le=1000)]


class PriceSearchParameters(BaseModel):
    """How the next price vector is searched for; the defaults are those of the reference."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Literal["multiplicative", "dual"] = Field(
        "multiplicative", description='"dual": subgradient steps of Polyak\'s length.'
    )
    max_steps: int | None = Field(None, ge=1, description="Default: 150, ML-CCA 300.")
    max_idle_steps: int = Field(250, ge=1, description="Steps without improvement after which the search ends.")
    step: float = Field(0.01, gt=0, le=1, description="Relative price change per unit of over-demand.")
    step_decay: float = Field(0.995, gt=0, le=1)
    feasibility_multiplier: float = Field(2.0, ge=0, description="Extra push against over-demand; 0 for none.")
    feasibility_growth: float = Field(1.01, ge=1, description="Its growth per step until a feasible price vector is found.")
    filter_feasible: bool = Field(True, description="Prefer prices at which nothing is over-demanded.")
    start_noise: tuple[Share, Share] = Field(
        (0.9, 1.1), description="Range of the factors on the last clock prices at the start."
    )
    distance: float = Field(0.05, ge=0, lt=1, description="Least relative distance to all earlier prices in the first ML round.")
    distance_decay: float = Field(0.95, gt=0, le=1)
    perturbation_growth: float = Field(1.1, gt=1)

    @field_validator("start_noise")
    @classmethod
    def _in_order(cls, bounds: tuple[float, float]) -> tuple[float, float]:
        if bounds[0] > bounds[1]:
            raise ValueError("the lower end of a range is not above the upper one")
        return bounds


class Parameters(BaseModel):
    """Parameters of an auction; what is left out is the preset's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: Preset = "default"

    n_cca_rounds: int | None = Field(None, ge=0, le=10_000)
    n_ml_demand_queries: int | None = Field(None, ge=0, le=10_000)
    bridge_bid: bool | None = None
    n_initial_value_queries: int | None = Field(None, ge=0, le=10_000)
    n_value_queries: int | None = Field(None, ge=0, le=10_000)

    start_prices: list[Price] | None = Field(
        None, min_length=1, description="Per unit of each good; default: by the domain's table."
    )
    increment: float | None = Field(
        None, gt=0, le=10, description="Relative price increase of over-demanded goods; default: by the rounds."
    )
    include_null_price: bool = Field(True, description="Ask at zero prices first; counts as a question.")
    skip_null_round: bool = Field(
        False, description="Record the full bundle at zero prices instead of asking, and save the question."
    )
    stop_on_clear: bool
    stop_when_stalled: bool
    clearing_test: Literal["exact", "unsold_is_free"] = Field(description='"unsold_is_free": unsold units at price 0 do no harm.')

    refresh: Literal["step", "epoch"] = Field(description="How often predicted demand is recomputed in training.")
    scale_from: Literal["demand", "all"] = Field(description="Which bids a dynamic scale is the maximum of.")
    scaling: Literal["table", "dynamic"] | None = Field(
        None, description="Default: the domain's; without a table always dynamic."
    )
    start_price_table: Literal["published", "per_band"] = Field(description="Which of two tables of average values MRVM takes.")
    price_floor: bool = Field(
        description="Keep prices above zero, at the start and in the search, and skip zero prices in distances."
    )
    price_search: PriceSearchParameters = PriceSearchParameters()

    marginal_economies: Literal["random", "balanced"]
    marginal_economies_per_round: int = Field(3, ge=0, le=50)
    skip_empty_queries: bool
    forbid: Literal["value_queried", "all"] = Field("value_queried", description="Which bundles are not asked for again.")
    acquisition: Literal["mean", "upper_bound"] = Field("upper_bound", description="What BOCA maximises.")
    epoch_factor: float = Field(gt=0, le=10, description="Share of the published epochs that BOCA trains.")
    hyperparameters: dict[Literal["demand", "value"], dict[str, Any]] = Field(
        default_factory=dict, description='Changes to the networks\' tables, by phase ("demand", "value").'
    )

    pricing: Literal["vcg", "core", "clearing", "pay_as_bid"] = "vcg"
    tie_break: Literal["lexicographic"] | None = None
    stop_at_certified_efficiency: float | None = Field(None, gt=0, le=1)

    activity_rule: Literal["off", "warn", "enforce"] = "off"
    missing_demand_policy: Literal["skip", "zero", "repeat_last"] = "skip"
    max_consecutive_missed: int = Field(3, ge=1)
    currency_decimals: int | None = Field(None, ge=0, le=12, description="Most decimals of a value; default: any.")

    node_limit: int | None = Field(None, ge=1, description="Nodes per search; default: each method's own.")
    time_limit: float = Field(
        600.0, gt=0, description="Seconds per search, a guard: an answer that it ends is not deterministic."
    )

    @model_validator(mode="before")
    @classmethod
    def _take_the_preset(cls, fields: Any) -> Any:
        if isinstance(fields, dict):
            return PRESETS.get(fields.get("preset", "default"), {}) | fields
        return fields

    @property
    def explicit_counts(self) -> dict[str, int | bool]:
        """The counts that override the budget's rule."""
        return {name: count for name in COUNTS if (count := getattr(self, name)) is not None}
