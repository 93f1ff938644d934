"""Gradients of a network's value with respect to its parameters, and the step of Adam that uses them.

The derivatives of a unit phi(y) = min(t, max(0, y)) are fixed where it has none: with r = max(0, y), at r >= t all of it goes to
the cut-off, dphi/dt = 1 and dphi/dy = 0; else dphi/dt = 0 and dphi/dy = [y > 0].
"""

from __future__ import annotations

import numpy as np
from numba import njit

FIRST_DECAY, SECOND_DECAY, LEAST_DENOMINATOR = 0.9, 0.999, 1e-8

LEAST_NUMBER = 1e-140
"""Parameters and moments that no answer reaches any more shrink by the same factor for ever. Where their squares fall below 1e-308
each operation on them takes a hundred times as long, so they end here."""


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def add_gradient(parameters, sizes, skip, raw, units, sums, factor, gradient, pulls):  # type: ignore[no-untyped-def]
    """Add factor * dM/dparameters, given what the forward pass left in `units` and `sums`; `pulls` has two rows of scratch space."""
    n_layers = len(sizes) - 1
    place = len(parameters)
    if skip:
        place -= sizes[0]
        for j in range(sizes[0]):
            gradient[place + j] += factor * raw[j]
    if n_layers == 0:
        return
    here = len(units) - sizes[n_layers]
    place -= sizes[n_layers]
    upper, lower = pulls[0], pulls[1]
    for h in range(sizes[n_layers]):
        gradient[place + h] += factor * units[here + h]
        upper[h] = factor * parameters[place + h]
    for k in range(n_layers, 0, -1):
        size, fan_in = sizes[k], sizes[k - 1]
        cutoff = place - size
        bias = cutoff - size
        place = bias - fan_in * size
        before = here - fan_in
        for h in range(size):
            reached = max(0.0, sums[here + h])
            if reached >= parameters[cutoff + h]:
                gradient[cutoff + h] += upper[h]
                upper[h] = 0.0
            elif reached == 0.0:
                upper[h] = 0.0
            gradient[bias + h] += upper[h]
        for j in range(fan_in):
            row = place + j * size
            share = units[before + j]
            if share != 0.0:
                for h in range(size):
                    gradient[row + h] += share * upper[h]
            if k > 1:
                pull = 0.0
                for h in range(size):
                    pull += parameters[row + h] * upper[h]
                lower[j] = pull
        upper, lower = lower, upper
        here = before


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def adam_step(parameters, sizes, skip, gradient, moments, n_steps, rate, weight_decay, max_norm):  # type: ignore[no-untyped-def]
    """Take one projected step of Adam with coupled L2 decay, in place; clear the gradient.

    The gradient is scaled down to `max_norm` before the decay is added; infinity leaves it alone.
    """
    scale = 1.0
    if max_norm < np.inf:
        squares = 0.0
        for i in range(len(gradient)):
            squares += gradient[i] * gradient[i]
        scale = min(1.0, max_norm / (np.sqrt(squares) + 1e-6))
    step = rate / (1.0 - FIRST_DECAY**n_steps)
    root = 1.0 / np.sqrt(1.0 - SECOND_DECAY**n_steps)
    place = 0
    for k in range(1, len(sizes)):
        bias = place + sizes[k - 1] * sizes[k]
        _descend(parameters, gradient, moments, place, bias, 1.0, scale, weight_decay, step, root)
        _descend(parameters, gradient, moments, bias, bias + sizes[k], -1.0, scale, weight_decay, step, root)
        place = bias + 2 * sizes[k]
        _descend(parameters, gradient, moments, bias + sizes[k], place, 1.0, scale, weight_decay, step, root)
    _descend(parameters, gradient, moments, place, len(parameters), 1.0, scale, weight_decay, step, root)


@njit(cache=True, nogil=True, fastmath={"contract", "nnan", "nsz"})
def _descend(parameters, gradient, moments, start, end, sign, scale, weight_decay, step, root):  # type: ignore[no-untyped-def]
    """Update a stretch of parameters that all have one sign; no NaN gets here, and a zero's sign does not matter."""
    first, second = moments[0], moments[1]
    for i in range(start, end):
        slope = scale * gradient[i] + weight_decay * parameters[i]
        mean = FIRST_DECAY * first[i] + (1.0 - FIRST_DECAY) * slope
        square = SECOND_DECAY * second[i] + (1.0 - SECOND_DECAY) * slope * slope
        first[i] = mean if abs(mean) > LEAST_NUMBER else 0.0
        second[i] = square if square > LEAST_NUMBER else 0.0
        size = sign * (parameters[i] - step * mean / (np.sqrt(square) * root + LEAST_DENOMINATOR))
        parameters[i] = sign * size if size > LEAST_NUMBER else 0.0
        gradient[i] = 0.0
