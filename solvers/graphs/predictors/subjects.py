"""What is predicted: a side for each vertex of a graph or each set of a set system, which its edges or elements vote on.

Models, cross-validation and estimates of epsilon see no more of an instance than this: items, votes about them, and what is measured
of both. Side 1 is that of the chosen: the cover, the independent set, the sets that are taken; of a cut, either side.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from solvers.graphs.any_instance import AnyInstance, AnyProblem
from solvers.graphs.arrays import Array, as_written, inside, integers
from solvers.graphs.canonical import Instance
from solvers.graphs.components import connected_components
from solvers.graphs.graph import label_positions
from solvers.graphs.incidence_predictions import IncidencePredictions
from solvers.graphs.prediction_fields import PredictionFields, require_one_each
from solvers.graphs.predictions import EdgePredictions
from solvers.graphs.predictors.features import Features, IncidenceFeatures, VertexFeatures
from solvers.graphs.predictors.relaxations import cover_relaxation, cut_relaxation, set_relaxation
from solvers.graphs.set_cover_request import SetPredictionFields
from solvers.graphs.set_system import SetSystem
from solvers.operation import Context, InvalidInput

UNTOLD = -1
"""In place of the side of a vertex that the solution says nothing about."""

Stop = Callable[[], bool]


def never() -> bool:
    """Never stop."""
    return False


class Subject(ABC):
    """An instance as predictors see it.

    Attributes
    ----------
    problem : {"max-cut", "vertex-cover", "independent-set", "set-cover"}
    instance : Instance or SetSystem
    num_items : int
        Vertices, or sets.
    item_of : int array of shape (k,)
        The item that each vote is about.
    names : list or None
        The items' names; None if item r has the id r + `instance.index_base`.
    noun, plural : str
        What an item is called, and several of them.
    bits_form, probabilities_form : str
        The fields of a prediction.
    """

    noun: str
    plural: str
    bits_form: str
    probabilities_form: str
    prediction_fields: type[PredictionFields | SetPredictionFields]

    def __init__(self, problem: AnyProblem, instance: Instance | SetSystem, num_items: int, item_of: Array, names: Any) -> None:
        self.problem, self.instance = problem, instance
        self.num_items, self.item_of, self.names = num_items, item_of, names

    @property
    def num_votes(self) -> Array:
        """How many votes there are about each item, int64 of shape (n,)."""
        return np.bincount(self.item_of, minlength=self.num_items)

    @property
    def ids(self) -> list[Any]:
        """The caller's ids of the items."""
        base = self.instance.index_base
        return list(range(base, base + self.num_items)) if self.names is None else self.names

    @property
    @abstractmethod
    def features(self) -> Features:
        """What is measured about the votes."""

    @property
    @abstractmethod
    def relaxation(self) -> Array:
        """Probability of side 1 by the problem's relaxation, float64 of shape (n,), NaN where there is none."""

    @abstractmethod
    def violation(self, truth: Array) -> str | None:
        """Return why sides are no solution, None if they are one."""

    @abstractmethod
    def read_bits(self, fields: dict[str, Any]) -> tuple[Array, Array]:
        """Return the items that the bits of a request speak of, and the bits, both of one shape; faults have the field's pointer."""

    @abstractmethod
    def table_of(self, bits: Array) -> list[list[int | None]]:
        """Return one bit per vote as a request spells them."""

    def truth_of(self, solution: list[Any], pointer: str) -> Array:
        """Return the side of every item in a solution as a solve returns it, int8 of shape (n,): 0, 1 or :data:`UNTOLD`.

        Raises
        ------
        InvalidInput
            If the solution names what is not there; the fault's pointer begins with `pointer`.
        """
        truth = np.zeros(self.num_items, dtype=np.int8)
        truth[self._positions(solution, pointer)] = 1
        return truth

    def turned(self, truth: Array, wanted: Array) -> Array:
        """Return the same solution, told so that it agrees best with `wanted`; only cuts can be told in more than one way.

        Parameters
        ----------
        truth : int8 array of shape (n,)
        wanted : float array of shape (n,)
            Positive where side 1 is wanted, negative where side 0 is; by how much counts.
        """
        return truth

    def _positions(self, ids: list[Any], pointer: str) -> Array:
        if self.names is None:
            positions = integers(ids, inside(pointer), f"the id of a {self.noun}") - self.instance.index_base
            is_there = (positions >= 0) & (positions < self.num_items)
            if not is_there.all():
                index = int(np.argmin(is_there))
                raise InvalidInput(f"there is no {self.noun} {as_written(ids[index])}", pointer=f"{pointer}/{index}")
            return positions
        table = label_positions(self.names)
        found = np.empty(len(ids), dtype=np.int64)
        for index, label in enumerate(ids):
            try:
                found[index] = table[_key(label)]
            except (KeyError, TypeError):
                raise InvalidInput(f"there is no {self.noun} {as_written(label)}", pointer=f"{pointer}/{index}") from None
        return found


