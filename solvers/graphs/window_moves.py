"""Window moves: most vertices of a sparse graph are placed anew at once, and best possible, around a few that stay.

Vertices are eliminated by least degree, ties at random, each joining its neighbours to each other; whenever the least degree
exceeds `max_width`, a vertex of largest degree is fixed on its present side instead and drops out. Those that were not fixed then
get the best sides that the fixed ones allow, by the tables of :mod:`solvers.graphs.bag_tables`, with random choices between equals.
The cut never gets worse, and since every move fixes other vertices, repeated moves leave few optima in which they are stuck.

For graphs of mean degree up to about 8, above all grids, where moves of single vertices are weak.

References
----------
F. Hamze and N. de Freitas, "From fields to trees", UAI 2004.
A. Selby, "Efficient subgraph-based sampling of Ising-type models with frustration", arXiv 1409.3934.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.bag_tables import add_message, chosen_side, fill_cut, maximise, next_random, words_for
from solvers.graphs.bit_rows import count_bits, lowest_bit
from solvers.graphs.csr import Csr

FIXED = -1
LARGEST_WINDOW = 3072


class WindowMover:
    """Makes window moves on one graph.

    Parameters
    ----------
    csr : Csr
    seed : int
    max_width : int
        Most vertices in a scope (k); a move takes time and memory in proportion to its power of two.
    window : int
        On graphs with more vertices, each move works on that many around a random one and all others are fixed.

    Examples
    --------
    >>> from solvers.graphs.csr import build_csr
    >>> mover = WindowMover(build_csr(4, [[0, 1], [1, 2], [2, 3], [3, 0]], [1, 1, 1, 1]), seed=1)
    >>> sides, gain = mover.move(np.zeros(4, np.int8))
    >>> gain, sides[0] == sides[2] != sides[1] == sides[3]
    (4, np.True_)
    """

    def __init__(self, csr: Csr, *, seed: int, max_width: int = 10, window: int = LARGEST_WINDOW) -> None:
        self._csr = csr
        self._random_state = np.array([seed], np.uint64)
        self._window = max(1, min(window, csr.num_vertices))
        self._room = _make_room(csr.num_vertices, self._window, max_width)

    def move(self, sides: np.ndarray) -> tuple[np.ndarray, int]:
        """Return a cut that is at least as good, and by how much it is better.

        Parameters
        ----------
        sides : int8 array of shape (n,)
        """
        moved = np.array(sides, dtype=np.int8)
        if self._csr.num_vertices == 0:
            return moved, 0
        gain = _move(self._csr.indptr, self._csr.indices, self._csr.weights, moved, self._window, self._random_state, self._room)
        return moved, int(gain)


class _Room(NamedTuple):
    """Memory of a move. Vertices of the window have local numbers, in the order in which they were found."""

    vertex: np.ndarray  # (window,) of each local number
    local: np.ndarray  # (n,) or -1
    rows: np.ndarray  # (window, words) neighbours in the remaining graph, as bits
    degree: np.ndarray  # (window,)
    buckets: np.ndarray  # (k + 2, window) remaining vertices by degree; the last is for those above k
    bucket_size: np.ndarray  # (k + 2,)
    bucket: np.ndarray  # (window,)
    place_in_bucket: np.ndarray  # (window,)
    turn: np.ndarray  # (window,) when each vertex is eliminated, or FIXED
    order: np.ndarray  # (window,) local numbers in the order of elimination
    scope_size: np.ndarray  # (window,) by local number, as the next four
    scopes: np.ndarray  # (window, k)
    message_start: np.ndarray  # (window,)
    first_child: np.ndarray  # (window,)
    next_child: np.ndarray  # (window,)
    bit_of: np.ndarray  # (window,) place in the scope at hand, or -1
    messages: np.ndarray  # (window 2^k,)
    choices: np.ndarray  # (window, words)
    on_0: np.ndarray  # (2^k,)
    on_1: np.ndarray  # (2^k,)
    positions: np.ndarray  # (2^k,)


def _make_room(num_vertices: int, window: int, max_width: int) -> _Room:
    table = 1 << max_width
    return _Room(
        vertex=np.empty(window, np.int32),
        local=np.full(num_vertices, -1, np.int32),
        rows=np.zeros((window, (window + 63) // 64), np.uint64),
        degree=np.zeros(window, np.int32),
        buckets=np.empty((max_width + 2, window), np.int32),
        bucket_size=np.zeros(max_width + 2, np.int32),
        bucket=np.empty(window, np.int32),
        place_in_bucket=np.empty(window, np.int32),
        turn=np.empty(window, np.int32),
        order=np.empty(window, np.int32),
        scope_size=np.empty(window, np.int32),
        scopes=np.empty((window, max_width), np.int32),
        message_start=np.empty(window, np.int64),
        first_child=np.empty(window, np.int32),
        next_child=np.empty(window, np.int32),
        bit_of=np.full(window, -1, np.int32),
        messages=np.empty(window * table, np.int64),
        choices=np.empty((window, words_for(max_width)), np.uint64),
        on_0=np.empty(table, np.int64),
        on_1=np.empty(table, np.int64),
        positions=np.empty(table, np.int32),
    )


@njit(cache=True, nogil=True)
def _move(indptr, indices, weights, sides, window, random_state, room):  # type: ignore[no-untyped-def]
    """Move `sides` and return the gain."""
    count = _choose_window(indptr, indices, window, random_state, room)
    _link_window(indptr, indices, weights, count, room)
    num_eliminated = _eliminate(count, random_state, room)
    _finish_scopes(num_eliminated, room)
    _fill_tables(indptr, indices, weights, sides, num_eliminated, random_state, room)
    gain = _place_vertices(indptr, indices, weights, sides, num_eliminated, room)
    for i in range(count):
        room.local[room.vertex[i]] = -1
    return gain


@njit(cache=True, nogil=True)
def _below(bound, random_state):  # type: ignore[no-untyped-def]
    return np.int64(next_random(random_state) >> np.uint64(33)) % bound


@njit(cache=True, nogil=True)
def _choose_window(indptr, indices, window, random_state, room):  # type: ignore[no-untyped-def]
    """Choose the vertices of the window, all or the nearest to random ones, and give them local numbers."""
    n = indptr.shape[0] - 1
    if window == n:
        for v in range(n):
            room.vertex[v] = room.local[v] = v
        return n
    count = next_up = 0
    while count < window:
        if next_up == count:
            # The component is exhausted; another one fills the window.
            v = _below(n, random_state)
            while room.local[v] >= 0:
                v = (v + 1) % n
            room.vertex[count], room.local[v] = v, count
            count += 1
        v = room.vertex[next_up]
        next_up += 1
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            if room.local[u] < 0 and count < window:
                room.vertex[count], room.local[u] = u, count
                count += 1
    return count


@njit(cache=True, nogil=True)
def _link_window(indptr, indices, weights, count, room):  # type: ignore[no-untyped-def]
    """Set up the remaining graph: the whole window."""
    room.bucket_size[:] = 0
    for i in range(count):
        room.rows[i, :] = np.uint64(0)
        v = room.vertex[i]
        degree = 0
        for slot in range(indptr[v], indptr[v + 1]):
            j = room.local[indices[slot]]
            if j >= 0 and weights[slot] != 0:
                room.rows[i, j >> 6] |= np.uint64(1) << np.uint64(j & 63)
                degree += 1
        room.bucket[i] = -1
        room.turn[i] = FIXED
        _set_degree(i, degree, room)


@njit(cache=True, nogil=True)
def _leave_bucket(i, room):  # type: ignore[no-untyped-def]
    bucket, place = room.bucket[i], room.place_in_bucket[i]
    room.bucket_size[bucket] -= 1
    moved = room.buckets[bucket, room.bucket_size[bucket]]
    room.buckets[bucket, place] = moved
    room.place_in_bucket[moved] = place
    room.bucket[i] = -1


@njit(cache=True, nogil=True)
def _set_degree(i, degree, room):  # type: ignore[no-untyped-def]
    room.degree[i] = degree
    bucket = min(degree, room.buckets.shape[0] - 1)
    if room.bucket[i] == bucket:
        return
    if room.bucket[i] >= 0:
        _leave_bucket(i, room)
    room.bucket[i] = bucket
    room.place_in_bucket[i] = room.bucket_size[bucket]
    room.buckets[bucket, room.bucket_size[bucket]] = i
    room.bucket_size[bucket] += 1


@njit(cache=True, nogil=True)
def _eliminate(count, random_state, room):  # type: ignore[no-untyped-def]
    """Eliminate or fix every vertex, noting the order and the scopes; return how many were eliminated."""
    max_width = room.buckets.shape[0] - 2
    eliminated = 0
    least = 0
    for _ in range(count):
        while least <= max_width and room.bucket_size[least] == 0:
            least += 1
        if least > max_width:
            i = _largest_degree(random_state, room)
            _leave_bucket(i, room)
            _drop(i, room)
            least = max_width
            continue
        i = room.buckets[least, _below(room.bucket_size[least], random_state)]
        _leave_bucket(i, room)
        room.turn[i] = eliminated
        room.order[eliminated] = i
        eliminated += 1
        _join_neighbours(i, room)
        least = max(0, least - 1)
    return eliminated


@njit(cache=True, nogil=True)
def _largest_degree(random_state, room):  # type: ignore[no-untyped-def]
    """Return a vertex of largest degree among those above the width."""
    bucket = room.buckets.shape[0] - 1
    size = room.bucket_size[bucket]
    start = _below(size, random_state)
    largest = room.buckets[bucket, start]
    for offset in range(1, size):
        i = room.buckets[bucket, (start + offset) % size]
        if room.degree[i] > room.degree[largest]:
            largest = i
    return largest


@njit(cache=True, nogil=True)
def _drop(i, room):  # type: ignore[no-untyped-def]
    """Take a vertex that is fixed out of the remaining graph."""
    for word in range(room.rows.shape[1]):
        bits = room.rows[i, word]
        while bits != 0:
            j = (word << 6) + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            room.rows[j, i >> 6] &= ~(np.uint64(1) << np.uint64(i & 63))
            _set_degree(j, room.degree[j] - 1, room)


@njit(cache=True, nogil=True)
def _join_neighbours(i, room):  # type: ignore[no-untyped-def]
    """Take a vertex out of the remaining graph, its neighbours joined to each other; they are its scope."""
    num_words = room.rows.shape[1]
    size = 0
    for word in range(num_words):
        bits = room.rows[i, word]
        while bits != 0:
            room.scopes[i, size] = (word << 6) + lowest_bit(bits)
            bits &= bits - np.uint64(1)
            size += 1
    room.scope_size[i] = size
    for place in range(size):
        j = room.scopes[i, place]
        degree = 0
        for word in range(num_words):
            room.rows[j, word] |= room.rows[i, word]
            degree += count_bits(room.rows[j, word])
        room.rows[j, i >> 6] &= ~(np.uint64(1) << np.uint64(i & 63))
        room.rows[j, j >> 6] &= ~(np.uint64(1) << np.uint64(j & 63))
        _set_degree(j, degree - 2, room)


@njit(cache=True, nogil=True)
def _finish_scopes(num_eliminated, room):  # type: ignore[no-untyped-def]
    """Take out of the scopes what was fixed later, sort them, the last to be eliminated first, and find who receives whose message."""
    room.first_child[:] = -1
    start = np.int64(0)
    for turn in range(num_eliminated):
        i = room.order[turn]
        size = 0
        for place in range(room.scope_size[i]):
            j = room.scopes[i, place]
            if room.turn[j] == FIXED:
                continue
            slot = size
            while slot > 0 and room.turn[room.scopes[i, slot - 1]] < room.turn[j]:
                room.scopes[i, slot] = room.scopes[i, slot - 1]
                slot -= 1
            room.scopes[i, slot] = j
            size += 1
        room.scope_size[i] = size
        room.message_start[i] = start
        start += np.int64(1) << size
        if size > 0:
            receiver = room.scopes[i, size - 1]
            room.next_child[i] = room.first_child[receiver]
            room.first_child[receiver] = i


@njit(cache=True, nogil=True)
def _fill_tables(indptr, indices, weights, sides, num_eliminated, random_state, room):  # type: ignore[no-untyped-def]
    max_width = room.scopes.shape[1]
    scope_weights = np.zeros(max_width, np.int64)
    bits = np.zeros(max_width, np.int32)
    for turn in range(num_eliminated):
        i = room.order[turn]
        size = room.scope_size[i]
        for bit in range(size):
            room.bit_of[room.scopes[i, bit]] = bit
            scope_weights[bit] = 0
        outside_0 = outside_1 = np.int64(0)
        v = room.vertex[i]
        for slot in range(indptr[v], indptr[v + 1]):
            u = indices[slot]
            j = room.local[u]
            if j < 0 or room.turn[j] == FIXED:
                if sides[u] == 0:
                    outside_1 += weights[slot]
                else:
                    outside_0 += weights[slot]
            elif room.bit_of[j] >= 0:
                scope_weights[room.bit_of[j]] = weights[slot]
        fill_cut(room.on_0, room.on_1, outside_0, outside_1, scope_weights, size)

        child = room.first_child[i]
        while child >= 0:
            bits[:] = 0
            child_size = room.scope_size[child]
            for child_bit in range(child_size - 1):
                bits[room.bit_of[room.scopes[child, child_bit]]] = 1 << child_bit
            start = room.message_start[child]
            message = room.messages[start : start + (np.int64(1) << child_size)]
            add_message(room.on_0, room.on_1, message, bits, size, child_size, room.positions)
            child = room.next_child[child]

        start = room.message_start[i]
        message = room.messages[start : start + (np.int64(1) << size)]
        maximise(room.on_0, room.on_1, size, message, room.choices[i], random_state)
        for bit in range(size):
            room.bit_of[room.scopes[i, bit]] = -1


@njit(cache=True, nogil=True)
def _place_vertices(indptr, indices, weights, sides, num_eliminated, room):  # type: ignore[no-untyped-def]
    """Put every vertex that was eliminated on its best side, the last one first; return what that gains."""
    gain = np.int64(0)
    for turn in range(num_eliminated - 1, -1, -1):
        i = room.order[turn]
        place = np.int64(0)
        for bit in range(room.scope_size[i]):
            place |= np.int64(sides[room.vertex[room.scopes[i, bit]]]) << bit
        v = room.vertex[i]
        if chosen_side(room.choices[i], place) == sides[v]:
            continue
        for slot in range(indptr[v], indptr[v + 1]):
            gain += weights[slot] if sides[indices[slot]] == sides[v] else -weights[slot]
        sides[v] = 1 - sides[v]
    return gain
