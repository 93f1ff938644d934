"""Rows that came as JSON: objects by column name, or arrays beside a list of names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from solvers.gam.tables.cells import LARGEST_INTEGER, is_unicode, mixed, number_text
from solvers.operation import InvalidInput


class JsonRows:
    """Rows as objects or arrays; a member that an object lacks is missing.

    Parameters
    ----------
    rows : list of dict or list of list
    names : sequence of str, optional
        Names of the columns of rows that are arrays; default: `0`, `1` and so on.

    Raises
    ------
    InvalidInput
        If rows are of different kinds or lengths.

    Examples
    --------
    >>> JsonRows([{"a": 1}, {"b": 2}]).names
    ['a', 'b']
    """

    def __init__(self, rows: Sequence[Any], names: Sequence[str] | None = None) -> None:
        self._rows = rows
        if not rows:
            raise InvalidInput("the table has no rows")
        kind = dict if isinstance(rows[0], dict) else list
        for number, row in enumerate(rows):
            if not isinstance(row, kind):
                wanted = "an object, as the first one is" if kind is dict else "an array, as the first one is"
                raise InvalidInput(f"row {number} is not {wanted if number else 'an object or an array'}", row=number)
        self._by_name = kind is dict
        self.names = self._names_of_objects(names) if self._by_name else self._names_of_arrays(names)

    def _names_of_objects(self, names: Sequence[str] | None) -> list[str]:
        if names is not None:
            raise InvalidInput("`names` goes with rows that are arrays; objects name their members", pointer="/names")
        first = self._rows[0]
        if all(row.keys() == first.keys() for row in self._rows):
            return list(first)
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def _names_of_arrays(self, names: Sequence[str] | None) -> list[str]:
        width = len(self._rows[0] if names is None else names)
        for number, row in enumerate(self._rows):
            if len(row) != width:
                against = "names" if names is not None else "the first one"
                raise InvalidInput(f"row {number} has {len(row)} cells, {against} {width}", row=number)
        return [str(number) for number in range(width)] if names is None else list(names)

    def blocks(self, wanted: Sequence[str], declared: Collection[str] = ()) -> Iterator[Mapping[str, pa.Array]]:
        """Yield the wanted columns of all rows; cells of several kinds, which a declared column may hold, as texts."""
        if self._by_name:
            yield {name: _array([row.get(name) for row in self._rows], name, name in declared) for name in wanted}
        else:
            places = {name: place for place, name in enumerate(self.names)}
            yield {name: _array([row[places[name]] for row in self._rows], name, name in declared) for name in wanted}


def _array(cells: list[Any], name: str, is_declared: bool) -> pa.Array:
    kinds = set(map(type, cells)) - {type(None)}
    if kinds <= {float, int}:
        return _numbers(cells, kinds, name)
    if len(kinds) == 1 and kinds <= {bool, str}:
        return pa.array(cells, pa.bool_()) if kinds == {bool} else _texts(cells, name)
    rows = {kind: next(row for row, cell in enumerate(cells) if type(cell) is kind) for kind in kinds}
    for kind, row in sorted(rows.items(), key=lambda item: item[1]):
        if kind not in _KINDS:
            raise InvalidInput(
                f"column {name!r}, row {row}: a cell is a number, a truth value, a text or null", column=name, row=row
            )
    if is_declared:
        return _texts(list(map(_text, cells)), name)
    first = min(rows, key=lambda kind: rows[kind])
    other = min((kind for kind in kinds if _KINDS[kind] != _KINDS[first]), key=lambda kind: rows[kind])
    raise mixed(name, (rows[first], _KINDS[first]), (rows[other], _KINDS[other]))


def _texts(cells: list[str | None], name: str) -> pa.Array:
    try:
        return pa.array(cells, pa.string())
    except UnicodeEncodeError:
        row = next(row for row, cell in enumerate(cells) if cell is not None and not is_unicode(cell))
        raise InvalidInput(f"column {name!r}, row {row}: the text holds half a character", column=name, row=row) from None


def _text(cell: Any) -> str | None:
    if cell is None or isinstance(cell, str):
        return cell
    return ("true" if cell else "false") if isinstance(cell, bool) else number_text(cell)


_KINDS: dict[type, str] = {int: "number", float: "number", bool: "truth value", str: "text"}


def _numbers(cells: list[Any], kinds: set[type], name: str) -> pa.Array:
    if int in kinds:
        row = next((row for row, cell in enumerate(cells) if type(cell) is int and _is_inexact(cell)), None)
        if row is not None:
            raise InvalidInput(
                f"column {name!r}, row {row}: the integer {str(cells[row])[:40]} is too large for a floating-point number; "
                "an identifier is best ignored or written as a text",
                column=name,
                row=row,
            )
    return pa.array(np.array(cells, dtype=np.float64), from_pandas=True)


def _is_inexact(integer: int) -> bool:
    if -LARGEST_INTEGER <= integer <= LARGEST_INTEGER:
        return False
    try:
        return int(float(integer)) != integer
    except OverflowError:
        return True
