"""A text as lines of fields, whose numbers are parsed in bulk.

A million lines are split and parsed by array operations alone; only a text that turns out to be malformed is read line by line,
to say which line is wrong and why.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from solvers.graphs.arrays import Array, as_written
from solvers.graphs.graph import InvalidGraph

BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class MalformedLine(InvalidGraph):
    """A line of a text does not follow its format."""

    def __init__(self, line: int, complaint: str) -> None:
        super().__init__(f"line {line}: {complaint}", line=int(line))


class NumberLines(NamedTuple):
    """Some lines of a text, as numbers.

    Attributes
    ----------
    numbers : int64 or float64 array
        Those of the first line, then those of the second, and so on.
    fields : int64 array of shape (lines,)
        How many numbers each line has.
    lines : int64 array of shape (lines,)
        The place of each line in the text, from 1.
    """

    numbers: Array
    fields: npt.NDArray[np.int64]
    lines: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.lines)

    def after(self, count: int) -> NumberLines:
        """Return what follows the first `count` lines."""
        return NumberLines(self.numbers[int(self.fields[:count].sum()) :], self.fields[count:], self.lines[count:])

    def first(self) -> Array:
        """Return the numbers of the first line; none if there is no line."""
        return self.numbers[: int(self.fields[:1].sum())]

    def filled(self) -> NumberLines:
        """Return the lines that are not empty."""
        return NumberLines(self.numbers, self.fields[self.fields > 0], self.lines[self.fields > 0])

    def integers(self) -> npt.NDArray[np.int64]:
        """Return the numbers, all of which must be integers.

        Raises
        ------
        MalformedLine
            For the first line that has another number.
        """
        return self.integers_at(np.arange(len(self.numbers)))

    def integers_at(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the numbers at some places, where only integers may stand."""
        found = self.numbers[places]
        if found.dtype == np.int64:
            return found
        wrong = ~((np.abs(found) < 2.0**63) & (found == np.rint(found)))
        if wrong.any():
            place = int(np.argmax(wrong))
            raise MalformedLine(self.line_of(int(places[place])), f"{found[place]:g} stands where an integer belongs")
        return found.astype(np.int64)

    def line_of(self, place: int) -> int:
        """Return the line of the number at a place."""
        return int(self.lines[np.searchsorted(np.cumsum(self.fields), place, side="right")])


