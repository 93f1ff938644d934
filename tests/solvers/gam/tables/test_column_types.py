"""What cells are taken for, and what is refused with its column and row."""

from __future__ import annotations

import datetime
import io
from decimal import Decimal

import pyarrow as pa
import pytest

from solvers.gam.shape_functions import CodedColumn
from solvers.gam.tables import Table, read_table, table_blocks
from solvers.gam.tables.json_rows import JsonRows
from solvers.gam.tables.parquet_rows import ParquetRows
from solvers.operation import InvalidInput
from tests.solvers.gam.tables.reading import cells, csv_table, parquet_table


def json_table(values: list, **options) -> Table:
    return read_table(JsonRows([[value] for value in values], ["x"]), **options)


@pytest.mark.parametrize("values", [[1, 2.5, None], ["1", "2.5", None], ["1", "2.5", "NA"]])
def test_texts_that_all_are_numbers_are_numeric(values: list) -> None:
    assert cells(json_table(values), "x") == [1.0, 2.5, None]


@pytest.mark.parametrize("values", [[True, False, None], ["true", "False", None]])
def test_truth_values_are_0_and_1(values: list) -> None:
    table = json_table(values)
    assert cells(table, "x") == [1.0, 0.0, None]
    assert table.booleans == {"x"}


def test_texts_beside_truth_values_are_levels() -> None:
    table = csv_table("x\ntrue\nmaybe\n")
    assert cells(table, "x") == ["true", "maybe"]
    assert not table.booleans


def test_a_column_of_nothing_is_numeric() -> None:
    assert cells(json_table([None, None]), "x") == [None, None]


@pytest.mark.parametrize(("declared", "expected"), [("numeric", [1.0, 2.0]), ("categorical", ["1", "2"])])
def test_a_declared_type_overrides_what_cells_look_like(declared: str, expected: list) -> None:
    for table in (json_table([1, 2], types={"x": declared}), csv_table("x\n1\n2\n", types={"x": declared})):
        assert cells(table, "x") == expected


def test_levels_of_numbers_have_one_text_each() -> None:
    assert cells(json_table([3, 3.0, 0.5], types={"x": "categorical"}), "x") == ["3", "3", "0.5"]


def test_declared_numeric_truth_values_are_numbers() -> None:
    assert cells(csv_table("x\ntrue\nfalse\n", types={"x": "numeric"}), "x") == [1.0, 0.0]


def test_an_ignored_column_is_not_there() -> None:
    assert list(csv_table("x,y\n1,\n2,z\n", types={"y": "ignore"}).columns) == ["x"]


@pytest.mark.parametrize(
    ("values", "message", "row"),
    [
        ([1, 2, "no"], "row 0 holds a number, row 2 a text", 2),
        ([None, "no", 1], "row 1 holds a text, row 2 a number", 2),
        ([True, 1], "row 0 holds a truth value, row 1 a number", 1),
        (["a", "b", "3"], "row 0 holds a text, row 2 a number", 2),
        ([1, {"a": 2}], "row 1: a cell is a number, a truth value, a text or null", 1),
        ([1, [2]], "row 1: a cell is a number", 1),
        ([1, 2**53 + 1], "row 1: the integer 9007199254740993 is too large", 1),
        ([1, 10**400], "row 1: the integer 1000.* is too large", 1),
        (["1", "9007199254740993"], "row 1: the integer 9007199254740993 is too large", 1),
        ([None, "2024-02-29"], "row 1: holds dates or times such as '2024-02-29'", 1),
        (["29.2.2024"], "holds dates or times", 0),
        (["2024-02-29 10:30", "2024-02-29T11:30:00Z"], "holds dates or times", 0),
    ],
)
def test_what_is_refused_is_told_with_column_and_row(values: list, message: str, row: int) -> None:
    with pytest.raises(InvalidInput, match=f"column 'x'.*{message}") as fault:
        json_table(values)
    assert fault.value.members == {"column": "x", "row": row}


def test_large_integers_that_are_floats_are_taken() -> None:
    assert cells(json_table([2**60]), "x") == [2.0**60]


def test_a_text_in_a_numeric_column_is_told_with_its_row() -> None:
    with pytest.raises(InvalidInput, match="column 'x', row 2: 'no' is not a number"):
        csv_table("x\n1\n2\nno\n", types={"x": "numeric"})


@pytest.mark.parametrize(("declared", "expected"), [("categorical", ["1", "a", "true", None]), ("numeric", None)])
def test_a_declared_column_may_hold_cells_of_several_kinds(declared: str, expected: list | None) -> None:
    values = [1, "a", True, None]
    if expected is None:
        with pytest.raises(InvalidInput, match="row 1: 'a' is not a number"):
            json_table(values, types={"x": declared})
    else:
        assert cells(json_table(values, types={"x": declared}), "x") == expected


