"""The heaviest independent set of a dense graph, as the heaviest clique of its complement, by bit-parallel branch and bound (BBMC).

Vertices are renumbered so that those of high degree in the complement come first: one of least degree is put last, taken out, and so
on. At a node with the clique so far and the vertices P that could join it, P is coloured greedily, class by class; a clique takes at
most one vertex of each class, so that the heaviest vertices of the first classes add up to a bound on what those classes can give.
Only vertices whose bound could beat the best set are branched on, from the last class on. Without weights, each of those is first
tried with the classes that need no branching: it may fit in once a neighbour has moved to another class (re-colouring), or lie in no
clique with both of two classes, each of which then serves once (infra-chromatic bound).

References
----------
P. San Segundo, D. Rodriguez-Losada, A. Jimenez, "An exact bit-parallel algorithm for the maximum clique problem", Computers &
Operations Research 38 (2011).
E. Tomita, Y. Sutani, T. Higashi, S. Takahashi, M. Wakatsuki, "A simple and faster branch-and-bound algorithm for finding a maximum
clique", WALCOM 2010.
P. San Segundo, A. Nikolaev, M. Batsyn, "Infra-chromatic bound for exact maximum clique search", Computers & Operations Research 64
(2015).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numba import njit

from solvers.graphs.bit_rows import lowest_bit, set_bit, words_of
from solvers.graphs.search_claim import SearchClaim

LARGEST = 800
UNLIMITED = np.iinfo(np.int64).max

# Words read before a kernel returns, so that Python can look at the clock: about a tenth of a second.
WORK_PER_CALL = 20_000_000


def densest_independent_set(
    num_vertices: int,
    edges: np.ndarray,
    weights: np.ndarray,
    members: np.ndarray,
    *,
    max_nodes: int = UNLIMITED,
    stop: Callable[[], bool] | None = None,
) -> SearchClaim:
    """Search for an independent set of largest weight until it is proved, or the nodes are spent, or told to stop.

    Parameters
    ----------
    num_vertices : int
        At most 800.
    edges : int array of shape (m, 2)
        Simple, without loops.
    weights : int array of shape (n,)
        Positive.
    members : bool array of shape (n,)
        A good independent set; the answer is never worse.
    max_nodes : int
        How many sets are looked at.
    stop : callable, optional
        Asked now and then.

    Examples
    --------
    >>> path = densest_independent_set(3, [[0, 1], [1, 2]], [1, 1, 1], np.array([False, True, False]))
    >>> path.value, path.is_optimal, path.solution
    (2, True, array([ True, False,  True]))
    """
    if num_vertices > LARGEST:
        raise ValueError(f"{num_vertices} vertices are too many for rows of bits; at most {LARGEST}")
    order, rows = _complement(num_vertices, np.asarray(edges, dtype=np.int64).reshape(-1, 2))
    weight_of = np.asarray(weights, dtype=np.int64)
    search = _make_search(rows, weight_of[order], int(weight_of[members].sum()))
    ended = num_vertices == 0
    if not ended:
        _open_root(search)
    while not ended and search.numbers[_NODES] < max_nodes and not (stop is not None and stop()):
        ended = _branch(search, max_nodes, WORK_PER_CALL)

    found = np.array(members, dtype=np.bool_)
    if search.numbers[_FOUND_SIZE]:
        found[:] = False
        found[order[search.found[: search.numbers[_FOUND_SIZE]]]] = True
    value = int(search.numbers[_BEST])
    bound = value if ended else int(weight_of.sum())
    return SearchClaim(value, found, bound, int(search.numbers[_NODES]), "bbmc", "2")


def _complement(n: int, edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vertices in the order of the search, and the complement's adjacency in that order, as bits."""
    joined = np.ones((n, n), np.bool_)
    joined[edges[:, 0], edges[:, 1]] = joined[edges[:, 1], edges[:, 0]] = False
    np.fill_diagonal(joined, False)
    order = np.empty(n, np.int64)
    rows = np.zeros((n, words_of(n)), np.uint64)
    _order_rows(joined, joined.sum(axis=1), order, rows)
    return order, rows


