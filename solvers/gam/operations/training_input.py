"""From a table to what is fitted: features, targets, weights and offsets, each fault told with its column and row."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from solvers.gam.additive_model import Offset
from solvers.gam.losses import Loss
from solvers.gam.parameters import FitParameters
from solvers.gam.shape_functions import CodedColumn, Floats
from solvers.gam.tables.cells import LARGEST_INTEGER
from solvers.gam.tables.table import Table, require_columns
from solvers.gam.targets import regression_target, row_offsets, row_weights
from solvers.operation import InvalidInput

Task = Literal["regression", "classification"]
Column = Floats | CodedColumn
T = TypeVar("T")

MOST_CLASSES = 1000


@dataclass(frozen=True)
class Roles:
    """Which columns are no features.

    Attributes
    ----------
    target : str
    weight, offset, exposure : str, optional
    """

    target: str
    weight: str | None = None
    offset: str | None = None
    exposure: str | None = None

    def numeric(self) -> list[str]:
        """Return the columns that must be numbers whatever they look like."""
        return [name for name in (self.weight, self.offset, self.exposure) if name is not None]

    def all(self) -> list[str]:
        """Return all of them."""
        return [self.target, *self.numeric()]

    def check(self) -> None:
        """Require that no column has two roles."""
        for number, name in enumerate(self.all()):
            if name in self.all()[:number]:
                raise InvalidInput(f"column {name!r} has two roles; target, weight, offset and exposure are different columns")


@dataclass(frozen=True, eq=False)
class TrainingInput:
    """Rows to learn from, or to be scored.

    Attributes
    ----------
    task : {"regression", "classification"}
    features : dict of str to float64 array or CodedColumn
    target : array of shape (N,)
        Numbers, or labels.
    weights, offset : float64 array of shape (N,), optional
        The offset is on the link scale.
    offset_column : Offset, optional
    """

    task: Task
    features: dict[str, Column]
    target: npt.NDArray[Any]
    weights: Floats | None
    offset: Floats | None
    offset_column: Offset | None

    @property
    def n_rows(self) -> int:
        return len(self.target)

    def rows(self, index: npt.NDArray[Any]) -> TrainingInput:
        """Return some of the rows."""
        return replace(
            self,
            features={name: _some(column, index) for name, column in self.features.items()},
            target=self.target[index],
            weights=None if self.weights is None else self.weights[index],
            offset=None if self.offset is None else self.offset[index],
        )

    def features_digest(self) -> str:
        """Return a text that is equal where the features are."""
        state = hashlib.blake2b(digest_size=20)
        for name, column in sorted(self.features.items()):
            if isinstance(column, CodedColumn):
                state.update("\0".join([name, "", *column.levels, ""]).encode() + column.codes.astype(np.int32).tobytes())
            else:
                one_nan = np.where(np.isnan(column), np.nan, column)
                state.update(f"{name}\0".encode() + one_nan.tobytes())
        return state.hexdigest()

    def digest(self, holdout: npt.NDArray[Any]) -> str:
        """Return a text that is equal where targets, weights, offsets and holdout rows are."""
        state = hashlib.blake2b(digest_size=20)
        for values in (self.target, self.weights, self.offset, holdout):
            state.update(b"none" if values is None else f"{values.shape}{values.dtype}".encode() + _bytes(values))
        return state.hexdigest()


def training_input(
    table: Table, roles: Roles, task: Literal["auto"] | Task, parameters: FitParameters, *, declares_loss: bool
) -> TrainingInput:
    """Return what a table says under some parameters.

    Parameters
    ----------
    table : Table
    roles : Roles
    task : {"auto", "regression", "classification"}
    parameters : FitParameters
    declares_loss : bool
        Whether the loss was asked for, rather than a default.

    Raises
    ------
    InvalidInput
        With column and row, if a target, weight or offset is not what task and loss take.
    """
    roles.check()
    require_columns(roles.all(), table.columns)
    features = {name: column for name, column in table.columns.items() if name not in roles.all()}
    if not features:
        raise InvalidInput("the table has no features beside its target", pointer="/data")
    chosen = _task(table, roles.target, task, parameters.loss if declares_loss else None)
    loss = parameters.make_loss() if declares_loss or chosen == "regression" else None
    target = _labels(table, roles.target) if chosen == "classification" else _numbers(table, roles.target, loss)
    weights = None if roles.weight is None else _weights(table, roles.weight)
    offset, column = _offset(table, roles, "logit" if loss is None else loss.link, target, chosen)
    return TrainingInput(chosen, features, target, weights, offset, column)


def holdout_rows(n_rows: int, fraction: float | None, seed: int) -> npt.NDArray[np.intp]:
    """Return the rows to hold back, ascending.

    Examples
    --------
    >>> holdout_rows(10, 0.2, seed=0)
    array([2, 8])
    """
    if fraction is None:
        return np.empty(0, dtype=np.intp)
    held = np.sort(np.random.RandomState(seed).permutation(n_rows)[: int(n_rows * fraction)])
    if len(held) in (0, n_rows):
        raise InvalidInput(f"a share of {fraction:g} of {n_rows} rows is {len(held)} rows", pointer="/holdout/fraction")
    return held


def require_known_classes(rows: TrainingInput, held: npt.NDArray[np.intp], target: str) -> None:
    """Raise `InvalidInput` at the first row held back whose class no other row has, so that no model could predict it."""
    if rows.task != "classification" or not len(held):
        return
    counts = np.ones(rows.n_rows, dtype=bool) if rows.weights is None else rows.weights > 0
    is_held = np.zeros(rows.n_rows, dtype=bool)
    is_held[held] = True
    unknown = counts & is_held & ~np.isin(rows.target, rows.target[counts & ~is_held])
    if unknown.any():
        row = int(np.argmax(unknown))
        raise InvalidInput(
            f"column {target!r}, row {row}: all rows of the class {rows.target[row]!s:.40} are held back; take another seed or share",
            pointer="/holdout",
            column=target,
            row=row,
        )


def require_finite_features(features: Mapping[str, Column]) -> None:
    """Raise `InvalidInput` at the first infinite value, which training does not take."""
    for name, column in features.items():
        infinite = np.zeros(1, dtype=bool) if isinstance(column, CodedColumn) else np.isinf(column)
        if infinite.any():
            row = int(np.argmax(infinite))
            raise InvalidInput(
                f"column {name!r}, row {row}: the value is infinite; in training a value is finite or missing",
                column=name,
                row=row,
            )


def target_codes(labels: npt.NDArray[Any], classes: tuple[Any, ...], column: str) -> Floats:
    """Return labels as positions in `classes`.

    Raises
    ------
    InvalidInput
        With the row of a label that is none of them.
    """
    position_of = {str(label): number for number, label in enumerate(classes)}
    distinct, codes = np.unique(labels, return_inverse=True)
    positions = np.array([position_of.get(str(label), -1) for label in distinct.tolist()], dtype=np.float64)[codes]
    if (positions < 0).any():
        row = int(np.argmin(positions))
        raise InvalidInput(f"column {column!r}, row {row}: the model has no class {labels[row]!s:.40}", column=column, row=row)
    return positions


def _task(table: Table, target: str, task: Literal["auto"] | Task, loss: str | None) -> Task:
    column = table.column(target)
    wanted: Task | None = None if loss is None else "classification" if loss == "log_loss" else "regression"
    if task != "auto":
        if wanted not in (None, task):
            raise InvalidInput(f"the loss {loss!r} is not one of {task}", pointer="/params/loss")
        wanted = task
    if wanted is not None:
        return wanted
    if isinstance(column, CodedColumn) or target in table.booleans:
        return "classification"
    present = column[~np.isnan(column)]
    return "classification" if len(np.unique(present[:1000])) <= 2 and len(np.unique(present)) == 2 else "regression"


def _labels(table: Table, name: str) -> npt.NDArray[Any]:
    column = table.column(name)
    missing = column.codes < 0 if isinstance(column, CodedColumn) else np.isnan(column)
    _require_present(missing, name)
    if isinstance(column, CodedColumn):
        labels: npt.NDArray[Any] = np.array(column.levels)[column.codes]
    elif name in table.booleans:
        labels = column.astype(bool)
    else:
        integral = (column == np.floor(column)) & (np.abs(column) <= LARGEST_INTEGER)
        if not integral.all():
            row = int(np.argmin(integral))
            raise InvalidInput(
                f"column {name!r}, row {row}: {column[row]} is no class; a class is a text, a truth value or an integer of at most 2^53",
                column=name,
                row=row,
            )
        labels = column.astype(np.int64)
    n_classes = len(np.unique(labels))
    if n_classes > MOST_CLASSES:
        raise InvalidInput(f"column {name!r}: {n_classes} classes; at most {MOST_CLASSES} are taken", column=name)
    return labels


def _numbers(table: Table, name: str, loss: Loss | None) -> Floats:
    column = table.column(name)
    if isinstance(column, CodedColumn):
        row = int(np.argmax(column.codes >= 0))
        raise InvalidInput(
            f"column {name!r}, row {row}: {column.levels[column.codes[row]]!r:.40} is not a number, which a regression takes",
            column=name,
            row=row,
        )
    _require_present(np.isnan(column), name)
    assert loss is not None
    return _named(name, lambda: regression_target(column, loss, table.n_rows))


def _require_present(missing: npt.NDArray[np.bool_], name: str) -> None:
    if missing.any():
        row = int(np.argmax(missing))
        raise InvalidInput(f"column {name!r}, row {row}: the target is missing", column=name, row=row)


def _weights(table: Table, name: str) -> Floats | None:
    return _named(name, lambda: row_weights(table.column(name), table.n_rows))


def _offset(table: Table, roles: Roles, link: str, target: npt.NDArray[Any], task: Task) -> tuple[Floats | None, Offset | None]:
    if task == "classification":
        link = "logit" if len(np.unique(target)) <= 2 else "softmax"
    offset, exposure = (None if name is None else table.column(name) for name in (roles.offset, roles.exposure))
    column = roles.offset or roles.exposure
    if column is None:
        return None, None
    added, kind = _named(column, lambda: row_offsets(offset, exposure, link, table.n_rows))
    return added, None if kind is None else Offset(column, kind.kind)


def _named(column: str, check: Callable[[], T]) -> T:
    """Run a check of the library, which knows rows but not what the column is called here."""
    try:
        return check()
    except InvalidInput as fault:
        at = {"row": fault.members["row"]} if "row" in fault.members else {}
        place = f"column {column!r}, row {at['row']}" if at else f"column {column!r}"
        reason = fault.detail.partition(": ")[2] or fault.detail
        raise InvalidInput(f"{place}: {reason}", pointer=fault.pointer, column=column, **at) from None


def _some(column: Column, index: npt.NDArray[Any]) -> Column:
    return CodedColumn(column.codes[index], column.levels) if isinstance(column, CodedColumn) else column[index]


def _bytes(values: npt.NDArray[Any]) -> bytes:
    return "\0".join(values.tolist()).encode() if values.dtype.kind == "U" else np.ascontiguousarray(values).tobytes()
