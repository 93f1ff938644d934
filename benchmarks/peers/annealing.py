"""Annealing that is run again and again until its time is up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers.solver import SHARE_THAT_FITS, Clock

# Sweeps of the first run; each later one has twice as many, the last what still fits.
FIRST_SWEEPS = 500

Sample = Callable[[int, int], Any]
"""From a number of sweeps and a seed to the samples of an annealing, as dimod has them."""


def annealed(sample: Sample, seed: int, clock: Clock) -> Any:
    """Return the samples with the least energy."""
    rng = np.random.default_rng(seed)
    best: Any = None
    sweeps = FIRST_SWEEPS
    while sweeps >= 1:
        before = clock.left
        found = sample(sweeps, int(rng.integers(2**31)))
        if best is None or found.first.energy < best.first.energy:
            best = found
        sweeps = min(2 * sweeps, math.floor(SHARE_THAT_FITS * clock.left * sweeps / (before - clock.left)))
    return best


def dwave_sample(model: Any) -> Sample:
    """Return the simulated annealing of dwave-samplers."""
    from dwave.samplers import SimulatedAnnealingSampler

    return lambda sweeps, seed: SimulatedAnnealingSampler().sample(model, num_reads=1, num_sweeps=sweeps, seed=seed)


def openjij_sample(model: Any) -> Sample:
    """Return the simulated annealing of OpenJij."""
    import openjij

    return lambda sweeps, seed: openjij.SASampler().sample(model, num_reads=1, num_sweeps=sweeps, seed=seed)
