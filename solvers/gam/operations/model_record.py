"""A model as it is kept: what was fitted, how well, and what was done to it since. One JSON document for each version."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from solvers.gam.additive_model import AdditiveModel
from solvers.gam.edit_history import HistoryEntry, is_edited
from solvers.gam.model_document import Label, ModelDocument
from solvers.gam.tables.table import ColumnType
from solvers.operation import InvalidInput


class ModelScore(BaseModel):
    """How well a model predicts: the weighted mean error of rows, lower is better."""

    metric: str = Field(description="What is averaged, such as `mean_squared_error` or `log_loss`.")
    train: float | None = Field(description="On the rows that it was fitted to.")
    cv: float | None = Field(None, description="On rows held back in turn, where parameters were selected by cross-validation.")
    cv_se: float | None = Field(None, description="Standard error of `cv` over the folds.")
    holdout: float | None = Field(None, description="On the rows of `holdout`.")


class KeptForest(BaseModel):
    """The steps of one forest by the numbers of the candidate columns."""

    columns: list[int]
    steps: list[float]
    multiplicity: list[int]
    intercept: float
    objective: float


class KeptView(BaseModel):
    """An order of the levels of a categorical feature, by whose thresholds a forest may split."""

    feature: int
    ranks: list[int]


class FitReport(BaseModel):
    """What was minimised and how far it is from the best."""

    n_steps: int
    objective: float | None
    lower_bound: float | None
    gap: float | None
    gap_reason: str | None
    one_swap_residual: float | None
    history: list[float]
    forests: list[KeptForest] = []
    views: list[KeptView] = []
    bands: str | None = Field(None, description="Name of the part that holds what is known of the spread.")


class DataReport(BaseModel):
    """Where the rows came from and what became of them."""

    target: str
    weight: str | None = None
    columns: dict[str, ColumnType] = {}
    n_rows: int = Field(description="Rows of the table.")
    n_holdout: int = 0
    holdout_fraction: float | None = None
    holdout_seed: int = 0
    digest: str = Field(description="Of targets, weights, offsets and holdout rows: equal where models saw the same rows.")
    features: str = Field(description="Digest of the features.")


class ModelRecord(BaseModel):
    """One version of a model."""

    model_config = ConfigDict(extra="forbid")

    format: Literal["foresolve-gam"] = "foresolve-gam"
    name: str
    created: datetime
    task: Literal["regression", "classification"]
    loss: str
    params: dict[str, Any]
    model: ModelDocument
    fit: FitReport
    data: DataReport
    score: ModelScore
    baselines: dict[str, ModelScore] = {}
    timings: dict[str, float]
    warnings: list[str]
    entries: list[HistoryEntry] = []
    runs: list[str] = Field([], description="The run that made each version after the first.")

    @property
    def version(self) -> int:
        """Number of the version."""
        return 1 + len(self.runs)

    @property
    def is_edited(self) -> bool:
        """Whether the model is no longer one that was fitted; a compressed one was fitted again."""
        return is_edited(self.entries)

    def additive_model(self) -> AdditiveModel:
        """Return the model."""
        return AdditiveModel.from_document(self.model)

    def to_bytes(self) -> bytes:
        """Return the content of the version's file."""
        return self.model_dump_json(by_alias=True).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> ModelRecord:
        """Return the record in a file, whoever wrote it.

        Raises
        ------
        InvalidInput
            If the file holds none.
        """
        try:
            return cls.model_validate_json(content)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False, include_input=False)[0]
            place = "/".join(str(part) for part in first["loc"])
            raise InvalidInput(f"the file holds no model: {first['msg']}{f' at {place}' if place else ''}") from None


class ShownShape(BaseModel):
    """The shape function of a feature, with more than two classes that of one of them."""

    model_config = ConfigDict(serialize_by_alias=True, validate_by_name=True)

    feature: str
    of_class: Label | None = Field(None, alias="class")
    kind: Literal["numeric", "categorical"]
    thresholds: list[float] = Field(description="Ascending; x <= threshold goes left.")
    levels: list[str]
    scores: list[float] = Field(description="One more than thresholds, or one for each level.")
    missing: float = Field(description="Score of missing values.")
    weights: list[float] | None = Field(description="Training weight of each bin, missing first.")
    stderr: list[float] | None = Field(description="Standard errors of the scores, missing first.")
    importance: float = Field(description="Weighted standard deviation of the feature's scores as a share of all.")


