"""Features of a table as an estimator is given them: arrays, data frames of any library, or columns by name.

A feature is numeric (float64, NaN where a value is missing) or categorical (a code per row, and the text of every level). Data frames are
read through Narwhals, texts are coded by Arrow. Texts that are all numbers make a numeric feature, as they do in a CSV file, unless the
column is declared categorical.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from solvers.gam.shape_functions import CodedColumn, Floats, Kind, as_numbers, level_name
from solvers.operation import InvalidInput

Column = Floats | CodedColumn
CategoricalFeatures = Literal["from_dtype"] | Sequence[str] | Sequence[int] | Sequence[bool] | None


@dataclass(frozen=True)
class FeatureReader:
    """What the training table looked like: how any later table is read.

    Attributes
    ----------
    names : tuple of str
        Of the features.
    kinds : tuple of "numeric" or "categorical"
    """

    names: tuple[str, ...]
    kinds: tuple[Kind, ...]

    def typed(self, columns: Sequence[Any]) -> list[Column]:
        """Return the raw columns of a table with the same features, each of its kind.

        Raises
        ------
        InvalidInput
            With column and row if a numeric feature holds something that is no number.
        """
        return [_typed(column, name, kind) for column, name, kind in zip(columns, self.names, self.kinds, strict=True)]


def read_features(X: Any, categorical_features: CategoricalFeatures = "from_dtype") -> tuple[list[Column], FeatureReader]:
    """Return the columns of a training table, and how to read others like it.

    Parameters
    ----------
    X : array_like of shape (N, D), data frame, or mapping of names to columns
        A column of a mapping may be a :class:`CodedColumn`.
    categorical_features : "from_dtype", or names, positions or a mask of D booleans
        By default those that hold texts or were declared categories by the data frame.

    Raises
    ------
    InvalidInput
        With the column, and the row where there is one, if a column mixes texts and numbers or holds dates.

    Examples
    --------
    >>> columns, reader = read_features({"age": [31, None], "plan": ["pro", "basic"]})
    >>> columns[0], reader.kinds
    (array([31., nan]), ('numeric', 'categorical'))
    >>> columns[1].codes, columns[1].levels
    (array([0, 1], dtype=int32), ('pro', 'basic'))
    """
    raw, names = raw_columns(X)
    declared = _declared(categorical_features, names)
    kinds: list[Kind] = []
    columns: list[Column] = []
    for column, name, is_declared in zip(raw, names, declared, strict=True):
        kind: Kind | None = "categorical" if is_declared else None if categorical_features == "from_dtype" else "numeric"
        typed = _typed(column, name, kind)
        columns.append(typed)
        kinds.append("categorical" if isinstance(typed, CodedColumn) else "numeric")
    return columns, FeatureReader(names, tuple(kinds))


def n_rows(columns: Sequence[Column]) -> int:
    """Return the length of the columns."""
    return len(columns[0].codes if isinstance(columns[0], CodedColumn) else columns[0]) if columns else 0


def array_names(n_features: int) -> tuple[str, ...]:
    """Return the names of the columns of an array, those that scikit-learn gives them."""
    return tuple(f"x{position}" for position in range(n_features))


def raw_columns(X: Any) -> tuple[list[Any], tuple[str, ...]]:
    """Return the columns of a table as they are, and their names.

    Raises
    ------
    ValueError
        If it is no table, or empty.
    """
    if isinstance(X, Mapping) and not issparse(X):
        return _equally_long(list(X.values()), tuple(map(str, X)))
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _equally_long([frame[:, position] for position in range(frame.shape[1])], tuple(map(str, frame.columns)))
    array = check_array(X, dtype=None, ensure_all_finite=False)
    if array.dtype.kind not in "OUS":
        array = check_array(array, dtype=np.float64, ensure_all_finite=False)
    return list(array.T), array_names(array.shape[1])


def _equally_long(columns: list[Any], names: tuple[str, ...]) -> tuple[list[Any], tuple[str, ...]]:
    lengths = [len(column.codes if isinstance(column, CodedColumn) else column) for column in columns]
    for name, length in zip(names, lengths, strict=True):
        if length != lengths[0]:
            raise InvalidInput(f"column {name!r} has {length} rows, the first column {lengths[0]}", column=name)
    if not columns or lengths[0] == 0:
        raise InvalidInput(f"the table has {lengths[0] if lengths else 0} rows and {len(columns)} columns; both must be positive")
    return columns, names


def _declared(categorical_features: CategoricalFeatures, names: tuple[str, ...]) -> list[bool]:
    """Return which features the caller declared categorical."""
    if categorical_features is None or isinstance(categorical_features, str):
        return [False] * len(names)
    chosen = np.asarray(categorical_features)
    if chosen.dtype == bool:
        if len(chosen) != len(names):
            raise InvalidInput(f"a mask of {len(chosen)} booleans for {len(names)} features", pointer="/categorical_features")
        return [bool(is_chosen) for is_chosen in chosen]
    position_of = {name: position for position, name in enumerate(names)}
    positions = set()
    for item in chosen.tolist():
        position = position_of.get(item) if isinstance(item, str) else item
        if not isinstance(position, int) or not 0 <= position < len(names):
            raise InvalidInput(f"there is no feature {item!r:.60}", pointer="/categorical_features")
        positions.add(position)
    return [position in positions for position in range(len(names))]


def _typed(column: Any, name: str, kind: Kind | None) -> Column:
    """Return a raw column as one of the given kind; of the kind that its values suggest if that is None."""
    if isinstance(column, CodedColumn):
        if kind == "numeric":
            raise InvalidInput(f"column {name!r} holds texts; the model takes numbers", column=name)
        return column
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        return _coded_numbers(column) if kind == "categorical" else np.array(column, dtype=np.float64)
    values = _arrow(column, name)
    if kind is None:
        kind = "categorical" if _holds_categories(values) else "numeric"
    return _coded(values) if kind == "categorical" else _numbers(values, column, name)


def _arrow(column: Any, name: str) -> pa.Array:
    """Return a column of anything as an Arrow array, its missing values as nulls."""
    try:
        values = column.to_arrow() if isinstance(column, nw.Series) else pa.array(_plain_list(column), from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        raise _mixed(column, name) from None
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_temporal(values.type):
        raise InvalidInput(f"column {name!r} holds dates or times; extract numbers such as the year or the hour", column=name)
    if pa.types.is_nested(values.type) or pa.types.is_binary(values.type):
        raise InvalidInput(f"column {name!r} holds {values.type}, neither numbers nor texts", column=name)
    return values


def _plain_list(column: Any) -> list[Any]:
    """Return the values as Python's, so that Arrow infers their type from all of them."""
    return column.tolist() if isinstance(column, np.ndarray) else list(column)