def test_a_declared_column_that_is_not_there_is_a_fault() -> None:
    with pytest.raises(InvalidInput, match="there is no column 'y'; the columns are 'x'"):
        json_table([1], types={"y": "numeric"})


def test_dates_may_be_declared_levels() -> None:
    assert cells(csv_table("x\n2024-01-01\n", types={"x": "categorical"}), "x") == ["2024-01-01"]


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1, None], pa.int8()), [1.0, None]),
        (pa.array([1.5, None], pa.float32()), [1.5, None]),
        (pa.array([Decimal("1.25"), None]), [1.25, None]),
        (pa.array(["a", None], pa.large_string()), ["a", None]),
        (pa.array(["a", None]).dictionary_encode(), ["a", None]),
        (pa.array(["1", None]).dictionary_encode(), ["1", None]),
        (pa.array([True, None]), [1.0, None]),
        (pa.array([2**60], pa.uint64()), [2.0**60]),
    ],
)
def test_the_types_of_parquet_columns_are_read(array: pa.Array, expected: list) -> None:
    assert cells(parquet_table({"x": array}), "x") == expected


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (pa.array([datetime.date(2024, 1, 1)]), "holds dates or times"),
        (pa.array([None, datetime.datetime(2024, 1, 1)]), "row 1: holds dates or times"),
        (pa.array([datetime.timedelta(1)]), "holds dates or times"),
        (pa.array([[1, 2]]), "holds values of the type list"),
        (pa.array([{"a": 1}]), "holds values of the type struct"),
        (pa.array([2**53 + 1]), "row 0: the integer 9007199254740993 is too large"),
    ],
)
def test_parquet_columns_of_other_types_are_refused(array: pa.Array, message: str) -> None:
    with pytest.raises(InvalidInput, match=f"column 'x'.*{message}"):
        parquet_table({"x": array})


def test_row_groups_are_joined() -> None:
    texts = [f"level {number % 7}" for number in range(1000)]
    table = parquet_table({"x": pa.array(texts), "y": pa.array(range(1000))}, row_group_size=64)
    assert cells(table, "x") == texts
    assert cells(table, "y") == list(range(1000))


def test_a_file_that_is_no_parquet_is_a_fault() -> None:
    with pytest.raises(InvalidInput, match="the file is not Parquet"):
        ParquetRows(io.BytesIO(b"PAR1 and then nothing"))


@pytest.mark.parametrize(
    ("rows", "names", "message"),
    [
        ([], None, "no rows"),
        ([[1], [1, 2]], None, "row 1 has 2 cells, the first one 1"),
        ([[1, 2]], ["a"], "row 0 has 2 cells, names 1"),
        ([{"a": 1}, [1]], None, "row 1 is not an object"),
        ([[1], {"a": 1}], None, "row 1 is not an array"),
        ([7], None, "row 0 is not an object or an array"),
        ([{"a": 1}], ["a"], "`names` goes with rows that are arrays"),
        ([[1, 2]], ["a", "a"], "two columns have the name 'a'"),
        ([[1, 2]], ["a", ""], "column 1 has no name"),
    ],
)
def test_json_rows_that_do_not_fit_together_are_a_fault(rows: list, names: list | None, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        read_table(JsonRows(rows, names))


def test_a_member_that_an_object_lacks_is_missing() -> None:
    table = read_table(JsonRows([{"a": 1, "b": "x"}, {"b": "y"}, {"a": 3}]))
    assert (cells(table, "a"), cells(table, "b")) == ([1.0, None, 3.0], ["x", "y", None])


def test_levels_are_kept_once_however_many_there_are() -> None:
    texts = [f"customer {number}" for number in range(5000)]
    column = json_table(texts).columns["x"]
    assert isinstance(column, CodedColumn)
    assert len(column.levels) == len(set(column.levels)) == 5000


def test_blocks_of_declared_columns_are_tables() -> None:
    blocks = list(table_blocks(JsonRows([{"a": "1", "b": 2, "c": 3}]), {"a": "categorical", "b": "numeric"}, ["a", "b"]))
    assert [(cells(block, "a"), cells(block, "b"), block.n_rows) for block in blocks] == [(["1"], [2.0], 1)]


@pytest.mark.parametrize(("value", "kind"), [(2**64 - 1, pa.uint64()), (-(2**60) - 1, pa.int64())])
def test_an_integer_that_no_float_equals_is_refused_whatever_its_sign(value: int, kind: pa.DataType) -> None:
    with pytest.raises(InvalidInput, match=f"column 'x', row 1: the integer {value} is too large"):
        parquet_table({"x": pa.array([1 if value > 0 else -1, value], kind)})
