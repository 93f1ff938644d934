"""What LSVM bundles are worth: connected components of a set of cells, each with a factor for its size.

A bidder's cells are numbered 0..k-1; a set of them is a bit mask. Sums run over the cells of a component from the lowest up and
over components from the last to the first, in the table of all sets and for single ones alike, so that both agree to the last
bit.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numba import njit
from numpy.typing import NDArray


def factors(a: float, b: float, largest: int) -> NDArray[np.float64]:
    """Return the factor 1 + a / (100 (1 + exp(b - z))) of components of z = 0..`largest` cells.

    Examples
    --------
    >>> factors(160, 4, 4)[4]
    np.float64(1.8)
    """
    return np.array([1.0 + a / (100.0 * (1.0 + _exp(b - size))) for size in range(largest + 1)])


def neighbours(cells: list[int], rows: int, columns: int) -> NDArray[np.int64]:
    """Return which of the cells lie beside each, as places in `cells`, shape (k, 4); -1 where there is none."""
    place = {cell: index for index, cell in enumerate(cells)}
    beside = np.full((len(cells), 4), -1, dtype=np.int64)
    for index, cell in enumerate(cells):
        for direction, neighbour in enumerate(around(cell, rows, columns)):
            beside[index, direction] = place.get(neighbour, -1)
    return beside


def around(cell: int, rows: int, columns: int) -> list[int]:
    """Return the cells up, right, down and left of a cell, in this order, as far as the grid goes.

    Examples
    --------
    >>> around(0, 3, 6)
    [1, 6]
    """
    row, column = divmod(cell, columns)
    steps = ((row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1))
    return [r * columns + c for r, c in steps if 0 <= r < rows and 0 <= c < columns]


def masks_of(beside: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the neighbours of each cell as a bit mask."""
    return np.asarray(np.where(beside >= 0, np.int64(1) << np.maximum(beside, 0), 0).sum(axis=1))


def table_of_values(
    cells: tuple[int, ...], rows: int, columns: int, worth: NDArray[np.float64], factor: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the value of every set of cells of a grid, indexed by its mask."""
    return _table(first_components(cells, rows, columns), sums_of_sets(worth), factor)


@lru_cache(maxsize=64)
def first_components(cells: tuple[int, ...], rows: int, columns: int) -> NDArray[np.int32]:
    """Return for every set of cells the component that its lowest cell lies in; kept, since it takes longer than the values."""
    return _first_components(masks_of(neighbours(list(cells), rows, columns)))


@njit(cache=True, nogil=True)
def _first_components(beside: NDArray[np.int64]) -> NDArray[np.int32]:
    k = len(beside)
    components = np.zeros(1 << k, dtype=np.int32)
    # What a set of the lower or the higher half of the cells lies beside.
    low = k // 2
    near_low = np.zeros(1 << low, dtype=np.int64)
    near_high = np.zeros(1 << (k - low), dtype=np.int64)
    for index in range(low):
        for cells in range(1 << index):
            near_low[cells | 1 << index] = near_low[cells] | beside[index]
    for index in range(k - low):
        for cells in range(1 << index):
            near_high[cells | 1 << index] = near_high[cells] | beside[low + index]
    for cells in range(1, 1 << k):
        component = cells & -cells
        front = component
        while front:
            front = (near_low[front & ((1 << low) - 1)] | near_high[front >> low]) & cells & ~component
            component |= front
        components[cells] = component
    return components


@njit(cache=True, nogil=True)
def _table(components: NDArray[np.int32], sums: NDArray[np.float64], factor: NDArray[np.float64]) -> NDArray[np.float64]:
    table = np.zeros(len(components))
    for cells in range(1, len(components)):
        component = components[cells]
        size = 0
        rest = component
        while rest:
            rest &= rest - 1
            size += 1
        table[cells] = factor[size] * sums[component] + table[cells ^ component]
    return table


@njit(cache=True, nogil=True)
def values_of_sets(
    sets: NDArray[np.bool_], beside: NDArray[np.int64], worth: NDArray[np.float64], factor: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the value of each row of cells, for grids of any size; `beside` holds the places of neighbours."""
    n, k = sets.shape
    values = np.zeros(n)
    component = np.empty(k, dtype=np.int64)
    stack = np.empty(k, dtype=np.int64)
    totals = np.empty(k)
    for row in range(n):
        component[:] = -1
        n_components = 0
        for start in range(k):
            if not sets[row, start] or component[start] >= 0:
                continue
            component[start] = n_components
            stack[0] = start
            depth = 1
            size = 0
            while depth:
                depth -= 1
                cell = stack[depth]
                size += 1
                for direction in range(4):
                    near = beside[cell, direction]
                    if near >= 0 and sets[row, near] and component[near] < 0:
                        component[near] = n_components
                        stack[depth] = near
                        depth += 1
            total = 0.0
            for cell in range(start, k):
                if component[cell] == n_components:
                    total += worth[cell]
            totals[n_components] = factor[size] * total
            n_components += 1
        value = 0.0
        for index in range(n_components - 1, -1, -1):
            value = totals[index] + value
        values[row] = value
    return values


def sums_of_sets(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of every set of numbers, indexed by its mask.

    Examples
    --------
    >>> sums_of_sets(np.array([1.0, 10.0])).tolist()
    [0.0, 1.0, 10.0, 11.0]
    """
    sums = np.zeros(1 << len(numbers))
    for index, number in enumerate(numbers.tolist()):
        half = 1 << index
        np.add(sums[:half], number, out=sums[half : 2 * half])
    return sums


def _exp(exponent: float) -> float:
    return math.exp(exponent) if exponent < 700.0 else math.inf