def _mixed(column: Any, name: str) -> InvalidInput:
    """Return the fault of a column that holds more than one kind of value, with the first row that differs."""
    first: type | None = None
    for row, value in enumerate(column.to_list() if isinstance(column, nw.Series) else _plain_list(column)):
        if level_name(value) is None:
            continue
        kind = str if isinstance(value, str) else float if isinstance(value, (int, float)) else type(value)
        if kind not in (str, float) or (first is not None and kind is not first):
            return InvalidInput(f"column {name!r}, row {row}: {value!r:.40} in a column of other values", column=name, row=row)
        first = kind
    return InvalidInput(f"column {name!r} holds neither numbers nor texts", column=name)


def _holds_categories(values: pa.Array) -> bool:
    if pa.types.is_dictionary(values.type):
        return True
    return _is_text(values.type) and _parsed(values) is None


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _parsed(texts: pa.Array) -> pa.Array | None:
    """Return texts as numbers if all of them are numbers."""
    try:
        return pc.cast(pc.utf8_trim_whitespace(texts.cast(pa.large_string())), pa.float64())
    except pa.ArrowInvalid:
        return None


def _numbers(values: pa.Array, column: Any, name: str) -> Floats:
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    parsed = _parsed(values) if _is_text(values.type) else pc.cast(values, pa.float64(), safe=False)
    if parsed is None:
        return as_numbers(column.to_list() if isinstance(column, nw.Series) else column, name)  # names the row at fault
    numbers: Floats = parsed.fill_null(np.nan).to_numpy(zero_copy_only=False)
    return np.array(numbers, dtype=np.float64)


def _coded(values: pa.Array) -> CodedColumn:
    if not pa.types.is_dictionary(values.type):
        values = values.dictionary_encode()
    codes = values.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    return _merged(codes, values.dictionary.to_pylist())


def _coded_numbers(column: npt.NDArray[Any]) -> CodedColumn:
    distinct, codes = np.unique(column, return_inverse=True, equal_nan=True)
    return _merged(codes.astype(np.int32), distinct.tolist())


def _merged(codes: npt.NDArray[Any], values: Iterable[Any]) -> CodedColumn:
    """Name the levels; values of the same name are one level, missing ones have none."""
    number_of: dict[str, int] = {}
    names = (_level(value) for value in values)
    number = [-1 if name is None else number_of.setdefault(name, len(number_of)) for name in names]
    return CodedColumn(np.array([*number, -1], dtype=np.int32)[codes], tuple(number_of))


def _level(value: Any) -> str | None:
    """Return the level of a value; whole numbers look the same whether they came as int or as float."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return level_name(value)
