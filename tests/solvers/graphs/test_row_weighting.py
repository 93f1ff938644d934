"""The row-weighting search always holds a cover, counts rightly, and reaches the optima of the public instances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvers.graphs.greedy_cover_sets import greedy_cover
from solvers.graphs.row_weighting import RowWeighting
from solvers.graphs.set_reductions import reduce_sets
from tests.solvers.graphs.set_systems import (
    BEST_KNOWN,
    drawn,
    incidence_of,
    least_cost,
    members_of,
    rows_of,
    set_systems,
    shipped,
)


def started(incidence, seed=0):
    return RowWeighting(incidence, members_of(incidence, greedy_cover(incidence)), seed=seed)


@given(set_systems(least=1), st.integers(0, 9))
def test_the_best_is_a_cover_of_the_cost_it_says_and_small_systems_are_solved(system, seed):
    incidence = incidence_of(system)
    run = started(incidence, seed)

    run.advance(300)

    assert incidence.is_covered_by(run.best_members)
    assert incidence.cost_of(run.best_members) == run.best_value
    assert run.best_value >= least_cost(incidence)


@pytest.mark.parametrize("seed", range(3))
def test_scores_equal_recomputed_ones_after_many_steps(seed):
    incidence = incidence_of(drawn(seed, num_sets=60, num_elements=50))
    run = started(incidence, seed)

    run.advance(3000)

    rows, weights = rows_of(incidence), run.row_weights
    inside = run._is_member
    counts = incidence.times_covered(inside)
    expected = [sum(int(weights[e]) for e in row if counts[e] == (1 if inside[j] else 0)) for j, row in enumerate(rows)]
    assert run._scores.tolist() == expected
    assert weights.max() > 1


@pytest.mark.parametrize("seed", range(20))
def test_scp41_is_solved_within_50000_steps(seed):
    run = started(incidence_of(shipped("scp41")), seed)

    run.advance(50_000)

    assert run.best_value == 429


@pytest.mark.parametrize("name", BEST_KNOWN)
def test_every_shipped_instance_reaches_its_best_known_cost(name):
    reduction = reduce_sets(incidence_of(shipped(name)))
    run = started(reduction.kernel, 1)

    while run.steps_done < 400_000 and run.best_value + reduction.constant > BEST_KNOWN[name]:
        run.advance(20_000)

    assert run.best_value + reduction.constant == BEST_KNOWN[name]


def test_the_same_seed_gives_the_same_cover_however_the_steps_are_cut():
    incidence = incidence_of(shipped("scpclr10"))
    whole, pieces = started(incidence, 3), started(incidence, 3)

    whole.advance(5000)
    while pieces.steps_done < 5000:
        pieces.advance(min(7, 5000 - pieces.steps_done))

    assert whole.best_members.tolist() == pieces.best_members.tolist()
    assert whole.row_weights.tolist() == pieces.row_weights.tolist()


def test_large_costs_are_compared_exactly():
    incidence = incidence_of(drawn(5))
    scaled = incidence._replace(costs=incidence.costs << 40)
    small, large = started(incidence, 2), started(scaled, 2)

    small.advance(2000)
    large.advance(2000)

    assert large.best_members.tolist() == small.best_members.tolist()


def test_a_start_that_is_no_cover_is_refused():
    incidence = incidence_of(drawn(1))

    with pytest.raises(ValueError, match="starts from a cover"):
        RowWeighting(incidence, np.zeros(incidence.num_sets, bool), seed=0)
