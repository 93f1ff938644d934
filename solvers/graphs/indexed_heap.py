"""A heap of vertices whose keys change: kernels over plain arrays, to be called from kernels.

`heap[:size]` holds the vertices, the one of least key first and of equal keys the least number; `place[v]` is where v is in it. After
the key of a vertex changes, it is sifted to its place.
"""

from __future__ import annotations

from numba import njit


@njit(cache=True, nogil=True)
def heapify(key, heap, place, size):  # type: ignore[no-untyped-def]
    """Order `heap[:size]`, whose vertices are in `place` already."""
    for at in range(size // 2 - 1, -1, -1):
        sift_down(key, heap, place, at, size)


@njit(cache=True, nogil=True)
def take_at(key, heap, place, at, size):  # type: ignore[no-untyped-def]
    """Take out what is at a place, and return the size that is left; `place` of what was taken keeps its old value."""
    size -= 1
    if at < size:
        heap[at] = heap[size]
        place[heap[at]] = at
        sift_down(key, heap, place, sift_up(key, heap, place, at), size)
    return size


@njit(cache=True, nogil=True)
def sift_up(key, heap, place, at):  # type: ignore[no-untyped-def]
    """Move what is at a place towards the first as far as it belongs, and return where it is then."""
    v = heap[at]
    while at > 0:
        parent = (at - 1) // 2
        if not _comes_first(key, v, heap[parent]):
            break
        heap[at] = heap[parent]
        place[heap[at]] = at
        at = parent
    heap[at] = v
    place[v] = at
    return at


@njit(cache=True, nogil=True)
def sift_down(key, heap, place, at, size):  # type: ignore[no-untyped-def]
    """Move what is at a place away from the first as far as it belongs."""
    if at >= size:
        return
    v = heap[at]
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and _comes_first(key, heap[child + 1], heap[child]):
            child += 1
        if not _comes_first(key, heap[child], v):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at] = v
    place[v] = at


@njit(cache=True, nogil=True)
def _comes_first(key, u, v):  # type: ignore[no-untyped-def]
    return key[u] < key[v] or (key[u] == key[v] and u < v)
