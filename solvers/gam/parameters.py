"""What a user may set of a fit: the arguments of the estimators and the `params` of a request, checked in one place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic.json_schema import SkipJsonSchema

from solvers.gam.forest import ForestOptions
from solvers.gam.losses import GammaLoss, HuberLoss, LogisticLoss, Loss, PoissonLoss, QuantileLoss, SquaredLoss
from solvers.gam.restarts import Init
from solvers.gam.row_engine import GRAM_MEMORY_LIMIT, Engine
from solvers.gam.training import Computing, Search
from solvers.operation import InvalidInput


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else list(value) if isinstance(value, tuple) else value


Count = Annotated[int, BeforeValidator(_plain), Field(strict=True)]
Number = Annotated[float, BeforeValidator(_plain), Field(allow_inf_nan=False)]

RegressionLoss = Literal["squared_error", "poisson", "gamma", "huber", "quantile"]


class FitParameters(BaseModel):
    """How a forest is fitted."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    n_stumps: Annotated[Count, Field(ge=0, le=1_000_000)] = Field(200, description="T, stumps of the forest.")
    alpha: Annotated[Number, Field(ge=0)] = Field(
        30.0,
        description="Ridge on every stump's step: a step that separates n rows from the rest shrinks by about n / (n + alpha).",
    )
    l1: Annotated[Number, Field(ge=0)] = Field(0.0, description="Price of a step's absolute size.")
    l0: Annotated[Number, Field(ge=0)] = Field(0.0, description="Price of a stump: those that gain less go.")
    loss: RegressionLoss | Literal["log_loss"] = Field("squared_error", description="`log_loss` for classification.")
    quantile: Annotated[Number, Field(gt=0, lt=1)] = Field(0.5, description="For loss `quantile`.")
    huber_delta: Annotated[Number, Field(gt=0)] = Field(1.0, description="Residual from which loss `huber` is linear.")
    max_bins: Annotated[Count, Field(ge=2)] | Literal["auto"] | None = Field(
        "auto",
        description="Most bins of a numeric feature; null: a cut between any two values; auto: 255, or 64 for more than 40 features "
        "with more than 64 values.",
    )
    min_samples_leaf: Annotated[Number, Field(ge=0)] = Field(5, description="Least sample weight on either side of a step.")
    categorical_features: Annotated[
        Literal["from_dtype"] | list[bool] | list[int] | list[str] | None, BeforeValidator(_listed)
    ] = Field("from_dtype", description="Names or positions; `from_dtype`: the columns that hold texts.")
    categorical_splits: Literal["one_vs_rest", "subset"] = Field(
        "one_vs_rest", description="Whether a step of a categorical feature is for one level or for any set of levels."
    )
    monotonic_cst: Annotated[dict[str, int] | list[int] | None, BeforeValidator(_listed)] = Field(
        None, description="1 (rising), -1 (falling) or 0 for each feature, or for some by name; missing values are exempt."
    )
    max_features: Annotated[Count, Field(ge=0)] | None = Field(None, description="Most features in use.")
    max_steps_per_feature: Annotated[Count, Field(ge=1)] | None = Field(None, description="Most steps of a feature.")
    smoothing: Annotated[Number, Field(ge=0)] = Field(
        0.0, description="Base multiplicity of every step: smoother and denser curves."
    )
    init: Init = Field("greedy", description="Where to begin; `best` tries both others.")
    n_restarts: Annotated[Count, Field(ge=0, le=10_000)] = Field(0, description="Further starts, of which the best is kept.")
    max_iter: Annotated[Count, Field(ge=1)] = Field(30, description="Most rounds.")
    sweeps_per_iter: Annotated[Count, Field(ge=1)] = Field(3, description="Sweeps over the stumps before each joint fit.")
    tol: Annotated[Number, Field(ge=0)] = Field(1e-6, description="A round that gains less than this share is the last.")
    certificate: bool = Field(True, description="Whether to prove how far from the best forest this one can be.")
    certificate_iterations: Annotated[Count, Field(ge=0, le=100_000)] | None = Field(
        None, description="Work spent on it; null: in proportion to the rows."
    )
    engine: Engine = Field(
        "auto",
        description="`gram` keeps all inner products of the steps, `rows` computes them on demand; auto: by `gram_memory_limit`.",
    )
    bagging: Annotated[Count, Field(ge=0, le=10_000)] = Field(
        0, description="Average this many fits to rows with random Poisson weights, whose spread gives the bands; 0: one fit."
    )
    threshold_fraction: Annotated[Number, Field(gt=0, le=1)] = Field(
        1.0,
        description="Share of the thresholds of finely valued features that each of 12 averaged fits (or of the bags) may use.",
    )
    smooth_share: Annotated[Number, Field(ge=0, lt=1)] = Field(
        0.0,
        description="Above 0: the model is an average, with this share, of what the others say and of a smooth forest, with a base "
        "multiplicity of 10 for every step.",
    )
    gram_memory_limit: Annotated[Count, Field(ge=0)] = Field(
        GRAM_MEMORY_LIMIT, description="Bytes that the inner products of the steps may take."
    )
    unseen: Literal["score", "error"] = Field(
        "score",
        description="What becomes of a level that training did not have: it scores 0, as the average row does, or it is refused. "
        "Exported models score it.",
    )
    random_state: Annotated[Count, Field(ge=0)] | SkipJsonSchema[np.random.RandomState] | None = Field(
        None, description="Seed; null is 0, so that the same input gives the same model."
    )
    n_jobs: Annotated[Count, Field(ge=1)] | None = Field(1, description="Threads that sum the rows up.")

    @classmethod
    def checked(cls, parameters: Mapping[str, Any]) -> FitParameters:
        """Return parameters by name.

        Raises
        ------
        InvalidInput
            With the parameter that is wrong.

        Examples
        --------
        >>> FitParameters.checked({"alpha": -1})
        Traceback (most recent call last):
        solvers.operation.InvalidInput: alpha: Input should be greater than or equal to 0
        """
        try:
            return cls.model_validate(dict(parameters))
        except ValidationError as fault:
            first = fault.errors()[0]
            name = str(first["loc"][0])
            raise InvalidInput(f"{name}: {first['msg']}", pointer=f"/{name}") from None

    def forest_options(self) -> ForestOptions:
        """Return what concerns the forest itself."""
        return ForestOptions(**{name: getattr(self, name) for name in ForestOptions.__dataclass_fields__})

    def make_loss(self) -> Loss:
        """Return the loss, for two classes the logistic one."""
        match self.loss:
            case "squared_error":
                return SquaredLoss()
            case "poisson":
                return PoissonLoss()
            case "gamma":
                return GammaLoss()
            case "huber":
                return HuberLoss(self.huber_delta)
            case "quantile":
                return QuantileLoss(self.quantile)
            case "log_loss":
                return LogisticLoss()

    def search(self) -> Search:
        """Return how to look for a good forest."""
        return Search(self.init, self.n_restarts, self.seed(), self.categorical_splits == "subset")

    def computing(self) -> Computing:
        """Return where sums over rows are kept."""
        return Computing(self.engine, self.gram_memory_limit, self.n_jobs or 1)

    def seed(self) -> int:
        """Return the seed of a fit; a RandomState gives another one each time."""
        state = self.random_state
        if state is None:
            return 0
        return int(state.randint(2**31)) if isinstance(state, np.random.RandomState) else int(state)

    def signs(self, names: tuple[str, ...], is_categorical: list[bool]) -> np.ndarray | None:
        """Return the sign that the steps of each feature must have, 0 for any; None if none must have one.

        Raises
        ------
        InvalidInput
            If there is no such feature, a value is none of -1, 0, 1, or the feature is categorical.
        """
        if self.monotonic_cst is None:
            return None
        wanted = self.monotonic_cst
        if isinstance(wanted, Mapping):
            unknown = [name for name in wanted if name not in names]
            if unknown:
                raise InvalidInput(f"monotonic_cst: there is no feature {unknown[0]!r:.60}", pointer="/monotonic_cst")
            wanted = [wanted.get(name, 0) for name in names]
        signs = np.asarray(wanted)
        if signs.shape != (len(names),):
            raise InvalidInput(f"monotonic_cst has shape {signs.shape} for {len(names)} features", pointer="/monotonic_cst")
        for name, sign, has_levels in zip(names, signs, is_categorical, strict=True):
            if sign not in (-1, 0, 1):
                raise InvalidInput(f"monotonic_cst of {name!r} is {sign}, none of -1, 0, 1", pointer="/monotonic_cst")
            if sign and has_levels:
                raise InvalidInput(f"the categorical feature {name!r} cannot be monotone", pointer="/monotonic_cst")
        return signs.astype(np.int64)