class GamFields(BaseModel):
    """A model without its shapes and scores."""

    version: int = Field(description="1 as fitted; grows with every edit and every undoing.", ge=1)
    name: str
    created: datetime
    task: Literal["regression", "classification"]
    loss: str
    link: Literal["identity", "log", "logit", "softmax"]
    classes: list[Label] | None
    offset: dict[str, str] | None = Field(description="Column and kind of what is added to the decision.")
    params: dict[str, Any] = Field(description="Parameters of the fit, as resolved.")
    intercept: float | list[float]
    n_steps: int
    objective: float | None
    lower_bound: float | None = Field(description="No forest under the same parameters has a lower objective.")
    gap: float | None = Field(description="(objective - lower_bound) / objective.")
    gap_reason: str | None = Field(
        description="Why there is no gap: `loss` and `alpha` (none is known for this loss, or without a ridge), `average` (of fits, which "
        "minimises nothing), `edited`, `not asked` (`gam/certificate` proves it), `data` (it was not asked for, and the rows that would "
        "prove it are not kept)."
    )
    objective_history: list[float]
    one_swap_residual: float | None = Field(
        description="Most that moving one stump could gain, as a share of the null objective."
    )
    baselines: dict[str, ModelScore]
    target: str
    n_rows: int
    n_holdout: int
    timings: dict[str, float] = Field(description="Seconds.")
    warnings: list[str]


class GamDetails(GamFields):
    """A model."""

    score: ModelScore
    shape_functions: list[ShownShape]


class GamModel(GamDetails):
    """A model, and the id that requests name it by."""

    model_id: str = Field(description="Name it as `model`; it is also the id under `/v1/gam/models`.")


def shown_model(record: ModelRecord, model_id: str) -> GamModel:
    """Return a model as results have it."""
    return GamModel(model_id=model_id, **dict(shown_details(record)))


def shown_details(record: ModelRecord) -> GamDetails:
    """Return a model as it is shown."""
    shapes = shown_shapes(record.additive_model())
    return GamDetails(**dict(shown_fields(record)), score=record.score, shape_functions=shapes)


def shown_fields(record: ModelRecord) -> GamFields:
    """Return what is shown of a model beside its scores and shapes."""
    fit, edited = record.fit, record.is_edited
    return GamFields(
        version=record.version,
        name=record.name,
        created=record.created,
        task=record.task,
        loss=record.loss,
        link=record.model.link,
        classes=record.model.classes,
        offset=None if record.model.offset is None else record.model.offset.model_dump(),
        params=record.params,
        intercept=record.model.intercept,
        n_steps=record.additive_model().n_steps if edited else fit.n_steps,
        objective=None if edited else fit.objective,
        lower_bound=None if edited else fit.lower_bound,
        gap=None if edited else fit.gap,
        gap_reason="edited" if edited else fit.gap_reason,
        objective_history=fit.history,
        one_swap_residual=None if edited else fit.one_swap_residual,
        baselines=record.baselines,
        target=record.data.target,
        n_rows=record.data.n_rows,
        n_holdout=record.data.n_holdout,
        timings=record.timings,
        warnings=record.warnings,
    )


def shown_shapes(model: AdditiveModel) -> list[ShownShape]:
    """Return all shape functions, feature by feature."""
    importances = model.importances()
    labels = model.classes if model.link == "softmax" and model.classes is not None else (None,)
    return [
        ShownShape(
            feature=shape.name,
            of_class=label,
            kind=shape.kind,
            thresholds=shape.thresholds.tolist(),
            levels=list(shape.levels),
            scores=shape.scores.tolist(),
            missing=shape.missing,
            weights=None if shape.weights is None else shape.weights.tolist(),
            stderr=None if shape.stderr is None else shape.stderr.tolist(),
            importance=float(importance),
        )
        for per_output, importance in zip(model.shapes, importances, strict=True)
        for label, shape in zip(labels, per_output, strict=True)
    ]