class VertexSubject(Subject):
    """The vertices of a graph, on which the edges vote: about a cover, or an independent set."""

    noun, plural = "vertex", "vertices"
    bits_form = "edge_bits"
    probabilities_form = "vertex_probabilities"
    prediction_fields = PredictionFields
    instance: Instance

    def __init__(self, instance: Instance, problem: AnyProblem, stop: Stop = never) -> None:
        super().__init__(problem, instance, instance.num_vertices, instance.edges.ravel(), instance.labels)
        self._stop = stop

    @cached_property
    def features(self) -> Features:
        return VertexFeatures(self.instance, self.relaxation, stop=self._stop)

    @cached_property
    def relaxation(self) -> Array:
        shares = cover_relaxation(self.instance, stop=self._stop)
        return shares if self.problem == "vertex-cover" else 1 - shares

    def violation(self, truth: Array) -> str | None:
        ends, loops = truth[self.instance.edges], truth[self.instance.loops]
        if self.problem == "vertex-cover":
            wrong, what = (ends == 0).all(axis=1).sum() + (loops == 0).sum(), "not covered"
        else:
            wrong, what = (ends == 1).all(axis=1).sum() + (loops == 1).sum(), "inside the set"
        return f"{wrong} edge{'s are' if wrong > 1 else ' is'} {what}" if wrong else None

    def read_bits(self, fields: dict[str, Any]) -> tuple[Array, Array]:
        (prediction,) = PredictionFields.model_validate(fields).read(self.instance, "")
        assert isinstance(prediction, EdgePredictions)
        endpoints = self.instance.edges if prediction.endpoints is None else prediction.endpoints
        return endpoints, prediction.bits

    def table_of(self, bits: Array) -> list[list[int | None]]:
        return [[None if bit < 0 else bit for bit in row] for row in bits.reshape(-1, 2).tolist()]


class CutSubject(VertexSubject):
    """The vertices of a graph, on which the edges vote: about a cut, whose sides have no names."""

    def __init__(self, instance: Instance, stop: Stop = never) -> None:
        super().__init__(instance, "max-cut", stop)

    @cached_property
    def features(self) -> Features:
        return VertexFeatures(self.instance, stop=self._stop)

    @cached_property
    def relaxation(self) -> Array:
        return cut_relaxation(self.instance, stop=self._stop)

    @cached_property
    def _components(self) -> Array:
        return connected_components(self.num_items, self.instance.edges)

    def violation(self, truth: Array) -> str | None:
        return None

    def truth_of(self, solution: list[Any], pointer: str) -> Array:
        """Return the side of every vertex; that of a vertex without edges is nobody's choice."""
        require_one_each(solution, self.num_items, "vertices", pointer)
        sides = integers(solution, inside(pointer), "a side, 0 or 1")
        is_side = (sides == 0) | (sides == 1)
        if not is_side.all():
            index = int(np.argmin(is_side))
            raise InvalidInput(f"{sides[index]} is not a side, 0 or 1", pointer=f"{pointer}/{index}")
        return np.where(self.num_votes > 0, sides, UNTOLD).astype(np.int8)

    def turned(self, truth: Array, wanted: Array) -> Array:
        """Return the cut with each component of the graph turned over where that agrees better with `wanted`."""
        signs = np.where(truth == UNTOLD, 0, 2 * truth.astype(np.int64) - 1)
        agreement = np.bincount(self._components, signs * wanted, minlength=1)
        return np.where((agreement[self._components] < 0) & (truth != UNTOLD), 1 - truth, truth).astype(np.int8)


class SetSubject(Subject):
    """The sets of a set system, on which their elements vote."""

    noun, plural = "set", "sets"
    bits_form = "incidence_bits"
    probabilities_form = "set_probabilities"
    prediction_fields = SetPredictionFields
    instance: SetSystem

    def __init__(self, system: SetSystem, stop: Stop = never) -> None:
        sets = np.repeat(np.arange(system.num_sets), np.diff(system.set_ptr))
        super().__init__("set-cover", system, system.num_sets, sets, None)
        self._stop = stop

    @cached_property
    def features(self) -> Features:
        return IncidenceFeatures(self.instance, self.relaxation)

    @cached_property
    def relaxation(self) -> Array:
        return set_relaxation(self.instance, stop=self._stop)

    def violation(self, truth: Array) -> str | None:
        system = self.instance
        missing = system.num_elements - len(np.unique(system.elements[truth[self.item_of] == 1]))
        return f"{missing} element{'s are' if missing > 1 else ' is'} not covered" if missing else None

    def read_bits(self, fields: dict[str, Any]) -> tuple[Array, Array]:
        (prediction,) = SetPredictionFields.model_validate(fields).read(self.instance, "")
        assert isinstance(prediction, IncidencePredictions)
        # Where a set lists an element twice, both bits count.
        prediction.votes_about(self.instance, "")
        return prediction.sets, prediction.bits

    def table_of(self, bits: Array) -> list[list[int | None]]:
        flat = [None if bit < 0 else bit for bit in bits.tolist()]
        return [flat[begin:end] for begin, end in itertools.pairwise(self.instance.set_ptr.tolist())]


def read_subject(given: AnyInstance, problem: AnyProblem, context: Context) -> Subject:
    """Return the instance of a request as predictors see it.

    Raises
    ------
    InvalidInput
        If it is malformed, or an element is in no set; the fault names the element.
    TooLarge
        If it is too large.
    """
    instance = given.read_as(problem, context)
    return subject_of(instance, problem, stop=lambda: context.stop)


def subject_of(instance: Instance | SetSystem, problem: AnyProblem, *, stop: Stop = never) -> Subject:
    """Return an instance as predictors see it; once `stop` is true, what takes long is measured in part."""
    if isinstance(instance, SetSystem):
        return SetSubject(instance, stop)
    return CutSubject(instance, stop) if problem == "max-cut" else VertexSubject(instance, problem, stop)


def _key(label: Any) -> Any:
    return tuple(map(_key, label)) if isinstance(label, list) else label
