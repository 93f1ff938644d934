"""A proven bound on an optimum, with the certificate that lets a stranger prove it again."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np


class Bound(NamedTuple):
    """A bound: from above on cuts and independent sets, from below on covers.

    Attributes
    ----------
    value : float
        No cut is worth more; no cover less.
    kind : str
        How it was proven: ``trivial``, ``sdp_dual``, ``odd_cycles``, ...
    certificate : dict
        JSON-ready, ``{"kind": kind, ...}``; what the proof needs beside the graph.
    """

    value: float
    kind: str
    certificate: dict[str, Any]


def trivial_bound(weights: np.ndarray) -> Bound:
    """Return the sum of the positive weights, which no cut exceeds.

    Examples
    --------
    >>> trivial_bound(np.array([2, -1, 3]))
    Bound(value=5.0, kind='trivial', certificate={'kind': 'trivial'})
    """
    # fsum rounds correctly, hence monotonically: the sum over fewer weights, rounded alike, never exceeds this one.
    positive = np.asarray(weights)[np.asarray(weights) > 0]
    return Bound(math.fsum(positive.tolist()), "trivial", {"kind": "trivial"})
