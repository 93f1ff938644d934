"""What a fit is asked: a table, the roles of its columns, and how to fit."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from solvers.gam.operations.table_fields import ColumnTypes, TableFields
from solvers.gam.operations.training_input import Roles, Task
from solvers.gam.parameters import FitParameters


class ModelParameters(FitParameters):
    """How a forest is fitted: the arguments of the estimators."""

    class_weight: dict[str, float] | Literal["balanced"] | None = Field(
        None, description="Factors of the weights of each class, or `balanced`; for classification."
    )


class Selection(BaseModel):
    """Choice of stumps and ridge by cross-validation, the constant model among the candidates."""

    model_config = ConfigDict(extra="forbid")

    n_stumps: list[int] = Field([50, 100, 200, 400, 800], min_length=1, max_length=50)
    alphas: list[float] = Field([1, 3, 10, 30, 100, 300, 1000, 3000], min_length=1, max_length=50)
    threshold_fractions: list[float] = Field(
        [1.0],
        min_length=1,
        max_length=50,
        description="For squared loss and rule `min`: values of `threshold_fraction` to try for the best forest, such as [1, 0.5].",
    )
    smooth_shares: list[float] = Field(
        [0.0],
        min_length=1,
        max_length=50,
        description="The same of `smooth_share`, such as [0, 0.25, 0.5, 0.75]. An average is often more accurate; it has many more "
        "steps and no lower bound, so none is tried unless asked for.",
    )
    cv: int = Field(5, ge=2, le=100, description="Folds.")
    rule: Literal["min", "parsimony", "one_se"] = Field(
        "min",
        description="The best score, be it an average's; or, of the single forests within 1 % or one standard error of the best of them, "
        "the smallest.",
    )
    seed: int = Field(0, ge=0, lt=2**32, description="Of the dealing into folds.")


class Holdout(BaseModel):
    """Rows that are held back from the fit, to be scored on."""

    model_config = ConfigDict(extra="forbid")

    fraction: float = Field(0.2, gt=0, lt=1)
    seed: int = Field(0, ge=0, lt=2**32)


class FitOptions(BaseModel):
    """How long to try."""

    model_config = ConfigDict(extra="forbid")

    time_limit: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Seconds; the best model so far is the answer. Default: the operation's."
    )


class FitRequest(BaseModel):
    """A table, which column to predict, and how."""

    model_config = ConfigDict(extra="forbid")

    data: TableFields
    columns: ColumnTypes = {}
    target: str = Field(description="The column to predict.")
    weight: str | None = Field(None, description="Column of weights: 2 counts as the row twice.")
    offset: str | None = Field(None, description="Column that is added to the decision as it is.")
    exposure: str | None = Field(None, description="Column of positive exposures: with a log link, log(exposure) is the offset.")
    task: Literal["auto"] | Task = Field(
        "auto", description="auto: a target of texts, truth values or two numbers makes a classification."
    )
    params: ModelParameters = Field(default_factory=ModelParameters)
    selection: Selection | None = Field(None, description="Choose `n_stumps`, `alpha` and averages by cross-validation.")
    holdout: Holdout | None = None
    keep_data: bool = Field(True, description="Keep the rows, in bins, for the scores of edits, comparisons and certificates.")
    name: str = Field("model", min_length=1, max_length=200)
    options: FitOptions = Field(default_factory=FitOptions)

    @field_validator("name")
    @classmethod
    def _one_line(cls, name: str) -> str:
        if not name.isprintable() or not name.strip():
            raise ValueError("a name is one line that is not empty")
        return name

    @property
    def roles(self) -> Roles:
        """Columns that are no features."""
        return Roles(self.target, self.weight, self.offset, self.exposure)

    @property
    def holdout_seed(self) -> int:
        """Seed of the choice of holdout rows."""
        return 0 if self.holdout is None else self.holdout.seed
