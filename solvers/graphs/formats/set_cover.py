"""Set cover instances as text: the OR-Library's, its railway instances', and Steiner triples; ids count from 1.

All three are streams of numbers whose line breaks mean nothing.

- ``orlib``: elements, sets; the cost of every set; then for every element, how many sets contain it, and which.
- ``rail``: elements, sets; then for every set its cost, how many elements it has, and which.
- ``steiner``: sets, elements; then for every element the three sets that contain it. Every set costs 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt
from numba import njit

from solvers.graphs.arrays import Array, as_written
from solvers.graphs.formats.text import MalformedLine, NumberLines, Text, sizes_of
from solvers.graphs.graph import InvalidGraph
from solvers.graphs.set_system import InvalidSetSystem, SetSystem
from solvers.operation import InvalidInput

SetCoverFormat = Literal["orlib", "rail", "steiner"]
SET_COVER_FORMATS: tuple[str, ...] = get_args(SetCoverFormat)

TRIPLE = 3


def read_set_system(text: str | bytes, format: str | None = None, *, pointer: str = "/graph/text") -> tuple[SetSystem, str]:
    r"""Return the set system that a text describes, and the name of its format.

    Parameters
    ----------
    text : str or bytes
        UTF-8; lines that begin with ``#`` or ``%`` are comments.
    format : str, optional
        One of :data:`SET_COVER_FORMATS`; default: the first that fits the text to its last number, with all ids in range.
    pointer : str
        JSON pointer of the text, for faults.

    Raises
    ------
    InvalidInput
        If a number is malformed (the fault's member `line` counts from 1), or the format is unknown or cannot be told.

    Examples
    --------
    >>> system, name = read_set_system("3 2\n1 2 3\n1 2 3\n")
    >>> name, system.num_sets, system.num_elements
    ('steiner', 3, 2)
    """
    if format is not None and format not in SET_COVER_FORMATS:
        raise InvalidInput(
            f"there is no format {as_written(format)}; the known ones are {', '.join(SET_COVER_FORMATS)}", pointer="/graph/format"
        )
    try:
        found = Text(text).body.filled()
        if format is not None:
            return _READERS[format](found, pointer), format
        misfits = []
        for name in SET_COVER_FORMATS:
            try:
                return _READERS[name](found, pointer), name
            except InvalidGraph as fault:
                misfits.append(f"not {name}: {fault.detail}")
        raise InvalidSetSystem(f"the text is in no known format; {'; '.join(misfits)}")
    except InvalidInput as fault:
        fault.pointer = pointer if fault.pointer is None else fault.pointer
        raise


def _read_orlib(found: NumberLines, pointer: str) -> SetSystem:
    num_elements, num_sets = sizes_of(found, "the numbers of elements and sets")
    body = 2 + num_sets
    if len(found.numbers) < body:
        raise MalformedLine(int(found.lines[-1]), f"the text ends before all {num_sets} costs")
    rows = _rows(found, body, num_elements, num_sets, "set", before=0)
    return _by_set(num_elements, num_sets, rows, _costs(found, np.arange(2, body), pointer), pointer)


def _read_rail(found: NumberLines, pointer: str) -> SetSystem:
    num_elements, num_sets = sizes_of(found, "the numbers of elements and sets")
    rows = _rows(found, 2, num_sets, num_elements, "element", before=1)
    costs = _costs(found, rows.begins - 2, pointer)
    return SetSystem.from_rows(rows.ptr, rows.ids, costs, num_elements, index_base=1, pointer=pointer)


def _read_steiner(found: NumberLines, pointer: str) -> SetSystem:
    num_sets, num_elements = sizes_of(found, "the numbers of sets and elements")
    if len(found.numbers) != 2 + TRIPLE * num_elements:
        raise MalformedLine(
            int(found.lines[0]), f"{num_elements} triples are promised; {len(found.numbers) - 2} numbers follow the header"
        )
    if num_sets > len(found.numbers):
        raise MalformedLine(int(found.lines[0]), f"{num_sets} sets are promised; only {len(found.numbers) - 2} ids follow")
    ids = _ids(found, np.arange(2, len(found.numbers)), num_sets, "set")
    ptr = TRIPLE * np.arange(num_elements + 1)
    return _by_set(num_elements, num_sets, _Rows(ptr, ids, ptr[:-1]), None, pointer)


_READERS: dict[str, Callable[[NumberLines, str], SetSystem]] = {
    "orlib": _read_orlib,
    "rail": _read_rail,
    "steiner": _read_steiner,
}


class _Rows(NamedTuple):
    ptr: npt.NDArray[np.int64]
    ids: npt.NDArray[np.int64]
    begins: npt.NDArray[np.int64]


def _rows(found: NumberLines, start: int, num_rows: int, num_ids: int, what: str, *, before: int) -> _Rows:
    """Read `num_rows` rows, each of `before` numbers, a count, and that many ids."""
    numbers = found.numbers
    if num_rows > len(numbers):
        raise MalformedLine(int(found.lines[0]), f"{num_rows} rows are promised; only {len(numbers)} numbers follow")
    begins, counts = np.empty(num_rows, np.int64), np.empty(num_rows, np.int64)
    end = int(_walk(np.require(numbers, requirements=["C", "W"]), start, before, begins, counts))
    if end < 0:
        place = -end - 1
        if place >= len(numbers):
            raise MalformedLine(int(found.lines[-1]), "the text ends in the middle of a row")
        raise MalformedLine(found.line_of(place), f"{numbers[place]:g} stands where the length of a row belongs")
    if end < len(numbers):
        raise MalformedLine(found.line_of(end), "numbers follow the last row")
    ptr = np.concatenate(([0], np.cumsum(counts)))
    places = np.arange(int(ptr[-1])) + np.repeat(begins - ptr[:-1], counts)
    return _Rows(ptr, _ids(found, places, num_ids, what), begins)


@njit(cache=True, nogil=True)
def _walk(numbers, start, before, begins, counts):  # type: ignore[no-untyped-def]
    """Find where the ids of every row begin and how many there are; return the end, or -1 - (the place of the first fault)."""
    place = start
    for row in range(len(begins)):
        place += before
        if place >= len(numbers):
            return -1 - len(numbers)
        count = np.int64(numbers[place]) if 0 <= numbers[place] <= len(numbers) else np.int64(-1)
        if count < 0 or count != numbers[place]:
            return -1 - place
        begins[row], counts[row] = place + 1, count
        place += 1 + count
        if place > len(numbers):
            return -1 - len(numbers)
    return place


def _costs(found: NumberLines, places: npt.NDArray[np.int64], pointer: str) -> Array:
    costs = found.numbers[places]
    wrong = ~(np.isfinite(costs) & (costs >= 0))
    if wrong.any():
        index = int(np.argmax(wrong))
        line = found.line_of(int(places[index]))
        # The text is in this format, so that no other is tried.
        raise InvalidSetSystem(
            f"line {line}: set {index + 1} costs {costs[index]:g}; costs are finite and not negative", pointer=pointer, line=line
        )
    return costs


def _ids(found: NumberLines, places: npt.NDArray[np.int64], num_ids: int, what: str) -> npt.NDArray[np.int64]:
    ids = found.integers_at(places)
    wrong = (ids < 1) | (ids > num_ids)
    if wrong.any():
        index = int(np.argmax(wrong))
        raise MalformedLine(found.line_of(int(places[index])), f"there is no {what} {ids[index]}; ids go from 1 to {num_ids}")
    return ids - 1


def _by_set(num_elements: int, num_sets: int, rows: _Rows, costs: Array | None, pointer: str) -> SetSystem:
    """Turn rows of sets by element into rows of elements by set."""
    elements = np.repeat(np.arange(num_elements), np.diff(rows.ptr))
    order = np.argsort(rows.ids, kind="stable")
    ptr = np.concatenate(([0], np.cumsum(np.bincount(rows.ids, minlength=num_sets))))
    return SetSystem.from_rows(ptr, elements[order], costs, num_elements, index_base=1, pointer=pointer)
