import math

import numpy as np
import pytest

from solvers.gam import CodedColumn, ShapeFunction
from solvers.operation import InvalidInput
from tests.solvers.gam.random_models import a_categorical_shape, a_numeric_shape


def value_by_the_rule(shape: ShapeFunction, x) -> float:
    """What the model says of one value, written as its definition reads."""
    if x is None or x != x:
        return shape.missing
    if shape.kind == "categorical":
        return shape.scores[shape.levels.index(x)] if x in shape.levels else shape.unseen
    return shape.scores[sum(threshold < x for threshold in shape.thresholds)]


@pytest.mark.parametrize("seed", range(20))
def test_a_number_scores_as_the_rule_says(seed):
    shape = a_numeric_shape(np.random.default_rng(seed), "x")
    at = shape.thresholds
    values = [*at, *np.nextafter(at, math.inf), *np.nextafter(at, -math.inf), 0.0, -0.0, math.inf, -math.inf, math.nan, None]
    np.testing.assert_array_equal(shape.values(values), [value_by_the_rule(shape, x) for x in values])


@pytest.mark.parametrize("seed", range(20))
def test_a_level_scores_as_the_rule_says(seed):
    shape = a_categorical_shape(np.random.default_rng(seed), "x")
    values = [*shape.levels, "unseen", "", "BASIC", None, math.nan]
    np.testing.assert_array_equal(shape.values(values), [value_by_the_rule(shape, x) for x in values])


@pytest.mark.parametrize("seed", range(5))
def test_codes_score_as_the_texts_they_stand_for(seed):
    rng = np.random.default_rng(seed)
    shape = a_categorical_shape(rng, "x")
    levels = [*rng.permutation(shape.levels), "unseen"]
    codes = rng.integers(-1, len(levels), 50)
    texts = [None if code < 0 else levels[code] for code in codes]
    np.testing.assert_array_equal(shape.values(CodedColumn(codes, levels)), shape.values(texts))


def test_a_level_may_be_given_as_a_number():
    shape = ShapeFunction("rooms", "categorical", [0.5, -0.5], levels=("1", "2"), unseen=9)
    np.testing.assert_array_equal(shape.values(np.array([1, 2, 3])), [0.5, -0.5, 9])


def test_steps_give_a_function_of_weighted_mean_zero():
    shape = ShapeFunction.from_steps("x", [-math.inf, 1, 3], [0.5, -2, 1], weights=[4, 1, 2, 3])
    assert np.dot(shape.weights, shape.table[:-1]) == pytest.approx(0, abs=1e-12)
    np.testing.assert_allclose(np.diff(shape.table[:-1]), [0.5, -2, 1])
    assert shape.n_steps == 3


def test_missing_values_score_zero_where_training_had_none():
    shape = ShapeFunction.from_steps("x", [1, 3], [-2, 1], weights=[0, 1, 2, 3])
    assert shape.missing == 0
    assert shape.n_steps == 2


def test_levels_off_the_common_score_count_as_steps():
    shape = ShapeFunction("x", "categorical", [1, 1, 1, 3, 0], levels=tuple("abcde"), missing=0, weights=[0, 1, 1, 1, 1, 1])
    assert shape.n_steps == 2


def test_the_spread_is_the_weighted_deviation():
    shape = ShapeFunction("x", "numeric", [1, -1], [0], missing=5, weights=[0, 3, 1])
    assert shape.spread == pytest.approx(np.std([1, 1, 1, -1]))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"scores": [1, math.nan]}, "finite"),
        ({"scores": [1, 2, 3]}, "2 bins and 3 scores"),
        ({"scores": ["a", "b"]}, "numbers"),
        ({"thresholds": [math.inf]}, "finite"),
        ({"thresholds": [-math.inf]}, "finite"),
        ({"thresholds": [1, 1], "scores": [1, 2, 3]}, "ascend"),
        ({"thresholds": [2, 1], "scores": [1, 2, 3]}, "ascend"),
        ({"thresholds": [-0.0, 0.0], "scores": [1, 2, 3]}, "ascend"),
        ({"levels": ["a"]}, "no levels"),
        ({"weights": [1, 2]}, "2 weights"),
        ({"weights": [1, -2, 1]}, "not negative"),
        ({"missing": math.inf}, "missing"),
        ({"missing": None}, "missing"),
        ({"kind": "categorical"}, "no thresholds"),
        ({"kind": "categorical", "thresholds": [], "levels": ["a", "a"]}, "twice"),
        ({"kind": "categorical", "thresholds": [], "levels": ["a", 2]}, "texts"),
    ],
)
def test_a_malformed_function_is_refused(changes, complaint):
    fields = {"name": "x", "kind": "numeric", "scores": [1, 2], "thresholds": [0]} | changes
    with pytest.raises(InvalidInput, match=complaint):
        ShapeFunction(**fields)


@pytest.mark.parametrize("value", ["abc", [1], {}, 10**400])
def test_a_value_that_is_no_number_is_named_by_column_and_row(value):
    shape = ShapeFunction("x", "numeric", [1, 2], [0])
    with pytest.raises(InvalidInput, match=r"column 'x', row 1: .* is not a number") as caught:
        shape.values([1.0, value])
    assert caught.value.problem()["row"] == 1


@pytest.mark.parametrize("column", [np.array(["2020-01-01"], "datetime64[D]"), np.array([1j]), np.zeros((2, 2))])
def test_a_column_of_another_kind_is_refused(column):
    with pytest.raises(InvalidInput, match="column 'x'"):
        ShapeFunction("x", "numeric", [1, 2], [0]).values(column)