class Text:
    r"""A text, split into lines and fields.

    Parameters
    ----------
    content : str or bytes
        UTF-8, with or without a byte order mark; lines may end in CR LF.

    Examples
    --------
    >>> text = Text("# distances\n1 2\n2 3 1.5\n")
    >>> text.numbers(text.uncommented)
    NumberLines(numbers=array([1. , 2. , 2. , 3. , 1.5]), fields=array([2, 3]), lines=array([2, 3]))
    """

    def __init__(self, content: str | bytes) -> None:
        raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else bytes(content)
        if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise InvalidGraph("the text is not UTF-8 but UTF-16")
        self.content = raw.removeprefix(BYTE_ORDER_MARK)
        self._bytes = np.frombuffer(self.content, np.uint8)
        is_blank = (self._bytes == 32) | ((self._bytes >= 9) & (self._bytes <= 13))
        begins = ~is_blank
        begins[1:] &= is_blank[:-1]
        self._fields = np.flatnonzero(begins)
        ends = np.flatnonzero(self._bytes == 10)
        self._ends = ends if self.content.endswith(b"\n") or not self.content else np.append(ends, len(self.content))
        self._offsets = np.concatenate([[0], np.searchsorted(self._fields, self._ends)])

    def __len__(self) -> int:
        return len(self._ends)

    def fields(self, line: int) -> list[bytes]:
        """Return the fields of a line, counted from 0."""
        begin = int(self._ends[line - 1]) + 1 if line else 0
        return self.content[begin : int(self._ends[line])].split()

    @cached_property
    def first_bytes(self) -> npt.NDArray[np.uint8]:
        """The first byte of every line that is not blank; 0 for an empty line."""
        counts = np.diff(self._offsets)
        found = np.zeros(len(counts), np.uint8)
        found[counts > 0] = self._bytes[self._fields[self._offsets[:-1][counts > 0]]]
        return found

    def begins_with_letter(self, lines: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the first field of some lines, none of them empty, is a single byte."""
        seconds = self._fields[self._offsets[lines]] + 1
        return np.asarray(np.append(self._bytes, np.uint8(10))[seconds] <= 32)

    @cached_property
    def uncommented(self) -> npt.NDArray[np.int64]:
        """The lines, counted from 0, that do not begin with ``#`` or ``%``."""
        return np.flatnonzero((self.first_bytes != ord("#")) & (self.first_bytes != ord("%")))

    @cached_property
    def body(self) -> NumberLines:
        """The numbers of the uncommented lines."""
        return self.numbers(self.uncommented)

    def numbers(self, lines: npt.NDArray[np.int64], *, skip: int = 0) -> NumberLines:
        """Return the numbers of some lines.

        Parameters
        ----------
        lines : int64 array
            Increasing, counted from 0.
        skip : int
            How many fields at the beginning of every line are no numbers; every line has at least so many.

        Raises
        ------
        MalformedLine
            For the first line with a field that is no number.
        """
        counts = np.diff(self._offsets)[lines] - skip
        # One more number at the end: with none before it, NumPy would make up one, and older versions ignore a bad last field.
        content = self._only(lines[counts > 0], skip) + b" 0"
        for dtype in (np.int64, np.float64):
            try:
                found = np.fromstring(content, dtype=dtype, sep=" ")
            except ValueError:
                continue
            if len(found) == counts.sum() + 1:
                return NumberLines(found[:-1], counts, lines + 1)
        raise self._not_a_number(lines, skip)

    def words(self, lines: npt.NDArray[np.int64]) -> tuple[list[bytes], npt.NDArray[np.int64]]:
        """Return the fields of some lines, one after the other, and how many each line has."""
        counts = np.diff(self._offsets)[lines]
        return self._only(lines[counts > 0], 0).split(), counts

    def _only(self, lines: npt.NDArray[np.int64], skip: int) -> bytes:
        """Return the text with all but the wanted fields blanked out."""
        if not len(lines):
            return b""
        begins = self._fields[self._offsets[lines] + skip]
        if not skip and len(lines) == lines[-1] - lines[0] + 1:
            return self.content[int(begins[0]) : int(self._ends[lines[-1]])]
        change = np.zeros(len(self._bytes) + 1, np.int8)
        change[begins] = 1
        change[self._ends[lines]] = -1
        is_wanted = np.cumsum(change[:-1], dtype=np.int8).view(bool)
        return np.where(is_wanted, self._bytes, np.uint8(32)).tobytes()

    def _not_a_number(self, lines: npt.NDArray[np.int64], skip: int) -> InvalidGraph:
        for line in lines.tolist():
            for field in self.fields(line)[skip:]:
                try:
                    value = np.fromstring(field + b" 0", dtype=np.float64, sep=" ")
                except ValueError:
                    value = np.empty(0)
                if len(value) != 2:
                    shown = as_written(field.decode("utf-8", "replace"))
                    return MalformedLine(line + 1, f"{shown} is not a number")
        raise AssertionError("every field is a number, yet not all of them together")


def edges_of(found: NumberLines) -> tuple[Array, Array | None]:
    """Return the edges and, if any line has one, the weights of lines with two or three fields.

    Raises
    ------
    MalformedLine
        For the first line with another number of fields, or an id that is no integer.
    """
    require_two_or_three(found.fields, found.lines)
    begins = np.cumsum(found.fields) - found.fields
    edges = found.integers_at(np.column_stack([begins, begins + 1]).ravel()).reshape(-1, 2)
    has_weight = found.fields == 3
    if not has_weight.any():
        return edges, None
    weights = np.ones(len(found), dtype=found.numbers.dtype)
    weights[has_weight] = found.numbers[begins[has_weight] + 2]
    return edges, weights


def require_two_or_three(fields: npt.NDArray[np.int64], lines: npt.NDArray[np.int64]) -> None:
    """Raise :class:`MalformedLine` for the first line that cannot be an edge."""
    wrong = (fields != 2) & (fields != 3)
    if wrong.any():
        line = int(np.argmax(wrong))
        count = "1 field" if fields[line] == 1 else f"{fields[line]} fields"
        raise MalformedLine(lines[line], f"{count}; an edge has two ids and at most a weight")


def sizes_of(found: NumberLines, what: str) -> tuple[int, int]:
    """Return the two counts at the beginning of a header line.

    Raises
    ------
    MalformedLine
        If they are not there, or negative.
    """
    if not len(found):
        raise InvalidGraph(f"the text is empty; its first line should be {what}")
    header = NumberLines(found.first(), found.fields[:1], found.lines[:1])
    if len(header.numbers) < 2 or (header.integers()[:2] < 0).any():
        raise MalformedLine(found.lines[0], f"the header should be {what}")
    first, second = header.integers()[:2].tolist()
    return first, second
