"""CSV files as they are found: marks, quotes, line ends, encodings, and whatever is wrong with them."""

from __future__ import annotations

import csv
import gzip
import io

import numpy as np
import pytest

from solvers.gam.tables import csv_rows, read_table
from solvers.gam.tables.csv_rows import CsvRows
from solvers.operation import InvalidInput
from tests.solvers.gam.tables.reading import cells, csv_table


def test_numbers_and_texts_are_told_apart() -> None:
    table = csv_table("age,plan\n30,basic\n 2.5 ,pro\n-1e3,basic\n")
    assert cells(table, "age") == [30.0, 2.5, -1000.0]
    assert cells(table, "plan") == ["basic", "pro", "basic"]


@pytest.mark.parametrize("missing", ["", '""', "NA", "NaN", "null"])
def test_a_missing_cell_is_missing_in_either_kind_of_column(missing: str) -> None:
    table = csv_table(f"age,plan\n{missing},basic\n1,{missing}\n")
    assert cells(table, "age") == [None, 1.0]
    assert cells(table, "plan") == ["basic", None]


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_marks_and_line_ends_make_no_difference(mark: bytes, end: bytes) -> None:
    table = csv_table(mark + end.join([b"a,b", b"1,x", b"2,y"]))
    assert (cells(table, "a"), cells(table, "b")) == ([1.0, 2.0], ["x", "y"])


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_semicolons_and_tabs_divide_where_the_header_has_no_comma(delimiter: str) -> None:
    assert cells(csv_table(f"a{delimiter}b\n1{delimiter}x,y\n"), "b") == ["x,y"]


def test_a_quoted_field_may_hold_commas_quotes_and_line_breaks() -> None:
    assert cells(csv_table('a,b\n1,"x, ""y""\nz"\n'), "b") == ['x, "y"\nz']


def test_a_quoted_name_may_hold_commas_and_line_breaks() -> None:
    assert list(csv_table('"a,\nb",c\n1,2\n').columns) == ["a,\nb", "c"]


def test_utf_16_is_read() -> None:
    assert cells(csv_table("größe,b\n1,é\n".encode("utf-16")), "b") == ["é"]


def test_any_texts_survive_a_round_trip() -> None:
    texts = ["plain", "with, comma", 'with "quotes"', "two\nlines", "ünïcode", "=1+1", " spaced ", "😀"]
    file = io.StringIO(newline="")
    csv.writer(file).writerows([["t"], *([text] for text in texts)])
    assert cells(csv_table(file.getvalue()), "t") == texts


def test_rows_in_many_blocks_are_those_in_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    lines = [f"{x},{level}" for x, level in zip(rng.normal(size=3000), rng.integers(0, 50, 3000), strict=True)]
    text = "x,level\n" + "\n".join(f"{line}th" for line in lines)
    whole = csv_table(text)
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(csv_rows, "HEADER_BYTES", 100)
    in_blocks = csv_table(text)
    assert cells(in_blocks, "level") == cells(whole, "level")
    np.testing.assert_array_equal(in_blocks.columns["x"], whole.columns["x"])


def test_kinds_that_differ_between_blocks_are_a_fault_with_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 100)
    with pytest.raises(InvalidInput, match=r"column 'x': row .* holds a number, row 200 a text") as fault:
        csv_table("x\n" + "1\n" * 200 + "no\n")
    assert fault.value.members == {"column": "x", "row": 200}


@pytest.mark.parametrize(
    ("text", "message", "members"),
    [
        ("", "the file is empty", {}),
        ("\n \n", "the file is empty", {}),
        ("a,b\n", "the table has no rows", {}),
        ("\na,b\n1,2\n", "the first line is blank", {}),
        ("a,b\n1,2\n3\n", "row 1 .* has 1 fields, the header 2", {"row": 1, "line": 3}),
        ("a,b\n1,2\n3,4,5\n", "row 1 .* has 3 fields, the header 2", {"row": 1, "line": 3}),
        ("a,a\n1,2\n", "two columns have the name 'a'", {"column": "a"}),
        ("a,,c\n1,2,3\n", "column 1 has no name", {"column": ""}),
        ('a,b\n1,"x\n2,y\n', "a quotation mark is left open", {}),
        (b"a,b\n1,x\n2,\xe9\n", "column 'b', row 1: the text is not UTF-8", {"column": "b", "row": 1}),
        (bytes(range(256)), "the file is no text", {}),
        (gzip.compress(b"a,b\n1,2\n"), "no CSV: it is compressed by gzip", {}),
        (b"PK\x03\x04\x14\0\x06\0", "no CSV: it is a ZIP archive or an Excel workbook", {}),
        (b"PAR1\x15\x04", "no CSV: it is a Parquet file", {}),
        ("a,b\n1,2\n".encode("utf-32"), "no CSV: it is text in UTF-32", {}),
        ("a,b\n1,2\n".encode("utf-16-le"), "the file is no text; .* UTF-16 with a byte order mark", {}),
        (b"a,b\n1,2\n3,x\0\n", "the file is no text", {}),
        (b"a\xe9,b\n1,2\n", "the names of the columns are not UTF-8", {}),
        ("a" * 200_000 + ",b\n1,2\n", "the first line names no columns", {}),
        ("a" * 1001 + ",b\n1,2\n", "is longer than 1000 characters", {"column": "a" * 1000}),
    ],
)
def test_a_broken_file_is_a_fault_that_says_where(text: str | bytes, message: str, members: dict) -> None:
    with pytest.raises(InvalidInput, match=message) as fault:
        csv_table(text)
    assert fault.value.members == members


def test_a_nul_of_a_later_block_is_told_with_the_row_it_follows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 100)
    monkeypatch.setattr(csv_rows, "HEADER_BYTES", 50)
    with pytest.raises(InvalidInput, match="a NUL character in row") as fault:
        csv_table("a,b\n" + "1,2\n" * 500 + "3,\0\n" + "1,2\n" * 100)
    assert 400 < fault.value.members["row"] <= 500


def test_a_row_that_no_block_holds_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 100)
    with pytest.raises(InvalidInput, match="a row is longer than 200 bytes"):
        csv_table("a\n" + "x" * 1000)


def test_a_quotation_mark_within_a_field_is_a_mark() -> None:
    assert cells(csv_table('size,n\n5" disk,1\nother,2\n'), "size") == ['5" disk', "other"]


@pytest.mark.parametrize("size", range(20, 60))
def test_blocks_end_where_rows_do(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    text = 'a,b\r\n1,"x,\r\n""y"""\r\n\r\n2,z\r\n3,"\n\n"\r\n4,é'
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", size)
    monkeypatch.setattr(csv_rows, "HEADER_BYTES", 10)
    table = csv_table(text)
    assert cells(table, "a") == [1.0, 2.0, 3.0, 4.0]
    assert cells(table, "b") == ['x,\r\n"y"', "z", "\n\n", "é"]


def test_a_ragged_row_of_a_later_block_is_told_with_its_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_rows, "BLOCK_BYTES", 100)
    monkeypatch.setattr(csv_rows, "HEADER_BYTES", 50)
    with pytest.raises(InvalidInput, match=r"row 500 \(line 502") as fault:
        csv_table("a,b\n" + "1,2\n" * 500 + "3\n" + "1,2\n" * 100)
    assert fault.value.members == {"row": 500, "line": 502}


def test_columns_that_nobody_wants_are_not_looked_at() -> None:
    table = read_table(CsvRows(io.BytesIO(b"a,b\n1,2\n3,x\n")), wanted=["a"])
    assert list(table.columns) == ["a"]
