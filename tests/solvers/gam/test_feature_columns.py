"""Tables as estimators are given them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from solvers.gam.feature_columns import read_features
from solvers.gam.shape_functions import CodedColumn
from solvers.operation import InvalidInput


def texts(column: CodedColumn) -> list[str | None]:
    """Return what a coded column says, None where a value is missing."""
    return [None if code < 0 else column.levels[code] for code in column.codes.tolist()]


PANDAS = pd.DataFrame(
    {
        "number": [1, 2, None],
        "text": ["x", None, "y"],
        "category": pd.Categorical([1, 2, 1]),
        "truth": [True, False, True],
        "digits": [" 1", "2.5", None],
        "decimal": [Decimal("1.5"), None, Decimal(2)],
        "nothing": [None, None, None],
    }
)
POLARS = pl.DataFrame(
    {
        "number": [1, 2, None],
        "text": ["x", None, "y"],
        "category": pl.Series(["1", "2", "1"], dtype=pl.Categorical),
        "truth": [True, False, True],
        "digits": [" 1", "2.5", None],
        "decimal": [Decimal("1.5"), None, Decimal(2)],
        "nothing": [None, None, None],
    }
)


@pytest.mark.parametrize("frame", [PANDAS, POLARS, PANDAS.to_dict("list")], ids=["pandas", "polars", "mapping"])
def test_every_kind_of_table_reads_the_same(frame: Any) -> None:
    columns, reader = read_features(frame)
    named = dict(zip(reader.names, columns, strict=True))
    assert texts(named["text"]) == ["x", None, "y"]
    np.testing.assert_array_equal(named["number"], [1, 2, np.nan])
    np.testing.assert_array_equal(named["truth"], [1, 0, 1])
    np.testing.assert_array_equal(named["digits"], [1, 2.5, np.nan])
    np.testing.assert_array_equal(named["decimal"], [1.5, np.nan, 2])
    np.testing.assert_array_equal(named["nothing"], [np.nan] * 3)


@pytest.mark.parametrize("frame", [PANDAS, POLARS], ids=["pandas", "polars"])
def test_a_declared_category_of_digits_stays_one(frame: Any) -> None:
    columns, reader = read_features(frame)
    assert texts(columns[reader.names.index("category")]) == ["1", "2", "1"]


def test_an_array_of_objects_has_a_kind_for_each_column() -> None:
    columns, reader = read_features(np.array([[1, "a", None], [2.5, "b", np.nan], [np.nan, None, 3]], dtype=object))
    assert reader.kinds == ("numeric", "categorical", "numeric")
    assert texts(columns[1]) == ["a", "b", None]


@pytest.mark.parametrize("declared", [["b"], [1], [False, True], np.array([1])], ids=str)
def test_a_numeric_column_can_be_declared_categorical(declared: Any) -> None:
    columns, reader = read_features(pd.DataFrame({"a": [1, 2], "b": [3, 4]}), declared)
    assert reader.kinds == ("numeric", "categorical")
    assert texts(columns[1]) == ["3", "4"]


def test_whole_numbers_are_the_same_level_as_int_and_as_float() -> None:
    _, reader = read_features({"a": np.array([1, 2])}, ["a"])
    (column,) = reader.typed([np.array([2.0, 1.5, np.nan])])
    assert texts(column) == ["2", "1.5", None]


@pytest.mark.parametrize("declared", [["z"], [2], [-1], [True]], ids=str)
def test_a_feature_that_is_not_there_is_refused(declared: Any) -> None:
    with pytest.raises(InvalidInput) as fault:
        read_features({"a": [1.0], "b": [2.0]}, declared)
    assert fault.value.pointer == "/categorical_features"


@pytest.mark.parametrize(
    ("values", "row"),
    [([1, None, "a"], 2), (["a", None, 1.5], 2), ([1 + 2j], 0), ([None, {"a": 1}, 3], 1)],
    ids=["text among numbers", "number among texts", "complex", "object"],
)
def test_a_column_of_mixed_values_is_refused_with_its_row(values: list[Any], row: int) -> None:
    with pytest.raises(InvalidInput, match=f"column 'q', row {row}") as fault:
        read_features({"q": values})
    assert (fault.value.members["column"], fault.value.members["row"]) == ("q", row)


@pytest.mark.parametrize("frame", [pd.DataFrame({"q": pd.to_datetime(["2030-01-01"])}), {"q": np.array(["2030-01-01"], "M8[D]")}])
def test_dates_are_refused_with_a_way_out(frame: Any) -> None:
    with pytest.raises(InvalidInput, match="column 'q' holds dates or times; extract"):
        read_features(frame)


@pytest.mark.parametrize(
    "table", [{}, {"a": []}, pd.DataFrame({"a": []}), pd.DataFrame(index=[0, 1])], ids=["none", "a", "b", "c"]
)
def test_an_empty_table_is_refused(table: Any) -> None:
    with pytest.raises(ValueError, match=r"0 rows|0 columns"):
        read_features(table)


def test_columns_of_different_length_are_refused() -> None:
    with pytest.raises(InvalidInput, match="column 'b' has 1 rows, the first column 2"):
        read_features({"a": [1.0, 2.0], "b": [1.0]})


def test_text_where_the_model_takes_numbers_is_refused_with_its_row() -> None:
    _, reader = read_features({"age": [31.0, 40.0]})
    with pytest.raises(InvalidInput, match="column 'age', row 1: 'old' is not a number"):
        reader.typed([["31", "old"]])
