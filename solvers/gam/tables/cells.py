"""What the cells of a column are: numbers, truth values or texts, told from the cells themselves or declared.

A column of texts that all are numbers is numeric, a column of `true` and `false` is 0 and 1, other texts are levels. A column that holds
both numbers and other texts is refused, as are dates, unless its type is declared.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from solvers.gam.shape_functions import Floats
from solvers.operation import InvalidInput

Declared = Literal["numeric", "categorical"]
CellKind = Literal["number", "text"]

MISSING_TEXTS = ("", "NA", "N/A", "#N/A", "NaN", "nan", "NULL", "null")
"""Texts that stand for a missing value: in every column of a CSV file, and in texts that are read as numbers."""

LARGEST_INTEGER = 2**53

_NUMBER = r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*$"
_TRUTH = r"^(?i:true|false)$"
_DATE = r"^(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})([T ]\d{1,2}:\d{2}.*)?$"


class Cells(NamedTuple):
    """Some cells of a column, all of one kind.

    Attributes
    ----------
    kind : {"number", "text"} or None
        None where all are missing. Truth values are the texts `true` and `false` until the whole column is known to hold nothing else.
    values : float64 array, or dictionary-encoded array of texts
    first_row : int
        Of the first cell that is not missing.
    """

    kind: CellKind | None
    values: Floats | pa.DictionaryArray
    first_row: int


def read_cells(array: pa.Array, name: str, row: int, declared: Declared | None) -> Cells:
    """Return cells of a column as numbers or levels.

    Parameters
    ----------
    array : pyarrow.Array
    name : str
        Of the column.
    row : int
        Number of the first cell's row, counted from 0.
    declared : {"numeric", "categorical"}, optional

    Raises
    ------
    InvalidInput
        With column and row, if the cells are not of one kind, or not of the declared one.

    Examples
    --------
    >>> read_cells(pa.array(["1", " 2.5", "NA"]), "x", 0, None)[:2]
    ('number', array([1. , 2.5, nan]))
    """
    array = _plain(array, name, row)
    first_row = row + _first(pc.is_valid(array))
    if array.null_count == len(array):
        return Cells(None, _no_values(len(array), declared), row)
    if declared == "categorical" or (declared is None and _is_levels(array.type)):
        return Cells("text", _levels(array), first_row)
    if not _is_text(array.type) and not pa.types.is_dictionary(array.type):
        return Cells("number", _numbers(array, name, row), first_row)
    return _read_texts(array, name, row, declared, first_row)


def truth_values(array: pa.DictionaryArray) -> Floats | None:
    """Return levels as 0 and 1 if all of them say `true` or `false`; else None."""
    texts = pc.utf8_lower(array.dictionary)
    if not pc.all(pc.match_substring_regex(texts, _TRUTH)).as_py():
        return None
    of_level = np.append(pc.equal(texts, "true").to_numpy(zero_copy_only=False).astype(np.float64), np.nan)
    values: Floats = of_level[pc.fill_null(array.indices, -1).to_numpy(zero_copy_only=False)]
    return values


def no_texts(length: int) -> pa.DictionaryArray:
    """Return missing texts."""
    return pa.nulls(length, pa.string()).dictionary_encode()


def _read_texts(array: pa.Array, name: str, row: int, declared: Declared | None, first_row: int) -> Cells:
    texts = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
    candidates = pc.if_else(pc.is_in(texts, pa.array(MISSING_TEXTS, texts.type)), pa.scalar(None, texts.type), texts)
    if candidates.null_count == len(candidates):
        return Cells(None, _no_values(len(array), declared), row)
    numbers = _parsed(candidates)
    if numbers is not None:
        _require_exact(numbers, candidates, name, row)
        return Cells("number", numbers, first_row)
    levels = _levels(array)
    if declared == "numeric":
        truth = truth_values(_levels(candidates))
        if truth is not None:
            return Cells("number", truth, first_row)
        raise _no_number(candidates, name, row)
    _require_one_kind(candidates, name, row)
    _require_no_dates(levels.dictionary, name, first_row)
    return Cells("text", levels, first_row)


def _parsed(texts: pa.Array) -> Floats | None:
    """Return texts as numbers, None if one of them is no number."""
    for candidates in (texts, pc.utf8_trim_whitespace(texts)):
        try:
            return _floats(pc.cast(candidates, pa.float64()))
        except pa.ArrowInvalid:
            continue
    return None


def _numbers(array: pa.Array, name: str, row: int) -> Floats:
    """Return an array of any number type as floats."""
    if pa.types.is_integer(array.type):
        extremes = pc.min_max(array).as_py().values()
        if any(value is not None and abs(value) > LARGEST_INTEGER for value in extremes):
            _require_exact(_floats(pc.cast(array, pa.float64(), safe=False)), pc.cast(array, pa.string()), name, row)
        return _floats(pc.cast(array, pa.float64(), safe=False))
    return _floats(pc.cast(array, pa.float64()))


def _require_exact(numbers: Floats, texts: pa.Array, name: str, row: int) -> None:
    """Refuse integers that no float equals: two different ones would become the same."""
    for at in np.flatnonzero(np.abs(numbers) >= LARGEST_INTEGER):
        text = texts[int(at)].as_py().strip()
        if text.lstrip("+-").isdigit() and Decimal(numbers[at]) != Decimal(text):
            raise InvalidInput(
                f"column {name!r}, row {row + at}: the integer {text:.40} is too large for a floating-point number; "
                "an identifier is best ignored or declared categorical",
                column=name,
                row=row + int(at),
            )


def _no_number(texts: pa.Array, name: str, row: int) -> InvalidInput:
    is_wrong = pc.invert(pc.match_substring_regex(texts, _NUMBER))
    at = _first(is_wrong)
    return InvalidInput(f"column {name!r}, row {row + at}: {texts[at].as_py()!r:.60} is not a number", column=name, row=row + at)


def _require_one_kind(texts: pa.Array, name: str, row: int) -> None:
    is_number = pc.match_substring_regex(texts, _NUMBER)
    if pc.any(is_number).as_py():
        raise mixed(name, (row + _first(is_number), "number"), (row + _first(pc.invert(is_number)), "text"))


def mixed(name: str, one: tuple[int, str], other: tuple[int, str]) -> InvalidInput:
    """Return the fault of a column whose cells are of two kinds; each is told by a row and what it holds."""
    (row, kind), (later, other_kind) = sorted((one, other))
    return InvalidInput(
        f"column {name!r}: row {row} holds a {kind}, row {later} a {other_kind}; say in `columns` whether it is numeric, "
        "categorical or to be ignored",
        column=name,
        row=later,
    )


def _require_no_dates(levels: pa.Array, name: str, row: int) -> None:
    if len(levels) and pc.all(pc.match_substring_regex(levels, _DATE)).as_py():
        raise _dates(name, row, levels[0].as_py())


def _dates(name: str, row: int, example: object) -> InvalidInput:
    return InvalidInput(
        f"column {name!r}, row {row}: holds dates or times such as {str(example)!r:.40}; extract numbers from them, such as the "
        "month, the weekday or the days since a date, or declare the column categorical or ignored",
        column=name,
        row=row,
    )


def _plain(array: pa.Array, name: str, row: int) -> pa.Array:
    """Return the array with one type for all texts; refuse what is neither number, truth value nor text."""
    kind = array.type
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        return pc.cast(array, pa.dictionary(pa.int32(), pa.string()))
    if pa.types.is_dictionary(kind):
        return _plain(array.dictionary_decode(), name, row)
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return _decoded(array, name, row)
    if _is_text(kind):
        return pc.cast(array, pa.string())
    if pa.types.is_temporal(kind):
        at = _first(pc.is_valid(array))
        raise _dates(name, row + at, array[at].as_py() if len(array) else kind)
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return array
    if pa.types.is_boolean(kind) or pa.types.is_null(kind):
        return array
    raise InvalidInput(
        f"column {name!r}: holds values of the type {kind}; a cell is a number, a truth value or a text", column=name, row=row
    )


def _decoded(array: pa.Array, name: str, row: int) -> pa.Array:
    try:
        return pc.cast(array, pa.string())
    except pa.ArrowInvalid:
        for at, value in enumerate(array):
            try:
                (value.as_py() or b"").decode()
            except UnicodeDecodeError:
                raise InvalidInput(f"column {name!r}, row {row + at}: the text is not UTF-8", column=name, row=row + at) from None
        raise


def _levels(array: pa.Array) -> pa.DictionaryArray:
    """Return cells as texts in a dictionary, a number as Python writes it, without `.0`."""
    if pa.types.is_dictionary(array.type):
        return array
    if pa.types.is_floating(array.type) or pa.types.is_decimal(array.type):
        array = pa.array([None if x is None or x != x else number_text(x) for x in array.to_pylist()], pa.string())
    encoded: pa.DictionaryArray = pc.cast(array, pa.string()).dictionary_encode()
    return encoded


def is_unicode(text: str) -> bool:
    """Return whether a text has no halves of characters, which JSON can write but no encoding holds."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def number_text(number: float) -> str:
    """Return a number as the name of a level: an integer without `.0`."""
    return str(int(number)) if number == int(number) else repr(float(number))


def _no_values(length: int, declared: Declared | None) -> Floats | pa.DictionaryArray:
    if declared == "categorical":
        return no_texts(length)
    return np.full(length, np.nan)


def _floats(array: pa.Array) -> Floats:
    numbers: Floats = pc.cast(array, pa.float64()).to_numpy(zero_copy_only=False)
    return numbers


def _is_levels(kind: pa.DataType) -> bool:
    return bool(pa.types.is_boolean(kind) or pa.types.is_dictionary(kind))


def _first(mask: pa.Array) -> int:
    """Return the position of the first true; 0 if there is none."""
    return max(0, int(pc.index(mask, True).as_py()))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
