"""The fit behind a kept model, built again from its rows in bins: for proofs, compression and cross-validation."""

from __future__ import annotations

import numpy as np

from solvers.gam.candidate_columns import candidate_columns
from solvers.gam.forest import Forest
from solvers.gam.kept_rows import KeptRows
from solvers.gam.level_subsets import add_views, without_views
from solvers.gam.operations.model_record import ModelRecord
from solvers.gam.operations.models import require_data
from solvers.gam.operations.scored_rows import given_input, parameters_of
from solvers.gam.operations.table_fields import TableFields
from solvers.gam.operations.training_input import holdout_rows, target_codes
from solvers.gam.sample import Sample
from solvers.gam.shape_functions import CodedColumn
from solvers.gam.targets import class_weights
from solvers.gam.training import Training, prepare, resume
from solvers.operation import Conflict, Context, InvalidInput


def training_of(record: ModelRecord, model_id: str, data: TableFields | None, context: Context) -> tuple[Training, Sample]:
    """Return the fit of a model that nobody has edited, and its rows.

    Parameters
    ----------
    record : ModelRecord
    model_id : str
    data : TableFields, optional
        The table it was fitted to, holdout rows included; default: the rows kept with it.

    Raises
    ------
    Conflict
        If the model was edited, or is an average of fits.
    TrainingDataGone
        If there are no rows.
    InvalidInput
        If `data` is another table.
    """
    if record.is_edited:
        raise Conflict(
            "the model was edited; it is no minimiser of an objective any more. Undo the edits first", pointer="/model"
        )
    if not record.fit.forests:
        raise Conflict("the model is an average of fits; it minimises no objective", pointer="/model")
    sample = kept_sample(record, model_id, context) if data is None else given_sample(record, data, context)
    parameters = parameters_of(record)
    forests = tuple(
        Forest(
            np.array(forest.columns, dtype=np.int64),
            np.array(forest.steps, dtype=np.float64),
            np.array(forest.multiplicity, dtype=np.int64),
            forest.intercept,
            forest.objective,
            (),
            False,
        )
        for forest in record.fit.forests
    )
    assert record.fit.objective is not None
    views = add_views(without_views(sample), [(view.feature, np.array(view.ranks)) for view in record.fit.views])
    training = resume(
        views,
        parameters.make_loss(),
        parameters.forest_options(),
        forests,
        record.fit.objective,
        tuple(record.fit.history),
        computing=parameters.computing(),
    )
    return training, sample


def kept_sample(record: ModelRecord, model_id: str, context: Context) -> Sample:
    """Return the training rows that are kept with a model; `TrainingDataGone` if there are none."""
    return sample_of(record, require_data(context.files, model_id).training)


def sample_of(record: ModelRecord, rows: KeptRows) -> Sample:
    """Return training rows in bins with the steps that a forest may take."""
    weights = None if np.all(rows.weights == 1) else rows.weights
    model, parameters = record.additive_model(), parameters_of(record)
    kinds = [per_output[0].kind == "categorical" for per_output in model.shapes]
    columns = candidate_columns(
        rows.table,
        weights,
        min_samples_leaf=parameters.min_samples_leaf,
        monotonic_cst=parameters.signs(model.feature_names, kinds),
    )
    return Sample(rows.table, columns, rows.target, weights, rows.offset, parameters.min_samples_leaf)


def given_sample(record: ModelRecord, data: TableFields, context: Context) -> Sample:
    """Return the training rows of the table that a model was fitted to.

    Raises
    ------
    InvalidInput
        If it is another table.
    """
    rows = given_input(data, record, context)
    held = holdout_rows(rows.n_rows, record.data.holdout_fraction, record.data.holdout_seed)
    if (rows.digest(held), rows.features_digest()) != (record.data.digest, record.data.features):
        raise InvalidInput("this is not the table that the model was fitted to", pointer="/data")
    if len(held):
        rows = rows.rows(np.setdiff1d(np.arange(rows.n_rows), held))
    model, parameters = record.additive_model(), parameters_of(record)
    weights = class_weights(record.params.get("class_weight"), rows.target, rows.weights)
    return prepare(
        list(rows.features.values()),
        model.feature_names,
        rows.target if model.classes is None else target_codes(rows.target, model.classes, record.data.target),
        weights=weights,
        offset=rows.offset,
        max_bins=parameters.max_bins,
        min_samples_leaf=parameters.min_samples_leaf,
        monotonic_cst=parameters.signs(model.feature_names, [isinstance(one, CodedColumn) for one in rows.features.values()]),
    )