class _Search(NamedTuple):
    """The path from the root, and what is left to branch on at each of its nodes; a node at depth d has a clique of d vertices."""

    rows: np.ndarray  # (n, words)
    weights: np.ndarray  # (n,)
    candidates: np.ndarray  # (n + 1, words) bits: the vertices that may still join, at each depth
    branches: np.ndarray  # (n + 1, n) int32: those of them to branch on
    bounds: np.ndarray  # (n + 1, n) int64: the most that a clique adds that takes this and no later one
    num_branches: np.ndarray  # (n + 1,)
    clique: np.ndarray  # (n,)
    clique_weight: np.ndarray  # (n + 1,) at each depth
    classes: np.ndarray  # (n, words) bits: the classes that need no branching, at the present node
    is_paired: np.ndarray  # (n,) bool: whether a vertex leans on the class and another
    uncoloured: np.ndarray  # (words,)
    available: np.ndarray  # (words,)
    found: np.ndarray  # (n,) the best clique, if better than the one given
    numbers: np.ndarray  # (4,) by the names below
    is_unit: bool  # whether all weights are 1


_BEST, _NODES, _DEPTH, _FOUND_SIZE = range(4)


def _make_search(rows: np.ndarray, weights: np.ndarray, best: int) -> _Search:
    n, num_words = rows.shape
    return _Search(
        rows=rows,
        weights=weights,
        candidates=np.zeros((n + 1, num_words), np.uint64),
        branches=np.empty((n + 1, n), np.int32),
        bounds=np.empty((n + 1, n), np.int64),
        num_branches=np.zeros(n + 1, np.int64),
        clique=np.empty(n, np.int64),
        clique_weight=np.zeros(n + 1, np.int64),
        classes=np.empty((n, num_words), np.uint64),
        is_paired=np.empty(n, np.bool_),
        uncoloured=np.empty(num_words, np.uint64),
        available=np.empty(num_words, np.uint64),
        found=np.empty(n, np.int64),
        numbers=np.array([best, 0, 0, 0], np.int64),
        is_unit=bool((weights == 1).all()),
    )


@njit(cache=True, nogil=True)
def _order_rows(joined, degree, order, rows):  # type: ignore[no-untyped-def]
    n = degree.shape[0]
    is_placed = np.zeros(n, np.bool_)
    place = np.empty(n, np.int64)
    for at in range(n - 1, -1, -1):
        least = -1
        for v in range(n):
            if not is_placed[v] and (least < 0 or degree[v] < degree[least]):
                least = v
        is_placed[least] = True
        order[at], place[least] = least, at
        for v in range(n):
            degree[v] -= joined[least, v]
    for v in range(n):
        for u in range(n):
            if joined[v, u]:
                set_bit(rows, place[v], place[u])


@njit(cache=True, nogil=True)
def _open_root(search):  # type: ignore[no-untyped-def]
    for v in range(search.rows.shape[0]):
        set_bit(search.candidates, 0, v)
    _colour(search, 0)


@njit(cache=True, nogil=True)
def _branch(search, max_nodes, work_limit):  # type: ignore[no-untyped-def]
    """Go on until the tree is searched, which is returned, or the nodes or the work are spent."""
    numbers = search.numbers
    num_words = search.rows.shape[1]
    depth = numbers[_DEPTH]
    work = 0
    while depth >= 0:
        if numbers[_NODES] >= max_nodes or work >= work_limit:
            numbers[_DEPTH] = depth
            return False
        last = search.num_branches[depth] - 1
        if last < 0 or search.clique_weight[depth] + search.bounds[depth, last] <= numbers[_BEST]:
            depth -= 1
            continue
        search.num_branches[depth] = last
        v = search.branches[depth, last]
        search.candidates[depth, v >> 6] &= ~(np.uint64(1) << np.uint64(v & 63))
        search.clique[depth] = v
        search.clique_weight[depth + 1] = search.clique_weight[depth] + search.weights[v]
        numbers[_NODES] += 1
        any_left = np.uint64(0)
        for word in range(num_words):
            left = search.candidates[depth, word] & search.rows[v, word]
            search.candidates[depth + 1, word] = left
            any_left |= left
        if any_left == 0:
            work += num_words
            if search.clique_weight[depth + 1] > numbers[_BEST]:
                numbers[_BEST], numbers[_FOUND_SIZE] = search.clique_weight[depth + 1], depth + 1
                search.found[: depth + 1] = search.clique[: depth + 1]
            continue
        depth += 1
        work += _colour(search, depth)
    return True


