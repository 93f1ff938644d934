"""A set cover instance as its caller lists it, and the incidence that the algorithms work on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from solvers.graphs.arrays import Array, as_written, inside, integers, is_integer, numbers
from solvers.graphs.canonical import LARGEST_SUM, Repair
from solvers.graphs.graph import InvalidGraph, label_positions
from solvers.graphs.pairs import LARGEST_POSITION
from solvers.operation import InvalidInput

MOST_NAMED = 10


class InvalidSetSystem(InvalidInput):
    """A set, cost or element is wrong; the fault says which and where."""


class Infeasible(InvalidInput):
    """No choice of sets covers every element."""

    type = "infeasible"
    title = "There is no solution"


class SetSystem:
    """Sets of elements, each at a cost.

    Parameters
    ----------
    sets : sequence of sequences
        Elements of each set: integers from `index_base` up, or names: those of `labels`, or else named here for the first time. If
        one is a string, all are names. An element that a set lists twice is in it once; sets may be equal, or empty.
    costs : array_like, shape (n,), optional
        Finite, not negative; default 1.
    num_elements : int, optional
        Default: the number of `labels`, else as many as the largest id asks for.
    labels : sequence, optional
        A name for every element; no two alike.
    index_base : {0, 1}
        The id of the first set and, where ids are integers, of the first element.

    Attributes
    ----------
    num_elements, num_sets : int
    set_ptr : int64 array of shape (n + 1,)
    elements : int32 array of shape (k,)
        Positions of the elements of set j at ``set_ptr[j]`` up to ``set_ptr[j + 1]``: increasing, none twice.
    costs : array of shape (n,)
        int64 if all are integers, else float64.
    listed_sizes : int64 array of shape (n,)
        How many elements each set lists, repeated ones included.
    labels : list or None
        Names of the elements.
    index_base : int
    warnings : list of dict
        What was repaired: one entry for each kind of repair.
    format : str or None
        The format that the system was read from.
    pointer : str or None
        JSON pointer of the text that the system was read from.

    Raises
    ------
    InvalidSetSystem
        If an element is out of range, a cost is negative or not finite, or lengths differ.

    Examples
    --------
    >>> system = SetSystem([[0, 1], [2, 1, 2], []], costs=[1, 2.5, 1])
    >>> system.num_elements, system.set_ptr.tolist(), system.elements.tolist()
    (3, [0, 2, 4, 4], [0, 1, 1, 2])
    >>> [warning["code"] for warning in system.warnings]
    ['repeated-elements', 'empty-sets']
    """

    format: str | None = None
    pointer: str | None = None

    def __init__(
        self,
        sets: Sequence[Iterable[Any]],
        costs: npt.ArrayLike | None = None,
        num_elements: int | None = None,
        *,
        labels: Sequence[Any] | None = None,
        index_base: int = 0,
    ) -> None:
        rows = _rows(sets)
        sizes = np.fromiter(map(len, rows), np.int64, len(rows))
        flat = list(chain.from_iterable(rows))
        begins = np.concatenate(([0], np.cumsum(sizes)))

        def place(index: int) -> str:
            row = int(np.searchsorted(begins, index, side="right")) - 1
            return f"/sets/{row}/{index - int(begins[row])}"

        self._require_base(index_base)
        self.index_base = int(index_base)
        self.labels = None if labels is None else list(labels)
        positions = self._positions(flat, place)
        self._fill(begins, positions, costs, num_elements, place)

    def __repr__(self) -> str:
        return f"<SetSystem of {self.num_sets} sets over {self.num_elements} elements>"

    @classmethod
    def from_rows(
        cls,
        set_ptr: npt.NDArray[np.int64],
        elements: npt.NDArray[np.int64],
        costs: npt.ArrayLike | None,
        num_elements: int,
        *,
        index_base: int = 0,
        pointer: str | None = None,
    ) -> SetSystem:
        """Return the system whose sets are given in compressed rows of positions from 0.

        Parameters
        ----------
        set_ptr : int64 array of shape (n + 1,)
        elements : int64 array of shape (k,)
        costs : array_like of shape (n,), optional
        num_elements : int
        index_base : {0, 1}
            Of the ids that messages and answers use.
        pointer : str, optional
            JSON pointer of whatever holds the rows, for faults and warnings.
        """
        system = cls.__new__(cls)
        system.index_base, system.labels, system.pointer = index_base, None, pointer
        ptr = np.asarray(set_ptr, dtype=np.int64)
        try:
            system._fill(ptr, np.asarray(elements, np.int64), costs, num_elements, lambda index: pointer or "/sets")
        except InvalidSetSystem as fault:
            fault.pointer = pointer or fault.pointer
            raise
        return system

    @classmethod
    def from_objects(cls, system: Any) -> SetSystem:
        """Return the system that an object describes.

        Parameters
        ----------
        system : SetSystem, SciPy sparse matrix or array, or sequence of sets
            A matrix has a row per element and a column per set; an entry that is not 0 puts the element into the set.

        Examples
        --------
        >>> import scipy.sparse
        >>> SetSystem.from_objects(scipy.sparse.csr_array([[1, 0], [1, 1]])).elements.tolist()
        [0, 1, 1]
        """
        if isinstance(system, SetSystem):
            return system
        if scipy.sparse.issparse(system):
            return cls._from_matrix(system)
        return cls(system)

    @classmethod
    def _from_matrix(cls, matrix: Any) -> SetSystem:
        if matrix.ndim != 2:
            raise InvalidSetSystem(f"a matrix of elements and sets has two axes, not {matrix.ndim}", pointer="/sets")
        by_set = scipy.sparse.csc_array(matrix, copy=True)
        by_set.sum_duplicates()
        by_set.eliminate_zeros()
        return cls.from_rows(by_set.indptr.astype(np.int64), by_set.indices.astype(np.int64), None, by_set.shape[0])

    @property
    def num_sets(self) -> int:
        return len(self.set_ptr) - 1

    def element_id(self, position: int) -> Any:
        """Return the caller's id of the element at a position."""
        return position + self.index_base if self.labels is None else self.labels[position]

    def set_ids(self, positions: npt.ArrayLike) -> list[int]:
        """Return the caller's ids of the sets at some positions."""
        return list((np.asarray(positions, dtype=np.int64) + self.index_base).tolist())

    def require_coverable(self) -> None:
        """Raise :class:`Infeasible` if an element is in no set.

        Examples
        --------
        >>> SetSystem([[0], [2]], num_elements=4).require_coverable()
        Traceback (most recent call last):
        ...
        solvers.graphs.set_system.Infeasible: 2 elements are in no set: 1, 3
        """
        present = np.unique(self.elements)
        count = self.num_elements - len(present)
        if count == 0:
            return
        # However many elements a header promises, the first missing ones are found among so few.
        missing = np.setdiff1d(np.arange(min(self.num_elements, len(present) + MOST_NAMED)), present, assume_unique=True)
        named = [self.element_id(position) for position in missing[:MOST_NAMED].tolist()]
        what = "1 element is in no set: " if count == 1 else f"{count} elements are in no set: "
        shown = ", ".join(str(name) for name in named) + (", .." if count > MOST_NAMED else "")
        raise Infeasible(what + shown, pointer=self.pointer or "/sets", elements=named)

    @staticmethod
    def _require_base(index_base: Any) -> None:
        if not is_integer(index_base) or index_base not in (0, 1):
            raise InvalidSetSystem(f"ids count from 0 or 1, not from {as_written(index_base)}", pointer="/index_base")

    def _positions(self, flat: list[Any], place: Any) -> npt.NDArray[np.int64]:
        known = None if self.labels is None else _label_positions(self.labels)
        if not any(issubclass(kind, str) for kind in set(map(type, flat))):
            return integers(flat, place, "the id of an element") - self.index_base
        for index, name in enumerate(flat):
            if not isinstance(name, str) and not is_integer(name):
                raise InvalidSetSystem(f"{as_written(name)} is not the id of an element", pointer=place(index))
        if known is None:
            self.labels = list(dict.fromkeys(flat))
            known = _label_positions(self.labels)
        found = [known.get(name, -1) for name in flat]
        if -1 in found:
            index = found.index(-1)
            raise InvalidSetSystem(f"no label is {as_written(flat[index])}", pointer=place(index))
        return np.array(found, dtype=np.int64)

    def _fill(self, begins: Array, positions: Array, costs: Any, num_elements: Any, place: Any) -> None:
        self.num_elements = self._count(positions, num_elements)
        outside = (positions < 0) | (positions >= self.num_elements)
        if outside.any():
            index = int(np.argmax(outside))
            last = self.num_elements - 1 + self.index_base
            allowed = f"ids go from {self.index_base} to {last}" if self.num_elements else "the system has no elements"
            raise InvalidSetSystem(f"there is no element {positions[index] + self.index_base}; {allowed}", pointer=place(index))
        self.listed_sizes = np.diff(begins)
        self.costs = self._costs(costs, len(begins) - 1)
        self.set_ptr, self.elements, repeats = _without_repeats(begins, positions)
        self.warnings = self._repairs(begins, positions, repeats, place)

    def _count(self, positions: Array, num_elements: Any) -> int:
        if num_elements is not None and (not is_integer(num_elements) or num_elements < 0):
            raise InvalidSetSystem(f"{as_written(num_elements)} is not a number of elements", pointer="/num_elements")
        named = len(self.labels) if self.labels is not None else int(positions.max(initial=-1)) + 1
        count = named if num_elements is None else int(num_elements)
        if self.labels is not None and len(self.labels) != count:
            raise InvalidSetSystem(f"{len(self.labels)} labels for {count} elements", pointer="/labels")
        if count > LARGEST_POSITION:
            where = "/sets" if num_elements is None else "/num_elements"
            raise InvalidSetSystem(f"{count} elements are more than 2^31 - 1", pointer=where)
        return count

    def _costs(self, costs: Any, num_sets: int) -> Array:
        if costs is None:
            return np.ones(num_sets, np.int64)
        found = numbers(costs if isinstance(costs, (np.ndarray, list, tuple)) else list(costs), inside("/costs"))
        if found.shape != (num_sets,):
            raise InvalidSetSystem(f"{len(found)} costs for {num_sets} sets", pointer="/costs")
        negative = found < 0
        if negative.any():
            index = int(np.argmax(negative))
            raise InvalidSetSystem(
                f"set {index + self.index_base} costs {found[index]}; costs are not negative", pointer=f"/costs/{index}"
            )
        if bool((found == np.rint(found)).all()):
            # A float sum errs by far less than the factor 2, so that the exact one cannot overflow.
            if found.astype(np.float64).sum() > 2 * LARGEST_SUM or int(found.astype(np.int64).sum()) > LARGEST_SUM:
                raise InvalidSetSystem("the costs are integers that sum to more than 2^53", pointer="/costs")
            return found.astype(np.int64)
        with np.errstate(over="ignore"):
            total = found.sum()
        if not np.isfinite(total):
            raise InvalidSetSystem("the costs sum to more than the largest float", pointer="/costs")
        return found

    def _repairs(self, begins: Array, positions: Array, repeats: Array, place: Any) -> list[Repair]:
        repairs: list[Repair] = []
        if len(repeats):
            first = int(repeats[0])
            row = int(np.searchsorted(begins, first, side="right")) - 1
            count = "1 element is" if len(repeats) == 1 else f"{len(repeats)} elements are"
            where = f"first: {self.element_id(int(positions[first]))} in set {row + self.index_base}"
            message = f"{count} listed again in the same set and counted once; {where}"
            repairs.append({"code": "repeated-elements", "message": message, "pointer": place(first)})
        sizes = np.diff(self.set_ptr)
        for code, chosen, what in (
            ("empty-sets", np.flatnonzero(sizes == 0), "empty and never chosen"),
            ("free-sets", np.flatnonzero((self.costs == 0) & (sizes > 0)), "free and always chosen"),
        ):
            if len(chosen):
                count = "1 set is" if len(chosen) == 1 else f"{len(chosen)} sets are"
                message = f"{count} {what}; first: set {chosen[0] + self.index_base}"
                repairs.append({"code": code, "message": message, "pointer": self.pointer or f"/sets/{chosen[0]}"})
        return repairs


