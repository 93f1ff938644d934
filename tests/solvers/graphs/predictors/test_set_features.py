"""Features of the elements of sets, against their definitions set by set."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.predictors.features import FEATURES, IncidenceFeatures
from solvers.graphs.predictors.subjects import subject_of
from solvers.graphs.set_system import SetSystem


@st.composite
def systems(draw) -> tuple[list[list[int]], list[int]]:
    m = draw(st.integers(1, 6))
    sets = draw(st.lists(st.lists(st.integers(0, m - 1), max_size=m, unique=True).map(sorted), min_size=1, max_size=6))
    costs = draw(st.lists(st.integers(0, 9), min_size=len(sets) + 1, max_size=len(sets) + 1))
    return [*sets, list(range(m))], costs


def expected_row(sets: list[list[int]], costs: list[int], j: int, e: int) -> list[float]:
    of_e = [i for i, one in enumerate(sets) if e in one]
    frequency = {x: sum(x in one for one in sets) for x in sets[j]}
    own, mean = costs[j] / len(sets[j]), sum(costs[i] / len(sets[i]) for i in of_e) / len(of_e)
    return [
        math.log(1 + len(sets[j])),
        math.log(1 + len(of_e)),
        own / (own + mean) if own + mean else 0.5,
        costs[j] * len(costs) / sum(costs) if any(costs) else 0.0,
        sum(math.log(1 + f) for f in frequency.values()) / len(sets[j]),
        sum(1 / f for f in frequency.values()) / len(sets[j]),
    ]


@given(systems())
def test_every_row_is_that_of_its_set_and_element(drawn):
    sets, costs = drawn
    rows = subject_of(SetSystem(sets, costs), "set-cover").features.rows(np.arange(sum(map(len, sets))))
    expected = [expected_row(sets, costs, j, e) for j, one in enumerate(sets) for e in one]
    assert rows[:, :-1] == pytest.approx(np.array(expected))


def test_the_last_feature_is_the_relaxation():
    system = SetSystem([[0, 1], [1, 2], [0, 2]])
    assert FEATURES["set-cover"][-1] == "relaxation"
    assert subject_of(system, "set-cover").features.rows(np.arange(6))[:, -1] == pytest.approx([0.5] * 6)


def test_what_the_relaxation_does_not_tell_is_one_half():
    system = SetSystem([[0], [0]])
    assert IncidenceFeatures(system, np.full(2, np.nan)).rows(np.arange(2))[:, -1].tolist() == [0.5, 0.5]


@given(systems(), st.integers(2, 1000))
def test_the_unit_of_the_costs_does_not_matter(drawn, unit):
    sets, costs = drawn
    votes = np.arange(sum(map(len, sets)))
    relaxation = np.zeros(len(sets))
    plain = IncidenceFeatures(SetSystem(sets, costs), relaxation).rows(votes)
    scaled = IncidenceFeatures(SetSystem(sets, [unit * cost for cost in costs]), relaxation).rows(votes)
    assert scaled == pytest.approx(plain)
