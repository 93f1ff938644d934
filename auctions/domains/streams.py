"""Where an instance's random numbers come from: the Java programme's streams by seed, or NumPy's.

A generator of instances asks for a world's supplier and then for each bidder's, in the order of their ids, and of a supplier for
one stream after the other. What these are depends on two choices:

* `rng="java"`: every stream is a :class:`JavaRandom` seeded by its supplier. With `seed_convention="pysats"` one supplier serves
the world
  and then the population; with "split" each has its own, seeded `seed` and `population_seed` (`seed` + 1 unless given).
* `rng="numpy"`: the world has the generator of spawn key 0 and bidder i that of 1 + i, so that a bidder stays the same when
others come
  or go.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from auctions.domains.java_random import JavaRandom, signed
from solvers.operation import InvalidInput

Generator = Literal["java", "numpy"]
SeedConvention = Literal["pysats", "split"]


class Stream(Protocol):
    """Random numbers, one after the other."""

    def uniform(self, low: float, high: float) -> float:
        """Return a number in [`low`, `high`)."""
        ...

    def uniforms(self, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
        """Return a number for each pair of bounds."""
        ...

    def below(self, bound: int) -> int:
        """Return an integer in [0, `bound`)."""
        ...

    def permutation(self, n: int) -> list[int]:
        """Return 0..n-1 in random order."""
        ...


class Supplier(Protocol):
    """Hands out streams."""

    def stream(self) -> Stream:
        """Return the next one."""
        ...


class Streams(Protocol):
    """All randomness of an instance."""

    def world(self) -> Supplier:
        """Return the world's supplier; asked for first."""
        ...

    def bidder(self, index: int) -> Supplier:
        """Return a bidder's supplier; asked for in the order of the bidders."""
        ...


@dataclass(frozen=True, slots=True)
class Source:
    """Where an instance comes from, as written into its JSON.

    Attributes
    ----------
    generator : str
        "foresolve", or the programme that wrote an imported file.
    version : str, optional
    rng : {"java", "numpy"}, optional
        None if the instance was not drawn here.
    seed, population_seed : int, optional
    seed_convention : {"pysats", "split"}, optional
    """

    generator: str = "foresolve"
    version: str | None = None
    rng: str | None = None
    seed: int | None = None
    population_seed: int | None = None
    seed_convention: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, as JSON."""
        members = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in members.items() if value is not None}

    @classmethod
    def from_dict(cls, document: Any) -> Source:
        """Read what :meth:`to_dict` or another programme wrote; members that are not known here are left out."""
        if not isinstance(document, dict):
            return cls(generator="unknown")
        known = {name: document[name] for name in cls.__slots__ if document.get(name) is not None}
        return cls(**({"generator": "unknown"} | known))


def drawn(seed: int, rng: Generator, seed_convention: SeedConvention, population_seed: int | None) -> Source:
    """Return the source of an instance that was drawn here."""
    return Source(
        version=version("foresolve"),
        rng=rng,
        seed=int(seed),
        population_seed=None if population_seed is None else int(population_seed),
        seed_convention=seed_convention if rng == "java" else None,
    )


def open_streams(seed: int, rng: Generator, seed_convention: SeedConvention, population_seed: int | None) -> Streams:
    """Return the streams of a seed.

    Raises
    ------
    InvalidInput
        A seed is no integer of signed 64 bits (or, for NumPy, negative), or a choice has no such name.

    Examples
    --------
    >>> open_streams(1, "java", "pysats", None).world().stream().below(1)
    0
    """
    if rng not in ("java", "numpy"):
        raise InvalidInput(f"there is no generator {rng!r}; it is 'java' or 'numpy'", pointer="/rng")
    if seed_convention not in ("pysats", "split"):
        raise InvalidInput(
            f"there is no seed convention {seed_convention!r}; it is 'pysats' or 'split'", pointer="/seed_convention"
        )
    _check_seed(seed, rng, "/seed")
    if population_seed is not None:
        if rng != "java" or seed_convention != "split":
            raise InvalidInput("only the seed convention 'split' of 'java' has a population seed", pointer="/population_seed")
        _check_seed(population_seed, rng, "/population_seed")
    if rng == "numpy":
        return NumpyStreams(seed)
    world = JavaSupplier(seed)
    if seed_convention == "pysats":
        return JavaStreams(world, world)
    return JavaStreams(world, JavaSupplier(signed(seed + 1, 64) if population_seed is None else population_seed))


def _check_seed(seed: int, rng: Generator, pointer: str) -> None:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise InvalidInput(f"a seed is an integer, not {seed!r}", pointer=pointer)
    low = -(2**63) if rng == "java" else 0
    if not low <= seed < 2**63:
        raise InvalidInput(
            f"the seed {seed} is outside {'signed 64 bits' if rng == 'java' else '0 .. 2^63 - 1'}", pointer=pointer
        )


class JavaStream:
    """A stream of the Java programme."""

    def __init__(self, seed: int) -> None:
        self._random = JavaRandom(seed)

    def uniform(self, low: float, high: float) -> float:
        # In this order: another one differs in the last bit.
        return self._random.next_double() * (high - low) + low

    def uniforms(self, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
        lows, highs = np.broadcast_arrays(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))
        return np.array([self.uniform(*bounds) for bounds in zip(lows.tolist(), highs.tolist(), strict=True)], dtype=np.float64)

    def below(self, bound: int) -> int:
        return self._random.next_below(bound)

    def permutation(self, n: int) -> list[int]:
        return JavaRandom(self._random.next_long()).shuffled(range(n))


class JavaSupplier:
    """A supplier of the Java programme: a generator that seeds the streams."""

    def __init__(self, seed: int) -> None:
        self._random = JavaRandom(seed)

    def stream(self) -> JavaStream:
        return JavaStream(self._random.next_long())


@dataclass(frozen=True, slots=True)
class JavaStreams:
    """Suppliers of a world and of a population, which may be one and the same."""

    world_supplier: JavaSupplier
    population_supplier: JavaSupplier

    def world(self) -> Supplier:
        return self.world_supplier

    def bidder(self, index: int) -> Supplier:
        return self.population_supplier


class NumpyStream:
    """A generator of NumPy; as a supplier it hands out itself."""

    def __init__(self, seed: int, key: int) -> None:
        self.generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(key,))))

    def stream(self) -> NumpyStream:
        return self

    def uniform(self, low: float, high: float) -> float:
        return float(self.generator.random() * (high - low) + low)

    def uniforms(self, low: ArrayLike, high: ArrayLike) -> NDArray[np.float64]:
        lows, highs = np.broadcast_arrays(np.asarray(low, dtype=np.float64), np.asarray(high, dtype=np.float64))
        return np.asarray(self.generator.random(lows.shape) * (highs - lows) + lows, dtype=np.float64)

    def below(self, bound: int) -> int:
        return int(self.generator.integers(bound))

    def permutation(self, n: int) -> list[int]:
        return [int(item) for item in self.generator.permutation(n)]


class NumpyStreams:
    """A generator for the world and one for each bidder, all of one seed."""

    def __init__(self, seed: int) -> None:
        self._seed = int(seed)

    def world(self) -> Supplier:
        return NumpyStream(self._seed, 0)

    def bidder(self, index: int) -> Supplier:
        return NumpyStream(self._seed, 1 + index)
