import numpy as np
import pytest

from solvers.gam import ShapeFunction
from solvers.gam.sparklines import BLOCKS, shape_sparkline, sparkline
from tests.solvers.gam.random_models import a_categorical_shape, a_numeric_shape


def test_each_block_stands_for_an_eighth_of_the_range():
    assert sparkline(np.linspace(0, 1, 8), 0, 1) == BLOCKS


def test_scores_beyond_the_range_take_the_outer_blocks():
    assert sparkline(np.array([-1e308, 1e308]), -1e308, 0.0) == "▁█"


def test_a_range_of_nothing_is_flat():
    assert sparkline(np.ones(3), 1, 1) == "▁▁▁"


def test_blocks_of_a_number_stand_for_equal_weight():
    shape = ShapeFunction("x", "numeric", [0, 1, 0], [1, 2], weights=[9, 1, 2, 1])
    assert shape_sparkline(shape, 0, 1, width=8) == "▁▁████▁▁"


def test_the_heaviest_levels_come_first():
    shape = ShapeFunction("x", "categorical", [0, 1, 0.5], levels=("a", "b", "c"), weights=[0, 1, 9, 5])
    assert shape_sparkline(shape, 0, 1, width=2) == "█" + sparkline(np.array([0.5]), 0, 1)


@pytest.mark.parametrize("seed", range(10))
def test_any_shape_has_a_line_of_at_most_the_width(seed):
    rng = np.random.default_rng(seed)
    for shape in (a_numeric_shape(rng, "x"), a_categorical_shape(rng, "x")):
        assert 1 <= len(shape_sparkline(shape, -1, 1, width=12)) <= 12


def test_bins_without_any_weight_count_alike():
    shape = ShapeFunction("x", "numeric", [0, 1], [1], weights=[3, 0, 0])
    assert shape_sparkline(shape, 0, 1, width=4) == "▁▁██"