@njit(cache=True, nogil=True)
def _colour(search, depth):  # type: ignore[no-untyped-def]
    """Colour the candidates and list those to branch on with their bounds; return the words read."""
    num_words = search.rows.shape[1]
    enough = search.numbers[_BEST] - search.clique_weight[depth]
    uncoloured, available = search.uncoloured, search.available
    branches, bounds = search.branches[depth], search.bounds[depth]
    uncoloured[:] = search.candidates[depth]
    first_word, count, bound, work, num_classes = 0, 0, np.int64(0), 0, 0
    while True:
        while first_word < num_words and uncoloured[first_word] == 0:
            first_word += 1
        if first_word == num_words:
            break
        available[first_word:] = uncoloured[first_word:]
        class_begin, heaviest = count, np.int64(0)
        for word in range(first_word, num_words):
            while available[word] != 0:
                bit = lowest_bit(available[word])
                v = (word << 6) + bit
                uncoloured[word] &= ~(np.uint64(1) << np.uint64(bit))
                # The bits below, this one's among them, are through.
                available[word] &= available[word] - np.uint64(1)
                if search.is_unit and bound >= enough:
                    work += num_words * num_classes
                    if _fits_in(search.rows, search.classes, search.is_paired, v, num_classes):
                        continue
                for later in range(word, num_words):
                    available[later] &= ~search.rows[v, later]
                work += num_words - word
                heaviest = max(heaviest, search.weights[v])
                branches[count] = v
                count += 1
        bound += heaviest
        if bound > enough:
            bounds[class_begin:count] = bound
            continue
        for word in range(num_words):
            search.classes[num_classes, word] = 0
        for place in range(class_begin, count):
            set_bit(search.classes, num_classes, branches[place])
        search.is_paired[num_classes] = False
        num_classes += 1
        count = class_begin
    search.num_branches[depth] = count
    return work + num_words


@njit(cache=True, nogil=True)
def _fits_in(rows, classes, is_paired, v, num_classes):  # type: ignore[no-untyped-def]
    """Return whether the classes' bound holds with `v` as well, after a neighbour has moved if need be.

    That is so if `v` has no neighbour in a class; or one, which has none in another class and moves there; or one with which it has no
    neighbour in common in another class, so that no clique takes `v` and a vertex of each of the two.
    """
    num_words = rows.shape[1]
    first, second = -1, -1
    for k in range(num_classes):
        if is_paired[k]:
            continue
        w = _only_one_of(rows, v, classes, k)
        if w == _NONE:
            set_bit(classes, k, v)
            return True
        if w == _SEVERAL:
            continue
        for other in range(num_classes):
            if other == k or is_paired[other]:
                continue
            of_w, of_both = np.uint64(0), np.uint64(0)
            for word in range(num_words):
                met = classes[other, word] & rows[w, word]
                of_w |= met
                of_both |= met & rows[v, word]
            if of_w == 0:
                classes[k, w >> 6] &= ~(np.uint64(1) << np.uint64(w & 63))
                set_bit(classes, k, v)
                set_bit(classes, other, w)
                return True
            if of_both == 0 and first < 0:
                first, second = k, other
    if first < 0:
        return False
    is_paired[first] = is_paired[second] = True
    return True


_NONE, _SEVERAL = -1, -2


@njit(cache=True, nogil=True)
def _only_one_of(rows, v, classes, k):  # type: ignore[no-untyped-def]
    """Return the only neighbour that a vertex has in a class, or what says why there is none."""
    found = _NONE
    for word in range(rows.shape[1]):
        common = classes[k, word] & rows[v, word]
        if common == 0:
            continue
        if found != _NONE or common & (common - np.uint64(1)) != 0:
            return _SEVERAL
        found = (word << 6) + lowest_bit(common)
    return found
