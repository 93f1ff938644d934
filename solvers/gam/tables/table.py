"""A table in memory: numbers as floats, texts as codes of levels; and tables of a few rows each, for what is too long for that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from solvers.gam.interruption import ShouldStop, never
from solvers.gam.shape_functions import CodedColumn, Floats
from solvers.gam.tables.cells import Cells, Declared, is_unicode, mixed, no_texts, read_cells, truth_values
from solvers.operation import ForesolveError, InvalidInput

LONGEST_NAME = 1000

ColumnType = Literal["numeric", "categorical", "ignore"]


class NoTimeToRead(ForesolveError):
    """The time was over, or the job cancelled, while the table was being read: there is nothing to return yet."""

    type = "timeout"
    title = "The job ran out of time"
    status = 504


class Rows(Protocol):
    """Where rows come from.

    Attributes
    ----------
    names : sequence of str
        Of the columns, in order.
    """

    @property
    def names(self) -> Sequence[str]: ...
    def blocks(self, wanted: Sequence[str], declared: Collection[str] = ()) -> Iterator[Mapping[str, pa.Array]]:
        """Yield the wanted columns of some rows after the other; those of declared type may hold cells of several kinds."""
        ...


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of equal length.

    Attributes
    ----------
    columns : mapping of str to float64 array or CodedColumn
    n_rows : int
    booleans : frozenset of str
        Columns of numbers that were truth values.
    """

    columns: Mapping[str, Floats | CodedColumn]
    n_rows: int
    booleans: frozenset[str] = frozenset()

    def column(self, name: str) -> Floats | CodedColumn:
        """Return a column; `InvalidInput` if there is none of that name."""
        require_columns([name], self.columns)
        return self.columns[name]


def read_table(
    rows: Rows,
    types: Mapping[str, ColumnType] | None = None,
    wanted: Collection[str] | None = None,
    should_stop: ShouldStop = never,
) -> Table:
    """Read all rows.

    Parameters
    ----------
    rows : Rows
    types : mapping of str to {"numeric", "categorical", "ignore"}, optional
        Types of columns that are not to be told from their cells.
    wanted : collection of str, optional
        Columns to read; default: all that are not ignored.
    should_stop : callable, optional
        Asked after every block of rows.

    Raises
    ------
    InvalidInput
        If a type is declared or a column wanted that is not there, a cell is wrong (with column and row), or there are no rows.
    NoTimeToRead
        If it was told to stop.

    Notes
    -----
    Time and memory are linear in the cells: 8 bytes for a number, 4 for a text and once each level.

    Examples
    --------
    >>> from solvers.gam.tables.json_rows import JsonRows
    >>> table = read_table(JsonRows([{"age": 30, "plan": "basic"}, {"age": None, "plan": "pro"}]))
    >>> table.columns["age"], table.columns["plan"]
    (array([30., nan]), CodedColumn(codes=array([0, 1], dtype=int32), levels=['basic', 'pro']))
    """
    chosen, declared = _chosen(rows, types or {}, wanted)
    parts: dict[str, list[Cells]] = {name: [] for name in chosen}
    n_rows = 0
    for block in rows.blocks(chosen, declared):
        if n_rows and should_stop():
            raise NoTimeToRead(f"time ran out, or the job was cancelled, after {n_rows} rows of the table")
        length = 0
        for name, array in block.items():
            parts[name].append(read_cells(array, name, n_rows, declared.get(name)))
            length = len(array)
        n_rows += length
    if not n_rows:
        raise InvalidInput("the table has no rows")
    columns: dict[str, Floats | CodedColumn] = {}
    booleans = set()
    for name in chosen:
        columns[name], is_boolean = _joined(parts.pop(name), name, declared.get(name))
        if is_boolean:
            booleans.add(name)
    return Table(columns, n_rows, frozenset(booleans))


def table_blocks(rows: Rows, types: Mapping[str, Declared], wanted: Collection[str]) -> Iterator[Table]:
    """Yield tables of some rows each; the types of all wanted columns are known.

    Raises
    ------
    InvalidInput
        As :func:`read_table`.

    Examples
    --------
    >>> from solvers.gam.tables.json_rows import JsonRows
    >>> [table.columns["x"] for table in table_blocks(JsonRows([[1], ["2"]], ["x"]), {"x": "numeric"}, ["x"])]
    [array([1., 2.])]
    """
    chosen, declared = _chosen(rows, dict(types), wanted)
    row = 0
    for block in rows.blocks(chosen, declared):
        columns = {
            name: _joined([read_cells(block[name], name, row, declared[name])], name, declared[name])[0] for name in chosen
        }
        length = len(next(iter(block.values()))) if block else 0
        row += length
        yield Table(columns, length)
    if not row:
        raise InvalidInput("the table has no rows")


def require_columns(wanted: Collection[str], names: Collection[str]) -> None:
    """Raise `InvalidInput` if a wanted column is absent."""
    for name in wanted:
        if name not in names:
            some = ", ".join(map(repr, list(names)[:8]))
            raise InvalidInput(
                f"there is no column {name!r:.80}; the columns are {some}{', …' if len(names) > 8 else ''}", column=name
            )


def _chosen(rows: Rows, types: Mapping[str, ColumnType], wanted: Collection[str] | None) -> tuple[list[str], dict[str, Declared]]:
    _require_names(rows.names)
    names = dict.fromkeys(rows.names)
    require_columns(types, names)
    require_columns(wanted or (), names)
    wanted = names if wanted is None else set(wanted)
    chosen = [name for name in names if types.get(name) != "ignore" and name in wanted]
    for name in chosen:
        if len(name) > LONGEST_NAME:
            raise InvalidInput(
                f"the name of column {name!r:.60}… is longer than {LONGEST_NAME} characters", column=name[:LONGEST_NAME]
            )
    return chosen, {name: kind for name, kind in types.items() if kind != "ignore"}


def _require_names(names: Sequence[str]) -> None:
    seen: set[str] = set()
    for number, name in enumerate(names):
        if not name.strip():
            raise InvalidInput(f"column {number} has no name", column=name)
        if not is_unicode(name):
            raise InvalidInput(f"the name of column {number} holds half a character", column=ascii(name)[:LONGEST_NAME])
        if name in seen:
            raise InvalidInput(f"two columns have the name {name!r:.80}", column=name)
        seen.add(name)


def _joined(parts: list[Cells], name: str, declared: Declared | None) -> tuple[Floats | CodedColumn, bool]:
    """Return the cells of all blocks as one column, and whether they were truth values."""
    present = [cells for cells in parts if cells.kind is not None]
    for cells in present:
        if cells.kind != present[0].kind:
            raise mixed(name, (present[0].first_row, str(present[0].kind)), (cells.first_row, str(cells.kind)))
    if declared != "categorical" and (not present or present[0].kind == "number"):
        return np.concatenate([np.asarray(cells.values) for cells in parts]), False
    levels = _joined_levels(parts)
    truth = truth_values(levels) if declared is None else None
    if truth is not None:
        return truth, True
    codes = pc.fill_null(levels.indices, -1).to_numpy(zero_copy_only=False)
    return CodedColumn(codes, levels.dictionary.to_pylist()), False


def _joined_levels(parts: list[Cells]) -> pa.DictionaryArray:
    arrays = [cells.values if isinstance(cells.values, pa.DictionaryArray) else no_texts(len(cells.values)) for cells in parts]
    joined = pa.chunked_array(arrays).unify_dictionaries()
    indices = pa.concat_arrays([chunk.indices for chunk in joined.chunks])
    return pa.DictionaryArray.from_arrays(indices, joined.chunk(0).dictionary)