def _rows(sets: Any) -> list[Any]:
    if isinstance(sets, np.ndarray):
        sets = sets.tolist()
    if isinstance(sets, (str, bytes, dict)) or not isinstance(sets, Iterable):
        raise InvalidSetSystem(
            f"{as_written(sets)} is no list of sets; give a SetSystem, a list of sets, or a sparse matrix of elements and sets",
            pointer="/sets",
        )
    rows = list(sets)
    if set(map(type, rows)) <= {list, tuple}:
        return rows
    for index, row in enumerate(rows):
        if isinstance(row, (str, bytes, dict)) or not isinstance(row, Iterable):
            raise InvalidSetSystem(f"{as_written(row)} is not a list of elements", pointer=f"/sets/{index}")
        if isinstance(row, (set, frozenset)):
            # The order in which a set of names is gone through differs between runs.
            rows[index] = sorted(row, key=lambda name: (isinstance(name, str), name))
        else:
            rows[index] = row.tolist() if isinstance(row, np.ndarray) else list(row)
    return rows


def _label_positions(labels: list[Any]) -> Any:
    try:
        return label_positions(labels)
    except InvalidGraph as fault:
        raise InvalidSetSystem(fault.detail.replace("vertex", "element"), pointer=fault.pointer) from None


def _without_repeats(begins: Array, positions: Array) -> tuple[Array, Array, Array]:
    """Return the rows sorted, with every element once, and the places of those left out."""
    rows = np.repeat(np.arange(len(begins) - 1), np.diff(begins))
    keys = (rows << 32) | positions
    if len(keys) < 2 or bool((keys[1:] > keys[:-1]).all()):
        return begins.astype(np.int64), positions.astype(np.int32), np.zeros(0, np.int64)
    order = np.argsort(keys, kind="stable")
    is_first = np.concatenate(([True], keys[order[1:]] != keys[order[:-1]]))
    kept = order[is_first]
    set_ptr = np.searchsorted(rows[kept], np.arange(len(begins)))
    return set_ptr.astype(np.int64), positions[kept].astype(np.int32), np.sort(order[~is_first])
