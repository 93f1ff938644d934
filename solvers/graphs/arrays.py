"""Lists of a request turned into arrays: whole where they are well formed, else the place of the first fault.

A list of a million numbers is checked by the set of the types in it, which the interpreter collects without a loop in Python;
only a list that fails is walked element by element, to say which one is wrong.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Annotated, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pydantic import Field, Strict, WithJsonSchema

from solvers.operation import InvalidInput

Array: TypeAlias = npt.NDArray[Any]
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxlong = _SHORT.maxother = 40
_SHORT.maxlist = _SHORT.maxdict = 4

Integer: TypeAlias = Annotated[int, Strict()]
Number: TypeAlias = Annotated[float, Strict(), Field(allow_inf_nan=False)]
Flag: TypeAlias = Annotated[bool, Strict()]
Place: TypeAlias = Callable[[int], str]
"""From the index of an element to its JSON pointer."""


def list_of(item: dict[str, Any]) -> WithJsonSchema:
    """Return the JSON schema of a list that its model leaves unchecked, for a field of type `list[Any]`."""
    return WithJsonSchema({"type": "array", "items": item})


def lightest(weights: Array) -> float:
    """Return the least magnitude of a weight that is not 0; 0.0 if there is none.

    Examples
    --------
    >>> lightest(np.array([0.5, 0.0, -0.25]))
    0.25
    """
    magnitudes = np.abs(weights[weights != 0])
    return float(magnitudes.min()) if len(magnitudes) else 0.0


def inside(pointer: str) -> Place:
    """Return where the elements of the list at `pointer` stand.

    Examples
    --------
    >>> inside("/edge_weights")(3)
    '/edge_weights/3'
    """
    return lambda index: f"{pointer}/{index}"


def as_written(value: Any) -> str:
    """Return a caller's value as messages quote it: short, and on one line.

    Examples
    --------
    >>> as_written(list(range(10**6)))
    '[0, 1, 2, 3, ...]'
    """
    return " ".join(_SHORT.repr(value).split())


def is_integer(value: Any) -> bool:
    """Whether a value is an integer; True and False are not."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether a value is a number; True and False are not."""
    return is_integer(value) or isinstance(value, (float, np.floating))


def integers(values: Sequence[Any] | Array, place: Place, what: str = "an integer") -> npt.NDArray[np.int64]:
    """Return a list or array of integers.

    Parameters
    ----------
    values : sequence or array
        Of integers; an array may hold floats that are whole.
    place : callable
        From the index of an element to its JSON pointer.
    what : str
        What an element should be, for messages.

    Raises
    ------
    InvalidInput
        With the pointer of the first element that is not an integer of 64 bits.

    Examples
    --------
    >>> integers([3, 4], inside("/edges_flat"))
    array([3, 4])
    """
    if isinstance(values, np.ndarray):
        return _whole(values, place, what)
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in set(map(type, values))):
        try:
            return np.array(values, dtype=np.int64)
        except OverflowError:
            pass
    index = _first(values, lambda value: not is_integer(value) or not -(2**63) <= value < 2**63)
    raise InvalidInput(f"{as_written(values[index])} is not {what}", pointer=place(index))


def numbers(values: Sequence[Any] | Array, place: Place) -> Array:
    """Return a list or array of numbers, int64 if all are integers and float64 otherwise.

    Raises
    ------
    InvalidInput
        With the pointer of the first element that is not a finite number, or an integer beyond 64 bits.

    Examples
    --------
    >>> numbers([1, 2.5], inside("/edge_weights"))
    array([1. , 2.5])
    """
    if isinstance(values, np.ndarray):
        if values.dtype.kind in "iu":
            return _whole(values, place, "a number")
        if values.dtype.kind != "f":
            return numbers(values.tolist(), place)
        return _finite(values.astype(np.float64), place)
    kinds = set(map(type, values))
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
        return integers(values, place, "a number of at most 64 bits")
    if not all(issubclass(kind, (int, float, np.integer, np.floating)) and kind is not bool for kind in kinds):
        index = _first(values, lambda value: not is_number(value))
        raise InvalidInput(f"{as_written(values[index])} is not a number", pointer=place(index))
    try:
        return _finite(np.array(values, dtype=np.float64), place)
    except OverflowError:
        index = _first(values, lambda value: is_integer(value) and abs(value) >= 2**63)
        raise InvalidInput(f"{as_written(values[index])} is not a number of at most 64 bits", pointer=place(index)) from None


def pairs(rows: Sequence[Any], pointer: str, what: str) -> list[Any]:
    """Return the elements of a list of pairs, one after the other.

    Raises
    ------
    InvalidInput
        With the pointer of the first row that is not a pair.

    Examples
    --------
    >>> pairs([[0, 1], [1, 2]], "/edges", "two vertices")
    [0, 1, 1, 2]
    """
    try:
        if set(map(len, rows)) <= {2} and not any(issubclass(kind, (str, dict)) for kind in set(map(type, rows))):
            return list(chain.from_iterable(rows))
    except TypeError:
        pass
    index = _first(rows, lambda row: isinstance(row, (str, dict)) or not hasattr(row, "__len__") or len(row) != 2)
    raise InvalidInput(f"{as_written(rows[index])} is not {what}", pointer=f"{pointer}/{index}")


def flags(values: Sequence[Any], place: Place, missing: int | None) -> npt.NDArray[np.int8]:
    """Return a list of bits as 1, 0 and, where a bit is missing, -1.

    Parameters
    ----------
    values : sequence
        Of 0, 1 and `missing`.
    place : callable
        From the index of an element to its JSON pointer.
    missing : int, optional
        What stands for a missing bit; None (JSON: null) or -1.

    Raises
    ------
    InvalidInput
        With the pointer of the first element that is none of the three.

    Examples
    --------
    >>> flags([0, 1, None], inside("/predictions/vertex_labels"), None)
    array([ 0,  1, -1], dtype=int8)
    """
    allowed = {0, 1, missing}
    try:
        if set(map(type, values)) <= {int, type(missing)} and set(values) <= allowed:
            return np.array([-1 if bit is None else bit for bit in values] if missing is None else values, dtype=np.int8)
    except TypeError:
        pass
    index = _first(values, lambda bit: bit is not missing and not (is_integer(bit) and bit in allowed))
    shown = "null" if missing is None else str(missing)
    raise InvalidInput(f"{as_written(values[index])} is none of 0, 1 and {shown}", pointer=place(index))


def _whole(values: Array, place: Place, what: str) -> npt.NDArray[np.int64]:
    if values.dtype.kind in "iu":
        wrong = values > np.iinfo(np.int64).max if values.dtype.kind == "u" else np.zeros(0, bool)
    elif values.dtype.kind == "f":
        wrong = ~((np.abs(values) < 2.0**63) & (values == np.rint(values)))
    else:
        return integers(values.tolist(), place, what)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise InvalidInput(f"{values[index]} is not {what}", pointer=place(index))
    return values.astype(np.int64)


def _finite(values: npt.NDArray[np.float64], place: Place) -> npt.NDArray[np.float64]:
    wrong = ~np.isfinite(values)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise InvalidInput(f"{values[index]} is not a finite number", pointer=place(index))
    return values


def _first(values: Sequence[Any], is_wrong: Callable[[Any], bool]) -> int:
    """Return the index of the first wrong element; the caller knows that there is one."""
    return next(index for index, value in enumerate(values) if is_wrong(value))
